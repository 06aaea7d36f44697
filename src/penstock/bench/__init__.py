"""`penstock bench`: runs the experiments of the papers and compares Penstock with other systems.

An experiment (experiments.py) generates its data, compares the answers of all systems, measures times, and returns a
result (results.py): tables, figures and remarks. plots.py draws the figures.
"""
