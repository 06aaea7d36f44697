"""The texts of the papers, CityBench and CSRBench parse to the trees that they have always had.

`trees.json` has a digest of each tree. A change of the grammar that is meant to change them writes it anew:
`python -m tests.corpora.test_trees`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass
from pathlib import Path

from tests.corpora import citybench, csrbench, papers
from tests.corpora.samples import Sample, all_of, each

from penstock.syntax import parse

FILE = Path(__file__).with_name("trees.json")
SAMPLES = all_of(papers.listings, citybench.queries, csrbench.queries)


def digest_of(sample: Sample) -> str:
    tree = parse(sample.text, sample.dialect, prefixes=sample.prefixes)
    return hashlib.sha256(json.dumps(_shape(tree)).encode()).hexdigest()[:16]


def _shape(node: object) -> object:
    """The names of classes and their fields, without those that have their default: a new field changes no old tree."""
    if is_dataclass(node):
        values = {
            field.name: _shape(getattr(node, field.name))
            for field in fields(node)
            if field.compare and getattr(node, field.name) != field.default
        }
        return [type(node).__name__, values]
    if isinstance(node, (tuple, list)):
        return [_shape(part) for part in node]
    return repr(node)


@each(SAMPLES)
def test_it_has_its_tree(sample: Sample) -> None:
    assert digest_of(sample) == json.loads(FILE.read_text(encoding="utf-8"))[_key(sample)]


def test_every_tree_has_its_text() -> None:
    """CityBench and CSRBench are beside the repository, or absent."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    assert {_key(sample) for sample in SAMPLES} <= set(known)
    assert len(known) == 74


def _key(sample: Sample) -> str:
    return f"{sample.name} as {sample.dialect}"


if __name__ == "__main__":
    found = {_key(sample): digest_of(sample) for sample in SAMPLES}
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
