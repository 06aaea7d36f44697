"""Queries that other people wrote, each with its name, its dialect and the prefixes it leaves undeclared.

Those of `../shared` are read where they lie and never copied into the repository; without that folder the tests that
need it skip. The environment variable PENSTOCK_SHARED names another place for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from penstock.syntax import ast

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PENSTOCK_SHARED") or REPOSITORY.parent / "shared")
ABSENT = f"{SHARED} is not there; PENSTOCK_SHARED can name another folder"


@dataclass(frozen=True, slots=True)
class Sample:
    """`name` is the test's id; `path` is None for a text that is put together from parts."""

    name: str
    dialect: ast.DialectName
    text: str = field(repr=False)
    prefixes: Mapping[str, str] = field(default_factory=dict, repr=False)
    path: Path | None = None


def read_sample(
    path: Path, dialect: ast.DialectName, folder: Path, prefixes: Mapping[str, str] | None = None
) -> Sample:
    return Sample(str(path.relative_to(folder)), dialect, path.read_text(encoding="utf-8"), prefixes or {}, path)


def each(samples: Iterable[Sample], argument: str = "sample") -> pytest.MarkDecorator:
    """One test a sample; where there is none, because `../shared` is absent, one that is skipped and says why."""
    parameters = [pytest.param(sample, id=sample.name) for sample in samples]
    if not parameters:
        parameters = [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=ABSENT))]
    return pytest.mark.parametrize(argument, parameters)


def all_of(*corpora: Callable[[], list[Sample]]) -> list[Sample]:
    return [sample for corpus in corpora for sample in corpus()]
