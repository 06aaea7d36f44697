"""The result of an experiment: tables, figures and remarks, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias
from typing import Literal as OneOf

Cell: TypeAlias = str | int | float | None
Point: TypeAlias = tuple[float | str, float]


@dataclass(frozen=True, slots=True)
class Table:
    """Column names include the unit, if there is one: `wall [s]`."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def text(self) -> str:
        """Aligns names left and numbers right."""
        shown = [self.columns, *(tuple(map(_shown, row)) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        is_text = [all(isinstance(row[place], str) for row in self.rows) for place in range(len(self.columns))]
        lines = [
            "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, is_text, strict=True)
            ).rstrip()
            for row in shown
        ]
        lines.insert(1, "─" * max(map(len, lines)))
        return "\n".join([self.title, *lines])

    def as_json(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


@dataclass(frozen=True, slots=True)
class Axis:
    """`label` is the name with the unit."""

    label: str
    is_logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines or steps over numbers, or groups of bars over names."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    kind: OneOf["lines", "steps", "bars"] = "lines"

    @property
    def heights(self) -> list[float]:
        return [y for series in self.series for _, y in series.points]


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels side by side. `name` is the base name of the files."""

    name: str
    title: str
    panels: tuple[Panel, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Result:
    """`remarks` are sentences: which systems are faster, what was skipped and why."""

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "tables": [table.as_json() for table in self.tables],
            "figures": [figure.as_json() for figure in self.figures],
            "remarks": list(self.remarks),
        }


def times_as_long(ratio: float) -> str:
    """Compares a time with Penstock's in words; a system that is faster is marked clearly."""
    if 0.95 <= ratio <= 1.05:
        return "as fast"
    return f"{_rounded(ratio)} × slower" if ratio > 1 else f"{_rounded(1 / ratio)} × FASTER"


def faster_ones(ratios: Sequence[tuple[str, float]], than: str) -> str:
    """A sentence about the systems faster than Penstock; `ratios` are their times divided by Penstock's."""
    faster = [f"{name} ({_rounded(1 / ratio)} ×)" for name, ratio in ratios if ratio < 0.95]
    if not faster:
        return f"No other measured system is faster than {than}."
    return f"Faster than {than}: {', '.join(faster)}."


def _rounded(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        magnitude = abs(cell)
        return f"{cell:,.0f}" if magnitude >= 100 else f"{cell:,.1f}" if magnitude >= 10 else f"{cell:,.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
