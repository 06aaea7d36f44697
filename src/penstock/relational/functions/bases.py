"""The parts of a base IRI that a relative reference is joined to (RFC 3986 §5.2)."""

from __future__ import annotations

import re

_BASE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)(//[^/?#]*)?([^?#]*)(\?[^#]*)?", re.DOTALL)


def base_parts(base: str) -> tuple[str, str, str, str]:
    """The scheme, the authority, the path up to its last slash, and the whole base without the fragment."""
    matched = _BASE.match(base)
    if matched is None:
        raise ValueError(f"<{base}> is not an absolute IRI, so it cannot be a base")
    scheme, authority, path = matched[1], matched[2] or "", matched[3]
    directory = "/" if authority and not path else path[: path.rfind("/") + 1]
    return scheme, authority, directory, matched[0]
