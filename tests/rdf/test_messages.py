"""RDF Messages, Jelly and archives: files whose elements are separated by more than named graphs."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from pyjelly.integrations.generic.generic_sink import IRI, BlankNode, DefaultGraph, GenericStatementSink, Literal
from pyjelly.integrations.generic.generic_sink import Quad as JellyQuad
from pyjelly.integrations.generic.generic_sink import Triple as JellyTriple
from pyjelly.integrations.generic.serialize import grouped_stream_to_file
from tests.rdf.collected import Collected, collect, write
from tests.sources.collected import read, read_one_by_one

PROV = "http://www.w3.org/ns/prov#generatedAtTime"
SOSA = "http://www.w3.org/ns/sosa/resultTime"
VERSION = 'VERSION "1.2-messages"\n'


def messages(tmp_path: Path, text: str) -> Collected:
    path = write(tmp_path / "log.messages", text)
    assert read(path) == read_one_by_one(path)
    return collect(path)


def at(time: int) -> str:
    return f'<a:s{time}> <{PROV}> "{time}" .\n'


@pytest.mark.parametrize(
    "delimiter", ["MESSAGE\n", "message # next\n", "@message .\n", "# @message\n", "#@message 2\n"]
)
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    found = messages(tmp_path, VERSION + delimiter.join([at(1), at(2), at(3)]) + delimiter)
    assert (found.times, found.malformed) == ([1, 2, 3], [])


@pytest.mark.parametrize("delimiter", ["MESSAGE\n", "# @message\n"])
def test_a_leading_delimiter_opens_the_first_message(tmp_path: Path, delimiter: str) -> None:
    prefix = "# a log\nPREFIX : <http://e/>\n"
    found = messages(tmp_path, VERSION + prefix + delimiter + at(1) + delimiter + at(2))
    assert (found.times, found.malformed) == ([1, 2], [])


def test_what_looks_like_a_delimiter_and_is_none(tmp_path: Path) -> None:
    text = f'''PREFIX MESSAGE: <http://e/MESSAGE> PREFIX e: <http://e/>
<http://e/#@message> MESSAGE:x "MESSAGE # @message", 'MESSAGE', "x"@message .
e:MESSAGE <{PROV}> "1" ; e:p """
MESSAGE
# @message
@message .
""" . # MESSAGE, and not # @message
_:MESSAGE e:MESSAGE-2 e:o .
'''
    found = messages(tmp_path, VERSION + text)
    assert (found.times, found.malformed) == ([1], [])
    assert len(found.triples[0]) == 6


def test_prefixes_carry_over_and_blank_nodes_do_not(tmp_path: Path) -> None:
    text = f'@prefix e: <http://e/> .\n_:b <{PROV}> "1" ; e:p _:b, [] .\nMESSAGE\n_:b <{PROV}> "2" ; e:p e:o .\n'
    later = f'MESSAGE\nPREFIX e: <http://f/>\ne:s <{PROV}> "3" .\nMESSAGE\ne:s <{PROV}> "4" .\n'
    found = messages(tmp_path, VERSION + text + later)
    assert found.times == [1, 2, 3, 4]
    assert "<http://e/o>" in found.triples[1][1]
    assert [len(nodes) for nodes in found.blank_nodes] == [2, 1, 0, 0]
    assert not found.blank_nodes[0] & found.blank_nodes[1]
    assert found.triples[3][0].startswith("<http://f/s>")


def test_times_and_datasets(tmp_path: Path) -> None:
    found = messages(
        tmp_path,
        f"""{VERSION}<a:s> <{SOSA}> "1970-01-01T00:00:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
