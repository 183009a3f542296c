"""A fuzzer of our own: random problems, estimators, streams, files, interrupts, and a hostile machine.

``make fuzz`` runs it; ``python -m fuzz FAMILY SEED`` (with tests/ on the path) repeats one case.
"""
