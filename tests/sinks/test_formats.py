"""What each format looks like, and that what is written as a stream can be read as one."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, parse
from tests.rdf.collected import collect
from tests.sinks.evaluations import (
    ASK,
    ASKED,
    CONSTRUCT,
    CONSTRUCT_GRAPHS,
    DATE,
    DESCRIBE,
    NOTHING,
    PREFIXES,
    SELECT,
    SELECTED,
    TERMS,
    constructed,
    ex,
)

from penstock.algebra.expressions import Variable
from penstock.algebra.model import QueryForm, SelectForm
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation, from_json_line
from penstock.sinks import FORMATS, SinkError, open_sink


def write(folder: Path, format: str, form: QueryForm, *evaluations: Evaluation) -> Path:
    with open_sink(folder / "out", format, form, prefixes=PREFIXES) as sink:
        for evaluation in evaluations:
            sink.write(ResultBatch.of(evaluation))
    return folder / "out"


def written(folder: Path, format: str, form: QueryForm, *evaluations: Evaluation) -> str:
    return write(folder, format, form, *evaluations).read_bytes().decode()


def selecting(*names: str) -> SelectForm:
    return SelectForm(tuple(map(Variable, names)))


def test_json_lines(tmp_path: Path) -> None:
    graphs = constructed(9000, *TERMS)
    lines = written(tmp_path, "jsonl", SELECT, SELECTED, NOTHING, ASKED, graphs).splitlines()
    assert [from_json_line(line) for line in lines] == [SELECTED, NOTHING, ASKED, graphs]
    assert json.loads(lines[0])["results"]["bindings"][1] == {"cars": {"type": "literal", "value": "a,b"}}


def test_csv_has_one_header_and_values_only(tmp_path: Path) -> None:
    text = written(tmp_path, "csv", SELECT, NOTHING, SELECTED, SELECTED)
    assert text == "time,gate,cars\r\n" + '8000,http://ex.org/gate1,3\r\n8000,,"a,b"\r\n' * 2


def test_csv_can_hold_any_text(tmp_path: Path) -> None:
    text = written(tmp_path, "csv", SELECT, Evaluation("q", 1, ("x",), tuple((term,) for term in TERMS)))
    rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [row[1] for row in rows] == [str(term) if str(term)[0] == "_" else term.value for term in TERMS]


def test_tsv_has_terms_in_full(tmp_path: Path) -> None:
    text = written(
        tmp_path, "tsv", selecting("x", "y"), Evaluation("q", 1, ("x", "y"), tuple((t, None) for t in TERMS))
    )
    header, *rows = text.split("\n")[:-1]
    assert header == "?time\t?x\t?y"
    assert [row.split("\t") for row in rows] == [["1", str(term), ""] for term in TERMS]


@pytest.mark.parametrize(("format", "header"), [("csv", "_time,time"), ("tsv", "?_time\t?time")])
def test_the_time_column_is_no_variable(tmp_path: Path, format: str, header: str) -> None:
    text = written(tmp_path, format, selecting("time"), Evaluation("q", 1, ("time",), ((Literal("2"),),)))
    assert text.splitlines()[0] == header


@pytest.mark.parametrize("format", ["tnt", "nquads", "trig", "messages", "jelly"])
def test_graphs_can_be_read_as_a_stream(tmp_path: Path, format: str) -> None:
    evaluations = [constructed(8000, *TERMS), constructed(DATE, ex("a")), constructed(DATE + 5, ex("b"))]
    file = write(tmp_path, format, CONSTRUCT, *evaluations)
    found = collect(file, format={"nquads": "nq"}.get(format, format), scope="again")
    assert found.malformed == []
    elements: dict[int, list[str]] = {}
    for element in found.elements:
        elements.setdefault(element.time, []).extend(_labelled_alike(triple) for triple in element.triples)
    expected = {e.time: [_labelled_alike(triple) for triple in e.triples or ()] for e in evaluations}
    assert elements == expected
    if format != "tnt":
        assert len(found.elements) == 3


def test_rdf_messages(tmp_path: Path) -> None:
    """A log, with a message for each evaluation: without its delimiters it is TriG."""
    log = written(tmp_path, "messages", CONSTRUCT, constructed(8000, ex("car1"), *TERMS[6:10]), constructed(DATE))
    version, _, rest = log.partition("\n")
    assert version == 'VERSION "1.2-messages"'
    prefixes, *messages = rest.split("\nMESSAGE\n")
    assert [message.split()[0] for message in messages] == [
        "<urn:penstock:a%20query:8000>",
        f"<urn:penstock:a%20query:{DATE}>",
    ]
    trig = written(tmp_path, "trig", CONSTRUCT, constructed(8000, ex("car1"), *TERMS[6:10]), constructed(DATE))
    assert "\n".join([prefixes, *messages]) == trig


def test_jelly_has_the_quads_of_trig_in_a_frame_for_each_evaluation(tmp_path: Path) -> None:
    from pyjelly.integrations.generic.parse import parse_jelly_grouped

    evaluations = [constructed(8000, *TERMS), constructed(DATE), constructed(DATE + 5, ex("b"))]
    written(tmp_path, "trig", CONSTRUCT, *evaluations)
    expected = sorted(map(str, parse(path=tmp_path / "out", format=RdfFormat.TRIG)))
    with write(tmp_path, "jelly", CONSTRUCT, *evaluations).open("rb") as file:
        frames = [list(frame) for frame in parse_jelly_grouped(file)]
    assert [len(frame) for frame in frames] == [1 + len(TERMS), 1, 2]
    lines = "".join(f"{quad} .\n".replace("DefaultGraph()", "") for frame in frames for quad in map(_n_quad, frame))
    assert sorted(map(str, parse(lines, format=RdfFormat.N_QUADS))) == expected


def test_a_frame_of_jelly_has_more_names_than_a_table_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyjelly.integrations.generic.parse import parse_jelly_grouped

    monkeypatch.setattr("penstock.sinks.jelly._MOST_NAMES", 8)
    objects = [ex(f"car{number % 20}") for number in range(60)]
    with write(tmp_path, "jelly", CONSTRUCT, constructed(8000, *objects)).open("rb") as file:
        ((_, *quads),) = [list(frame) for frame in parse_jelly_grouped(file)]
    assert [str(quad.o) for quad in quads] == [str(node) for node in objects]


def _n_quad(quad: Any) -> str:
    graph = "" if "DefaultGraph" in repr(quad.g) else str(quad.g)
    return f"{quad.s} {quad.p} {_n_quads_term(quad.o)} {graph}"


def _n_quads_term(term: Any) -> str:
    if type(term).__name__ != "Literal":
        return str(term)
    return str(Literal(term._lex, language=term._langtag, datatype=term._datatype and NamedNode(term._datatype)))


def _labelled_alike(triple: object) -> str:
    return " ".join("_:b" if word.startswith("_:") else word for word in str(triple).split(" "))


def test_timed_triples(tmp_path: Path) -> None:
    assert written(tmp_path, "tnt", CONSTRUCT, constructed(8000, ex("car1"), Literal("x"))) == (
        '<http://ex.org/gate1> <http://linkedurbandata.org/traffic#saw> <http://ex.org/car1> "8000" .\n'
        '<http://ex.org/gate1> <http://linkedurbandata.org/traffic#saw> "x" "8000" .\n'
    )


def test_nquads(tmp_path: Path) -> None:
    graph, xsd = "<urn:penstock:a%20query:{}>", "http://www.w3.org/2001/XMLSchema#"
    assert written(tmp_path, "nquads", DESCRIBE, constructed(8000, ex("car1")), constructed(DATE)) == (
        f'{graph} <http://www.w3.org/ns/prov#generatedAtTime> "8000"^^<{xsd}integer> .\n'.format(8000)
        + f"<http://ex.org/gate1> <http://linkedurbandata.org/traffic#saw> <http://ex.org/car1> {graph} .\n".format(
            8000
        )
        + f'{graph} <http://www.w3.org/ns/prov#generatedAtTime> "2024-05-01T12:00:00Z"^^<{xsd}dateTime> .\n'.format(
            DATE
        )
    )


def test_trig(tmp_path: Path) -> None:
    assert (
        written(
            tmp_path, "trig", CONSTRUCT, constructed(8000, ex("car1"), *TERMS[6:10]), Evaluation("q", DATE, triples=())
        )
        == """\
