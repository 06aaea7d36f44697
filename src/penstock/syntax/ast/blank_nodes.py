"""Copies of a pattern: a blank node label may occur in only one basic graph pattern (SPARQL 1.1 §5.1.1)."""

from __future__ import annotations

from dataclasses import replace

from penstock.syntax.ast.nodes import BlankNodeLabel, Node
from penstock.syntax.ast.patterns import Group
from penstock.syntax.ast.traversal import rewrite


def relabelled(pattern: Group, number: int) -> Group:
    """Copy number `number` of the pattern, with its own blank nodes."""

    def change(node: Node) -> Node:
        return replace(node, label=f"{node.label}_{number}") if isinstance(node, BlankNodeLabel) else node

    return rewrite(pattern, change)
