"""The RSP-QL model: operators, windows, report policies, streaming operators; syntax tree to algebra."""

from penstock.algebra.building import build
from penstock.algebra.model import ContinuousQuery, Settings

__all__ = ["ContinuousQuery", "Settings", "build"]
