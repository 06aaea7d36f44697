"""Queries that read each other's streams. The oracle answers them one after the other (semantics.md §7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from penstock.algebra import Settings
from penstock.algebra.chaining import Chain, elements_of
from penstock.algebra.inputs import Inputs
from penstock.oracle.answering import Answer, answer
from penstock.rdf.elements import Element
from penstock.syntax import ast


def answer_all(
    queries: Mapping[str, ast.Query],
    chain: Chain,
    inputs: Inputs,
    settings: Settings | None = None,
    *,
    flush: bool = False,
) -> dict[str, Answer]:
    """The reference answer to each query, in the order of the queries.

    The answer of a query is a stream like any other: its elements are written out, and the next query reads them.
    """
    given: dict[str, Sequence[Element]] = {}
    answers: dict[str, Answer] = {}
    for name in chain.order:
        there = {**inputs.streams, **given}
        read = {stream: there[stream] for stream in chain.streams_of(name, inputs.streams)}
        found = answer(queries[name], replace(inputs, streams=read), settings, flush=flush)
        named = tuple(replace(evaluation, query=name) for evaluation in found.evaluations)
        answers[name] = replace(found, evaluations=named)
        for stream, giver in chain.produced.items():
            if giver == name:
                given[stream] = [e for evaluation in answers[name].evaluations for e in elements_of(evaluation)]
    return {name: answers[name] for name in queries}
