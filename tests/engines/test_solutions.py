"""Solutions in columns: those of one instant that are none of another's."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.engines.solutions import without

Row = tuple[str | None, str | None]


def table(rows: list[Row]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((), ())
    terms = {name: pa.array(list(column), pa.string()) for name, column in zip("ab", columns, strict=True)}
    bounds = {name: pa.array([number] * len(rows), pa.int64()) for name, number in (("i", 0), ("j", 1))}
    return pa.table({**terms, **bounds})


@pytest.mark.parametrize(
    ("rows", "others", "left"),
    [
        ([("Sx", "Sy"), ("Sx", None)], [("Sx", "Sy")], [("Sx", None)]),
        ([("Sx", "Sy"), ("Sx", "Sy"), ("Sz", "Sy")], [("Sz", "Sy")], [("Sx", "Sy"), ("Sx", "Sy")]),
        ([("Sx", None), (None, "Sx")], [(None, "Sx")], [("Sx", None)]),
        ([("S:2:S", "S")], [("S", "S:2:S")], [("S:2:S", "S")]),
        ([("S", None)], [("S", "S")], [("S", None)]),
        ([("Sx", "Sy")], [], [("Sx", "Sy")]),
        ([], [("Sx", "Sy")], []),
    ],
)
def test_rows_without_those_of_another_instant(rows: list[Row], others: list[Row], left: list[Row]) -> None:
    found = without(table(rows), table(others))
    assert [(row["a"], row["b"]) for row in found.to_pylist()] == left


def test_rows_without_variables_are_all_equal() -> None:
    one = table([("Sx", "Sy")]).select(["i", "j"])
    assert without(one, one).num_rows == 0
    assert without(one, one.slice(0, 0)).num_rows == 1
