"""Property paths (SPARQL 1.1 §9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax.ast.nodes import Constant, Node, Variable


@dataclass(frozen=True, slots=True)
class PathAlternative(Node):
    """`a | b | …`, two or more."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class PathSequence(Node):
    """`a / b / …`, two or more."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class PathInverse(Node):
    """`^path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class PathRepeat(Node):
    """`path?`, `path*`, `path+`."""

    path: Path
    times: OneOf["?", "*", "+"]


@dataclass(frozen=True, slots=True)
class PathNegated(Node):
    """`!(a | ^b | …)`: one step along any predicate not listed. Members are IRIs or inverses of IRIs."""

    predicates: tuple[Constant | PathInverse, ...]


Path = Constant | PathAlternative | PathSequence | PathInverse | PathRepeat | PathNegated
Verb = Path | Variable
