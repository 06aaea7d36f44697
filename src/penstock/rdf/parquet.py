"""Triples in Parquet: a table with the columns s, p and o, whose values are terms as N-Triples (`<http://ex.org/a>`)."""

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
    """The three columns, as texts. Raises `SourceError` where the file is no Parquet, or has not these columns."""
    import pyarrow as pa  # not worth loading for those who read no Parquet
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            check_columns(path, {field.name: str(field.type) for field in file.schema_arrow})
            for batch in file.iter_batches(most_rows, columns=list(COLUMNS)):
                yield batch.select(COLUMNS).cast(pa.schema([(name, pa.large_string()) for name in COLUMNS]))
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(f"{path}: this cannot be read as Parquet ({str(error).splitlines()[0]})") from None


def check_columns(path: Path, types: dict[str, str]) -> None:
    """Raises `SourceError` where a column is missing or holds no texts; `types` are those of all columns."""
    missing = [name for name in COLUMNS if name not in types]
    if missing:
        found = ", ".join(types) or "none"
        raise SourceError(f"{path}: a graph has the columns s, p and o, and this one has {found}: rename them")
    for name in COLUMNS:
        if "string" not in types[name]:
            raise SourceError(
                f"{path}: the column {name} holds {types[name]}, and not terms as texts of N-Triples, such as "
                '<http://ex.org/a> or "1"^^<http://www.w3.org/2001/XMLSchema#integer>'
            )


def triple_of_row(path: Path, number: int, row: Sequence[str | None], rename: Rename) -> Triple:
    """The triple of a row, which is number `number` from 1 on. Raises `SourceError`."""
    try:
        if None in row:
            raise ReadingError("a term is missing")
        (statement,) = parse_statements(f"{' '.join(map(str, row))} .", RdfFormat.N_TRIPLES, rename)
    except ReadingError as error:
        raise SourceError(f"{path}, row {number}: {error.reason}; terms are texts of N-Triples") from None
    except ValueError:
        raise SourceError(f"{path}, row {number}: this is not one triple; terms are texts of N-Triples") from None
    return statement.triple
