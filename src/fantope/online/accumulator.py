"""A weighted mean of sparse symmetric matrices whose patterns differ."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from fantope.online.base import State
from fantope.online.saved import saved_array, saved_number
from fantope.typing import AnyArray, Array

RESCALE_BELOW = 1e-100


class SparseSum:
    """Running mean of sparse matrices, merged in batches so that a step costs its own non-zeros.

    New entries wait in a buffer; when the buffer has grown as large as the sum it is merged by sorting, so an entry is
    sorted a logarithmic number of times. The mean's decay is a single number kept aside. Entries (i, j), i < j, have
    the key i·size + j.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.keys = np.zeros(0, dtype=np.int64)
        self.values = np.zeros(0)
        self.diagonal = np.zeros(size)
        self.scale = 1.0
        self.pending_keys: list[AnyArray] = []
        self.pending_values: list[Array] = []
        self.pending = 0

    def add(self, indptr: AnyArray, indices: AnyArray, data: Array, diagonal: Array, weight: float) -> None:
        """Move the mean by ``weight`` towards a matrix given by strict upper triangle and diagonal."""
        self.diagonal += weight * (diagonal - self.diagonal)
        if weight >= 1.0:  # the first matrix
            self.keys, self.values, self.scale = self.keys[:0], self.values[:0], 1.0
            self.pending_keys, self.pending_values, self.pending = [], [], 0
        else:
            self.scale *= 1.0 - weight
        if len(data):
            rows = np.repeat(np.arange(self.size, dtype=np.int64), np.diff(indptr))
            self.pending_keys.append(rows * self.size + indices)
            self.pending_values.append(data * (weight / self.scale))
            self.pending += len(data)
        if self.pending > max(len(self.keys), 1 << 16) or self.scale < RESCALE_BELOW:
            self._merge()

    def _merge(self) -> None:
        keys = np.concatenate([self.keys, *self.pending_keys])
        values = np.concatenate([self.values, *self.pending_values])
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.zeros(0, dtype=int)
        self.keys = keys[first]
        self.values = (np.add.reduceat(values, first) if len(first) else values) * self.scale
        self.scale = 1.0
        self.pending_keys, self.pending_values, self.pending = [], [], 0

    def copy(self) -> SparseSum:
        """Return an independent copy."""
        other = SparseSum(self.size)
        other.restore(self.state())
        return other

    def matrix(self) -> scipy.sparse.csr_array:
        """Return the mean as a symmetric sparse array."""
        merged = self.copy()
        merged._merge()
        p = self.size
        upper = scipy.sparse.csr_array((merged.values, (merged.keys // p, merged.keys % p)), shape=(p, p))
        return scipy.sparse.csr_array(upper + upper.T + scipy.sparse.diags_array(self.diagonal))

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return int(16 * (len(self.keys) + self.pending) + self.diagonal.nbytes)

    def state(self) -> State:
        """Return the sum and the buffer, unmerged: merging earlier would add in another order."""
        return {
            "sum_keys": self.keys,
            "sum_values": self.values,
            "sum_diagonal": self.diagonal,
            "sum_scale": self.scale,
            "sum_pending_keys": np.concatenate([np.zeros(0, dtype=np.int64), *self.pending_keys]),
            "sum_pending_values": np.concatenate([np.zeros(0), *self.pending_values]),
        }

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        keys, pending = (saved_array(state, name, (None,), np.int64) for name in ("sum_keys", "sum_pending_keys"))
        for found in (keys, pending):
            if len(found) and not (found.min() >= 0 and found.max() < self.size**2):
                raise ValueError(f"the mean must have entries of {self.size} variables only")
        self.keys, self.values = keys, saved_array(state, "sum_values", keys.shape)
        self.diagonal = saved_array(state, "sum_diagonal", (self.size,))
        self.scale = saved_number(state, "sum_scale")
        self.pending_keys, self.pending = [pending], len(pending)
        self.pending_values = [saved_array(state, "sum_pending_values", pending.shape)]
