"""Benchmarks: `python -m benchmarks` measures and writes docs/benchmarks.md.

Thread counts are fixed here because BLAS and numba read them when they are first imported. Two is what the targets
are stated for; a value that is already in the environment wins and is named in the report.
"""

import os

THREADS = 2

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, str(min(THREADS, os.cpu_count() or 1)))
