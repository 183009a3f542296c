# The public names: __init__.py loads each from the module given here when it is first used.
from .cache import Cache as Cache
from .covariances import operator as operator
from .dataset import Content as Content
from .dataset import Dataset as Dataset
from .dataset import Reading as Reading
from .fingerprint import checksum as checksum
from .folder import result_folder as result_folder
from .readers import READERS as READERS
from .readers import read as read
from .results import read_result as read_result
from .verification import Verification as Verification
from .verification import verify_folder as verify_folder
