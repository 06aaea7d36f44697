"""Parses stream sources: `toll.tnt`, `data?unit=1s`, `-?format=trig&time=sosa:resultTime`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict
from urllib.parse import unquote

from penstock.rdf.errors import SourceError
from penstock.rdf.vocabulary import COMMON_PREFIXES

_DURATION = re.compile(r"([0-9]+) ?([a-z]*)", re.IGNORECASE)
_UNITS = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


class SourceOptions(TypedDict, total=False):
    """Options of a source, as `read_stream` accepts them."""

    format: str
    time_predicate: str
    unit_ms: int


@dataclass(frozen=True, slots=True)
class Source:
    """The path and options of a stream: `read_stream(source.path, **source.options, …)`."""

    path: str
    options: SourceOptions = field(default_factory=SourceOptions)


def parse_source(text: str) -> Source:
    """Parses `PATH?format=…&unit=…&time=…`; the part after the path is optional.

    `unit` is a duration (`1s`, `500ms`, or milliseconds). `time` is the IRI of the time predicate, in full or with a
    common prefix (`prov:generatedAtTime`). In values, `&` and `%` are escaped as in a URL (`%26`, `%25`).

    >>> parse_source("csrbench/data?unit=1s")
    Source(path='csrbench/data', options={'unit_ms': 1000})
    """
    path, _, query = text.partition("?")
    if not path:
        raise SourceError(f"{text}: the source has no name: write a file, a folder, or - for standard input")
    options = SourceOptions()
    for pair in filter(None, query.split("&")):
        name, equals, value = pair.partition("=")
        if name not in _OPTIONS:
            raise SourceError(f"{text}: there is no option {name}: the options of a source are {_list_of_options()}")
        if not equals or not value:
            raise SourceError(f"{text}: the option {name} has no value: write {name}={_OPTIONS[name].example}")
        options.update(_OPTIONS[name].read(unquote(value)))
    return Source(path, options)


def _format(value: str) -> SourceOptions:
    return {"format": value}


def _unit(value: str) -> SourceOptions:
    return {"unit_ms": option_duration("unit", value)}


def option_duration(name: str, value: str) -> int:
    """The duration in an option of a source, in milliseconds."""
    matched = _DURATION.fullmatch(value)
    unit = None if matched is None else _UNITS.get(matched[2].lower())
    if matched is None or unit is None or int(matched[1]) == 0:
        raise SourceError(
            f"{name}={value}: this is not a duration: write milliseconds, or a number with ms, s, m, h or d"
        )
    return int(matched[1]) * unit


def _time(value: str) -> SourceOptions:
    iri = value.removeprefix("<").removesuffix(">")
    prefix, _, local = iri.partition(":")
    return {"time_predicate": COMMON_PREFIXES[prefix] + local if prefix in COMMON_PREFIXES else iri}


@dataclass(frozen=True, slots=True)
class _Option:
    example: str
    read: Callable[[str], SourceOptions]


_OPTIONS = {
    "format": _Option("tnt", _format),
    "unit": _Option("1s", _unit),
    "time": _Option("prov:generatedAtTime", _time),
}


def _list_of_options() -> str:
    return ", ".join(f"{name} (as in {name}={option.example})" for name, option in _OPTIONS.items())
