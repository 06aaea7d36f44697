"""Counts for messages: `1 element`, `2,000 elements`."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """The number and the noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def are(number: int) -> str:
    return "is" if number == 1 else "are"
