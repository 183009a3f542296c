"""``fantope coexpress``: options, the demonstration's data, and what is written."""
