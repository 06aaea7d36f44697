"""Rows as they arrive, as Arrow columns: numbers, and the watermarks of late rows (semantics.md §2)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engines.protocol import Reached, Seen
from penstock.sources.batches import count_elements


def stamped(rows: pa.Table, reached: Reached, lateness: int) -> tuple[pa.Table, Seen]:
    """At least one row, with the column `since`: the watermark that a late row is behind, NULL for one in time.

    A row is late where its timestamp is less than the greatest before it minus the lateness, or is before an instant
    that was evaluated without its stream.
    """
    stamps = rows["ts"].combine_chunks()
    if _are_in_time(stamps, reached, lateness):
        seen = Seen(count_elements(rows), stamps[0].as_py(), stamps[-1].as_py(), has_late=False)
        return rows.append_column("since", pa.nulls(len(stamps), pa.int64())), seen
    start = stamps[0].as_py() if reached.greatest is None else reached.greatest
    greatest = pc.cumulative_max(pa.concat_arrays([pa.array([start], pa.int64()), stamps.slice(0, len(stamps) - 1)]))
    watermarks = pc.subtract(greatest, lateness)
    if reached.evaluated is not None:
        watermarks = pc.max_element_wise(watermarks, pa.scalar(reached.evaluated, pa.int64()))
    is_late = pc.less(stamps, watermarks)
    has_late = bool(is_late.true_count)
    since = pc.if_else(is_late, watermarks, pa.nulls(len(stamps), pa.int64()))
    in_time = stamps.filter(pc.invert(is_late)) if has_late else stamps
    seen = Seen(count_elements(rows), pc.min(in_time).as_py(), pc.max(stamps).as_py(), has_late)
    return rows.append_column("since", since), seen


def _are_in_time(stamps: pa.Array, reached: Reached, lateness: int) -> bool:
    """Whether they are in order, and the first one is in time: most streams are."""
    times = stamps.to_numpy()
    if reached.greatest is not None and times[0] < reached.greatest - lateness:
        return False
    if reached.evaluated is not None and times[0] < reached.evaluated:
        return False
    return bool((times[1:] >= times[:-1]).all())


def numbered(rows: pa.Table, elements: int, triples: int) -> pa.Table:
    """The rows, with numbers that continue those of earlier elements and triples (`element`, `arrival`)."""
    number = pc.add(rows["element"], elements)
    arrival = pa.arange(triples, triples + rows.num_rows)
    return rows.set_column(rows.schema.get_field_index("element"), "element", number).append_column("arrival", arrival)


def count_in_time(rows: pa.Table) -> int:
    """The number of elements with a row in time."""
    return int(pc.count_distinct(rows["element"].filter(rows["since"].is_null())).as_py())
