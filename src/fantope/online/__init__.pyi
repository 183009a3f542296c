# The public names: __init__.py loads each from the module given here when it is first used.
from .baselines import CandidPCA as CandidPCA
from .baselines import IncrementalPCA as IncrementalPCA
from .baselines import Oja as Oja
from .ftl import FollowTheLeader as FollowTheLeader
from .ftl import Tracker as Tracker
from .online_p import OnlineP as OnlineP
from .online_t import OnlineT as OnlineT
from .persist import CheckpointError as CheckpointError
from .precision import PrecisionLeader as PrecisionLeader
from .precision import PrecisionRegret as PrecisionRegret
from .regret import RegretTracker as RegretTracker
from .regret import fantope_distance as fantope_distance
from .stream import Stream as Stream
from .watch import Check as Check
from .watch import Watch as Watch
