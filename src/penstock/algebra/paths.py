"""Property paths of the algebra: those that SPARQL 1.1 §18.2.2.4 keeps as paths, and their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf


@dataclass(frozen=True, slots=True)
class Link:
    """One step along a predicate."""

    predicate: str

    def __str__(self) -> str:
        return f"<{self.predicate}>"


@dataclass(frozen=True, slots=True)
class Inverse:
    path: Path

    def __str__(self) -> str:
        return f"^{self.path}"


@dataclass(frozen=True, slots=True)
class Sequence:
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        return "(" + "/".join(map(str, self.paths)) + ")"


@dataclass(frozen=True, slots=True)
class Alternative:
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        return "(" + "|".join(map(str, self.paths)) + ")"


@dataclass(frozen=True, slots=True)
class Repeat:
    path: Path
    times: OneOf["?", "*", "+"]

    def __str__(self) -> str:
        return f"{self.path}{self.times}"


@dataclass(frozen=True, slots=True)
class NegatedSet:
    """One step along a predicate not in `forward`, or backwards along one not in `backward` (None: no such step)."""

    forward: tuple[str, ...] | None
    backward: tuple[str, ...] | None

    def __str__(self) -> str:
        steps = [f"<{iri}>" for iri in self.forward or ()] + [f"^<{iri}>" for iri in self.backward or ()]
        return f"!({'|'.join(steps)})"


Path = Link | Inverse | Sequence | Alternative | Repeat | NegatedSet
