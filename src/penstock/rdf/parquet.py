"""Triples in Parquet: a table with the columns s, p and o, whose values are N-Triples terms (`<http://ex.org/a>`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import RdfFormat, Triple

from penstock.rdf.blank_nodes import Rename
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.parser import parse_statements

if TYPE_CHECKING:
    import pyarrow as pa

ENDING = ".parquet"
COLUMNS = ("s", "p", "o")


def batches_of_terms(path: Path, most_rows: int) -> Iterator[pa.RecordBatch]:
    """The three columns as strings. Raises `SourceError` if the file is not Parquet or lacks these columns."""
    import pyarrow as pa  # loaded only if Parquet is read
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            check_columns(path, {field.name: str(field.type) for field in file.schema_arrow})
            for batch in file.iter_batches(most_rows, columns=list(COLUMNS)):
                yield batch.select(COLUMNS).cast(pa.schema([(name, pa.large_string()) for name in COLUMNS]))
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(f"{path}: this file cannot be read as Parquet ({str(error).splitlines()[0]})") from None


def check_columns(path: Path, types: dict[str, str]) -> None:
    """Raises `SourceError` if a column is missing or does not contain strings; `types` maps columns to types."""
    missing = [name for name in COLUMNS if name not in types]
    if missing:
        found = ", ".join(types) or "none"
        raise SourceError(f"{path}: a graph needs the columns s, p and o, but this file has {found}: rename them")
    for name in COLUMNS:
        if "string" not in types[name]:
            raise SourceError(
                f"{path}: the column {name} contains {types[name]} instead of terms as N-Triples strings, such as "
                '<http://ex.org/a> or "1"^^<http://www.w3.org/2001/XMLSchema#integer>'
            )


def triple_of_row(path: Path, number: int, row: Sequence[str | None], rename: Rename) -> Triple:
    """The triple of a row; `number` counts from 1. Raises `SourceError`."""
    try:
        if None in row:
            raise ReadingError("a term is missing")
        (statement,) = parse_statements(f"{' '.join(map(str, row))} .", RdfFormat.N_TRIPLES, rename)
    except ReadingError as error:
        raise SourceError(f"{path}, row {number}: {error.reason}; write terms as N-Triples strings") from None
    except ValueError:
        raise SourceError(f"{path}, row {number}: this is not one triple; write terms as N-Triples strings") from None
    return statement.triple
