"""Addresses of streams as text: what can be said about one before anything is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from penstock.algebra.inputs import InputError
from penstock.rdf.errors import SourceError

STANDARD_INPUT = "-"
REPLAY = "replay+"
FOLLOW = "follow"

_SERVER = re.compile(r"tcp://([^/:]+|\[[^]]+\]):([0-9]+)/?")


def is_standard_input(source: str) -> bool:
    return source.partition("?")[0] == STANDARD_INPUT


def is_endless(source: str | Path) -> bool:
    """Whether a source goes on until somebody ends the run: `FOLDER?follow`, or `tcp://HOST:PORT`."""
    return FOLLOW in _options(source) or server_of(source) is not None


def refuse_endless(sources: Iterable[str]) -> None:
    """Raises InputError for a stream that has no end."""
    for source in filter(is_endless, sources):
        raise InputError(
            f"{source} has no end, and only `penstock run --engine spark` reads such a stream: name a file or folder"
        )


def server_of(source: str | Path) -> tuple[str, int] | None:
    """The host and port of a server; None for another source. Raises InputError where there is no port."""
    found = _SERVER.fullmatch(str(source))
    if found is None and str(source).startswith("tcp://"):
        raise InputError(f"{source}: a server is named as tcp://HOST:PORT, for example tcp://localhost:7700")
    return None if found is None else (found[1], int(found[2]))


def without_follow(source: str | Path) -> str:
    """The folder, with its other options."""
    path, others = str(source).partition("?")[0], [option for option in _options(source) if option != FOLLOW]
    return f"{path}?{'&'.join(others)}" if others else path


def played_at_once(source: str) -> str:
    """The file of a replay, to be read at once; any other source as it is."""
    return split_speed(source.removeprefix(REPLAY))[0] if source.startswith(REPLAY) else source


def split_speed(text: str) -> tuple[str, float]:
    """`FILE?speed=10&…` without the speed, and the speed; 1 is real time."""
    path, _, query = text.partition("?")
    options = query.split("&") if query else []
    speed = 1.0
    for option in [option for option in options if option.partition("=")[0] == "speed"]:
        options.remove(option)
        speed = _speed(option.partition("=")[2])
    return path + ("?" + "&".join(options) if options else ""), speed


def _speed(value: str) -> float:
    try:
        speed = float(value)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise SourceError(f"speed={value}: this is not a speed: write a number above 0, as in speed=10 for ten times")
    return speed


def _options(source: str | Path) -> list[str]:
    return str(source).partition("?")[2].split("&")
