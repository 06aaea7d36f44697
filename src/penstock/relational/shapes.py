"""The shapes of slices: the properties that a statement may rely on.

Distributed rows arrive in no order by which they could be numbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The one instant `$first`: each valid row holds on `[0, 1)`, so plain SQL suffices."""

    is_distributed: bool = False
    is_snapshot: ClassVar[bool] = True
    is_regular: ClassVar[bool] = False
    is_large: ClassVar[bool] = False
    has_slices: ClassVar[bool] = False
    has_many_instants: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class LocalSlice:
    """Instants that one process evaluates: `is_regular` if `$step` apart, `is_large` if there are many rows.

    With `has_slices`, joins look for partners only within stretches of `$slice` instants.
    """

    is_regular: bool
    is_large: bool
    has_slices: bool = False
    is_snapshot: ClassVar[bool] = False
    is_distributed: ClassVar[bool] = False
    has_many_instants: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class DistributedSlice:
    """Instants that several machines evaluate.

    With `has_slices`, joins look for partners only within stretches of `$slice` instants. With `has_many_instants`,
    there are enough instants to occupy all machines.
    """

    is_regular: bool
    has_slices: bool = False
    has_many_instants: bool = False
    is_snapshot: ClassVar[bool] = False
    is_distributed: ClassVar[bool] = True
    is_large: ClassVar[bool] = False


Shape = Snapshot | LocalSlice | DistributedSlice
