"""The certificate of Online-P's estimate: that of the last subproblem, in the unit of the learner."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from fantope.io.certificates import CERTIFICATE, PROJECTION, SOLVER, claim, stored, write_certificate, write_sealed
from fantope.io.dataset import Reading
from fantope.io.folder import RECORD
from fantope.io.results import content_checksums, load_projection, read_arrays
from fantope.online.online_p import OnlineP
from fantope.operators import Covariance
from fantope.penalties.squared_lr import L1SquaredLr
from fantope.problem.certificate import Certificate, CertificateError, compare_brackets, dual_bound, feasible_objective
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.typing import Array

MATRIX = "matrix.npy"
KIND = "l1+squared-lr"


def write_online_certificate(folder: Path, learner: OnlineP, command: str) -> None:
    """Write X_t, U and S_{1:t} with certificate.json and run.json into a folder that is otherwise complete.

    Where nothing has varied yet there is nothing to claim, and nothing is written.
    """
    if float(learner.S.trace()) <= 0.0:
        return
    found = learner.certified()
    problem, X, p, d = found.problem, found.X, learner.n_features, learner.n_components
    penalty: Any = problem.penalty
    matrix = stored(folder, MATRIX, problem)
    scipy.sparse.save_npz(folder / PROJECTION, X.matrix(p))
    np.savez_compressed(folder / SOLVER, rows=X.rows, vectors=X.vectors, weights=X.weights)
    D = problem.S - found.dual.M
    np.savez_compressed(
        folder / CERTIFICATE, alpha=penalty.alpha, labels=np.zeros(p, np.int32), kept=np.arange(p, dtype=np.int32),
        half=D[np.triu_indices(p)],
    )  # fmt: skip
    bracket = found.certificate
    recorded = {
        "folder": ".", "alpha": penalty.alpha, "objective": bracket.objective, "dual_bound": bracket.dual_bound,
        "gap": bracket.gap, "status": "SOLVED" if found.met else "MAX_ITER",
        "penalty": {"kind": KIND, "t": penalty.t, "q": penalty.q},
    }  # fmt: skip
    tol = found.tolerance / max(abs(bracket.objective), abs(bracket.dual_bound), 1e-300)
    said = {name: value for name, value in recorded.items() if name != "penalty"}
    write_certificate(folder, None, [matrix], [claim(folder, said, 0, d, tol, **recorded["penalty"])])
    record = {
        "command": command,
        "input": {"name": MATRIX, "path": MATRIX, "sha256": matrix["sha256"], "n_samples": p, "n_variables": p},
        "reading": asdict(Reading()),
        "parameters": {"kind": "precomputed", "center": False, "n_components": d, "tol": tol, "unit": learner.unit},
        "solutions": [recorded],
        "files": content_checksums(folder),
    }
    write_sealed(folder / RECORD, record)


def verify_online(
    folder: Path, S: Covariance, d: int, recorded: dict[str, Any], reported: Certificate
) -> tuple[Certificate, str]:
    """Recompute the bracket of Online-P's subproblem from S, X and U; return it with what differs, if anything does.

    Raises CertificateError if X is not feasible, or a file is damaged.
    """
    arrays, parts, every = read_arrays(folder / CERTIFICATE), read_arrays(folder / SOLVER), np.arange(S.size)
    M = S.block(every, every)
    D: Array = np.zeros_like(M)
    try:
        t, q = (float(recorded["penalty"][name]) for name in "tq")
        X = Factors(parts["rows"], parts["vectors"], parts["weights"])
        D[np.triu_indices(S.size)] = arrays["half"]
        norms = L1SquaredLr(float(arrays["alpha"]), t, q)
        if norms.alpha != recorded["alpha"] or abs(X.matrix(S.size) - load_projection(folder)).max() > 1e-12:
            raise CertificateError("run.json, certificate.npz, solver.npz and projection.npz do not fit each other.")
        problem = Problem(M.copy(), d, norms)
        objective = feasible_objective(problem, X)
    except (KeyError, TypeError, ValueError, IndexError, FloatingPointError) as error:
        raise CertificateError(f"the files do not hold a point of the Fantope and a dual point ({error}).") from None
    M -= D + np.triu(D, 1).T
    cost = norms.dual_value_of(problem.S, M)
    found = Certificate(objective, dual_bound(M, d) + cost)
    return found, compare_brackets(found, reported, max(float(np.abs(S.diagonal()).max()), norms.alpha))
