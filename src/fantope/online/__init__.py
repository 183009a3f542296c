"""Sparse PCA on a stream: Online-T, Online-P, FTL, classical baselines, regret, and state that can be saved."""

from fantope.online.baselines import CandidPCA, IncrementalPCA, Oja
from fantope.online.ftl import FollowTheLeader, Tracker
from fantope.online.online_p import OnlineP
from fantope.online.online_t import OnlineT
from fantope.online.persist import CheckpointError
from fantope.online.precision import PrecisionLeader, PrecisionRegret
from fantope.online.regret import RegretTracker, fantope_distance
from fantope.online.stream import Stream
from fantope.online.watch import Check, Watch

__all__ = [
    "CandidPCA",
    "Check",
    "CheckpointError",
    "FollowTheLeader",
    "IncrementalPCA",
    "Oja",
    "OnlineP",
    "OnlineT",
    "PrecisionLeader",
    "PrecisionRegret",
    "RegretTracker",
    "Stream",
    "Tracker",
    "Watch",
    "fantope_distance",
]
