"""What a run tells of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """What has happened so far; the watermark is None until there is one."""

    elements: int = 0
    evaluations: int = 0
    rows: int = 0
    late: int = 0
    malformed: int = 0
    watermark: int | None = None
