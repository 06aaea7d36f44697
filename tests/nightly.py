"""With PENSTOCK_TESTS=nightly all is tried; else what a run of some minutes can try."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

IS_NIGHTLY = os.environ.get("PENSTOCK_TESTS") == "nightly"

Tried = TypeVar("Tried")


def some_of(everything: Sequence[Tried], every: int) -> Sequence[Tried]:
    """One of so many, by night all."""
    return everything if IS_NIGHTLY else everything[::every]
