"""TriG, N-Quads and JSON-LD: a named graph is an element, and its time is in the default graph or in itself."""

from __future__ import annotations

import bz2
import io
import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rdf.collected import Collected, collect, write

from penstock.rdf.formats.trig import blocks

PREFIXES = """\
@prefix : <http://ex.org/> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
PROV_TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"


def trig(tmp_path: Path, text: str, **options: str) -> Collected:
    return collect(write(tmp_path / "a.trig", PREFIXES + text), **options)  # type: ignore[arg-type]


def live(text: str, format: str = "trig", **options: str) -> Collected:
    return collect(io.BytesIO((PREFIXES + text).encode()), format=format, **options)  # type: ignore[arg-type]


def test_a_named_graph_is_an_element(tmp_path: Path) -> None:
    found = trig(
        tmp_path,
        """
        :g1 prov:generatedAtTime "1970-01-01T00:00:01Z"^^xsd:dateTime ; :source :sensor .
        :g1 { :a :p 1, 2 . }
        :g2 { :a :p 3 . }
        :g2 prov:generatedAtTime 2000 .
        """,
    )
    assert found.malformed == []
    assert found.times == [1000, 2000]
    assert found.graphs == ["<http://ex.org/g1>", "<http://ex.org/g2>"]
    assert [len(element.triples) for element in found.elements] == [2, 1]


class TestTime:
    def test_it_may_be_in_the_graph_itself(self, tmp_path: Path) -> None:
        found = trig(tmp_path, ":g { :a :at 5 . :b :at 7 . :c :at 6 }", time_predicate="http://ex.org/at")
        assert found.times == [7]
        assert len(found.elements[0].triples) == 3

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_the_default_graph_goes_before_the_graph_itself(self, tmp_path: Path, order: tuple[int, int]) -> None:
        parts = ":g { :a prov:generatedAtTime 99 }\n", ":g prov:generatedAtTime 5 .\n"
        text = "".join(parts[index] for index in order)
        assert trig(tmp_path, text).times == live(text).times == [5]

    def test_of_several_the_greatest_counts_and_what_is_none_does_not(self, tmp_path: Path) -> None:
        assert trig(tmp_path, ':g prov:generatedAtTime 5, 8, "soon", :then . :g { :a :p 1 }').times == [8]

    def test_a_plain_string_is_read_as_well(self, tmp_path: Path) -> None:
        assert trig(tmp_path, ':g prov:generatedAtTime "5" . :g { :a :p 1 }').times == [5]

    def test_a_graph_without_one_is_malformed(self, tmp_path: Path) -> None:
        found = trig(tmp_path, ":g { :a :p 1 } :h prov:generatedAtTime 5 . :h { :a :p 2 }")
        assert found.times == [5]
        assert found.malformed[0].place == str(tmp_path / "a.trig")
        assert found.malformed[0].text.endswith("<http://ex.org/g> .")
        assert f"the graph <http://ex.org/g> has no time: write <http://ex.org/g> {PROV_TIME}" in found.reasons[0]

    @pytest.mark.parametrize("wrong", [":then", '"5"@en', '"soon"', "5.0", "_:b", '"2024"^^xsd:gYear'])
    def test_a_graph_with_a_wrong_one_is_malformed(self, tmp_path: Path, wrong: str) -> None:
        found = trig(tmp_path, f":g prov:generatedAtTime {wrong} . :g {{ :a prov:generatedAtTime 1 }}")
        assert found.elements == []
        assert "is not a timestamp" in found.reasons[0]


class TestDocument:
    """A file is a dataset: it does not matter how its statements are arranged."""

    def test_a_graph_may_come_in_pieces_and_its_time_last(self, tmp_path: Path) -> None:
        found = trig(
            tmp_path,
            """
            :g1 { :a :p 1 } :g2 { :a :p 2 } :g1 { :a :p 3 , 1 } :g3 { :a :p 4 }
            :g3 prov:generatedAtTime 1 . :g2 prov:generatedAtTime 2 . :g1 prov:generatedAtTime 3 .
            """,
        )
        assert found.malformed == []
        assert found.times == [3, 2, 1], "in the order in which they first appear"
        assert [len(element.triples) for element in found.elements] == [2, 1, 1]

    def test_the_default_graph_is_not_part_of_the_stream(self, tmp_path: Path) -> None:
        found = trig(tmp_path, ":a :p 1 . { :b :p 2 } :g prov:generatedAtTime 5 . :g { :c :p 3 }")
        assert found.triples == [
            ['<http://ex.org/c> <http://ex.org/p> "3"^^<http://www.w3.org/2001/XMLSchema#integer>']
        ]
        assert found.malformed == []

    def test_a_document_that_is_nothing_but_default_graph_is_malformed(self, tmp_path: Path) -> None:
        found = trig(tmp_path, ":a :p 1 . { :b :p 2 } :c prov:generatedAtTime 5 .")
        assert found.elements == []
        assert found.reasons[0].startswith("it contains no named graph")

    def test_nquads_give_the_same_as_trig(self, tmp_path: Path) -> None:
        path = write(
            tmp_path / "a.nq",
            f'<a:s> <a:p> "1" <a:g> .\n<a:s> <a:p> "2" <a:h> .\n# times\n<a:h> {PROV_TIME} "2" .\n'
            f'<a:g> {PROV_TIME} "1" .\n<a:s> <a:p> "3" <a:g> .\n',
        )
        found = collect(path)
        assert found.malformed == []
        assert found.triples == [['<a:s> <a:p> "1"', '<a:s> <a:p> "3"'], ['<a:s> <a:p> "2"']]
        assert found.times == [1, 2]
        as_trig = write(tmp_path / "b.trig", "".join(f"{t} {{ {s[0]} }}\n" for t, s in (("<a:h>", found.triples[1]),)))
        assert collect(as_trig).reasons, "the times are in the other file"

    def test_relative_iris_are_resolved_with_the_name_of_the_file(self, tmp_path: Path) -> None:
        found = trig(tmp_path, "<g> prov:generatedAtTime 5 . <g> { <> :p <#x> }")
        base = (tmp_path / "a.trig").resolve().as_uri()
        assert found.graphs == [f"<{tmp_path.resolve().as_uri()}/g>"]
        assert found.triples == [[f"<{base}> <http://ex.org/p> <{base}#x>"]]


class TestLive:
    """What may never end is read graph by graph."""

    def test_a_graph_comes_out_when_the_next_one_begins(self) -> None:
        text = ":g1 prov:generatedAtTime 1 .\n:g1 { :a :p 1 }\n:g2 { :a :p 2 }\n:g2 prov:generatedAtTime 2 .\n"
        assert live(text).times == [1, 2]

    def test_its_time_must_be_known_then(self) -> None:
        found = live(":g1 { :a :p 1 }\n:g2 { :a :p 2 }\n:g1 prov:generatedAtTime 1 .\n:g2 prov:generatedAtTime 2 .\n")
        assert found.times == [2]
        assert "the graph <http://ex.org/g1> has no time" in found.reasons[0]

    def test_a_name_may_be_used_again(self) -> None:
        text = "".join(f":g prov:generatedAtTime {n} . :g {{ :a :p {n} }} :h{n} {{ :a :at 1 }} " for n in (1, 2))
        assert [graph for graph in live(text).graphs if graph == "<http://ex.org/g>"] == ["<http://ex.org/g>"] * 2

    def test_nquads(self) -> None:
        lines = f'<a:g> {PROV_TIME} "1" .\n<a:s> <a:p> "1" <a:g> .\nwrong\n<a:s> <a:p> "2" <a:g> .\n'
        found = collect(io.BytesIO(lines.encode()), format="nquads")
        assert found.triples == [['<a:s> <a:p> "1"', '<a:s> <a:p> "2"']]
        assert found.malformed[0][:2] == ("<stream>:3", "wrong")


class TestBlankNodes:
    def test_a_label_is_one_node_in_a_document_and_no_other(self, tmp_path: Path) -> None:
        document = (
            PREFIXES + "_:g prov:generatedAtTime 1 . _:g { _:a :p _:b } :h prov:generatedAtTime 2 . :h { _:a :p [] }"
        )
        for name in ("1.trig", "2.trig"):
            write(tmp_path / name, document)
        found = collect(tmp_path)
        assert found.times == [1, 2, 1, 2]
        g1, h1, g2, h2 = found.blank_nodes
        assert (len(g1), len(h1), len(g1 & h1)) == (3, 2, 1)
        assert not (g1 | h1) & (g2 | h2)

    def test_nquads_share_labels_across_a_source(self, tmp_path: Path) -> None:
        for number in (1, 2):
            write(tmp_path / f"{number}.nq", f'<a:g> {PROV_TIME} "{number}" .\n_:a <a:p> "1" <a:g> .\n')
        first, second = collect(tmp_path).blank_nodes
        assert first == second

    def test_sources_with_another_scope_share_none(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.tnt", '_:a <a:p> _:b "1" .\n')
        scopes = ["a", "a.0", "a_", "a_2e_0", "http://ex.org/a", "é"]
        nodes = [collect(path, scope=scope).blank_nodes[0] for scope in scopes]
        assert len(set.union(*nodes)) == 2 * len(scopes)

    def test_two_readings_are_equal_also_where_nodes_have_no_label(self, tmp_path: Path) -> None:
        text = "[] prov:generatedAtTime 1 . :h prov:generatedAtTime 2 . :h { :a :p [ :q ( 1 [] ) ] }"
        assert trig(tmp_path, text).elements == trig(tmp_path, text).elements != []

    def test_a_live_label_is_one_node_as_well(self) -> None:
        text = "".join(f":g{n} prov:generatedAtTime {n} .\n:g{n} {{ _:a :p [] }}\n" for n in (1, 2))
        first, second = live(text).blank_nodes
        assert len(first & second) == 1


GOOD = ":g{0} prov:generatedAtTime {0} .\n:g{0} {{\n  :a :p {0} .\n}}\n"


class TestDamagedTrig:
    @pytest.mark.parametrize(
        ("wrong", "line"),
        [
            (":w { :a :p . :a :p 2 . }", 8),
            (":w { :a :p <c c> . :a :p 4 . }", 8),
            (":w {\n :a :p 'x \n }", 9),
            (":w { :a nope:p 1 . }", 8),
            (":w { :a :p :b ; :q \n\n }", 10),
            (":w { :a :p 1 . :w { :a :p 2 } }", 8),
            ("}", 8),
            ("junk .", 8),
            (":w { :a :p << :a :p 1 >> }", 8),
            (":w { :a :p 'x'@en--ltr }", 8),
        ],
    )
    def test_a_wrong_graph_is_left_out_and_the_others_are_read(self, tmp_path: Path, wrong: str, line: int) -> None:
        path = write(tmp_path / "a.trig", PREFIXES + GOOD.format(1) + wrong + "\n" + GOOD.format(2) + GOOD.format(3))
        found = collect(path)
        assert found.times == [1, 2, 3]
        assert found.malformed[0].place == f"{path}:{line}"

    def test_what_follows_a_graph_that_does_not_end_belongs_to_it_up_to_the_next_brace(self, tmp_path: Path) -> None:
        text = PREFIXES + GOOD.format(1) + ":w { :a :p 1 .\n" + GOOD.format(2) + GOOD.format(3)
        found = collect(write(tmp_path / "a.trig", text))
        assert found.times == [1, 3]
        assert found.reasons[0] == "the text ends in the middle of a statement: is it cut off?"
        assert "the graph <http://ex.org/g2> has no time" in found.reasons[1]

    def test_bytes_that_are_not_utf_8(self, tmp_path: Path) -> None:
        good = [GOOD.format(number).encode() for number in (1, 2)]
        path = write(tmp_path / "a.trig", PREFIXES.encode() + good[0] + b':w { :a :p "\xff" }\n' + good[1])
        found = collect(path)
        assert found.times == [1, 2]
        assert found.reasons == ["a byte is not UTF-8: save the file as UTF-8"]

    def test_a_truncated_file_loses_its_last_graph_only(self, tmp_path: Path) -> None:
        whole = (PREFIXES + GOOD.format(1) + GOOD.format(2)).encode()
        first = len(PREFIXES + GOOD.format(1)) - 1
        for length in range(first, len(whole) - 2):
            found = collect(write(tmp_path / "a.trig", whole[:length]))
            assert found.times == [1], whole[:length]

    def test_braces_and_quotes_that_mean_nothing(self, tmp_path: Path) -> None:
        text = """
            :g prov:generatedAtTime 1 . # }
            :g { # {
              :a :p "{", '}', "it's {", 'a "{"', "\\"}", '\\'}' .
              :a :p \"\"\"
                } "" { \\\"\"\"
                '''\"\"\", '''}
                \"\"\" { '''  .
              :a\\'b :p 1.5 . # it's }
            }
            :h { :a :p 2 } :h prov:generatedAtTime 2 .
            """
        found = trig(tmp_path, text)
        assert found.malformed == []
        assert [len(element.triples) for element in found.elements] == [9, 1]

    def test_a_prefix_holds_from_its_declaration_on(self, tmp_path: Path) -> None:
        text = """
            PREFIX e: <http://one.org/>
            e:g prov:generatedAtTime 1 . GRAPH e:g { e:a e:p 1 }
            prefix e: <http://two.org/>
            base <http://three.org/>
            e:g prov:generatedAtTime 2 .
            e:g { e:a e:p <x> }
            """
        found = trig(tmp_path, text)
        assert found.malformed == []
        assert found.graphs == ["<http://one.org/g>", "<http://two.org/g>"]
        assert found.triples[1] == ["<http://two.org/a> <http://two.org/p> <http://three.org/x>"]

    @given(st.text("{}<>\"'.#\\ \nab:_@", max_size=60))
    def test_no_text_makes_it_fail_and_nothing_is_lost_in_cutting(self, text: str) -> None:
        lines = list(enumerate(text.encode().splitlines(keepends=True), 1))
        joined = b"".join(block.text for block in blocks(lines))
        assert b"".join(joined.split()) == b"".join(text.encode().split())
        live(text)


CONTEXT = {"prov": "http://www.w3.org/ns/prov#", "@vocab": "http://ex.org/", "@base": "http://ex.org/"}


class TestJsonLd:
    def graph(self, name: str, time: object, *members: object) -> dict[str, object]:
        return {"@context": CONTEXT, "@id": name, "prov:generatedAtTime": time, "@graph": list(members)}

    def test_a_document_with_a_graph(self, tmp_path: Path) -> None:
        document = self.graph("g", 5, {"@id": "a", "p": [1, {"q": 2}]})
        found = collect(write(tmp_path / "a.jsonld", json.dumps(document, indent=1)))
        assert found.malformed == []
        assert found.times == [5]
        assert found.graphs == ["<http://ex.org/g>"]
        assert len(found.elements[0].triples) == 3

    def test_a_document_with_several(self, tmp_path: Path) -> None:
        documents = [self.graph(f"g{time}", time, {"@id": "_:a", "p": 1}) for time in (7, 3)]
        found = collect(write(tmp_path / "a.jsonld", json.dumps(documents)))
        assert found.times == [7, 3]
        assert found.blank_nodes[0] == found.blank_nodes[1]

    def test_a_document_a_line(self, tmp_path: Path) -> None:
        time = {"@value": "1970-01-01T00:00:07Z", "@type": "http://www.w3.org/2001/XMLSchema#dateTime"}
        lines = [
            json.dumps(self.graph("g", time, {"@id": "_:a", "p": {"@id": "_:b"}})),
            "",
            '{"@id": "cut',
            json.dumps({"@context": "https://ex.org/context", "@graph": []}),
            json.dumps(self.graph("h", 8, {"@id": "_:a", "p": 1})),
            json.dumps({"@context": CONTEXT, "@id": "i", "@graph": [{"@id": "_:a", "p": 1}]}),
            json.dumps({"@context": CONTEXT, "@id": "j", "p": 1}),
        ]
        path = write(tmp_path / "a.ndjson", "\n".join(lines))
        found = collect(path)
        assert found.times == [7000, 8]
        assert not found.blank_nodes[0] & found.blank_nodes[1]
        assert [malformed.place for malformed in found.malformed] == [f"{path}:{line}" for line in (3, 4, 6, 7)]
        assert "is it cut off?" in found.reasons[0]
        assert "put the context into the document" in found.reasons[1]
        assert "has no time" in found.reasons[2]
        assert "it contains no named graph" in found.reasons[3]
        assert collect(path) == found

    def test_a_wrong_document_is_left_out(self, tmp_path: Path) -> None:
        for content in (b"{", b"[1, 2", b'{"@id": "\xff"}', b"null null"):
            found = collect(write(tmp_path / "a.jsonld", content))
            assert found.elements == []
            assert len(found.malformed) == 1
        path = write(tmp_path / "b.jsonld", '{\n"@id": "a",\n"p": }')
        assert collect(path).malformed[0].place == f"{path}:3"

    def test_an_empty_file_is_an_empty_stream(self, tmp_path: Path) -> None:
        for name in ("a.jsonld", "a.ndjson", "a.trig", "a.nq", "a.tnt"):
            assert collect(write(tmp_path / name, "")) == ([], [])


def test_hobbits_smart_meters(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "hobbit" / "hobbit-sensor-stream.trig.bz2"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with bz2.open(path) as file:
        beginning = b"".join(islice(file, 5000))
    cut = write(tmp_path / "beginning.trig", beginning)
    found = collect(cut, time_predicate="http://www.w3.org/ns/ssn/#observationResultTime")
    assert len(found.elements) == beginning.count(b"<http://www.example.org/event") - 1
    assert {len(element.triples) for element in found.elements} == {41}
    assert found.times[0] == 1540895928000
    assert len(found.malformed) == 1, "the graph in which the beginning ends"
    as_stream = collect(
        io.BytesIO(beginning), format="trig", time_predicate="http://www.w3.org/ns/ssn/#observationResultTime"
    )
    assert as_stream.elements == found.elements
