"""Checks of data matrices, with sentences that name the columns at fault."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from fantope.checks import is_sparse, unmasked
from fantope.errors import listed
from fantope.typing import AnyArray


def check_data(estimator: Any, X: Any, *, fitting: bool) -> Any:
    """Return X as a finite float array, or as a csr or csc matrix in canonical format; float32 stays float32.

    ``n_features_in_`` and ``feature_names_in_`` of the estimator are set when fitting, which takes two rows and two
    columns, and compared otherwise.
    """
    kept = {"dtype": [np.float64, np.float32], "accept_sparse": ["csr", "csc"]}
    least, X = 2 if fitting else 1, unmasked("X", X)
    try:
        X = validate_data(estimator, X, reset=fitting, ensure_min_samples=least, ensure_min_features=least, **kept)
    except ValueError as error:
        if _holds_text(X):
            raise ValueError(
                f"X must hold numbers only, but {error}; drop text columns or encode them first."
            ) from None
        # scikit-learn says that a value is missing, but not where.
        X = check_array(X, ensure_all_finite=False, **kept)
        missing = _not_finite(X, getattr(estimator, "feature_names_in_", None))
        if missing is None:
            raise
        raise ValueError(missing) from None
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _holds_text(X: Any) -> bool:
    """Return whether X has an entry that is text and no number."""
    values = np.zeros(0) if is_sparse(X) else np.asarray(X)
    try:
        return values.dtype.kind in "OSU" and values.astype(np.float64) is None
    except (TypeError, ValueError):
        return True


def name_columns(columns: Any, names: AnyArray | None) -> str:
    """Return "column 3" or "columns 'age', 'mass' and 7 more"."""
    called = columns if names is None else [str(names[j]) for j in columns]
    return f"column{'s' if len(columns) > 1 else ''} {listed(called)}"


def _not_finite(X: Any, names: AnyArray | None) -> str | None:
    """Return a sentence on the columns with NaN, else on those with infinity, else None."""
    sparse = is_sparse(X)
    values = X.data if sparse else X
    for test, what in ((np.isnan, "NaN"), (np.isinf, "infinity")):
        bad = test(values)
        if bad.any():
            columns = np.unique(X.tocoo().col[bad]) if sparse else np.flatnonzero(bad.any(axis=0))
            return (
                f"X contains {what} in {name_columns(columns, names)}; drop or impute such values first, for example "
                "with sklearn.impute.SimpleImputer."
            )
    return None
