"""The listings of the papers (`tests/papers/README.md`)."""

from __future__ import annotations

import json

from tests.corpora.samples import REPOSITORY, Sample, read_sample

from penstock.syntax import ast

FOLDER = REPOSITORY / "tests" / "papers"

DIALECT_OF_FOLDER: dict[str, ast.DialectName] = {
    "csparql": "csparql",
    "cqels": "cqels",
    "rspql": "rspql",
    "streaming-sparql": "streaming-sparql",
    "groppe": "sparql",
}


def listings() -> list[Sample]:
    """All that can be read: as printed, or repaired."""
    return [sample for sample in _all() if not is_misprint(sample)]


def misprints() -> list[Sample]:
    return [sample for sample in _all() if is_misprint(sample)]


def is_misprint(sample: Sample) -> bool:
    return sample.name.endswith(".misprint.rq")


def _all() -> list[Sample]:
    samples = []
    for folder, dialect in DIALECT_OF_FOLDER.items():
        prefixes = json.loads((FOLDER / folder / "prefixes.json").read_text(encoding="utf-8"))
        samples += [read_sample(path, dialect, FOLDER, prefixes) for path in sorted((FOLDER / folder).glob("*.rq"))]
    return samples