MESSAGE
<a:g> <{PROV}> "7" . <a:g> {{ <a:s> <a:p> 1 }}
MESSAGE
<a:s> <a:p> 2 .
""",
    )
    assert found.times == [5000, 7]
    assert found.graphs == [None, "<a:g>"]
    assert found.malformed[0].place.endswith("log.messages:5")
    assert found.reasons[0].startswith("the message has no time: no triple has the predicate")


def test_a_message_with_an_error_is_skipped(tmp_path: Path) -> None:
    found = messages(tmp_path, VERSION + at(1) + "MESSAGE\n<a:s> <a:p> oops .\nMESSAGE\n" + at(3))
    assert found.times == [1, 3]
    assert [entry.text for entry in found.malformed] == ["<a:s> <a:p> oops ."]


def test_a_delimiter_inside_a_graph_is_an_error(tmp_path: Path) -> None:
    found = messages(tmp_path, f"{VERSION}<a:g> {{ {at(1)}MESSAGE\n{at(2)} }}\nMESSAGE\n{at(3)}")
    assert found.times == [3]
    assert len(found.malformed) == 2


class TestJelly:
    def file(self, path: Path, *frames: list[JellyTriple] | list[JellyQuad]) -> Path:
        sinks = []
        for frame in frames:
            sinks.append(GenericStatementSink())
            for statement in frame:
                sinks[-1].add(statement)
        with path.open("wb") as file:
            grouped_stream_to_file((sink for sink in sinks), file)
        return path

    def test_a_frame_is_an_element(self, tmp_path: Path) -> None:
        def frame(time: int) -> list[JellyTriple]:
            return [
                JellyTriple(IRI("http://e/s"), IRI(PROV), Literal(str(time))),
                JellyTriple(BlankNode("b"), IRI("http://e/p"), Literal("x", langtag="en")),
                JellyTriple(BlankNode("b"), IRI("http://e/p"), Literal("5", datatype="http://e/t")),
            ]

        path = self.file(tmp_path / "a.jelly", frame(1), frame(2))
        found = collect(path)
        assert (found.times, found.malformed) == ([1, 2], [])
        assert [len(nodes) for nodes in found.blank_nodes] == [1, 1]
        assert not found.blank_nodes[0] & found.blank_nodes[1]
        assert [triple.split(" ", 2)[2] for triple in found.triples[0][1:]] == ['"x"@en', '"5"^^<http://e/t>']
        assert read(path) == read_one_by_one(path)

    def test_quads(self, tmp_path: Path) -> None:
        name = IRI("http://e/g")
        frame = [
            JellyQuad(name, IRI(PROV), Literal("7"), DefaultGraph),
            JellyQuad(IRI("http://e/s"), IRI("http://e/p"), IRI("http://e/o"), name),
        ]
        found = collect(self.file(tmp_path / "a.jelly", frame))
        assert (found.times, found.graphs) == ([7], ["<http://e/g>"])

    def test_what_is_damaged(self, tmp_path: Path) -> None:
        whole = self.file(
            tmp_path / "a.jelly", [JellyTriple(IRI("http://e/s"), IRI(PROV), Literal("1"))] * 1
        ).read_bytes()
        write(tmp_path / "b.jelly", whole + whole[: len(whole) // 2])
        found = collect(tmp_path / "b.jelly")
        assert found.times == [1]
        assert found.reasons[0].startswith("this is not Jelly, or it is damaged")


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_an_archive_is_a_stream_of_its_files(tmp_path: Path, name: str) -> None:
    files = {
        "data/0010.ttl": "<> <a:p> [] .",
        "data/0011.ttl": f'<> <{PROV}> "500" .',
        "data/0012.trig": "<a:g> { <a:s> <a:p> 1 }",
        "data/0013.ttl": "oops",
        "data/README.md": "# Data",
    }
    with tarfile.open(tmp_path / name, "w:gz" if name.endswith("gz") else "w") as archive:
        for member, content in files.items():
            described = tarfile.TarInfo(member)
            described.size = len(content)
            archive.addfile(described, io.BytesIO(content.encode()))
    found = collect(tmp_path / name)
    assert found.times == [10, 500, 12]
    assert found.graphs == [None, None, "<a:g>"]
    assert [entry.place.rpartition("/")[2] for entry in found.malformed] == ["0013.ttl:1", "README.md"]
    assert collect(tmp_path / name, unit_ms=1000).times == [10_000, 11_000, 12_000]
    assert read(tmp_path / name) == read_one_by_one(tmp_path / name)
