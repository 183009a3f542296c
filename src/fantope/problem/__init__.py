"""What is solved, and how anybody can check an answer: objective, dual, certificate, exact decomposition."""
