"""The formats of answers, and which queries they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.algebra.model import AskForm, ConstructForm, DescribeForm, QueryForm, SelectForm
from penstock.sinks.errors import SinkError
from penstock.sinks.lines import Csv, JsonLines, NQuads, RdfMessages, TimedTriples, TriG, Tsv, Writer


class FormatOptions(NamedTuple):
    """How a format is written."""

    prefixes: Mapping[str, str]
    is_terminal: bool = False
    has_names: bool = False
    """Whether the output names the query of each answer."""
    are_messages: bool = False
    """Whether each evaluation is written by itself, for a broker."""


@dataclass(frozen=True, slots=True)
class _Format:
    forms: tuple[type[QueryForm], ...]
    writer: Callable[[FormatOptions], Writer] | None
    """None for a binary format."""
    media_type: str = ""
    """The media type of messages; "" if messages cannot have this format."""
    is_of_one: bool = False
    """Whether it cannot contain the answers of several queries."""
    is_hidden: bool = False
    """Whether it is another format with an option of its own, or one that its receiver determines."""


def _tables(options: FormatOptions) -> Writer:
    from penstock.sinks.tables import ResultTables  # slow to load

    return ResultTables(options.prefixes, options.is_terminal, options.has_names)


def _jelly(options: FormatOptions) -> Writer:
    try:
        from penstock.sinks.jelly import Jelly
    except ImportError:
        raise SinkError("jelly needs a package that is not installed: pip install 'penstock[jelly]'") from None
    return Jelly(is_delimited=not options.are_messages)


def _update_graphs(options: FormatOptions) -> Writer:
    from penstock.sinks.sparql_update import UpdateGraphs

    return UpdateGraphs()


PARQUET = "parquet"
SAFE_CSV = "csv-safe"
"""CSV without formulas."""
UPDATE = "sparql-update"
"""What an endpoint for updates receives."""

_ALL: tuple[type[QueryForm], ...] = (SelectForm, AskForm, ConstructForm, DescribeForm)
_GRAPHS: tuple[type[QueryForm], ...] = (ConstructForm, DescribeForm)
_MESSAGES = 'application/trig; version="1.2-messages"'

_FORMATS: dict[str, _Format] = {
    "jsonl": _Format(_ALL, lambda options: JsonLines(), "application/json"),
    "table": _Format(_ALL, _tables),
    "csv": _Format((SelectForm,), lambda options: Csv(), "text/csv", is_of_one=True),
    SAFE_CSV: _Format((SelectForm,), lambda options: Csv(is_safe=True), "text/csv", is_of_one=True, is_hidden=True),
    "tsv": _Format((SelectForm,), lambda options: Tsv(), "text/tab-separated-values", is_of_one=True),
    "nquads": _Format(_GRAPHS, lambda options: NQuads(), "application/n-quads"),
    "trig": _Format(_GRAPHS, lambda options: TriG(options.prefixes), "application/trig"),
    "tnt": _Format(_GRAPHS, lambda options: TimedTriples(), "text/plain", is_of_one=True),
    "messages": _Format(_GRAPHS, lambda options: RdfMessages(options.prefixes), _MESSAGES),
    "jelly": _Format(_GRAPHS, _jelly, "application/x-jelly-rdf"),
    PARQUET: _Format(_ALL, None),
    UPDATE: _Format(_GRAPHS, _update_graphs, "application/sparql-update", is_hidden=True),
}
FORMATS = tuple(name for name, format in _FORMATS.items() if not format.is_hidden)
"""The formats that there are; and `SAFE_CSV`."""

_NAMES: dict[type[QueryForm], str] = {
    SelectForm: "SELECT", AskForm: "ASK", ConstructForm: "CONSTRUCT", DescribeForm: "DESCRIBE"
}  # fmt: skip


def writer(format: str, options: FormatOptions) -> Writer:
    """Raises SinkError where a package is missing."""
    made = _FORMATS[format].writer
    assert made is not None
    return made(options)


def media_type(format: str) -> str:
    return _FORMATS[format].media_type


def variables_of(forms: Sequence[QueryForm]) -> tuple[str, ...]:
    """The columns of SELECT queries."""
    return tuple(variable.name for form in forms if isinstance(form, SelectForm) for variable in form.variables)


def check_fits(format: str, *forms: QueryForm, are_messages: bool = False) -> None:
    """Raise `SinkError` if there is no such format, or if it cannot hold the answers of the queries.

    `are_messages`: they are sent to a broker or an endpoint.
    """
    if format not in _FORMATS:
        raise SinkError(f"there is no format {format}: write {_list(FORMATS)}")
    for form in forms:
        _check_form(format, form)
    if are_messages and not _FORMATS[format].media_type:
        fitting = (other for other in FORMATS if _FORMATS[other].media_type)
        raise SinkError(f"{format} cannot be sent as messages: choose {_list(fitting)}")
    if len(forms) > 1 and _FORMATS[format].is_of_one:
        fitting = (
            other
            for other in FORMATS
            if not _FORMATS[other].is_of_one and all(type(form) in _FORMATS[other].forms for form in forms)
        )
        raise SinkError(f"{format} is for a single query, but there are {len(forms)}: choose {_list(fitting)}")


def _check_form(format: str, form: QueryForm) -> None:
    name = _NAMES[type(form)]
    if type(form) not in _FORMATS[format].forms:
        fitting = _list(other for other in FORMATS if type(form) in _FORMATS[other].forms)
        forms = _list(_NAMES[known] for known in _FORMATS[format].forms)
        if format == UPDATE:
            raise SinkError(f"a SPARQL Update endpoint stores results of {forms}, but this is {name}")
        raise SinkError(f"{format} is for {forms}, but this is {name}: choose {fitting}")
    has_graphs = isinstance(form, ConstructForm) and any(graph is not None for _, graph in form.template)
    if has_graphs and _FORMATS[format].forms == _GRAPHS:
        raise SinkError(
            f"the query puts triples into named graphs, and in {format} each evaluation is one graph: choose jsonl"
        )


def _list(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
