"""The oracle's inputs are those of every engine."""

from penstock.algebra.inputs import ALWAYS, GraphTriple, InputError, Inputs, in_arrival_order, in_time_order

__all__ = ["ALWAYS", "GraphTriple", "InputError", "Inputs", "in_arrival_order", "in_time_order"]