@prefix ex: <http://ex.org/> .
@prefix t: <http://linkedurbandata.org/traffic#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<urn:penstock:a%20query:8000> <http://www.w3.org/ns/prov#generatedAtTime> 8000 .
<urn:penstock:a%20query:8000> {
  ex:gate1 t:saw ex:car1 .
  ex:gate1 t:saw 7 .
  ex:gate1 t:saw 007 .
  ex:gate1 t:saw "x"^^xsd:integer .
  ex:gate1 t:saw 1.50 .
}

<urn:penstock:q:1714564800000> <http://www.w3.org/ns/prov#generatedAtTime> "2024-05-01T12:00:00Z"^^xsd:dateTime .
<urn:penstock:q:1714564800000> {
}
"""
    )


class TestTables:
    def test_solutions(self, tmp_path: Path) -> None:
        assert (
            written(tmp_path, "table", SELECT, SELECTED, NOTHING)
            == """\
8000  2 solutions
gate       cars
───────────────
ex:gate1   3
–          a,b

9000  no solutions

"""
        )

    def test_numbers_stand_on_the_right(self, tmp_path: Path) -> None:
        rows = tuple((Literal("x"), number) for number in (TERMS[6], None, TERMS[9]))
        text = written(tmp_path, "table", SELECT, Evaluation("q", DATE, ("a", "b"), rows))
        assert (
            text
            == """\
