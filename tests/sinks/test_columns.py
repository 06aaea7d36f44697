"""The writers of columns against plain code that formats one evaluation at a time, term by term."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple
from tests.rdf.result_lines import to_json_line

from penstock.rdf import terms
from penstock.rdf.elements import Node, Row
from penstock.rdf.instants import FIRST_DATE, instant_text
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.rdf.stream_reader import GENERATED_AT_TIME
from penstock.rdf.vocabulary import XSD, XSD_STRING
from penstock.sinks.lines import Csv, JsonLines, NQuads, TimedTriples, TriG, Tsv, Writer

PREFIXES = {"ex": "http://ex.org/", "deep": "http://ex.org/a/", "xsd": XSD, "": "http://ex.org/été#"}

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.sampled_from("\"\\\n\r\t\b\f\x00\x0b\x1f\x7f\x85\u2028\ufffe\uffff =+-@＝,; aé😀'")),
    st.sampled_from(["7", "-1.50", "+3", "1e3", "=1+1", " @x", "true", "007", "", "-x", "2024-05-01T12:00:00Z"]),
)
iris = st.builds(
    lambda base, rest: NamedNode(base + rest),
    st.sampled_from(["http://ex.org/", "http://ex.org/a/", "urn:x:", "http://ex.org/été#", "http://ex.org/a"]),
    st.text(st.sampled_from("aZ0._-,/é'")),
)
datatypes = st.one_of(
    st.sampled_from("string integer decimal double float boolean dateTime int byte date duration".split()).map(
        lambda name: NamedNode(XSD + name)
    ),
    iris,
)
literals = st.one_of(
    st.builds(Literal, texts),
    st.builds(lambda text, language: Literal(text, language=language), texts, st.sampled_from(["en", "de-AT"])),
    st.builds(lambda text, datatype: Literal(text, datatype=datatype), texts, datatypes),
)
blank_nodes = st.builds(lambda number: BlankNode(f"s1.0.b{number}"), st.integers(0, 3))
nodes = st.one_of(iris, blank_nodes, literals)

names = st.sampled_from(["q", 'a "query"', "été/1"])
instants = st.one_of(st.integers(-5, 5), st.integers(FIRST_DATE - 1500, FIRST_DATE + 1500))


@st.composite
def selected(draw: st.DrawFn) -> list[Evaluation]:
    variables = tuple(draw(st.lists(st.sampled_from(["x", "time", "é"]), unique=True)))
    rows = st.tuples(*(st.one_of(st.none(), nodes) for _ in variables))
    return [
        Evaluation(draw(names), time, variables, tuple(draw(st.lists(rows, max_size=4))))
        for time in draw(st.lists(instants, min_size=1, max_size=3))
    ]


@st.composite
def constructed(draw: st.DrawFn, *, has_graphs: bool = False) -> list[Evaluation]:
    triples = st.builds(Triple, st.one_of(iris, blank_nodes), iris, nodes)
    quads = st.builds(lambda t, g: Quad(t.subject, t.predicate, t.object, g), triples, st.one_of(iris, blank_nodes))
    each = st.one_of(triples, quads) if has_graphs else triples
    return [
        Evaluation(draw(names), time, triples=tuple(draw(st.lists(each, max_size=4))))
        for time in draw(st.lists(instants, min_size=1, max_size=3))
    ]


asking = st.builds(lambda name, time, value: Evaluation(name, time, boolean=value), names, instants, st.booleans())
asked = st.lists(asking, min_size=1)


def written(writer: Writer, evaluations: Sequence[Evaluation]) -> list[str]:
    """All evaluations in one batch."""
    batch = ResultBatch.together([ResultBatch.of(evaluation) for evaluation in evaluations])
    assert list(batch.evaluations()) == list(evaluations)
    found: list[str] = writer.texts(batch).to_pylist()
    return found


@given(st.one_of(selected(), constructed(), constructed(has_graphs=True), asked))
def test_json_lines(evaluations: list[Evaluation]) -> None:
    assert written(JsonLines(), evaluations) == [to_json_line(evaluation) + "\n" for evaluation in evaluations]


@given(selected(), st.booleans())
def test_csv(evaluations: list[Evaluation], is_safe: bool) -> None:
    def cell(term: Node | None) -> str:
        if term is None or isinstance(term, BlankNode):
            return "" if term is None else str(term)
        value = term.value
        is_formula = re.match(r"\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n]", value)
        is_number = re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", value)
        value = f"'{value}" if is_safe and is_formula and not is_number else value
        return '"' + value.replace('"', '""') + '"' if re.search(r'[",\r\n]', value) else value

    assert written(Csv(is_safe=is_safe), evaluations) == by_rows(evaluations, cell, ",", "\r\n")


@given(selected())
def test_tsv(evaluations: list[Evaluation]) -> None:
    expected = by_rows(evaluations, lambda term: "" if term is None else str(term), "\t", "\n")
    assert written(Tsv(), evaluations) == expected


def by_rows(
    evaluations: Sequence[Evaluation], cell: Callable[[Node | None], str], separator: str, end: str
) -> list[str]:
    def line(time: int, row: Row) -> str:
        return separator.join([str(time), *map(cell, row)]) + end

    return ["".join(line(evaluation.time, row) for row in evaluation.rows or ()) for evaluation in evaluations]


@given(constructed())
def test_graphs(evaluations: list[Evaluation]) -> None:
    stamped = ["".join(f'{triple} "{e.time}" .\n' for triple in e.triples or ()) for e in evaluations]
    assert written(TimedTriples(), evaluations) == stamped
    assert written(NQuads(), evaluations) == list(map(as_nquads, evaluations))
    assert written(TriG(PREFIXES), evaluations) == list(map(as_trig, evaluations))


def graph_of(evaluation: Evaluation) -> NamedNode:
    return NamedNode(f"urn:penstock:{quote(evaluation.query, safe='')}:{evaluation.time}")


def date_of(evaluation: Evaluation) -> Literal:
    text = instant_text(evaluation.time)
    return Literal(text, datatype=NamedNode(XSD + ("dateTime" if "T" in text else "integer")))


def as_nquads(evaluation: Evaluation) -> str:
    graph = graph_of(evaluation)
    quads = "".join(f"{triple} {graph} .\n" for triple in evaluation.triples or ())
    return f"{graph} <{GENERATED_AT_TIME}> {date_of(evaluation)} .\n{quads}"


def as_trig(evaluation: Evaluation) -> str:
    graph = shortened(graph_of(evaluation))
    triples = "".join(
        f"  {shortened(t.subject)} {shortened(t.predicate)} {shortened(t.object)} .\n"  # type: ignore[arg-type]
        for t in evaluation.triples or ()
    )
    return f"\n{graph} <{GENERATED_AT_TIME}> {shortened(date_of(evaluation))} .\n{graph} {{\n{triples}}}\n"


def shortened(term: Node) -> str:
    if isinstance(term, NamedNode):
        for prefix, namespace in sorted(PREFIXES.items(), key=lambda item: -len(item[1])):
            local = term.value.removeprefix(namespace)
            if local != term.value and re.fullmatch(r"([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?)?", local):
                return f"{prefix}:{local}"
        return str(term)
    if not isinstance(term, Literal) or term.language is not None or term.datatype.value == XSD_STRING:
        return str(term)
    bare = {
        "integer": r"[+-]?[0-9]+",
        "decimal": r"[+-]?[0-9]*\.[0-9]+",
        "double": r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+",
        "boolean": "true|false",
    }
    pattern = bare.get(term.datatype.value.removeprefix(XSD)) if term.datatype.value.startswith(XSD) else None
    if pattern is not None and re.fullmatch(pattern, term.value):
        return term.value
    return f"{terms.quote(term.value)}^^{shortened(term.datatype)}"


@pytest.mark.parametrize("writer", [JsonLines(), Csv(), Tsv()])
def test_rows_of_several_instants_are_formatted_once(writer: Writer) -> None:
    """Overlapping windows have the same rows again."""
    rows = ResultBatch.of(Evaluation("q", 0, ("x",), ((NamedNode("urn:a"),), (None,), (Literal("b"),)))).rows
    places, bounds = np.array([0, 2, 2, 1, 0]), np.array([0, 2, 2, 5])
    batch = ResultBatch("rows", ["q"], np.array([1, 2, 3]), rows, places, bounds)
    apart = [writer.texts(ResultBatch.of(evaluation)).to_pylist()[0] for evaluation in batch.evaluations()]
    assert writer.texts(batch).to_pylist() == apart
