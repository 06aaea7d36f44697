"""A file that is not what its name says: the message says what it looks like, and how to name or read it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from penstock.cli import commands

PROV = "http://www.w3.org/ns/prov#generatedAtTime"
QUERY = "SELECT ?g ?c FROM STREAM <http://e/toll> [RANGE 10ms TUMBLING] { ?g <http://e/sees> ?c }"

TNT = '<http://e/g> <http://e/sees> <http://e/c> "1" .\n<http://e/g> <http://e/sees> <http://e/c> "25" .\n'
NT = '<http://e/g> <http://e/sees> <http://e/c> .\n<http://e/g> <http://e/name> "North" .\n'
NQ = f"""<http://e/1> <{PROV}> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/g> <http://e/sees> <http://e/c> <http://e/1> .
<http://e/2> <{PROV}> "25"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/g> <http://e/sees> <http://e/c> <http://e/2> .
"""
TRIG = f"@prefix : <http://e/> .\n:1 <{PROV}> 1 .\n:1 {{ :g :sees :c }}\n:2 <{PROV}> 25 .\n:2 {{ :g :sees :c }}\n"
TURTLE = '@prefix : <http://e/> .\n:g :sees :c ;\n  :name "North" .\n'
CSV = "gate,car,ms\nnorth,c1,1000\nsouth,c2,2000\n"
JSON = '{"gate": "north", "ms": 1000}\n{"gate": "south", "ms": 2000}\n'
JSON_LD = '{"@id": "http://e/1", "@graph": {"@id": "http://e/g"}}\n{"@id": "http://e/2", "@graph": []}\n'
RDF_XML = '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></rdf:RDF>\n'
HTML = "<!DOCTYPE html>\n<html><title>Sign in</title></html>\n"

NO_TIME = ", whose triples have no timestamps: pass a graph with --graph; each triple of a stream has a timestamp"

STREAMS = [
    ("toll.nt", TNT, "timestamped N-Triples: rename it to toll.tnt, or read it as toll.nt?format=tnt"),
    ("toll.ttl", TNT, "timestamped N-Triples: rename it to toll.tnt, or read it as toll.ttl?format=tnt"),
    ("toll.nq", TNT, "timestamped N-Triples: rename it to toll.tnt, or read it as toll.nq?format=tnt"),
    ("toll.trig", TNT, "timestamped N-Triples: rename it to toll.tnt, or read it as toll.trig?format=tnt"),
    ("toll.tnt", NQ, "N-Quads: rename it to toll.nq, or read it as toll.tnt?format=nq"),
    ("toll.tnt", TRIG, "TriG: rename it to toll.trig, or read it as toll.tnt?format=trig"),
    ("1.ttl", TRIG, "TriG: rename it to 1.trig, or read it as 1.ttl?format=trig"),
    ("toll.tnt", JSON_LD, "JSON-LD, a document in each line: rename it to toll.ndjson, or read it as toll.tnt?"),
    ("toll.tnt", NT, f"N-Triples{NO_TIME}"),
    ("toll.nq", NT, f"N-Triples{NO_TIME}"),
    ("toll.tnt", TURTLE, f"Turtle{NO_TIME}"),
    ("toll.tnt", RDF_XML, f"RDF/XML{NO_TIME}"),
    ("toll.tnt", CSV, "CSV, which is not a stream: convert it to RDF first, or read it as a table in Python"),
    ("toll.tnt", JSON, "JSON that is not JSON-LD, which is not a stream: convert it to RDF first"),
    ("toll.tnt", HTML, "a web page (HTML), which is not a stream: fetch the file itself"),
    ("toll.tnt", QUERY, "a SPARQL query, which is not a stream: did you mean another file?"),
]
GRAPHS = [
    ("city.nt", TNT, "timestamped N-Triples, which is a stream: pass it with --stream"),
    ("city.ttl", TNT, "timestamped N-Triples, which is a stream: pass it with --stream"),
    ("city.nt", NQ, "N-Quads: rename it to city.nq"),
    ("city.ttl", TRIG, "TriG: rename it to city.trig"),
    ("city.nt", TURTLE, "Turtle: rename it to city.ttl"),
    ("city.ttl", RDF_XML, "RDF/XML: rename it to city.rdf"),
    ("city.rdf", TURTLE, "Turtle: rename it to city.ttl"),
    ("city.ttl", CSV, "CSV, which is not a graph: convert it to RDF first"),
]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "good.tnt").write_text(TNT)
    monkeypatch.chdir(tmp_path)


def ask(command: str, stream: str = "good.tnt", *more: str) -> Result:
    engine = ("--engine", "duckdb") if command == "run" else ()
    given = [command, "q.rq", *engine, "--stream", stream, *more]
    return CliRunner().invoke(commands, given, catch_exceptions=False)


@pytest.mark.parametrize("command", ["run", "oracle"])
@pytest.mark.parametrize(("name", "text", "expected"), STREAMS)
def test_a_stream(name: str, text: str, expected: str, command: str) -> None:
    Path(name).write_text(text)
    result = ask(command, name)
    assert result.exit_code == 0
    assert result.stderr.count("; the file looks like ") == 1
    assert f"; the file looks like {expected}" in result.stderr
    if "?format=" in expected and "ndjson" not in expected:  # what is proposed works
        format = expected.rpartition("=")[2]
        assert ask(command, f"{name}?format={format}").stdout.count("http://e/c") == 1


@pytest.mark.parametrize(("name", "text", "expected"), GRAPHS)
def test_a_graph(name: str, text: str, expected: str) -> None:
    Path(name).write_text(text)
    result = ask("run", "good.tnt", "--graph", name)
    assert result.exit_code == 2
    assert f"; the file looks like {expected}" in result.stderr


def test_a_file_that_is_what_it_says_is_not_looked_at() -> None:
    Path("toll.tnt").write_text("oops\n" + TNT)
    told = ask("run", "toll.tnt").stderr
    assert told == "toll.tnt:1: warning: skipped: the line does not end with a full stop: is it cut off?\n"


def test_compression() -> None:
    Path("toll.tnt").write_bytes(gzip.compress(TNT.encode()))
    assert "; the file is compressed: rename it to toll.tnt.gz" in ask("run", "toll.tnt").stderr
    Path("toll.tnt.gz").write_text(TNT)
    assert "; the file is not gz: rename it to toll.tnt" in ask("run", "toll.tnt.gz").stderr
    Path("city.ttl.gz").write_bytes(gzip.compress(NQ.encode()))
    assert "N-Quads: rename it to city.nq.gz" in ask("run", "good.tnt", "--graph", "city.ttl.gz").stderr


def test_spark(spark: SparkSession) -> None:
    import penstock as ps
    from penstock.rdf.errors import SourceError

    Path("toll.tnt").write_text(NQ)
    Path("city.nt").write_text(TURTLE)
    engine = ps.Engine(spark)
    engine.stream("http://e/toll", "toll.tnt")
    with pytest.raises(ValueError, match=r"the file looks like N-Quads: rename it to toll\.nq"):
        engine.register(QUERY, strict=True).to_df()
    engine.graph("city.nt")
    with pytest.raises(SourceError, match=r"the file looks like Turtle: rename it to city\.ttl"):
        engine.register(QUERY).to_df()