2024-05-01T12:00:00Z  3 solutions
a      b
────────
x      7
x      –
x   1.50

"""
        )

    def test_terms_of_every_kind(self, tmp_path: Path) -> None:
        text = written(tmp_path, "table", SELECT, Evaluation("q", 1, ("x",), tuple((term,) for term in TERMS)))
        assert text.splitlines()[3:-1] == [
            "ex:gate1",
            "<http://other.org/a,b>",
            "_:s1.0.b",
            "plain",
            'a "quoted", long␊and␉tabbed word',
            "chat @fr",
            "7",
            "007",
            "x ^^xsd:integer",
            "1.50",
            "1e3",
            "true",
            "2024-05-01",
            'P1"D ^^xsd:duration',
        ]

    def test_yes_and_no(self, tmp_path: Path) -> None:
        no = Evaluation("q", 9000, boolean=False)
        assert written(tmp_path, "table", ASK, ASKED, no) == "8000  yes\n\n9000  no\n\n"

    def test_triples(self, tmp_path: Path) -> None:
        assert (
            written(tmp_path, "table", CONSTRUCT, constructed(8000, ex("car1"), TERMS[5]))
            == """\
8000  2 triples
ex:gate1 t:saw ex:car1
ex:gate1 t:saw chat @fr

"""
        )

    def test_a_solution_without_variables(self, tmp_path: Path) -> None:
        assert written(tmp_path, "table", SELECT, Evaluation("q", 1, (), ((),))) == "1  1 solution\n\n"


FITTING = {
    "SELECT": (SELECT, ("jsonl", "table", "csv", "tsv", "parquet")),
    "ASK": (ASK, ("jsonl", "table", "parquet")),
    "CONSTRUCT": (CONSTRUCT, ("jsonl", "table", "nquads", "trig", "tnt", "messages", "jelly", "parquet")),
    "DESCRIBE": (DESCRIBE, ("jsonl", "table", "nquads", "trig", "tnt", "messages", "jelly", "parquet")),
    "CONSTRUCT with graphs": (CONSTRUCT_GRAPHS, ("jsonl", "table", "parquet")),
}


@pytest.mark.parametrize("form", FITTING)
@pytest.mark.parametrize("format", FORMATS)
def test_a_format_that_does_not_fit_is_refused(tmp_path: Path, form: str, format: str) -> None:
    query_form, fitting = FITTING[form]
    if format in fitting:
        open_sink(tmp_path / "out", format, query_form).close()
        return
    with pytest.raises(SinkError):
        open_sink(tmp_path / "out", format, query_form)
    assert not (tmp_path / "out").exists()


def test_the_refusal_says_what_to_choose(tmp_path: Path) -> None:
    for format, form, message in (
        (
            "tnt",
            SELECT,
            "tnt is for CONSTRUCT or DESCRIBE, but this is SELECT: choose jsonl, table, csv, tsv or parquet",
        ),
        ("csv", ASK, "csv is for SELECT, but this is ASK: choose jsonl, table or parquet"),
        (
            "xml",
            ASK,
            "there is no format xml: write jsonl, table, csv, tsv, nquads, trig, tnt, messages, jelly or parquet",
        ),
    ):
        with pytest.raises(SinkError) as caught:
            open_sink(tmp_path / "out", format, form)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        (" =1", "' =1"),
        ("\uff1d1", "'\uff1d1"),
        ('=HYPERLINK("http://ex.org","a,b")', '\'=HYPERLINK("http://ex.org","a,b")'),
        ("-2", "-2"),
        ("+2.5e-3", "+2.5e-3"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_csv_for_spreadsheets(tmp_path: Path, text: str, safe: str) -> None:
    evaluation = Evaluation("q", 1, ("x",), ((Literal(text),),))
    for format, expected in (("csv", text), ("csv-safe", safe)):
        rows = list(csv.reader(io.StringIO(written(tmp_path, format, selecting("x"), evaluation), newline="")))
        assert rows == [["time", "x"], ["1", expected]]


def test_tables_show_what_would_act(tmp_path: Path) -> None:
    terms = [Literal("a\u202eb\u2066\x1b[2J\x9b"), ex("a\u202eb"), Literal("x", language="en"), Literal("\u2028")]
    evaluation = Evaluation("q", 1, ("x",), tuple((term,) for term in terms))
    text = written(tmp_path, "table", SELECT, evaluation)
    assert "a\\u202Eb\\u2066␛[2J\ufffd" in text
    assert not set(text) & {"\u202e", "\u2066", "\x1b", "\x9b", "\u2028"}
    html = evaluation._repr_html_()  # type: ignore[attr-defined]
    assert not set(html) & {"\u202e", "\u2066", "\x1b", "\x9b", "\u2028"}
