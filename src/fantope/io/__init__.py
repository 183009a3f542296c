"""Files: data in, results out, and results checked again. Solvers know nothing of it."""

from fantope.io.checksum import checksum
from fantope.io.content import Data, Reading
from fantope.io.errors import FileError
from fantope.io.operator import operator
from fantope.io.read import read
from fantope.io.verification import Verification, verify_folder

__all__ = ["Data", "FileError", "Reading", "Verification", "checksum", "operator", "read", "verify_folder"]
