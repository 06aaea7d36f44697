"""Messages of brokers as elements: whatever the format, and however many come together."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pytest

from penstock.rdf.elements import Malformed
from penstock.rdf.errors import SourceError
from penstock.sources.messages import MessageColumns, MessageReader

PROV = "http://www.w3.org/ns/prov#generatedAtTime"
SOSA = "http://www.w3.org/ns/sosa/resultTime"
PUBLISHED = "https://www.w3.org/ns/activitystreams#published"
MANY = 200
"""So many messages are read by columns, where the format is one of lines."""

Element = tuple[int, str | None, list[tuple[str, str, str]]]


def messages(*values: str | bytes | None, types: Sequence[str | None] | None = None) -> MessageColumns:
    """Messages with the broker's timestamps 0, 1, …"""
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    return MessageColumns(
        pa.array(encoded, pa.large_binary()),
        pa.array(range(len(values)), pa.int64()),
        pa.array(types or [None] * len(values), pa.string()),
        pa.array([f"0.{number}" for number in range(len(values))], pa.string()),
        lambda number: f"topic, partition 0, offset {number}",
    )


def read(
    found: MessageColumns, format: str | None = None, time: str | None = None
) -> tuple[list[Element], list[Malformed], list[int]]:
    """The elements, what was malformed, and the number of the message of each element."""
    malformed: list[tuple[int, Malformed]] = []
    table = MessageReader("kafka://h:1/t", "s", format, time).table(found, lambda *pair: malformed.append(pair))
    elements: list[Element] = []
    numbers: list[int] = []
    for row in table.to_pylist():
        if row["element"] == len(elements):
            elements.append((row["ts"], row["g"], []))
            numbers.append(row["message"])
        assert row["element"] == len(elements) - 1
        assert (row["ts"], row["g"], row["message"]) == (*elements[-1][:2], numbers[-1])
        if row["s"] is not None:
            elements[-1][2].append((row["s"], row["p"], row["o"]))
    return elements, [entry for _, entry in malformed], numbers


def test_each_line_of_tnt_is_an_element_with_its_own_time() -> None:
    text = '<a:s> <a:p> _:b "7" .\n<a:s> <a:p> "x y" "5" .\n'
    elements, malformed, numbers = read(messages(text, "# nothing\n", '<a:s> <a:p> _:b "9" .'))
    assert elements == [
        (7, None, [("Ia:s", "Ia:p", "Bs.0.b")]),
        (5, None, [("Ia:s", "Ia:p", "Sx y")]),
        (9, None, [("Ia:s", "Ia:p", "Bs.0.b")]),
    ]
    assert (malformed, numbers) == ([], [0, 0, 2])


@pytest.mark.parametrize("count", [3, MANY])
@pytest.mark.parametrize(
    ("format", "line"), [("ntriples", '<a:s> <a:p> "{}" .\n_:b <a:q> _:b .'), ("nquads", '<a:s> <a:p> "{}" <a:g> .')]
)
def test_a_message_of_lines_is_one_element(format: str, line: str, count: int) -> None:
    elements, malformed, numbers = read(messages(*map(line.format, range(count))), format)
    assert numbers == list(range(count))
    assert not malformed
    for number, (time, name, triples) in enumerate(elements):
        assert time == number
        if format == "nquads":
            assert (name, triples) == ("Ia:g", [("Ia:s", "Ia:p", f"S{number}")])
        else:
            blank = f"Bs.0.{number}.b"
            assert (name, triples) == (None, [("Ia:s", "Ia:p", f"S{number}"), (blank, "Ia:q", blank)])


@pytest.mark.parametrize("format", ["ntriples", "nquads", "turtle", "trig"])
def test_many_together_give_what_each_gives_alone(format: str) -> None:
    kinds = [
        '<a:s> <a:p> "{0}" .\n<a:s> <a:p> "{0}" .\n_:x <a:p> _:y .\n',
        "",
        "# a comment\n<a:s> <a:p> <a:{0}> .",
        '<a:s> <a:p> "an \\"escape\\"" .',
        "nonsense",
        f'<a:s> <{SOSA}> "{{0}}00"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        f'<a:s> <{PROV}> "2026-01-01T00:00:{{0:02}}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .',
        f'<a:s> <{PROV}> "soon" .',
    ]
    values = [kinds[number % len(kinds)].format(number % 60) for number in range(MANY)]
    together = messages(*values)
    elements, malformed, numbers = read(together, format)
    single: list[Element] = []
    wrong: list[Malformed] = []
    for number in range(MANY):
        columns = (getattr(together, name)[number : number + 1] for name in ("values", "times", "types", "labels"))
        one = MessageColumns(*columns, lambda _, number=number: together.place(number))
        found = read(one, format)
        single += found[0]
        wrong += found[1]
    assert elements == single
    assert sorted(malformed) == sorted(wrong)
    assert len(malformed) == MANY // len(kinds) * 2
    assert numbers == sorted(numbers)


