"""The order in which answers of queries reach their outlets."""

from __future__ import annotations

from penstock.rdf.result_batches import ResultBatch
from penstock.runtime.answers import in_time_order


def batch(query: str, *times: int) -> ResultBatch:
    return ResultBatch.of_rows(query, ["a"], [(time, [("Ihttp://example.org/a",)]) for time in times])


def test_one_query_answers_whole_batches_but_none_without_evaluations() -> None:
    first, second = batch("q", 1, 2), batch("q", 3)
    assert list(in_time_order([[first, batch("q"), second]])) == [(first, range(2)), (second, range(1))]


def test_several_queries_answer_instant_by_instant() -> None:
    first, second = batch("q", 1, 3), batch("r", 1, 2)
    assert list(in_time_order([[first], [second]])) == [
        (first, range(1)),
        (second, range(1)),
        (second, range(1, 2)),
        (first, range(1, 2)),
    ]
