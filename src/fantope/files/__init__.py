"""Files: data in, results out, and results checked again. Solvers know nothing of it."""

from fantope.files.checksum import checksum
from fantope.files.content import Data, Reading
from fantope.files.errors import FileError
from fantope.files.operator import operator
from fantope.files.read import read
from fantope.files.verification import Verification, verify_folder

__all__ = ["Data", "FileError", "Reading", "Verification", "checksum", "operator", "read", "verify_folder"]
