"""Passes over arrays that the solver of Online-P makes (fantope.solvers.scaled_splitting), and nothing else."""
