"""What the logger `penstock` has to say while something runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def logged(caplog: pytest.LogCaptureFixture, match: str) -> Iterator[list[str]]:
    """Some message matches; all that do are in the list afterwards."""
    caplog.clear()
    found: list[str] = []
    yield found
    messages = [record.getMessage() for record in caplog.records if record.name == "penstock"]
    found += [message for message in messages if re.search(match, message)]
    assert found, f"{match!r} matches none of {messages}"
