"""The formats of answers, and which queries they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.algebra.model import AskForm, ConstructForm, DescribeForm, QueryForm, SelectForm
from penstock.sinks.errors import SinkError
from penstock.sinks.lines import Csv, JsonLines, NQuads, RdfMessages, TimedTriples, TriG, Tsv, Writer


class Manner(NamedTuple):
    """How a format is written."""

    prefixes: Mapping[str, str]
    is_terminal: bool = False
    has_names: bool = False
    """Whether the answers of several queries are to be told apart."""
    are_messages: bool = False
    """Whether each evaluation is written by itself, for a broker."""


@dataclass(frozen=True, slots=True)
class _Format:
    forms: tuple[type[QueryForm], ...]
    writer: Callable[[Manner], Writer] | None
    """None of a format that is no text."""
    media_type: str = ""
    """Of messages; "" where the format is not for them."""
    is_of_one: bool = False
    """Whether it does not tell the answers of one query from those of another."""
    is_hidden: bool = False
    """Whether it is another format with an option of its own, or one that its receiver determines."""


def _tables(manner: Manner) -> Writer:
    from penstock.sinks.tables import Tables  # slow to load

    return Tables(manner.prefixes, manner.is_terminal, manner.has_names)


def _jelly(manner: Manner) -> Writer:
    try:
        from penstock.sinks.jelly import Jelly
    except ImportError:
        raise SinkError("jelly needs a package that is not installed: pip install 'penstock[jelly]'") from None
    return Jelly(is_delimited=not manner.are_messages)


def _update_graphs(manner: Manner) -> Writer:
    from penstock.sinks.sparql_update import UpdateGraphs

    return UpdateGraphs()


PARQUET = "parquet"
SAFE_CSV = "csv-safe"
"""CSV in which nothing is a formula."""
UPDATE = "sparql-update"
"""What an endpoint for updates receives."""

_ALL: tuple[type[QueryForm], ...] = (SelectForm, AskForm, ConstructForm, DescribeForm)
_GRAPHS: tuple[type[QueryForm], ...] = (ConstructForm, DescribeForm)
_MESSAGES = 'application/trig; version="1.2-messages"'

_FORMATS: dict[str, _Format] = {
    "jsonl": _Format(_ALL, lambda manner: JsonLines(), "application/json"),
    "table": _Format(_ALL, _tables),
    "csv": _Format((SelectForm,), lambda manner: Csv(), "text/csv", is_of_one=True),
    SAFE_CSV: _Format((SelectForm,), lambda manner: Csv(is_safe=True), "text/csv", is_of_one=True, is_hidden=True),
    "tsv": _Format((SelectForm,), lambda manner: Tsv(), "text/tab-separated-values", is_of_one=True),
    "nquads": _Format(_GRAPHS, lambda manner: NQuads(), "application/n-quads"),
    "trig": _Format(_GRAPHS, lambda manner: TriG(manner.prefixes), "application/trig"),
    "tnt": _Format(_GRAPHS, lambda manner: TimedTriples(), "text/plain", is_of_one=True),
    "messages": _Format(_GRAPHS, lambda manner: RdfMessages(manner.prefixes), _MESSAGES),
    "jelly": _Format(_GRAPHS, _jelly, "application/x-jelly-rdf"),
    PARQUET: _Format(_ALL, None),
    UPDATE: _Format(_GRAPHS, _update_graphs, "application/sparql-update", is_hidden=True),
}
FORMATS = tuple(name for name, format in _FORMATS.items() if not format.is_hidden)
"""The formats that there are; and `SAFE_CSV`."""

_NAMES: dict[type[QueryForm], str] = {
    SelectForm: "SELECT", AskForm: "ASK", ConstructForm: "CONSTRUCT", DescribeForm: "DESCRIBE"
}  # fmt: skip


def writer(format: str, manner: Manner) -> Writer:
    """Raises SinkError where a package is missing."""
    made = _FORMATS[format].writer
    assert made is not None
    return made(manner)


def media_type(format: str) -> str:
    return _FORMATS[format].media_type


def variables_of(forms: Sequence[QueryForm]) -> tuple[str, ...]:
    """The columns of SELECT queries."""
    return tuple(variable.name for form in forms if isinstance(form, SelectForm) for variable in form.variables)


def check_fits(format: str, *forms: QueryForm, are_messages: bool = False) -> None:
    """Raise `SinkError` where there is no such format, or where the answers of queries do not fit it.

    `are_messages`: they are sent to a broker or an endpoint.
    """
    if format not in _FORMATS:
        raise SinkError(f"there is no format {format}: write {_list(FORMATS)}")
    for form in forms:
        _check_form(format, form)
    if are_messages and not _FORMATS[format].media_type:
        fitting = (other for other in FORMATS if _FORMATS[other].media_type)
        raise SinkError(f"messages have no format {format}: choose {_list(fitting)}")
    if len(forms) > 1 and _FORMATS[format].is_of_one:
        fitting = (
            other
            for other in FORMATS
            if not _FORMATS[other].is_of_one and all(type(form) in _FORMATS[other].forms for form in forms)
        )
        raise SinkError(f"{format} holds the answers of one query, and there are {len(forms)}: choose {_list(fitting)}")


def _check_form(format: str, form: QueryForm) -> None:
    name = _NAMES[type(form)]
    if type(form) not in _FORMATS[format].forms:
        fitting = _list(other for other in FORMATS if type(form) in _FORMATS[other].forms)
        forms = _list(_NAMES[known] for known in _FORMATS[format].forms)
        if format == UPDATE:
            raise SinkError(f"an endpoint for updates stores the answers of {forms}, and this is {name}")
        raise SinkError(f"{format} holds the answers of {forms}, and this is {name}: choose {fitting}")
    has_graphs = isinstance(form, ConstructForm) and any(graph is not None for _, graph in form.template)
    if has_graphs and _FORMATS[format].forms == _GRAPHS:
        raise SinkError(
            f"the query puts triples into named graphs, and in {format} each evaluation is one graph: choose jsonl"
        )


def _list(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
