"""The report of a co-expression analysis: one HTML file that needs nothing else."""

from fantope.coexpression.report.about import About
from fantope.coexpression.report.render import render_report, write_report

__all__ = ["About", "render_report", "write_report"]
