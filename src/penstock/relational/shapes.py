"""The shapes of slices: what a statement may count on.

Rows that are distributed over machines arrive in no order by which they could be numbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The one instant `$first`: whatever holds then holds on `[0, 1)`, so plain SQL suffices."""

    is_distributed: bool = False
    is_snapshot: ClassVar[bool] = True
    is_regular: ClassVar[bool] = False
    is_large: ClassVar[bool] = False
    has_slices: ClassVar[bool] = False
    has_many_instants: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class LocalSlice:
    """Instants that one process answers: `is_regular` if they are `$step` apart, `is_large` if there are many rows."""

    is_regular: bool
    is_large: bool
    is_snapshot: ClassVar[bool] = False
    is_distributed: ClassVar[bool] = False
    has_slices: ClassVar[bool] = False
    has_many_instants: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class DistributedSlice:
    """Instants that several machines answer.

    With `has_slices`, joins look for partners within stretches of `$slice` instants only. With `has_many_instants`,
    each machine may do some of the instants, and all have enough to do.
    """

    is_regular: bool
    has_slices: bool = False
    has_many_instants: bool = False
    is_snapshot: ClassVar[bool] = False
    is_distributed: ClassVar[bool] = True
    is_large: ClassVar[bool] = False


Shape = Snapshot | LocalSlice | DistributedSlice
