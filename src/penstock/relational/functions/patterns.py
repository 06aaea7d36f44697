r"""Regular expressions of XPath, as in SPARQL's REGEX and REPLACE, translated to a form that RE2 and Java read alike.

Both take `\z` for the end, and in a character class they need a backslash before square brackets and ampersands. Syntax
that only some engines have and XPath has not (lookahead, possessive quantifiers) is an error.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_OF_CLASSES = {
    "d": r"\p{Nd}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "s": r" \t\n\r",
}
_NEGATED = {
    "D": r"\P{Nd}",
    "W": r"[\p{P}\p{Z}\p{C}]",
    "S": r"[^ \t\n\r]",
}
_TOKEN = re.compile(r"\\[pP]\{\w+\}|\\.|\(\?[=!<>]|\{[0-9]+(?:,[0-9]*)?\}|.", re.DOTALL)
_REPLACEMENT = re.compile(r"\\[\\$]|\$[0-9]+|[\\$]|[^\\$]+", re.DOTALL)
_OF_JAVA = set("cCeGhHkNRuVXyYZ")
"""Escaped letters that only Java has, or that mean something else in Java."""


def translated(pattern: str, flags: str) -> str | None:
    """`pattern` with its flags; None if a flag is unknown, or the pattern is not valid in XPath."""
    if not set(flags) <= set("smixq"):
        return None
    inline = "".join(flag for flag in "smi" if flag in flags)
    prefix = f"(?{inline})" if inline else ""
    if "q" in flags:
        return prefix + re.sub(r"[\\.^$|?*+()\[\]{}-]", r"\\\g<0>", pattern)
    written = _translated(pattern, is_spaced="x" in flags, has_lines="m" in flags)
    return None if written is None else prefix + written


def _translated(pattern: str, *, is_spaced: bool, has_lines: bool) -> str | None:
    # \d, \w and \s are Unicode's in XPath and ASCII's elsewhere; in a class of characters they stand without brackets.
    written: list[str] = []
    is_in_class = False
    last = ""
    for token in _TOKEN.findall(pattern):
        escaped = token[1:] if token.startswith("\\") else ""
        if escaped in _OF_CLASSES:
            members = _OF_CLASSES[escaped]
            written.append(members if is_in_class else f"[{members}]")
        elif escaped in _NEGATED and not is_in_class:
            written.append(_NEGATED[escaped])
        elif is_spaced and not is_in_class and token in " \t\n\r":
            continue
        elif escaped in _OF_JAVA or (not is_in_class and _is_foreign(token, last)):
            return None
        elif is_in_class:
            is_in_class = token != "]"
            written.append(f"\\{token}" if token in "[&" else token)
        else:
            is_in_class = token == "["
            written.append(r"\z" if token == "$" and not has_lines else token)
        last = token
    return "".join(written)


def _is_foreign(token: str, last: str) -> bool:
    """Whether XPath lacks this syntax: a brace that begins no quantifier, lookaround, a possessive quantifier."""
    return (
        token == "{"
        or token.startswith("(?")
        or (token == "+" and (last in ("*", "+", "?") or last[-1:] == "}" != last))
    )


def is_sound(translated: str) -> bool:
    """Whether every engine certainly accepts it: Python and RE2 do, and its syntax is common to all engines."""
    if not is_taken(translated):
        return False
    if re.search(r"\\[1-9]|(?<!^)\(\?(?!:)|\\[pP]\{\w{3,}\}", translated):
        return False
    plain = re.sub(r"\\[pP](\{\w+\}|[A-Z])", "a", translated).replace(r"\z", r"\Z")
    try:
        re.compile(plain)
    except re.error:
        return False
    return True


def is_taken(translated: str) -> bool:
    """Whether it is a pattern of RE2, which decides on both engines."""
    try:
        pc.match_substring_regex(pa.array([""]), translated)
    except pa.ArrowInvalid:
        return False
    return True


_SIGN = re.compile(
    r"^\(\?[smi]+\)|\[\^?\]?(?:\\[pP]\{\w+\}|\\.|[^\]\\])*\]|\\[pP](?:\{\w+\}|.)|\\.|\(\?:|\{[0-9]+(?:,[0-9]*)?\}|.",
    re.DOTALL,
)
"""A character, a character class, or an operator."""
_MOST_WAYS = 64


def is_linear(translated: str) -> bool:
    """Whether Java, which backtracks, certainly takes time in proportion to the text.

    That is so if a match has few alternatives at each position: no group is repeated, `?` and `|` are few, and the only
    loop is over a character, after `^` or at the end.
    """
    signs = _SIGN.findall(translated)
    flags = signs.pop(0) if translated.startswith("(?") and not translated.startswith("(?:") else ""
    ways, alternatives, loops, before = 1, [1], 0, ""
    for sign in signs:
        is_repeated = sign in ("*", "+") or sign.startswith("{")
        if is_repeated and before == ")":
            return False
        if is_repeated and not (sign.startswith("{") and "," not in sign):
            loops += 1
        elif sign == "?":
            ways *= 2
        elif sign in ("(", "(?:"):
            alternatives.append(1)
        elif sign == "|":
            alternatives[-1] += 1
        elif sign == ")":
            ways *= alternatives.pop()
            if not alternatives:
                return False
        before = sign
    is_at_an_end = (signs[:1] == ["^"] and "m" not in flags) or before in ("*", "+") or "," in before
    return ways * alternatives[0] <= _MOST_WAYS and (not loops or (loops == 1 and is_at_an_end and "|" not in signs))


def to_rewrite(replacement: str, pattern: str) -> str | None:
    r"""`replacement` for RE2: `$1` is `\1`, `\$` is `$`; None where it is not a replacement (err:FORX0004)."""
    groups = _count_groups(pattern)
    written: list[str] = []
    for token in _REPLACEMENT.findall(replacement):
        if token in ("\\", "$"):
            return None
        if token.startswith("$"):
            written.append(_group(token[1:], groups))
        elif token.startswith("\\"):
            written.append("\\\\" if token == "\\\\" else "$")
        else:
            written.append(token)
    return "".join(written)


def _group(digits: str, groups: int) -> str:
    # A group number has as many digits as name an existing group; the others are text. Without such a group the first
    # digit stands for nothing.
    size = len(digits)
    while size > 1 and int(digits[:size]) > groups:
        size -= 1
    number = int(digits[:size])
    return (f"\\{number}" if number <= min(groups, 9) else "") + digits[size:]


def _count_groups(pattern: str) -> int:
    tokens = _TOKEN.findall(pattern)
    return sum(token == "(" and tokens[position + 1 : position + 2] != ["?"] for position, token in enumerate(tokens))
