"""Displays in scikit-learn's manner: made from a fit, they keep what they draw and can be drawn again elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from fantope.cardinality import BracketCurve, cardinality_bracket
from fantope.path import Path
from fantope.plotting.choice import plot_cardinality, plot_cross_validation, plot_scree, plot_stability
from fantope.plotting.components import plot_biplot, plot_loadings_heatmap
from fantope.plotting.path import plot_leverages
from fantope.plotting.solution import plot_convergence
from fantope.selection import CrossValidation, ParallelAnalysis, Stability, parallel_analysis, stability_selection
from fantope.solvers import Record, Solution
from fantope.solvers.show import variable_names
from fantope.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fantope.estimators import SparsePCA, SparsePCACV


@dataclass
class Display:
    """What all displays share: ``plot`` draws, ``ax_`` and ``figure_`` say where."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)
    _function: ClassVar[Callable[..., Axes]]  # what draws: it takes the fields in their order

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw, into a new figure without ``ax``; ``options`` are those of the function that the class names."""
        drawn = [getattr(self, each.name) for each in fields(self) if each.init]
        self.ax_ = type(self)._function(*drawn, ax=ax, **options)
        self.figure_ = self.ax_.figure
        return self


@dataclass
class ScreeDisplay(Display):
    """Eigenvalues of the data beside those of permuted data; drawn by :func:`plot_scree`.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> fantope.plotting.ScreeDisplay.from_data(sim.Z).analysis.n_components
    2
    """

    analysis: ParallelAnalysis
    _function = staticmethod(plot_scree)

    @classmethod
    def from_data(cls, X: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the eigenvalues of data; ``options`` are those of :func:`fantope.selection.parallel_analysis`."""
        return cls(parallel_analysis(X, **options)).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: SparsePCA, X: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the eigenvalues of data, of the kind that an estimator looks at."""
        return cls.from_data(X, ax=ax, **{"kind": estimator.kind, **options})


@dataclass
class LoadingsDisplay(Display):
    """Loadings as a heat map; drawn by :func:`plot_loadings_heatmap`.

    Examples
    --------
    >>> import fantope
    >>> sol = fantope.solve([[2.0, 0.9, 0.0], [0.9, 1.8, 0.0], [0.0, 0.0, 1.0]], 1, 0.1)
    >>> fantope.plotting.LoadingsDisplay.from_solution(sol).ax_.get_title(loc="left")
    '2 variables'
    """

    components: Array
    names: Sequence[str] | None = None
    _function = staticmethod(plot_loadings_heatmap)

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        names: Sequence[str] | None = None,
        rotation: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the loadings of a solution; ``rotation`` is as in :meth:`fantope.Solution.loadings`."""
        return cls(solution.loadings(rotation).T, _names(names, variable_names(solution))).plot(ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the components of a fitted estimator."""
        return cls(estimator.components_, _feature_names(estimator)).plot(ax=ax, **options)


@dataclass
class BiplotDisplay(Display):
    """Scores of samples with loadings as arrows; drawn by :func:`plot_biplot`.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> pca = fantope.SparsePCA(2, alpha=0.5).fit(sim.Z)
    >>> fantope.plotting.BiplotDisplay.from_estimator(pca, sim.Z).scores.shape
    (100, 2)
    """

    scores: Array
    components: Array
    names: Sequence[str] | None = None
    _function = staticmethod(plot_biplot)

    @classmethod
    def from_solution(
        cls, solution: Solution, X: Any, *, names: Sequence[str] | None = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw data, which are centred here, on the components of a solution."""
        values = np.asarray(X, dtype=float)
        scores = (values - values.mean(axis=0)) @ solution.components.T
        return cls(scores, solution.components, _names(names, variable_names(solution))).plot(ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw data on the components of a fitted estimator."""
        scores = np.asarray(estimator.transform(X))
        return cls(scores, estimator.components_, _feature_names(estimator)).plot(ax=ax, **options)


@dataclass
class LeverageDisplay(Display):
    """Leverages of the variables along a path of penalties; drawn by :func:`plot_leverages`.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> path = fantope.solve_path(sim.Z.T @ sim.Z / 100, 2, [2.0, 1.0])
    >>> fantope.plotting.LeverageDisplay.from_path(path).alphas.tolist()
    [2.0, 1.0]
    """

    alphas: Array
    leverages: Array
    names: Sequence[str] | None = None
    _function = staticmethod(plot_leverages)

    @classmethod
    def from_path(
        cls, path: Path, *, names: Sequence[str] | None = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw a path; ``names`` are those of all p variables."""
        variables, leverages = path.leverages()
        known = _names(names, variable_names(path[0]))
        shown = [str(j) if known is None else known[j] for j in variables]
        return cls(path.alphas, leverages, shown).plot(ax=ax, **options)


@dataclass
class ConvergenceDisplay(Display):
    """The certified gap while a solver ran; drawn by :func:`plot_convergence`.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> sol = fantope.solve(sim.Z.T @ sim.Z / 100, 2, 0.5, solver="admm")
    >>> fantope.plotting.ConvergenceDisplay.from_solution(sol).ax_.get_yscale()
    'log'
    """

    history: Sequence[Record]
    _function = staticmethod(plot_convergence)

    @classmethod
    def from_solution(cls, solution: Solution, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the history of a solution."""
        return cls(solution.history).plot(ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: SparsePCA, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the history of a fitted estimator's solution."""
        return cls.from_solution(estimator.solution_, ax=ax, **options)


@dataclass
class StabilityDisplay(Display):
    """How often variables are in use in halves of the samples; drawn by :func:`plot_stability`.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> pca = fantope.SparsePCA(2, alpha=1.0).fit(sim.Z)
    >>> fantope.plotting.StabilityDisplay.from_estimator(pca, sim.Z, n_subsamples=4).found.n_subsamples
    4
    """

    found: Stability
    names: Sequence[str] | None = None
    _function = staticmethod(plot_stability)

    @classmethod
    def from_estimator(cls, estimator: SparsePCA, X: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Solve in halves of X at the estimator's penalty; ``options`` are those of ``stability_selection``."""
        found = stability_selection(X, estimator.n_components_, estimator.alpha_, **{"kind": estimator.kind, **options})
        return cls(found, _feature_names(estimator)).plot(ax=ax)


@dataclass
class CrossValidationDisplay(Display):
    """Held-out explained variance of each penalty; drawn by :func:`plot_cross_validation`.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(120, 30, sizes=(5, 4))
    >>> pca = fantope.SparsePCACV(2, cv=3, alphas=[2.0, 1.0, 0.5]).fit(sim.Z)
    >>> display = fantope.plotting.CrossValidationDisplay.from_estimator(pca)
    >>> display.found.alpha == pca.alpha_
    True
    """

    found: CrossValidation
    _function = staticmethod(plot_cross_validation)

    @classmethod
    def from_estimator(cls, estimator: SparsePCACV, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw what a fitted estimator tried."""
        return cls(estimator.cross_validation_).plot(ax=ax, **options)


@dataclass
class CardinalityDisplay(Display):
    """What k variables explain, between what is attained and a bound; drawn by :func:`plot_cardinality`.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> display = fantope.plotting.CardinalityDisplay.from_covariance(sim.Z.T @ sim.Z / 100, [1, 3, 5])
    >>> len(display.curve)
    3
    """

    curve: BracketCurve
    _function = staticmethod(plot_cardinality)

    @classmethod
    def from_covariance(
        cls, S: Any, k: Any = None, n_components: int = 1, *, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the brackets of several k; ``options`` are those of :func:`fantope.cardinality_bracket`."""
        curve: Any = cardinality_bracket(S, k, n_components, **options)
        return cls(curve).plot(ax=ax)


def _names(given: Sequence[str] | None, known: Sequence[str] | None) -> Sequence[str] | None:
    return known if given is None else given


def _feature_names(estimator: Any) -> Sequence[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
