"""Files of decoded rows: the survey of a stream keeps what it has read, so that no task decodes it again.

Terms are numbers in these files, next to the distinct terms of each batch, and tasks map the files into memory. The
folder is temporary and on the driver's machine; executors elsewhere do not find it, and read the stream again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

_TERMS = ("s", "p", "o", "g")
"""`g` are the names of elements, which most streams do not have."""

_NUMBERED_TERM = pa.dictionary(pa.int32(), pa.string())
_SCHEMA = pa.schema([(name, _NUMBERED_TERM) for name in _TERMS] + [(name, pa.int64()) for name in ("ts", "element")])


class Keeping:
    """Writes tables (`batches.SCHEMA`) to a file, which appears when the block ends without an error.

    There is no file without access to its folder, or where a table cannot be written: the disk may be full.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file if file is not None and os.access(file.parent, os.W_OK) else None
        self._stream: pa.ipc.RecordBatchStreamWriter | None = None
        self._sink: pa.OSFile | None = None

    def __enter__(self) -> Keeping:
        if self._file is not None:
            with self._giving_up():
                self._sink = pa.OSFile(str(self._unfinished), "wb")
                self._stream = pa.ipc.new_stream(self._sink, _SCHEMA)
        return self

    def write(self, table: pa.Table) -> None:
        if self._stream is not None:
            with self._giving_up():
                self._stream.write_table(with_numbered_terms(table))

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._file is None:
            return
        with self._giving_up():
            if self._stream is not None and self._sink is not None:
                self._stream.close()
                self._sink.close()
                if kind is None:
                    self._unfinished.rename(self._file)
        self._unfinished.unlink(missing_ok=True)

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """Stop writing if the block fails."""
        try:
            yield
        except OSError:
            self._stream = None

    @property
    def _unfinished(self) -> Path:
        assert self._file is not None
        return self._file.with_suffix(f".{os.getpid()}")


def with_numbered_terms(table: pa.Table) -> pa.Table:
    """A table of rows as it is in a file, whether or not its elements have names."""
    columns = [table[name].combine_chunks() if name in table.column_names else None for name in _SCHEMA.names]
    nothing = pa.nulls(table.num_rows, pa.string())
    return pa.table(
        [
            (nothing if column is None else column).dictionary_encode() if field.name in _TERMS else column
            for field, column in zip(_SCHEMA, columns, strict=True)
        ],
        schema=_SCHEMA,
    )


def kept_tables(file: Path | None) -> Iterator[pa.Table] | None:
    """The tables of a file; None if there is no such file."""
    return _tables(file) if file is not None and os.access(file, os.R_OK) else None


def _tables(file: Path) -> Iterator[pa.Table]:
    with pa.memory_map(str(file)) as text, pa.ipc.open_stream(text) as stream:
        for batch in stream:
            yield pa.Table.from_batches([batch])
