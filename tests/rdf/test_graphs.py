"""Static graphs: every format gives the same triples, and a wrong file is an error."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest
from pyoxigraph import BlankNode
from tests.rdf.collected import triples, write

from penstock.rdf.errors import SourceError
from penstock.rdf.graphs import read_graph
from penstock.rdf.results import same_graph

EXPECTED = triples(':a :p "x", [ :q 1 ] .')

SAME = {
    "a.ttl": '@prefix : <http://ex.org/> . :a :p "x", [ :q 1 ], "x" .',
    "a.n3": '@prefix : <http://ex.org/> . :a :p "x", [ :q 1 ] .',
    "a.nt": '<http://ex.org/a> <http://ex.org/p> "x" .\n<http://ex.org/a> <http://ex.org/p> _:b .\n'
    '_:b <http://ex.org/q> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n',
    "a.rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://ex.org/">'
    '<rdf:Description rdf:about="http://ex.org/a"><p>x</p><p rdf:parseType="Resource">'
    '<q rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</q></p></rdf:Description></rdf:RDF>',
    "a.jsonld": '{"@context": {"@vocab": "http://ex.org/"}, "@id": "http://ex.org/a", "p": ["x", {"q": 1}]}',
    "a.trig": '@prefix : <http://ex.org/> . :a :p "x", [ :q 1 ] . :g { :a :p "not this" }',
    "a.nq": '<http://ex.org/a> <http://ex.org/p> "x" .\n<http://ex.org/a> <http://ex.org/p> _:b .\n'
    '_:b <http://ex.org/q> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    '<http://ex.org/a> <http://ex.org/p> "not this" <http://ex.org/g> .\n',
}


CUT_SHORT = gzip.compress(SAME["a.ttl"].encode(), mtime=0)[:-9]


@pytest.mark.parametrize("name", SAME)
def test_every_format_gives_the_same_triples(tmp_path: Path, name: str) -> None:
    found = read_graph(write(tmp_path / name, SAME[name]), scope="g")
    assert len(found) == 3
    assert same_graph(found, EXPECTED)
    assert found == read_graph(str(tmp_path / name), scope="g"), "also the labels of blank nodes"


def test_compressed(tmp_path: Path) -> None:
    text = SAME["a.ttl"].encode()
    for name, content in (("a.ttl.gz", gzip.compress(text)), ("a.TTL.BZ2", bz2.compress(text))):
        assert len(read_graph(write(tmp_path / name, content), scope="g")) == 3


def test_blank_nodes_are_of_its_scope_only(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ttl", "_:a <a:p> _:b .")
    nodes = {
        node
        for scope in ("g", "h")
        for triple in read_graph(path, scope=scope)
        for node in (triple.subject, triple.object)
    }
    assert len(nodes) == 4
    assert all(isinstance(node, BlankNode) for node in nodes)


def test_lexical_forms_are_kept_and_relative_iris_resolved(tmp_path: Path) -> None:
    path = write(tmp_path / "a b.ttl", "<> <#p> 01, +1.0, 1E0 .")
    base = path.resolve().as_uri()
    assert "a%20b" in base
    assert [str(triple.subject) for triple in read_graph(path, scope="g")] == [f"<{base}>"] * 3
    assert [triple.object.value for triple in read_graph(path, scope="g")] == ["01", "+1.0", "1E0"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.ttl", b"<a:a> <a:b> 1 .\n<a:a> <a:b> .", "a.ttl:2: . is not a valid RDF object"),
        ("a.ttl", b"<a:a> <a:b> ", "a.ttl:1: the text ends in the middle of a statement: is it cut off?"),
        ("a.ttl", b"<a:a> <a:b> '\xff' .", "a.ttl:1: a byte is not UTF-8"),
        ("a.ttl", b"<a:a> <a:b> <<( <a:a> <a:b> 1 )>> .", "a.ttl: a triple is nested inside a triple (RDF-star)"),
        ("a.n3", b"{ ?x <a:b> 1 } => { ?x <a:b> 2 } .", "a.n3: variables are not allowed"),
        ("a.rdf", b"<rdf:RDF", "a.rdf"),
        ("a.jsonld", b'{"@context": "http://schema.org/"}', "a.jsonld: the JSON-LD context is remote"),
        ("a.trig", b"<a:g> { <a:a> <a:b> 1 }", "a.trig: all triples of this file are in named graphs"),
        ("a.csv", b"", "a.csv: no graph format has the ending .csv: write the graph as .ttl .nt .n3 .rdf .owl"),
        ("a", b"", "a: the file has no ending"),
        ("a.ttl.gz", CUT_SHORT, "a.ttl.gz: the compressed file ends too early"),
        ("a.ttl.bz2", b"no bzip2", "a.ttl.bz2: the file cannot be read beyond this point"),
    ],
)
def test_a_wrong_file_is_an_error(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(SourceError) as caught:
        read_graph(path, scope="g")
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no such file"):
        read_graph(tmp_path / "a.ttl", scope="g")
    (tmp_path / "b.ttl").mkdir()
    with pytest.raises(SourceError, match="this is a directory, but a file was expected"):
        read_graph(tmp_path / "b.ttl", scope="g")


def test_citybench(shared: Path) -> None:
    path = shared / "data" / "citybench" / "SensorRepository.n3"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    assert len(read_graph(path, scope="city")) == 44_213
