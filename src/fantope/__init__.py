"""Convex sparse principal component analysis with duality-gap certificates.

Names load when they are first used, so that ``import fantope`` itself stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fantope.estimators import SparsePCA, SparsePCACV
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA, load
    from fantope.operators import covariance
    from fantope.path import Path, solve_for_norm, solve_for_size, solve_for_variance, solve_path
    from fantope.problem.certificate import Certificate, CertificateError
    from fantope.simulation import Simulation, simulate
    from fantope.solvers import Record, Solution, Status, alpha_max, solve

__version__ = "0.1.0"

_HOME = {
    "Certificate": "fantope.problem.certificate",
    "CertificateError": "fantope.problem.certificate",
    "OnlineSparsePCA": "fantope.estimators.online_sparse_pca",
    "Path": "fantope.path",
    "Record": "fantope.solvers",
    "Simulation": "fantope.simulation",
    "Solution": "fantope.solvers",
    "SparsePCA": "fantope.estimators",
    "SparsePCACV": "fantope.estimators",
    "Status": "fantope.solvers",
    "alpha_max": "fantope.solvers",
    "covariance": "fantope.operators",
    "load": "fantope.estimators.online_sparse_pca",
    "simulate": "fantope.simulation",
    "solve": "fantope.solvers",
    "solve_for_norm": "fantope.path",
    "solve_for_size": "fantope.path",
    "solve_for_variance": "fantope.path",
    "solve_path": "fantope.path",
}
_MODULES = (
    "coexpression",
    "estimators",
    "intersection",
    "online",
    "operators",
    "plotting",
    "pp",
    "selection",
    "simulation",
    "solvers",
    "theory",
    "tl",
)

__all__ = [
    "Certificate",
    "CertificateError",
    "OnlineSparsePCA",
    "Path",
    "Record",
    "Simulation",
    "Solution",
    "SparsePCA",
    "SparsePCACV",
    "Status",
    "alpha_max",
    "covariance",
    "load",
    "simulate",
    "solve",
    "solve_for_norm",
    "solve_for_size",
    "solve_for_variance",
    "solve_path",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(f"fantope.{name}")
    else:
        raise AttributeError(f"module 'fantope' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
