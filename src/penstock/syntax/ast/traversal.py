"""Walks and rewrites immutable trees; a rewritten tree shares all unchanged nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, fields, replace
from typing import Any, TypeVar

from penstock.syntax.ast.nodes import Constant, Node, Variable
from penstock.syntax.ast.patterns import InlineData, Triples
from penstock.syntax.ast.queries import DatasetClause, Prologue, WindowClause

WITHOUT_GROUPS = frozenset({Constant, DatasetClause, InlineData, Prologue, Triples, Variable, WindowClause})
"""Nodes that never contain groups."""

AnyNode = TypeVar("AnyNode", bound=Node)


def rewrite(
    node: AnyNode, change: Callable[[Node], Node], *, beside: frozenset[type[Node]] = frozenset()
) -> AnyNode:  # fmt: skip
    """Applies `change` to every node, from the leaves up; nodes of the types in `beside` stay unchanged."""

    def visit(node: Any) -> Any:
        if type(node) in beside:
            return node
        # The loop of `rewrite_children`, inline: deep trees leave little room on the stack.
        changes = {}
        for name in _child_fields(node):
            value = getattr(node, name)
            if isinstance(value, Node):
                new = visit(value)
                if new is not value:
                    changes[name] = new
            elif value and type(value) is tuple:
                items = [visit(item) if isinstance(item, Node) else _map_nodes(item, visit) for item in value]
                if not all(map(_is_same, items, value)):
                    changes[name] = tuple(items)
        return change(replace(node, **changes) if changes else node)

    changed: AnyNode = visit(node)
    return changed


def rewrite_children(node: AnyNode, change: Callable[[Any], Any]) -> AnyNode:
    """Applies `change` to each direct child node; other values stay unchanged."""
    changes = {}
    for name in _child_fields(node):
        value = getattr(node, name)
        new = _map_nodes(value, change)
        if not _is_same(new, value):
            changes[name] = new
    return replace(node, **changes) if changes else node


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it."""
    pending: list[Any] = [node]
    while pending:
        value = pending.pop()
        if type(value) is tuple:
            pending.extend(reversed(value))
        elif isinstance(value, Node):
            yield value
            if names := _child_fields(value):
                pending.append(tuple([child for name in names if (child := getattr(value, name))]))


def _map_nodes(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Node):
        return change(value)
    return tuple(_map_nodes(item, change) for item in value) if type(value) is tuple else value


def _is_same(new: Any, old: Any) -> bool:
    if new is old:
        return True
    if type(old) is tuple and type(new) is tuple and len(new) == len(old):
        return all(map(_is_same, new, old))
    return False


def _child_fields(node: Node) -> tuple[str, ...]:
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(field.name for field in fields(node) if _may_hold_nodes(field))
    return names


def _may_hold_nodes(field: Field[Any]) -> bool:
    return field.name != "span" and not _PLAIN.issuperset(str(field.type).split(" | "))


_PLAIN = frozenset({"IRI", "Literal", "None", "bool", "int", "str"})


_FIELDS: dict[type[Node], tuple[str, ...]] = {}
