"""Continuous queries at run time: the run loop, clocks, evaluation and outlets, for every engine."""
