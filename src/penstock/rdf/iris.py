"""Resolving a relative IRI against a base (RFC 3986 §5.2)."""

from __future__ import annotations

import re

_PARTS = re.compile(r"^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$", re.DOTALL)


def is_absolute(iri: str) -> bool:
    matched = _PARTS.match(iri)
    return matched is not None and matched[1] is not None


def resolve(reference: str, base: str | None) -> str:
    """Makes `reference` absolute with `base`; unchanged if there is no base."""
    if base is None:
        return reference
    scheme, authority, path, query, fragment = _split(reference)
    if scheme is not None:
        return reference
    base_scheme, base_authority, base_path, base_query, _ = _split(base)
    if authority is not None:
        path = _without_dots(path)
    else:
        authority = base_authority
        if path == "":
            path = base_path
            query = base_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            path = _without_dots(_merge(base_authority, base_path, path))
    return _join(base_scheme, authority, path, query, fragment)


def _split(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    matched = _PARTS.match(iri)
    assert matched is not None, "the pattern matches every string"
    return matched[1], matched[2], matched[3], matched[4], matched[5]


def _merge(authority: str | None, base_path: str, path: str) -> str:
    if authority is not None and base_path == "":
        return "/" + path
    return base_path[: base_path.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    segments: list[str] = []
    parts = path.split("/")
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        if part == "..":
            if len(segments) > 1:
                segments.pop()
            if is_last:
                segments.append("")
        elif part == ".":
            if is_last:
                segments.append("")
        else:
            segments.append(part)
    return "/".join(segments)


def _join(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    text = path
    if authority is not None:
        text = f"//{authority}{text}"
    if scheme is not None:
        text = f"{scheme}:{text}"
    if query is not None:
        text += f"?{query}"
    if fragment is not None:
        text += f"#{fragment}"
    return text
