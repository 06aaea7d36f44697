"""The queries of a command: read, checked, and registered with an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.chaining import Chain, distinct_names
from penstock.algebra.inputs import InputError
from penstock.algebra.model import QueryForm
from penstock.cli.messages import show, show_problems
from penstock.cli.mistakes import told
from penstock.cli.output import query_name
from penstock.cli.query_text import STANDARD_INPUT, name_of, read_source
from penstock.cli.run_options import RunOptions, is_standard_input, known_prefixes
from penstock.syntax import ast
from penstock.syntax.query_reader import read

if TYPE_CHECKING:
    from penstock.api.engine import Engine
    from penstock.api.queries import RegisteredQuery


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries by their names, and the streams that they produce for each other.

    `title` begins messages about all of them; `prefixes` are those of `--prefix` and of the queries; `reading` are the
    options that the texts were read with.
    """

    title: str
    texts: Mapping[str, str]
    queries: Mapping[str, ast.Query]
    chain: Chain
    prefixes: Mapping[str, str]
    reading: Mapping[str, Any]

    @property
    def forms(self) -> list[QueryForm]:
        return [query.form for query in self.chain.queries.values()]

    def register(self, engine: Engine, run: RunOptions, **options: Any) -> list[RegisteredQuery]:
        """Register the queries with an engine; `options` are those of `Engine.register`."""
        registered = [
            engine.register(text, name=name, **self.reading, **run.register_options, **options)
            for name, text in self.texts.items()
        ]
        return list({query.name: query for query in registered}.values())


def read_queries(
    given: Sequence[str], run: RunOptions, *, dialect: str, prefixes: Mapping[str, str], base: str | None
) -> QuerySet:
    """The queries of a command; ends it with status 2 where one is wrong, or they do not fit together."""
    title = ", ".join(map(name_of, given))
    reading = {"dialect": dialect, "prefixes": prefixes, "base": base}
    texts, queries, meanings = zip(*(_read(query, reading) for query in given), strict=True)
    names = distinct_names(
        meaning.name or query_name(query) for query, meaning in zip(given, meanings, strict=True)
    )  # fmt: skip
    with told(title):
        if given.count(STANDARD_INPUT) > 1:
            raise InputError("standard input is one query: name a file for the other")
        chain = Chain(dict(zip(names, meanings, strict=True)))
        known = known_prefixes(chain, prefixes)
        bindings = run.stream_bindings(chain, known)
        if STANDARD_INPUT in given and any(map(is_standard_input, bindings.values())):
            raise InputError("the query was read from standard input, which cannot be a stream as well: name a file")
        for name in names:
            _check_bound(name, chain, bindings)
    if any(meaning.dataset.windows for meaning in meanings) and not bindings and not chain.external:
        show(title, "warning", "no stream is bound, so nothing is evaluated: --stream FILE binds one", ())
    by_name = dict(zip(names, texts, strict=True)), dict(zip(names, queries, strict=True))
    return QuerySet(title, *by_name, chain, known, reading)


def _read(query: str, options: Mapping[str, Any]) -> tuple[str, ast.Query, ContinuousQuery]:
    name = name_of(query)
    with told(name):
        text = read_source(query)
        reading = read(text, **options)
        show_problems(reading.warnings, text, name)
        return text, reading.query, build(reading.query, Settings())


def _check_bound(name: str, chain: Chain, bindings: Mapping[str, str]) -> None:
    if len(chain.queries) > 1:
        chain.streams_of(name, bindings)
        return
    for stream in chain.external:
        if stream not in bindings:
            raise InputError(
                f"the query reads the stream <{stream}>, which is not bound: bind it with --stream {stream}=FILE"
            )
