"""From expression to modules and differences: the computation, without files, figures or commands."""
