"""Answers to a webhook: a POST request for each evaluation, at least once.

The header `Idempotency-Key` has the key of the message. A request that was sent and not confirmed is sent again with
the same key and the same content, so a receiver that knows its keys can drop repetitions.
"""

from __future__ import annotations

import pyarrow as pa

from penstock.rdf.credentials import ServiceAuth
from penstock.sinks.delivery import PassingError
from penstock.sinks.http import Posts


class Webhook:
    """The server at an http or https address, which accepts content of this media type."""

    def __init__(self, address: str, media_type: str, auth: ServiceAuth) -> None:
        self._posts = Posts(address, auth)
        self._media_type = media_type

    @property
    def name(self) -> str:
        return self._posts.name

    def connect(self) -> None:
        """Each request has its own connection."""

    def send(self, messages: pa.Table, before: int) -> None:
        columns = [messages[name].to_pylist() for name in ("key", "value", "query", "time")]
        for received, (key, value, query, time) in enumerate(zip(*columns, strict=True)):
            headers = {
                "Content-Type": self._media_type,
                "Idempotency-Key": _ascii(key),
                "Penstock-Query": _ascii(query),
                "Penstock-Time": str(time),
            }
            try:
                self._posts.post(value, headers)
            except PassingError as error:
                raise PassingError(error.reason, received) from None

    def close(self) -> None:
        """Nothing is open."""


def _ascii(text: str) -> str:
    """Headers are ASCII."""
    return text.encode("ascii", "backslashreplace").decode("ascii")
