"""Texts that RDF parsers cannot take: each is refused by a sentence, and what merely looks like one is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat

from penstock.rdf import guards
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.graphs import read_graph
from penstock.rdf.parser import parse_statements
from penstock.rdf.stream_reader import read_stream

RENAME = prefixed("s")
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex.org/">'
    '<rdf:Description rdf:about="&e;a"><e:p>{}</e:p></rdf:Description></rdf:RDF>'
)


def xml(*entities: str, text: str = "") -> str:
    return f'<!DOCTYPE rdf:RDF [\n<!ENTITY e "http://ex.org/">{"".join(entities)}]>\n{RDF.format(text)}'


def growing(depth: int) -> Iterator[str]:
    yield f'<!ENTITY x0 "{"x" * 64}">'
    for number in range(depth):
        yield f'<!ENTITY x{number + 1} "{f"&x{number};" * 10}">'


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


class TestEntities:
    def test_those_of_namespaces(self, tmp_path: Path) -> None:
        own = '<!-- namespaces --><!ENTITY both "&e;and">'
        (triple,) = read_graph(written(tmp_path, "g.rdf", xml(own, text="&both; &amp; &#65;")), scope="g")
        assert str(triple) == '<http://ex.org/a> <http://ex.org/p> "http://ex.org/and & A"'

    def test_those_that_grow(self, tmp_path: Path) -> None:
        bomb = xml(*growing(7), text="&x7;")
        assert len(bomb) < 1024
        with pytest.raises(SourceError, match="the entity x2 expands to more than 1024 bytes"):
            read_graph(written(tmp_path, "g.rdf", bomb), scope="g")

    def test_one_that_is_there_too_often(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guards, "_FREE_EXPANSION", 0)
        often = xml(f'<!ENTITY x "{"x" * 1000}">', text="&x;" * 1000)
        with pytest.raises(SourceError, match="its entities expand to more than"):
            read_graph(written(tmp_path, "g.rdf", often), scope="g")

    @pytest.mark.parametrize("odd", ['<!ENTITY % p "x">', '<!ENTITY p SYSTEM "file:///etc/passwd">'])
    def test_others(self, odd: str) -> None:
        with pytest.raises(ReadingError, match="an entity is not declared as"):
            parse_statements(xml(odd), RdfFormat.RDF_XML, RENAME)

    def test_those_far_behind(self, tmp_path: Path) -> None:
        late = xml(f"<!--{'x' * 70_000}-->", *growing(7), text="&x7;")
        with pytest.raises(SourceError, match="too far from the start"):
            read_graph(written(tmp_path, "g.rdf", late), scope="g")


def nested(depth: int) -> str:
    return '{"@id": "http://ex.org/g", "@graph": [' * depth + "]}" * depth


class TestNesting:
    @pytest.mark.parametrize("text", [nested(20_000), '{"http://ex.org/p": ' * 20_000, "[" * 20_000])
    def test_json_ld(self, text: str, tmp_path: Path) -> None:
        path = written(tmp_path, "g.jsonld", text)
        with pytest.raises(SourceError, match="nested more than 500 deep"):
            read_graph(path, scope="g")
        malformed: list[Malformed] = []
        assert not list(read_stream(path, scope="s", on_malformed=malformed.append))
        assert ["nested more than 500 deep" in entry.reason for entry in malformed] == [True]

    def test_brackets_in_strings_do_not_count(self, tmp_path: Path) -> None:
        string = ('\\"[{' + "\\\\" * 3) * 30_000  # quotes and backslashes on both sides of blocks
        text = '{"@id": "http://ex.org/a", "http://ex.org/p": "STRING"}'.replace("STRING", string)
        (triple,) = read_graph(written(tmp_path, "g.jsonld", text), scope="g")
        assert len(triple.object.value) == 6 * 30_000  # type: ignore[union-attr]

    @pytest.mark.parametrize("format", [RdfFormat.N_TRIPLES, RdfFormat.TURTLE, RdfFormat.N_QUADS, RdfFormat.TRIG])
    def test_triples_in_triples(self, format: RdfFormat) -> None:
        text = f"<a:a> <a:p> {'<<( <a:a> <a:p> ' * 20_000}<a:a> {')>> ' * 20_000} ."
        with pytest.raises(ReadingError, match="triples are nested inside triples"):
            parse_statements(text, format, RENAME)

    def test_what_looks_like_them(self) -> None:
        text = f'<a:a> <a:p> "{"cout << x << y; " * 20_000}" .'
        assert len(parse_statements(text.replace("; ", ";' "), RdfFormat.N_TRIPLES, RENAME)) == 1
