"""`penstock explain` on the command line (contract.md): results on stdout, sentences on stderr, 0 or 2."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from tests.examples import BOOKS, TOLLGATES

from penstock.cli import commands

ROOT = Path(__file__).parents[2]
COUPONS = ROOT / "tests" / "papers" / "rspql" / "coupons.rq"
STREAMS = ROOT / "tests" / "explain" / "streams"
TOLL = STREAMS / "tollgates.tnt"
NEARBY = f":nearby={STREAMS / 'nearby.tnt'}"
COUPON = f"http://example.org/shops#coupon={STREAMS / 'coupon.tnt'}"


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    given = ["explain", *map(str, arguments)]
    return CliRunner().invoke(commands, given, input=stdin, catch_exceptions=False, prog_name="penstock")


def test_text_is_plain_where_nobody_looks_at_it() -> None:
    result = run(TOLLGATES)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout == (ROOT / "tests" / "explain" / "expected" / "tollgates.txt").read_text()


def test_the_only_stream_needs_no_name() -> None:
    result = run(TOLLGATES, "--stream", TOLL, "--format", "json")
    assert json.loads(result.stdout)["timeline"]["elements"] == 24


def test_streams_by_prefixed_name_and_by_iri() -> None:
    result = run(COUPONS, "--stream", NEARBY, "--stream", COUPON)
    assert result.stdout == (ROOT / "tests" / "explain" / "expected" / "coupons.txt").read_text()


def test_a_source_may_have_options_of_its_own(tmp_path: Path) -> None:
    for time in (1, 2):
        (tmp_path / f"data_{time}.ttl").write_text("<http://e.org/s> <http://e.org/p> <http://e.org/o> .")
    result = run(TOLLGATES, "--stream", f"{tmp_path}?unit=1m", "--format", "json")
    timeline = json.loads(result.stdout)["timeline"]
    assert (timeline["first"], timeline["last"]) == (60_000, 120_000)


def test_sparql_reads_every_stream_whatever_its_name() -> None:
    result = run(BOOKS, "--stream", TOLL, "--stream", f"http://e.org/s={STREAMS / 'nearby.tnt'}", "--format", "json")
    streams = [row["stream"] for row in json.loads(result.stdout)["timeline"]["streams"]]
    assert streams == ["urn:stream:1", "http://e.org/s"]


@pytest.mark.parametrize("output_format", ["text", "json", "dot", "svg", "html"])
def test_each_format_goes_to_a_file(output_format: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(TOLLGATES, "--stream", TOLL, "--format", output_format, "--out", out)
    assert (result.exit_code, result.output) == (0, "")
    assert out.read_text(encoding="utf-8") == run(TOLLGATES, "--stream", TOLL, "--format", output_format).stdout


def test_the_svg_is_xml() -> None:
    ElementTree.fromstring(run(TOLLGATES, "--stream", TOLL, "--format", "svg").stdout)


def test_settings_from_outside() -> None:
    options = ("--t0", "first", "--report", "periodic 30s", "--operator", "istream", "--duplicates", "bag")
    result = run(TOLLGATES, "--stream", TOLL, *options, "--lateness", "10s", "--format", "json")
    settings = json.loads(result.stdout)["settings"]
    assert settings["t0"]["value"] == "2024-05-01T08:00:49.999Z"
    assert settings["report"]["value"] == "periodic 30s"
    assert settings["lateness"]["value"] == "10s"
    assert {name for name, setting in settings.items() if setting["said_by"] == "user"} == {
        "report",
        "operator",
        "duplicates",
        "t0",
        "lateness",
    }


def test_the_dialect_may_be_said() -> None:
    assert "set by you\n" in run(TOLLGATES, "--dialect", "csparql").stdout


def test_standard_input_and_prefixes() -> None:
    result = run("-", "--prefix", "ex=http://e.org/", stdin="SELECT ?x { ?x a ex:Thing }")
    assert "BGP ?x a ex:Thing" in result.stdout


def test_graphs_take_part(tmp_path: Path) -> None:
    graph, changes = tmp_path / "city.ttl", tmp_path / "shops.changes"
    graph.write_text("<http://e.org/s> <http://e.org/p> 1 .")
    changes.write_text('A <http://e.org/s> <http://e.org/p> <http://e.org/o> "2" .\n')
    assert "from the default graph + window 1" in run(TOLLGATES, "--graph", graph).stdout
    assert (
        "  <http://example.org/shops#shops>, part of the default graph, 1 triples"
        in run(COUPONS, "--graph", f":shops={changes}").stdout
    )


def test_what_is_malformed_is_left_out_with_a_warning(tmp_path: Path) -> None:
    stream = tmp_path / "toll.tnt"
    stream.write_text(TOLL.read_text() + "nonsense\n" * 5)
    result = run(TOLLGATES, "--stream", stream)
    assert result.exit_code == 0
    assert result.stderr.count("skipped: ") == 3
    assert "2 more elements are skipped" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((COUPONS, "--stream", STREAMS / "nearby.tnt"), "say which of them is"),
        ((COUPONS, "--stream", f":nearb={TOLL}"), "did you mean http://example.org/shops#nearby?"),
        ((COUPONS, "--stream", NEARBY, "--stream", NEARBY), "is bound twice"),
        ((TOLLGATES, "--stream", "nowhere.tnt"), "there is no such file or folder"),
        ((TOLLGATES, "--graph", "nowhere.ttl"), "there is no such file"),
        ((TOLLGATES, "--t0", "first"), "bind the streams"),
        ((TOLLGATES, "--t0", "noon"), "is not an instant"),
        ((TOLLGATES, "--lateness", "soon"), "is not a duration"),
        ((TOLLGATES, "--report", "window-clos"), "did you mean window-close?"),
        ((TOLLGATES, "--format", "pdf"), "'pdf' is not one of"),
        ((TOLLGATES, "--out", "/nowhere/out"), "cannot be written"),
        (("nowhere.rq",), "there is no such file"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(arguments: tuple[str | Path, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_wrong_query_is_shown_with_its_place() -> None:
    result = run("-", stdin="SELECT * WHERE { ?s ?p }")
    assert result.exit_code == 2
    assert "<stdin>:1:24: error:" in result.stderr


def test_a_query_without_a_stream_has_no_use_for_one() -> None:
    text = "SELECT * FROM <http://e.org/g> { ?s ?p ?o }"
    result = run("-", "--dialect", "csparql", "--stream", TOLL, stdin=text)
    assert result.exit_code == 2
    assert "the query reads no stream" in result.stderr


def test_help_has_examples_and_the_exit_status() -> None:
    text = run("--help").output
    assert "Examples:\n    penstock explain " in text
    assert "Exit status:" in text
