"""Unique labels for blank nodes (semantics.md §6): no two documents and no two sources share one.

A label becomes `scope.document.label`. Each source has its own scope. The document is a number within the source; all
files of a line format share one number, because their labels are valid in the whole source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

from pyoxigraph import BlankNode, Triple

Rename = Callable[[BlankNode], BlankNode]

WHOLE_SOURCE = "0"
"""The document of all lines of a line format."""

_NOT_IN_A_LABEL = re.compile(r"[^A-Za-z0-9]")


def label_prefix(scope: str, document: str = WHOLE_SOURCE) -> str:
    """The prefix of the blank node labels of a document."""
    return f"{_word(scope)}.{document}."


def prefixed(scope: str, document: str = WHOLE_SOURCE) -> Rename:
    """Keeps each label and adds a prefix."""
    prefix = label_prefix(scope, document)
    return lambda node: BlankNode(prefix + node.value)


def numbered(scope: str, document: str) -> Rename:
    """Numbers the nodes in the order in which they appear.

    The parser generates a new label for `[]` each time; with numbers, reading a document twice gives equal nodes.
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
    """Encodes a scope, which may be an IRI, as letters and digits; different scopes stay different."""
    if not scope:
        raise ValueError("the scope of blank nodes must not be empty: give each source its own name")
    return _NOT_IN_A_LABEL.sub(lambda matched: f"_{ord(matched[0]):x}_", scope)
