"""Sources that go on until the user ends the run: folders that grow (`FOLDER?follow`) and servers (`tcp://HOST:PORT`)."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.algebra.inputs import InputError
from penstock.api.spark_streams import is_endless


def refuse_endless(sources: Iterable[str]) -> None:
    """For those who read a stream to its end, or by themselves. Raises InputError."""
    for source in filter(is_endless, sources):
        raise InputError(
            f"{source} has no end, and such a stream is read by `penstock run --engine spark` only: name a file or "
            "folder"
        )
