"""semantics.md as slow, obvious code.

For each evaluation instant the content of every window and graph, straight from its definition, is put into a new
store of an independent SPARQL engine (pyoxigraph), the query is run there, and the streaming operator is applied. The
oracle shares `syntax` and `algebra` with the engines, and nothing else: where an engine differs, one of them is wrong.
"""

from penstock.algebra.inputs import InputError, Inputs
from penstock.oracle.answering import Answer, answer
from penstock.oracle.chains import answer_all

__all__ = ["Answer", "InputError", "Inputs", "answer", "answer_all"]
