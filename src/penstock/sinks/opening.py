"""Sinks by what people write: a file or `-`, and a format that fits the query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from penstock.algebra.model import AskForm, ConstructForm, DescribeForm, QueryForm, SelectForm
from penstock.rdf.result_batches import ResultBatch
from penstock.sinks.errors import SinkError
from penstock.sinks.lines import Csv, JsonLines, NQuads, TimedTriples, TriG, Tsv, Writer
from penstock.sinks.targets import Target, open_target


@dataclass(frozen=True, slots=True)
class _Format:
    forms: tuple[type[QueryForm], ...]
    writer: Callable[[_Manner], Writer]
    is_of_one: bool = False
    """Whether it does not tell the answers of one query from those of another."""
    is_variant: bool = False
    """Whether it is another format with an option of its own."""


class _Manner(NamedTuple):
    prefixes: Mapping[str, str]
    target: Target
    has_names: bool
    """Whether the answers of several queries are to be told apart."""


def _tables(manner: _Manner) -> Writer:
    from penstock.sinks.tables import Tables  # slow to load

    return Tables(manner.prefixes, manner.target.is_terminal, manner.has_names)


SAFE_CSV = "csv-safe"
"""CSV in which nothing is a formula."""

_ALL: tuple[type[QueryForm], ...] = (SelectForm, AskForm, ConstructForm, DescribeForm)
_GRAPHS: tuple[type[QueryForm], ...] = (ConstructForm, DescribeForm)

_FORMATS: dict[str, _Format] = {
    "jsonl": _Format(_ALL, lambda manner: JsonLines()),
    "table": _Format(_ALL, _tables),
    "csv": _Format((SelectForm,), lambda manner: Csv(), is_of_one=True),
    SAFE_CSV: _Format((SelectForm,), lambda manner: Csv(is_safe=True), is_of_one=True, is_variant=True),
    "tsv": _Format((SelectForm,), lambda manner: Tsv(), is_of_one=True),
    "nquads": _Format(_GRAPHS, lambda manner: NQuads()),
    "trig": _Format(_GRAPHS, lambda manner: TriG(manner.prefixes)),
    "tnt": _Format(_GRAPHS, lambda manner: TimedTriples(), is_of_one=True),
}
FORMATS = tuple(name for name, format in _FORMATS.items() if not format.is_variant)
"""The formats that there are; and `SAFE_CSV`."""

_NAMES: dict[type[QueryForm], str] = {
    SelectForm: "SELECT", AskForm: "ASK", ConstructForm: "CONSTRUCT", DescribeForm: "DESCRIBE"
}  # fmt: skip


def open_sink(
    target: str | Path,
    format: str,
    *forms: QueryForm,
    prefixes: Mapping[str, str] | None = None,
    position: int | None = None,
) -> Sink:
    """Answers of queries, these being their forms, to a file, or to standard output (`-`).

    `format` is one of `FORMATS`; `prefixes` shorten IRIs where the format can. With a `position`, which an earlier sink
    gave, what is behind it in the file is cut off, and writing goes on there.

    >>> sink = open_sink("answer.csv", "csv", query.form)  # doctest: +SKIP

    Raises `SinkError` where the format does not fit the query, or the file cannot be written.
    """
    check_fits(format, *forms)
    opened = open_target(target, position)
    variables = [variable.name for form in forms if isinstance(form, SelectForm) for variable in form.variables]
    return Sink(opened, _FORMATS[format].writer(_Manner(prefixes or {}, opened, len(forms) > 1)), tuple(variables))


def check_fits(format: str, *forms: QueryForm) -> None:
    """Raise `SinkError` where there is no such format, or where the answers of queries do not fit it."""
    if format not in _FORMATS:
        raise SinkError(f"there is no format {format}: write {_list(FORMATS)}")
    for form in forms:
        _check_form(format, form)
    if len(forms) > 1 and _FORMATS[format].is_of_one:
        fitting = _list(
            other
            for other in FORMATS
            if not _FORMATS[other].is_of_one and all(type(form) in _FORMATS[other].forms for form in forms)
        )
        raise SinkError(f"{format} holds the answers of one query, and there are {len(forms)}: choose {fitting}")


def _check_form(format: str, form: QueryForm) -> None:
    name = _NAMES[type(form)]
    if type(form) not in _FORMATS[format].forms:
        fitting = _list(other for other in FORMATS if type(form) in _FORMATS[other].forms)
        forms = _list(_NAMES[known] for known in _FORMATS[format].forms)
        raise SinkError(f"{format} holds the answers of {forms}, and this is {name}: choose {fitting}")
    has_graphs = isinstance(form, ConstructForm) and any(graph is not None for _, graph in form.template)
    if has_graphs and _FORMATS[format].forms == _GRAPHS:
        raise SinkError(
            f"the query puts triples into named graphs, and in {format} each evaluation is one graph: choose jsonl"
        )


def _list(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


class Sink:
    """Takes answers, one after the other; `variables` are those of a SELECT query."""

    def __init__(self, target: Target, writer: Writer, variables: tuple[str, ...]) -> None:
        self._target = target
        self._writer = writer
        self._variables = variables
        self._texts: WeakKeyDictionary[ResultBatch, pa.Array] = WeakKeyDictionary()
        """Those of batches that are being written: a batch may be written in parts, between others."""

    def write(self, batch: ResultBatch, which: range | None = None) -> None:
        """Write some evaluations of a batch, which follow each other, or all."""
        which = range(len(batch)) if which is None else which
        self._begin()
        if batch not in self._texts:
            self._texts[batch] = self._writer.texts(batch)
        texts = self._texts[batch]
        _, offsets, content = texts.buffers()
        if which and content is not None:
            bounds = np.frombuffer(offsets, np.int64)
            self._target.write(content[bounds[texts.offset + which.start] : bounds[texts.offset + which.stop]])

    def _begin(self) -> None:
        if self._target.is_empty:
            self._target.write(self._writer.beginning(self._variables).encode())

    def flush(self) -> None:
        """Let readers see what was written."""
        self._target.flush()

    def position(self) -> int | None:
        """How many bytes there are, all of them safe on the disk; None where the target keeps nothing."""
        return self._target.position()

    def close(self) -> None:
        self._target.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception):  # an answer without solutions has a header, too, also after Ctrl-C
            self._begin()
        self.close()
