"""The report of a co-expression analysis: one HTML file that needs nothing else."""

from fantope.coexpression.report.render import render_report, write_report
from fantope.coexpression.report.sections import About

__all__ = ["About", "render_report", "write_report"]
