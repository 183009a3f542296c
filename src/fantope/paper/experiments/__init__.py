"""One module for each experiment: a frozen dataclass of its parameters, and ``run(config, report)`` → plain values.

They compute and nothing else, so that a stored result goes stale only when something that it depends on has changed.
"""
