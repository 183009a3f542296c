"""One module for each experiment: stored results in, a chapter of tables, figures and judged claims out."""
