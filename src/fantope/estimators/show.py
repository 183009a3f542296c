"""What a fitted estimator adds to the diagram that scikit-learn shows in a notebook."""

from __future__ import annotations

from typing import Any

from fantope.notebook import card, loadings
from fantope.solvers.show import facts


class ShownWhenFitted:
    """Shows bracket, support and loadings below scikit-learn's diagram."""

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + _fitted(self)  # type: ignore[misc,no-any-return]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += _fitted(self)
        return bundle


def _fitted(estimator: Any) -> str:
    """Return the fit as HTML; nothing before there is one."""
    components = getattr(estimator, "components_", None)
    if components is None:
        return ""
    names = getattr(estimator, "feature_names_in_", None)
    solution = getattr(estimator, "solution_", None)
    if solution is None:
        lines = {
            "samples": f"{estimator.n_samples_seen_} seen",
            "support": f"{len(estimator.support_)} of {estimator.n_features_in_} variables at alpha = "
            f"{estimator.alpha_:g}",
        }
    else:
        lines = facts(solution)
    shares = ", ".join(f"{share:.1%}" for share in estimator.explained_variance_ratio_)
    return card(
        f"Fitted: {estimator.n_components_} components", {**lines, "explained": shares},
        loadings(components, None if names is None else [str(name) for name in names], estimator.explained_variance_),
    )  # fmt: skip
