"""Sources as people write them on the command line."""

from __future__ import annotations

import pytest

from penstock.rdf.errors import SourceError
from penstock.rdf.sources import Source, SourceOptions, parse_source


@pytest.mark.parametrize(
    ("text", "path", "options"),
    [
        ("toll.tnt", "toll.tnt", {}),
        ("toll.tnt?", "toll.tnt", {}),
        ("-?format=trig", "-", {"format": "trig"}),
        ("csrbench/data?unit=1s", "csrbench/data", {"unit_ms": 1000}),
        ("data?unit=1000", "data", {"unit_ms": 1000}),
        ("data?unit=500ms&format=ttl", "data", {"unit_ms": 500, "format": "ttl"}),
        ("data?unit=5%20min", "data", {"unit_ms": 300_000}),
        ("a.trig?time=prov:generatedAtTime", "a.trig", {"time_predicate": "http://www.w3.org/ns/prov#generatedAtTime"}),
        ("a.trig?time=http://ex.org/at?x=1#y", "a.trig", {"time_predicate": "http://ex.org/at?x=1#y"}),
        ("a.trig?time=<http://ex.org/a%26b>", "a.trig", {"time_predicate": "http://ex.org/a&b"}),
    ],
)
def test_a_path_and_what_is_said_about_it(text: str, path: str, options: SourceOptions) -> None:
    assert parse_source(text) == Source(path, options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?format=tnt", "?format=tnt: the source has no name: write a file, a folder, or - for standard input"),
        (
            "a?fromat=tnt",
            "a?fromat=tnt: there is no option fromat: the options of a source are format (as in format=tnt), unit",
        ),
        ("a?format", "a?format: the option format has no value: write format=tnt"),
        ("a?unit=", "a?unit=: the option unit has no value: write unit=1s"),
        ("a?unit=soon", "unit=soon: this is not a duration"),
        ("a?unit=0", "unit=0: this is not a duration"),
        ("a?unit=-1s", "unit=-1s: this is not a duration"),
        ("a?unit=1 fortnight", "unit=1 fortnight: this is not a duration"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_source(text)
    assert str(caught.value).startswith(message)
