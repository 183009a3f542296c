"""Fused passes over m × m arrays: each reads and writes every array once.

Splitting methods for this problem are bound by memory traffic, so whatever an iteration needs (residuals,
norms, the objective) is accumulated in the pass that touches the data anyway. The low-rank iterate
``X = Σ weights_a v_a v_aᵀ`` is never stored: its rows are built in cache, one at a time.

Arrays are C-contiguous float64; ``vectors`` is (k, m), eigenvectors as rows, so that inner loops run over
contiguous memory. ``limits``, the box |U_ij| ≤ limits_ij of the dual points, is a number or an array.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from fantope.kernels.build import build
from fantope.kernels.entry import at
from fantope.typing import Array

STRIP = 256  # rows of X built at a time


@build
def admm_pass(Z, S, G, vectors, weights, limits, inverse_rho, relax):  # type: ignore[no-untyped-def]
    """Update the ADMM state Z = Y + W in place and write the next matrix to project, G = Y − W + S/ρ.

    Y = soft(Z, limits/ρ) and W = Z − Y, so that one array holds both. Returns
    ``[‖X − Y⁺‖², ‖Y⁺ − Y‖², ‖W⁺‖², ‖S/ρ − W⁺‖²]``.
    """
    m = Z.shape[0]
    sums = np.zeros((m, 4))
    for i in prange(m):
        row = np.zeros(m)
        for a in range(weights.shape[0]):
            c = weights[a] * vectors[a, i]
            for j in range(m):
                row[j] += c * vectors[a, j]
        primal = dual = multiplier = slack = 0.0
        for j in range(m):
            z = Z[i, j]
            threshold = at(limits, i, j) * inverse_rho
            w = min(max(z, -threshold), threshold)
            y = z - w
            z = relax * row[j] + (1.0 - relax) * y + w
            w = min(max(z, -threshold), threshold)
            new = z - w
            Z[i, j] = z
            free = inverse_rho * S[i, j] - w
            G[i, j] = new + free
            primal += (row[j] - new) * (row[j] - new)
            dual += (new - y) * (new - y)
            multiplier += w * w
            slack += free * free
        sums[i, 0] = primal
        sums[i, 1] = dual
        sums[i, 2] = multiplier
        sums[i, 3] = slack
    return sums


@build
def admm_rescale(Z, S, G, limits, inverse_rho, factor):  # type: ignore[no-untyped-def]
    """Change the penalty ρ by ``factor``: Y stays, the scaled multiplier W shrinks; G is written anew."""
    m = Z.shape[0]
    for i in prange(m):
        for j in range(m):
            z = Z[i, j]
            threshold = at(limits, i, j) * inverse_rho
            w = min(max(z, -threshold), threshold)
            y = z - w
            w = w / factor
            Z[i, j] = y + w
            G[i, j] = y - w + inverse_rho / factor * S[i, j]


def box_part(A: Array, limits: float | Array, factor: float, out: Array) -> None:
    """Write clip(A, ±factor·limits)."""
    threshold = factor * limits
    np.clip(A, -threshold, threshold, out=out)


@build
def gradfps_pass(Z1, Z2, scale, vectors, weights, limits, step):  # type: ignore[no-untyped-def]
    """Update both states of GradFPS in place, X = scale (Z₁ + Z₂)/2, prox f₂ given by its eigenpairs.

    Returns ``[‖prox f₁ − prox f₂‖², ‖(Z₁⁺ + Z₂⁺)/2 − (Z₁ + Z₂)/2‖², ‖(Z₁⁺ + Z₂⁺)/2‖², ‖Z₁ − Z₂‖²]``.
    """
    m = Z1.shape[0]
    sums = np.zeros((m, 4))
    for i in prange(m):
        row = np.zeros(m)
        for a in range(weights.shape[0]):
            c = weights[a] * vectors[a, i]
            for j in range(m):
                row[j] += c * vectors[a, j]
        primal = change = norm = spread = 0.0
        for j in range(m):
            z1 = Z1[i, j]
            z2 = Z2[i, j]
            x = scale * 0.5 * (z1 + z2)
            v = 2.0 * x - z1
            threshold = at(limits, i, j) * step
            y1 = v - min(max(v, -threshold), threshold)
            y2 = row[j]
            new1 = z1 - x + y1
            new2 = z2 - x + y2
            Z1[i, j] = new1
            Z2[i, j] = new2
            middle = 0.5 * (new1 + new2)
            primal += (y1 - y2) * (y1 - y2)
            change += (middle - 0.5 * (z1 + z2)) ** 2
            norm += middle * middle
            spread += (new1 - new2) ** 2
        sums[i, 0] = primal
        sums[i, 1] = change
        sums[i, 2] = norm
        sums[i, 3] = spread
    return sums


@build
def gradfps_target(Z1, Z2, S, G, average, scale, step, weight):  # type: ignore[no-untyped-def]
    """Write G = 2X − Z₂ + αS, what prox f₂ decomposes, and move the ergodic average by ``weight`` towards X.

    ``average`` may be empty: then none is kept.
    """
    m = Z1.shape[0]
    averaging = average.shape[0] == m
    for i in prange(m):
        for j in range(m):
            x = scale * 0.5 * (Z1[i, j] + Z2[i, j])
            G[i, j] = 2.0 * x - Z2[i, j] + step * S[i, j]
            if averaging:
                average[i, j] += weight * (x - average[i, j])


def objective_terms(S: Array, vectors: Array, weights: Array, limits: float | Array) -> Array:
    """Return ``[⟨S, X⟩, Σ limits_ij|X_ij|, ‖X‖²]`` of X = Σ weights_a v_a v_aᵀ without forming X.

    The first two are over the entries with finite limits, the third over the others.
    """
    sums = np.zeros(3)
    for i in range(0, len(S), STRIP):
        rows = slice(i, i + STRIP)
        X = (vectors[:, rows].T * weights) @ vectors
        if isinstance(limits, float):
            sums[:2] += np.vdot(S[rows], X), limits * np.abs(X).sum()
            continue
        finite = np.isfinite(limits[rows])
        if finite.all():
            sums[:2] += np.vdot(S[rows], X), np.vdot(limits[rows], np.abs(X, out=X))
            continue
        inside = np.where(finite, X, 0.0)
        norm = (np.where(finite, limits[rows], 0.0) * np.abs(inside)).sum()
        sums += np.vdot(S[rows], inside), norm, np.square(X[~finite]).sum()
    return sums


@build
def soft_threshold(A, limits, factor):  # type: ignore[no-untyped-def]
    """Soft-threshold ``A`` at factor·limits, in place."""
    for i in prange(A.shape[0]):
        for j in range(A.shape[1]):
            threshold = at(limits, i, j) * factor
            A[i, j] -= min(max(A[i, j], -threshold), threshold)