def test_blank_nodes_belong_to_their_message() -> None:
    elements, _, _ = read(messages("_:b <a:p> [] .", "_:b <a:p> _:b ."), "turtle")
    blank = [{term for triple in triples for term in triple if term[0] == "B"} for _, _, triples in elements]
    assert [len(nodes) for nodes in blank] == [2, 1]
    assert not blank[0] & blank[1]


def test_reading_again_gives_the_same_blank_nodes() -> None:
    found = messages("[] <a:p> [ <a:q> _:b ] .")
    assert read(found, "turtle") == read(found, "turtle")


class TestTimes:
    def test_what_a_message_states(self) -> None:
        stated = {
            f'<a:s> <{SOSA}> "5"; <{PROV}> "7" .': 7,
            f'<a:s> <{PUBLISHED}> "1970-01-01T00:00:09Z" .': 9000,
            f'<a:s> <{SOSA}> "5", "6" .': 6,
            "<a:s> <a:p> <a:o> .": 3,
        }
        elements, malformed, _ = read(messages(*stated), "turtle")
        assert [time for time, _, _ in elements] == list(stated.values())
        assert not malformed

    def test_another_predicate(self) -> None:
        elements, malformed, _ = read(messages('<a:s> <a:at> "5" .', f'<a:s> <{PROV}> "5" .'), "turtle", "a:at")
        assert [time for time, _, _ in elements] == [5]
        assert malformed[0].reason.startswith("the message has no time: no triple has the predicate <a:at>")
        assert malformed[0].place == "topic, partition 0, offset 1"

    def test_the_time_of_the_broker(self) -> None:
        text = f'<a:s> <{PROV}> "700" .'
        assert [time for time, _, _ in read(messages(text, text), "turtle", "record")[0]] == [0, 1]
        assert [time for time, _, _ in read(messages('<a:s> <a:p> <a:o> "7" .'), "tnt", "record")[0]] == [0]

    def test_the_time_of_arrival(self) -> None:
        ((time, _, _),) = read(messages("<a:s> <a:p> <a:o> ."), "turtle", "arrival")[0]
        assert time > 1_700_000_000_000

    def test_one_that_is_no_time(self) -> None:
        elements, (wrong,), _ = read(messages(f"<a:s> <{SOSA}> <a:instant> ."), "turtle")
        assert not elements
        assert wrong.reason.startswith("<a:instant> is not a timestamp")
        assert wrong.text == f"<a:s> <{SOSA}> <a:instant> ."

    def test_a_predicate_that_is_no_iri(self) -> None:
        with pytest.raises(SourceError, match="is not an IRI"):
            MessageReader("n", "s", None, "at")


class TestDatasets:
    def test_the_default_graph_states_the_time(self) -> None:
        text = f'<a:g> <{PROV}> "7" . <a:g> {{ <a:s> <a:p> 1 }}'
        assert read(messages(text), "trig")[0] == [(7, "Ia:g", [("Ia:s", "Ia:p", "i1")])]

    def test_each_named_graph_is_an_element(self) -> None:
        text = f'<a:g> {{ <a:s> <a:p> 1 }} <a:h> {{ <a:s> <{PROV}> "7" }} <a:g> {{ <a:s> <a:p> 1, 2 }}'
        elements, _, numbers = read(messages("<a:s> <a:p> 0 .", text), "trig")
        assert [(time, name, len(triples)) for time, name, triples in elements] == [
            (0, None, 1),
            (1, "Ia:g", 2),
            (7, "Ia:h", 1),
        ]
        assert numbers == [0, 1, 1]

    def test_json_ld(self) -> None:
        document = {"@id": "a:g", PROV: "7", "@graph": [{"@id": "a:s", "a:p": 1}]}
        lines = "\n".join(json.dumps({"@id": "a:s", "a:p": number}) for number in (1, 2))
        assert read(messages(json.dumps(document)), "jsonld")[0] == [(7, "Ia:g", [("Ia:s", "Ia:p", "i1")])]
        assert [triples for _, _, triples in read(messages(lines), "ndjson")[0]] == [
            [("Ia:s", "Ia:p", "i1")],
            [("Ia:s", "Ia:p", "i2")],
        ]


def test_content_types_decide() -> None:
    types = ["text/turtle;charset=utf-8", "application/ld+json", None, "text/html"]
    values = ["<a:s> <a:p> 1 .", '{"@id": "a:s", "a:p": 2}', '<a:s> <a:p> "x" "77" .', "<p>"]
    elements, malformed, numbers = read(messages(*values, types=types))
    assert [(time, triples[0][2]) for time, _, triples in elements] == [(0, "i1"), (1, "i2"), (77, "Sx")]
    assert numbers == [0, 1, 2]
    assert [entry.reason for entry in malformed] == [
        "its content type is text/html, which is not RDF: ?format= names the format"
    ]


def test_what_has_no_content() -> None:
    elements, malformed, _ = read(messages(None, "", b"\xff"), "turtle")
    assert elements == [(1, None, [])]
    assert [entry.place[-8:] for entry in malformed] == ["offset 0", "offset 2"]
    assert malformed[0].reason.startswith("the message has no content")
