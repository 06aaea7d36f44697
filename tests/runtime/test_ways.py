"""One function chooses the way of a run, and the design page lists every way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.runtime.settings import RunSettings
from penstock.runtime.ways import RunRequest, Way, choose_way
from penstock.sources.batches import SparkStream

DESIGN = Path(__file__).parents[2] / "docs" / "design" / "architecture.md"


@dataclass(frozen=True)
class Bound:
    """A source as far as the choice depends on it."""

    is_live: bool
    can_resume: bool
    name: str = "bound"


FILE, PIPE, REPLAY = Bound(False, True), Bound(True, False), Bound(True, True)


@pytest.mark.parametrize(
    ("source", "on_spark", "by_arrival", "has_checkpoint", "way"),
    [
        (FILE, False, False, False, Way.EMBEDDED),
        (PIPE, False, True, False, Way.EMBEDDED),
        (FILE, False, False, True, Way.EMBEDDED),
        (FILE, True, False, False, Way.HISTORY),
        (FILE, True, True, False, Way.SOURCES_ON_SPARK),
        (PIPE, True, False, False, Way.SOURCES_ON_SPARK),
        (REPLAY, True, False, False, Way.SOURCES_ON_SPARK),
        (FILE, True, False, True, Way.MICRO_BATCHES),
        (SparkStream(), True, False, False, Way.MICRO_BATCHES),
    ],
)
def test_the_way_of_a_run(
    source: Bound | SparkStream, on_spark: bool, by_arrival: bool, has_checkpoint: bool, way: Way
) -> None:
    settings, checkpoint = RunSettings(by_arrival=by_arrival), Path("state") if has_checkpoint else None
    request = RunRequest([], {"s": source}, settings=settings, checkpoint=checkpoint)  # type: ignore[dict-item]
    assert choose_way(request, on_spark=on_spark) is way


@pytest.mark.parametrize("way", Way)
def test_the_design_page_lists_the_way(way: Way) -> None:
    assert f"\n| {way.title} | " in DESIGN.read_text(encoding="utf-8")
