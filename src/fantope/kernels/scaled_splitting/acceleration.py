"""The passes of Anderson acceleration that no library has; without sums, which might depend on where arrays lie."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def differences(z, residual, last_z, last_residual, unit, image, change):  # type: ignore[no-untyped-def]
    """Write the changes of residual and ``image``, z + residual, over ``unit``, in single precision."""
    inverse = 1.0 / unit
    for i in range(len(z)):
        own = (residual[i] - last_residual[i]) * inverse
        change[i] = own
        image[i] = (z[i] - last_z[i]) * inverse + own


@njit(cache=True, nogil=True)
def combine(z, residual, correction, out):  # type: ignore[no-untyped-def]
    """Write out = z + residual − correction."""
    for i in range(len(z)):
        out[i] = z[i] + residual[i] - correction[i]
