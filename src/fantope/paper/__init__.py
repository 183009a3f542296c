"""The paper's experiments, from the simulation model to the figure: ``fantope reproduce``.

An application of the library, whole in this folder. ``theory`` has the paper's constants and bounds, ``intersection``
its general scheme. ``plan`` declares the experiments as data, ``experiments`` computes, ``runner`` runs and ``store``
keeps each run as it finishes; ``chapters`` turns stored results into tables, figures and verdicts on the paper's
claims, ``page`` writes them as Markdown and HTML, and ``reproduction`` does all of it. Nothing in the library imports
it.
"""
