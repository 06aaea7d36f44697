"""A window that counts what triple patterns match has triple patterns in its block, and nothing else."""

from __future__ import annotations

import pytest

import penstock as ps

WINDOW = "FROM NAMED WINDOW <http://ex.org/w> ON <http://ex.org/s> [ELEMENTS 2 MATCHING]"


@pytest.mark.parametrize("element", ["BIND (1 AS ?v)", "FILTER (?n > 1)", "OPTIONAL { ?c <http://ex.org/p> ?d }"])
def test_other_elements_are_refused(element: str) -> None:
    text = f"SELECT ?c {WINDOW} {{ WINDOW <http://ex.org/w> {{ ?c <http://ex.org/n> ?n {element} }} }}"
    (problem,) = ps.check(text)
    assert "MATCHING" in problem.message
    assert text[problem.span.start : problem.span.end] == element


def test_behind_the_block_they_may_stand() -> None:
    assert not ps.check(
        f"SELECT ?c {WINDOW} {{ WINDOW <http://ex.org/w> {{ ?c <http://ex.org/n> ?n }} FILTER (?n > 1) }}"
    )
