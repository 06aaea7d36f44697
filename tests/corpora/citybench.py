"""CityBench: six queries, each as shipped in C-SPARQL and in CQELS-QL."""

from __future__ import annotations

from tests.corpora.samples import SHARED, Sample, read_sample

from penstock.syntax import ast

FOLDER = SHARED / "data" / "citybench"
DIALECTS: tuple[ast.DialectName, ...] = ("cqels", "csparql")


def queries() -> list[Sample]:
    paths = [(path, dialect) for dialect in DIALECTS for path in sorted(FOLDER.glob(f"{dialect}-*.rq"))]
    return [read_sample(path, dialect, FOLDER) for path, dialect in paths]
