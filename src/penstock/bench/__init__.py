"""The papers' experiments and the peers, measured: `penstock bench`.

An experiment (experiments.py) makes its own data, compares the answers of all that it measures, takes times, and gives
a result (results.py): tables, figures and a sentence on how it was measured. plots.py draws the figures.
"""
