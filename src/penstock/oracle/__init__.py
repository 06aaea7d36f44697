"""semantics.md as slow, obvious code.

For each evaluation instant, the content of every window and graph follows directly from its definition. It is loaded
into a new store of an independent SPARQL engine (pyoxigraph), the query is run there, and the streaming operator is
applied. The oracle shares only `syntax` and `algebra` with the engines: if an engine differs, one of them is wrong.
"""

from penstock.algebra.inputs import InputError, Inputs
from penstock.oracle.answering import Answer, answer
from penstock.oracle.chains import answer_all

__all__ = ["Answer", "InputError", "Inputs", "answer", "answer_all"]
