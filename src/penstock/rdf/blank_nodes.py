"""One identity per blank node (semantics.md §6): labels that no other document and no other source shares.

A label becomes `scope.document.label`. The scope is the source's; the document is a number within it, and the same for
all files of a line format, whose labels hold for the whole source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

from pyoxigraph import BlankNode, Triple

Rename = Callable[[BlankNode], BlankNode]

WHOLE_SOURCE = "0"
"""The document that all lines of a line format belong to."""

_NOT_IN_A_LABEL = re.compile(r"[^A-Za-z0-9]")


def label_prefix(scope: str, document: str = WHOLE_SOURCE) -> str:
    """What the labels of a document's blank nodes begin with."""
    return f"{_word(scope)}.{document}."


def prefixed(scope: str, document: str = WHOLE_SOURCE) -> Rename:
    """Keep the label, behind a prefix."""
    prefix = label_prefix(scope, document)
    return lambda node: BlankNode(prefix + node.value)


def numbered(scope: str, document: str) -> Rename:
    """Number the nodes as they appear.

    The parser gives `[]` another label each time; numbers make two readings of a document equal.
    """
    prefix = label_prefix(scope, document)
    numbers = count()
    renamed: dict[str, BlankNode] = {}

    def rename(node: BlankNode) -> BlankNode:
        known = renamed.get(node.value)
        if known is None:
            known = renamed[node.value] = BlankNode(f"{prefix}{next(numbers)}")
        return known

    return rename


def rename_triple(triple: Triple, rename: Rename) -> Triple:
    subject, object_ = triple.subject, triple.object
    has_blank_subject, has_blank_object = isinstance(subject, BlankNode), isinstance(object_, BlankNode)
    if not (has_blank_subject or has_blank_object):
        return triple
    return Triple(
        rename(subject) if isinstance(subject, BlankNode) else subject,
        triple.predicate,
        rename(object_) if isinstance(object_, BlankNode) else object_,
    )


def _word(scope: str) -> str:
    """The scope as letters and digits, two scopes never becoming one; so also an IRI may be a scope."""
    if not scope:
        raise ValueError("a scope of blank nodes must not be empty: give each source a name of its own")
    return _NOT_IN_A_LABEL.sub(lambda matched: f"_{ord(matched[0]):x}_", scope)
