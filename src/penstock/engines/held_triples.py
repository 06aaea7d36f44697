"""Triples, and when they hold, as tables of encoded terms and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from pyoxigraph import Triple

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.windows import Interval
from penstock.rdf.conversion import decode_oxigraph, encode_oxigraph
from penstock.relational.windows import FOREVER


def triples_table(triples: Sequence[Triple]) -> pa.Table:
    encoded = [tuple(map(encode_oxigraph, (t.subject, t.predicate, t.object))) for t in triples]
    return pa.table({name: pa.array([row[n] for row in encoded], pa.string()) for n, name in enumerate("spo")})


def held_table(held: Sequence[GraphTriple]) -> pa.Table:
    starts = pa.array([valid.start for _, valid in held], pa.int64())
    ends = pa.array([FOREVER if valid.end is None else valid.end for _, valid in held], pa.int64())
    return triples_table([triple for triple, _ in held]).append_column("starts", starts).append_column("ends", ends)


def held_triples(rows: Iterable[Sequence[Any]]) -> list[GraphTriple]:
    """Rows `(s, p, o, starts, ends)`."""
    return [
        GraphTriple(
            Triple(*map(decode_oxigraph, (subject, predicate, object_))),  # type: ignore[arg-type]
            Interval(starts, None if ends == FOREVER else ends),
        )
        for subject, predicate, object_, starts, ends in rows
    ]
