"""A short way to ask the oracle: queries with the prefix `:`, streams and answers that fit on a line.

A stream is either lines `TIME TURTLE`, as in `3 :a :p :b`, an element each, or, where only the window matters, words
such as `3a 5b 5c`: the element at 3 says `:a a :Thing`, those at 5 `:b a :Thing` and `:c a :Thing`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, Triple, parse

import penstock
from penstock.algebra import Settings
from penstock.algebra.inputs import ALWAYS, GraphTriple
from penstock.algebra.windows import Interval
from penstock.oracle import Answer, Inputs, answer
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation
from penstock.syntax import ast
from penstock.syntax.parser.reports import parse_report

EX = "http://ex.org/"
STREAM = EX + "s"

Stream = str | Sequence[Element]
Answers = dict[int, list[str]]


# What goes in


def elements(text: str) -> list[Element]:
    """The elements of a stream, in the order of the text."""
    if re.fullmatch(r"\s*(?:-?\d+[a-z]\s*)*", text):
        return [Element(int(word[:-1]), triples(f":{word[-1]} a :Thing .")) for word in text.split()]
    lines = (line.split(maxsplit=1) for line in text.strip().splitlines())
    return [Element(int(time), triples(turtle + " .")) for time, turtle in lines]


def graph(turtle: str) -> list[GraphTriple]:
    """A static graph."""
    return [GraphTriple(triple, ALWAYS) for triple in triples(turtle)]


def changing(text: str) -> list[GraphTriple]:
    """A graph that changes: lines `START END TRIPLE`; START `-` is before all, END `-` is never."""
    lines = (line.split(maxsplit=2) for line in text.strip().splitlines())
    return [
        GraphTriple(triple, Interval(ALWAYS.start if start == "-" else int(start), None if end == "-" else int(end)))
        for start, end, turtle in lines
        for triple in triples(turtle + " .")
    ]


def triples(turtle: str) -> tuple[Triple, ...]:
    return tuple(quad.triple for quad in parse(f"@prefix : <{EX}> . {turtle}", RdfFormat.TURTLE))


# What comes out


def ask(
    text: str,
    stream: Stream | Mapping[str, Stream] = (),
    dialect: str = "auto",
    *,
    graphs: Mapping[str | None, Sequence[GraphTriple]] | None = None,
    static: str = "",
    t0: int | Literal["first"] = 0,
    report: str | None = None,
    operator: ast.Operator | None = None,
    duplicates: Literal["set", "bag"] | None = None,
    lateness: int = 0,
    flush: bool = False,
) -> Answer:
    """The oracle's answer. `stream` is bound to :s, or a mapping of names to streams; `static` is the default graph."""
    streams = stream if isinstance(stream, Mapping) else {"s": stream}
    bound: dict[str | None, Sequence[GraphTriple]] = {
        None if name is None else EX + name: content for name, content in (graphs or {}).items()
    }
    if static:
        bound[None] = graph(static)
    inputs = Inputs(
        {EX + name: elements(s) if isinstance(s, str) else list(s) for name, s in streams.items()}, bound, lateness
    )
    settings = Settings(None if report is None else parse_report(report), operator, duplicates, t0)
    return answer(penstock.parse(text, dialect, prefixes={"": EX}), inputs, settings, flush=flush)


def shown(answer: Answer, *, empty: bool = False, ordered: bool = False) -> Answers:
    """The instants and what came out at each: rows `a b -`, sorted unless `ordered`; if `empty`, also those without."""
    evaluations = answer.evaluations if empty else list(answer.with_solutions())
    found: Answers = {}
    for evaluation in evaluations:
        assert evaluation.time not in found, f"two evaluations at {evaluation.time}"
        items = [_row(item) for item in _items(evaluation)]
        found[evaluation.time] = items if ordered else sorted(items)
    assert list(found) == sorted(found), "evaluations are in time order"
    return found


def _items(evaluation: Evaluation) -> Sequence[object]:
    if evaluation.boolean is not None:
        return [str(evaluation.boolean).lower()]
    return evaluation.rows if evaluation.rows is not None else evaluation.triples or ()


def _row(item: object) -> str:
    if isinstance(item, Quad):
        return " ".join(map(_term, (item.subject, item.predicate, item.object, item.graph_name)))
    if isinstance(item, Triple):
        return " ".join(map(_term, (item.subject, item.predicate, item.object)))
    return " ".join(map(_term, item)) if isinstance(item, tuple) else str(item)


def _term(term: object) -> str:
    if term is None:
        return "-"
    if isinstance(term, BlankNode):
        return "_"
    return term.value.removeprefix(EX) if isinstance(term, NamedNode) else term.value  # type: ignore[attr-defined]


# Contents of windows

WINDOW_IN = {
    "rspql": "SELECT ?x FROM NAMED WINDOW :w ON STREAM :s [{}] WHERE {{ WINDOW :w {{ ?x a :Thing }} }}",
    "csparql": "SELECT ?x FROM STREAM :s [{}] WHERE {{ ?x a :Thing }}",
    "cqels": "SELECT ?x WHERE {{ STREAM :s [{}] {{ ?x a :Thing }} }}",
    "sparqlstream": "SELECT ?x FROM STREAM :s [{}] WHERE {{ ?x a :Thing }}",
    "streaming-sparql": "SELECT ?x FROM STREAM :s {} WHERE {{ ?x a :Thing }}",
}


def content(
    dialect: str,
    window: str,
    stream: str,
    *,
    operator: ast.Operator = "rstream",
    empty: bool = False,
    **settings: object,
) -> dict[int, str]:
    """What the window holds at each evaluation instant, as in `{10: "ab"}`."""
    found = ask(WINDOW_IN[dialect].format(window), stream, dialect, operator=operator, **settings)  # type: ignore[arg-type]
    return {time: "".join(rows) for time, rows in shown(found, empty=empty).items()}
