"""Which alpha each group has: rows of a table to choose from, the walk down it, and the choice.

Rows are matched by a rule. "paper": one alpha for all groups. "noise": chance correlations are larger where samples are
fewer, so a smaller group has a larger alpha. "size": each group has the alpha at which it uses about as many genes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from fantope.coexpression.analysis.modules import genes_in_use
from fantope.coexpression.analysis.paths import GroupPath
from fantope.errors import InputError, Use, check_choice, renamed
from fantope.events import Event, Listener
from fantope.path import Path
from fantope.selection.overlap import Overlap, select_by_overlap
from fantope.solvers import Solution
from fantope.solvers.result import Record
from fantope.typing import Array

Rule = Literal["auto", "paper", "noise", "size"]

UNFAIR = 1.5  # ratio of sample numbers from which "auto" is "noise": the same alpha is far from the same then
# A loose gap may find a third of the genes too few or too many. Where it finds less than half of the fewest that are
# wanted, or a quarter more than the most, no tighter one would change what is made of it; elsewhere it does not choose.
LOOSE, TOO_FEW, TOO_MANY = 1e-2, 0.5, 1.25
FEW = 2  # eligible alphas, or fewer, of which the user hears
LIMITS = {"min_variables": "min_genes", "max_variables": "max_genes"}


@dataclass(frozen=True)
class Choice:
    """The solutions of each row that is complete, and what was chosen of them."""

    paths: Mapping[str, Path]
    selected: Overlap
    notes: tuple[str, ...]


def check_rule(rule: str, n_samples: Mapping[str, int]) -> str:
    """Return the rule that "auto" stands for, or ``rule`` itself."""
    check_choice("match", rule, get_args(Rule))
    if rule != "auto":
        return rule
    return "noise" if max(n_samples.values()) > UNFAIR * min(n_samples.values()) else "paper"


def group_alphas(
    alphas: Sequence[float], n_samples: Mapping[str, int], n_genes: int, rule: str
) -> dict[str, list[float]]:
    """Return each group's alphas, those of the largest group being ``alphas``.

    The largest of n_genes chance correlations of n samples is about tanh(q/√(n − 3)) with q = √(2 log n_genes), by
    Fisher's transformation. "noise" moves atanh(alpha) by what this differs between the groups, so that a row stands
    for the same correlation above the noise of each.

    Examples
    --------
    >>> group_alphas([0.9], {"B": 95, "T": 33}, 12_625, "noise")["T"]
    [0.9480...]
    """
    if rule != "noise":
        return {name: list(alphas) for name in n_samples}
    reach = {name: np.sqrt(2.0 * np.log(n_genes) / max(n - 3, 1)) for name, n in n_samples.items()}
    least = min(reach.values())
    return {
        name: [a if q == least else min(float(np.tanh(np.arctanh(a) + q - least)), 1.0 - 1e-9) for a in alphas]
        for name, q in reach.items()
    }


def choose(paths: Mapping[str, GroupPath], rule: str, low: int, high: int, tol: float, progress: Listener) -> Choice:
    """Walk down the alphas as far as they can matter, and choose.

    Raises InputError if no row has every group within the limits.
    """
    walk = _Walk(paths, low, high, tol, progress)
    rows, ended = walk.by_size() if rule == "size" else walk.together()
    largest = max(paths, key=lambda name: paths[name].n_samples)
    alphas = [paths[largest].alphas[row[largest]] for row in rows]
    table = {name: Path(tuple(path.solutions[row[name]] for row in rows)) for name, path in paths.items()}
    supports = {name: [genes_in_use(solution) for solution in path] for name, path in table.items()}
    with renamed(**LIMITS):
        selected = select_by_overlap(supports, alphas, min_variables=low, max_variables=high)
    notes = []
    left = len(paths[largest].alphas) - len(alphas)
    if ended and left:
        notes.append(f"Alphas below {alphas[-1]:g} ({left} of them) are not in the table: {ended}.")
    eligible = int(selected.eligible.sum())
    if eligible <= FEW and len(paths) > 1:
        notes.append(
            f"Only {eligible} of {len(alphas)} alphas give{'s' if eligible == 1 else ''} every group {low} to {high} "
            "genes, so that there was little to choose from: widen the limits, try closer alphas, or match by size."
        )
    for name, path in table.items():
        solution = path[selected.chosen]
        alone = len(solution.support) - len(genes_in_use(solution))
        if alone:
            notes.append(
                f"In {name} fewer than {solution.n_components} components have genes that are correlated above alpha = "
                f"{solution.alpha:.3g}. The rest of the solution is {alone} gene{'s' if alone > 1 else ''} without a "
                "partner, which the order of the table decides; they are left out of what follows."
            )
    return Choice(table, selected, tuple(notes))


class _Walk:
    """All groups down their alphas, with a loose gap where it cannot matter, and what is being solved reported."""

    def __init__(self, paths: Mapping[str, GroupPath], low: int, high: int, tol: float, progress: Listener) -> None:
        self.paths, self.low, self.high, self.tol, self.progress = paths, low, high, tol, progress
        self.sizes = dict.fromkeys(paths, 0)
        self.most = sum(len(path.alphas) for path in paths.values())

    def together(self) -> tuple[list[dict[str, int]], str]:
        """Return the rows up to the first in which a group has too many genes, and what ended them.

        Sets grow as alpha falls, so no row below can be chosen. In each row the group with most genes is solved first:
        if it has too many, the others do not matter, unless nothing can be chosen so far: then the table shows why.
        """
        rows: list[dict[str, int]] = []
        hopeful = False  # whether some row may be chosen
        for k in range(len(next(iter(self.paths.values())).alphas)):
            tight = min(self.sizes.values()) >= TOO_FEW * self.low
            for name in sorted(self.paths, key=lambda each: -self.sizes[each]):
                if self._advance(name, tight) > self.high and hopeful:
                    return rows, f"{name} has more than {self.high} genes there"
            if not tight and min(self.sizes.values()) >= TOO_FEW * self.low:
                for name in self.paths:
                    self._refine(name)
            rows.append(dict.fromkeys(self.paths, k))
            if max(self.sizes.values()) > self.high:
                return rows, f"some group has more than {self.high} genes there"
            hopeful = hopeful or min(self.sizes.values()) >= self.low
        return rows, ""

    def by_size(self) -> tuple[list[dict[str, int]], str]:
        """Return a row for each alpha of the largest group, with the alphas of the others that come nearest in size."""
        found: dict[str, Array] = {}
        for name, path in self.paths.items():
            sizes = []
            for _ in path.alphas:
                if self._advance(name, self.sizes[name] >= TOO_FEW * self.low) >= TOO_FEW * self.low:
                    self._refine(name)
                sizes.append(self.sizes[name])
                if sizes[-1] > self.high:
                    break
            found[name] = np.log(np.maximum(sizes, 1))
        largest = max(self.paths, key=lambda name: self.paths[name].n_samples)
        rows = [
            {name: int(np.argmin(np.abs(sizes - size))) for name, sizes in found.items()} | {largest: k}
            for k, size in enumerate(found[largest])
        ]
        return rows, f"{largest} has more than {self.high} genes there"

    def _advance(self, name: str, tight: bool) -> int:
        """Solve for a group's next alpha; where that is loose and near the most genes, tightly as well."""
        path = self.paths[name]
        alpha = path.alphas[len(path.solutions)]
        solution = path.advance(self.tol if tight else max(self.tol, LOOSE), self._solving(name, alpha))
        self._solved(name, solution)
        if self.high < self.sizes[name] <= TOO_MANY * self.high:
            self._refine(name)
        return self.sizes[name]

    def _refine(self, name: str) -> None:
        path = self.paths[name]
        if path.solutions[-1].gap > self.tol:
            self._solved(name, path.refine(self.tol, self._solving(name, path.solutions[-1].alpha)))

    def _solved(self, name: str, solution: Solution) -> None:
        self.sizes[name] = len(genes_in_use(solution))
        self._say(name, f"alpha = {solution.alpha:.4g}, {self.sizes[name]} genes")

    def _solving(self, name: str, alpha: float) -> Callable[[Record], None]:
        """Report that a solve begins; return a callback that reports its gap."""
        number = sum(len(path.solutions) for path in self.paths.values())
        again = len(self.paths[name].solutions) and self.paths[name].solutions[-1].alpha == alpha
        number = number if again else number + 1
        text = (
            f"solve {number} of at most {self.most}, alpha = {alpha:.4g}{', again to a smaller gap' if again else ''}"
        )
        self._say(name, text)
        return lambda record: self._say(name, f"{text}, gap {record.gap:.1e} after {record.time:.0f} s")

    def _say(self, name: str, text: str) -> None:
        done = min(max(*self.sizes.values(), 1), self.high)
        self.progress(Event("path", done, self.high, name, text))


def check_possible(paths: Mapping[str, GroupPath], low: int) -> None:
    """Refuse limits that the smallest alpha cannot meet: a gene that counts has a partner above it."""
    for name, path in paths.items():
        labels = path.S.component_labels(path.alphas[-1])
        partners = int((np.bincount(labels)[labels] > 1).sum())
        if partners < low:
            raise InputError(
                f"at alpha {path.alphas[-1]:.4g}, the smallest, {partners} genes of {name!r} have a partner that they "
                f"are correlated with above it, and {low} are wanted",
                remedy=("try ", Use("alphas"), " below it, or a smaller ", Use("min_genes")),
            )
