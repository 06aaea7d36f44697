"""The answer of a query to several instants, in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import repeat
from typing import Any
from typing import Literal as OneOf

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyoxigraph import Quad, Triple

from penstock.rdf.conversion import decode_oxigraph, encode_oxigraph
from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation
from penstock.rdf.term_columns import TEXT, text_array

Numbers = npt.NDArray[np.int64]
Kind = OneOf["rows", "boolean", "triples"]
EncodedRow = tuple[str | None, ...]

QUAD = ("s", "p", "o", "g")


def _truth() -> pa.Table:
    return pa.table({"boolean": pa.array(["bfalse", "btrue"], TEXT)})


class ResultBatch:
    """Evaluations of a query, or of several queries that are answered together, in the order of time.

    `rows` are distinct rows of encoded terms (rdf/encoding.py): a column for each variable of SELECT; `s`, `p`, `o` and
    `g` if there are named graphs, of CONSTRUCT and DESCRIBE; `boolean` of ASK. Evaluation number k answers
    `queries[members[k]]` at the instant `times[k]` with the rows `places[bounds[k]:bounds[k + 1]]`, in this order.
    """

    def __init__(
        self,
        kind: Kind,
        queries: Sequence[str],
        times: Numbers,
        rows: pa.Table,
        places: Numbers,
        bounds: Numbers,
        members: Numbers | None = None,
    ) -> None:
        self.kind = kind
        self.queries = tuple(queries)
        self.times = times
        self.rows = rows
        self.places = places
        self.bounds = bounds
        self.members = np.zeros(len(times), np.int64) if members is None else members

    @staticmethod
    def booleans(query: str, times: Sequence[int], values: npt.NDArray[np.bool_]) -> ResultBatch:
        places = values.astype(np.int64)
        return ResultBatch(
            "boolean", [query], np.asarray(times, np.int64), _truth(), places, np.arange(len(places) + 1)
        )

    @staticmethod
    def of_rows(
        query: str, variables: Sequence[str], answers: Sequence[tuple[int, Sequence[EncodedRow]]], kind: Kind = "rows"
    ) -> ResultBatch:
        """Instants with the rows of each."""
        rows = [row for _, own in answers for row in own]
        columns = {name: pa.array([row[place] for row in rows], TEXT) for place, name in enumerate(variables)}
        bounds = np.cumsum([0, *(len(own) for _, own in answers)])
        times = np.array([time for time, _ in answers], np.int64)
        return ResultBatch(kind, [query], times, pa.table(columns), np.arange(len(rows)), bounds)

    @staticmethod
    def of(evaluation: Evaluation) -> ResultBatch:
        if evaluation.boolean is not None:
            return ResultBatch.booleans(evaluation.query, [evaluation.time], np.array([evaluation.boolean]))
        if evaluation.rows is not None:
            rows = [tuple(None if t is None else encode_oxigraph(t) for t in row) for row in evaluation.rows]
            return ResultBatch.of_rows(evaluation.query, evaluation.variables or (), [(evaluation.time, rows)])
        quads = [_encoded_quad(statement) for statement in evaluation.triples or ()]
        names = QUAD if any(len(quad) == 4 for quad in quads) else QUAD[:3]
        rows = [(*quad, None)[: len(names)] for quad in quads]
        return ResultBatch.of_rows(evaluation.query, names, [(evaluation.time, rows)], "triples")

    @staticmethod
    def together(batches: Sequence[ResultBatch], order: Numbers | None = None) -> ResultBatch:
        """Batches of one kind as one; `order` has the places of its evaluations in the batches, one after the other."""
        if len(batches) == 1:
            return batches[0]
        sizes = np.cumsum([0, *(batch.rows.num_rows for batch in batches)])
        queries = {query: number for number, query in enumerate(dict.fromkeys(q for b in batches for q in b.queries))}
        members = [np.array([queries[query] for query in b.queries], np.int64)[b.members] for b in batches]
        times = np.concatenate([batch.times for batch in batches])
        order = np.arange(len(times)) if order is None else order
        counts = np.concatenate([batch.sizes for batch in batches])
        starts = np.cumsum(counts) - counts
        places = np.concatenate([batch.places + before for batch, before in zip(batches, sizes, strict=False)])
        lengths = counts[order]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        chosen = np.repeat(starts[order] - bounds[:-1], lengths) + np.arange(len(places))
        rows = pa.concat_tables([batch.rows for batch in batches], promote_options="default")
        return ResultBatch(
            batches[0].kind, list(queries), times[order], rows, places[chosen], bounds, np.concatenate(members)[order]
        )

    def __len__(self) -> int:
        return len(self.times)

    @property
    def variables(self) -> tuple[str, ...]:
        """Those of SELECT."""
        return tuple(self.rows.column_names)

    @property
    def sizes(self) -> Numbers:
        """How many rows each evaluation has."""
        return np.diff(self.bounds)

    @property
    def numbers(self) -> Numbers:
        """The number of the evaluation that each place belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def part(self, which: range) -> ResultBatch:
        """Some consecutive evaluations."""
        if len(which) == len(self):
            return self
        bounds = self.bounds[which.start : which.stop + 1]
        places = self.places[bounds[0] : bounds[-1]]
        chosen = slice(which.start, which.stop)
        return ResultBatch(
            self.kind, self.queries, self.times[chosen], self.rows, places, bounds - bounds[0], self.members[chosen]
        )

    def divided(self, most_rows: int) -> ResultBatch:
        """A batch of one evaluation as several evaluations of the same instant, of at most so many rows each."""
        bounds = np.append(np.arange(0, len(self.places), most_rows), len(self.places))
        number = len(bounds) - 1
        return ResultBatch(
            self.kind,
            self.queries,
            np.repeat(self.times, number),
            self.rows,
            self.places,
            bounds,
            np.repeat(self.members, number),
        )

    def with_solutions(self) -> ResultBatch:
        """Without the evaluations that have neither solutions nor triples."""
        kept = np.flatnonzero(self.sizes)
        bounds = np.append(self.bounds[kept], self.bounds[-1])
        return ResultBatch(
            self.kind, self.queries, self.times[kept], self.rows, self.places, bounds, self.members[kept]
        )

    def query(self, number: int) -> str:
        """The query of an evaluation."""
        return self.queries[int(self.members[number])]

    @property
    def answered(self) -> set[str]:
        """The queries that have solutions or triples; an ASK always says something."""
        return {self.queries[member] for member in np.unique(self.members[self.sizes > 0]).tolist()}

    def says_something(self, which: range) -> bool:
        """Whether some of these evaluations have solutions, triples or a boolean."""
        return bool(self.bounds[which.start] < self.bounds[which.stop])

    def distinct(self, which: range) -> tuple[pa.Table, Numbers]:
        """The rows that some evaluations have, each once, and the places of their solutions in these, in order."""
        places = self.places[self.bounds[which.start] : self.bounds[which.stop]]
        if not self.rows.num_columns:
            return self.rows, places
        is_used = np.zeros(self.rows.num_rows, np.bool_)
        is_used[places] = True
        if is_used.all():
            return self.rows, places
        return self.rows.filter(pa.array(is_used)), (np.cumsum(is_used) - 1)[places]

    # For Python

    @cached_property
    def _items(self) -> npt.NDArray[np.object_]:
        """Each distinct row as Python has it."""
        columns = [_nodes(column) for column in self.rows.columns]
        rows: Iterable[Any] = (
            zip(*columns, strict=True) if columns else repeat((), int(self.places.max(initial=-1)) + 1)
        )
        return np.fromiter(map(_ITEMS[self.kind], rows), object)

    def evaluations(self, which: range | None = None) -> Iterator[Evaluation]:
        """Some of the evaluations, or all, as Python objects."""
        for number in range(len(self)) if which is None else which:
            query, time = self.query(number), int(self.times[number])
            places = self.places[self.bounds[number] : self.bounds[number + 1]]
            if not len(places):
                is_rows = self.kind == "rows"
                yield Evaluation(query, time, self.variables, ()) if is_rows else Evaluation(query, time, triples=())
            elif self.kind == "boolean":
                yield Evaluation(query, time, boolean=self._items[places[0]])
            elif self.kind == "triples":
                yield Evaluation(query, time, triples=tuple(self._items[places]))
            else:
                yield Evaluation(query, time, self.variables, tuple(self._items[places]))


def _nodes(column: pa.ChunkedArray) -> list[Node | None]:
    terms = text_array(column).dictionary_encode()
    nodes = np.array([*map(decoded, terms.dictionary.to_pylist()), None], object)
    found: list[Node | None] = nodes[terms.indices.fill_null(len(nodes) - 1).to_numpy()].tolist()
    return found


@lru_cache(maxsize=1 << 16)
def decoded(text: str) -> Node:
    return decode_oxigraph(text)


def _statement(row: Sequence[Any]) -> Triple | Quad:
    return Triple(*row[:3]) if len(row) == 3 or row[3] is None else Quad(*row)


_ITEMS: Mapping[Kind, Callable[[Sequence[Any]], Any]] = {
    "rows": tuple,
    "boolean": lambda row: row[0].value == "true",
    "triples": _statement,
}


def _encoded_quad(statement: Triple | Quad) -> EncodedRow:
    triple = tuple(map(encode_oxigraph, (statement.subject, statement.predicate, statement.object)))
    return (*triple, encode_oxigraph(statement.graph_name)) if isinstance(statement, Quad) else triple  # type: ignore[arg-type]
