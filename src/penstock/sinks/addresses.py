"""Addresses of sinks: what `--out` and `query.sink(…)` take."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from penstock.sinks.errors import SinkError

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_EXAMPLES = {
    "kafka": "kafka://HOST:PORT/TOPIC",
    "mqtt": "mqtt://HOST/TOPIC",
    "mqtts": "mqtts://HOST/TOPIC",
    "http": "http://HOST/PATH",
    "https": "https://HOST/PATH",
    "sparql+http": "sparql+http://HOST/update",
    "sparql+https": "sparql+https://HOST/update",
}
_OPTIONS = frozenset({"format", "password-file"})


@dataclass(frozen=True, slots=True)
class SinkAddress:
    """`scheme` is "" for a file. `place` is the path of a file, or the address without scheme and options."""

    scheme: str
    place: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def format(self) -> str | None:
        return self.options.get("format")

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the client; their names have a dot."""
        return {name: value for name, value in self.options.items() if "." in name}

    @property
    def password(self) -> str | None:
        """Raises SinkError where the file of the password cannot be read."""
        file = self.options.get("password-file")
        if file is None:
            return os.environ.get(f"PENSTOCK_{self.scheme.rstrip('s').upper()}_PASSWORD")
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except OSError as error:
            raise SinkError(f"password-file={file}: this file cannot be read ({error.strerror})") from None


def parse_address(text: str) -> SinkAddress:
    """Raises SinkError for an address that no sink has."""
    found = _SCHEME.match(text)
    scheme = "" if found is None else found[1].lower()
    if found is not None and scheme not in _EXAMPLES:
        raise SinkError(
            f"{text}: there is no sink for {scheme}://: name a file, or write {', '.join(_EXAMPLES.values())}"
        )
    place, _, query = text[0 if found is None else found.end() :].partition("?")
    has_client = scheme in ("kafka", "mqtt", "mqtts")
    options = [option.partition("=")[::2] for option in query.split("&") if option]
    own = {name: unquote(value) for name, value in options if name in _OPTIONS or (has_client and "." in name)}
    others = [f"{name}={value}" for name, value in options if name not in own]
    if others and scheme in ("http", "https", "sparql+http", "sparql+https"):
        place = f"{place}?{'&'.join(others)}"
    elif others and not scheme:  # the name of a file
        return SinkAddress("", text)
    elif others:
        raise SinkError(
            f"{text}: there is no option {others[0].partition('=')[0]}: write ?format=, ?password-file=, or a setting "
            "of the client, such as ?linger.ms=5"
        )
    if scheme and not re.fullmatch(r"[^/?#]+/[^?#].*", place) and not scheme.startswith(("http", "sparql")):
        raise SinkError(f"{text}: write {_EXAMPLES[scheme]}")
    return SinkAddress(scheme, place, own)


def host_and_port(place: str, port: int) -> tuple[str | None, str, int, str]:
    """The user, host, port and path of `[USER@]HOST[:PORT]/PATH`."""
    parts = urlsplit(f"//{place}")
    try:
        return parts.username, parts.hostname or "", parts.port or port, unquote(parts.path[1:])
    except ValueError:
        raise SinkError(f"{place}: the port is not a number") from None
