r"""What is ordinary in lines of N-Triples and its kin, as regular expressions of Java (sources/columns.py says why).

Java is twice as quick at `[…]*`, with a class of single characters, as at `[…]*+`. In a group of its own, `(?>…)`, it
gives nothing back either, so that a wrong line takes no longer than a right one.
"""

from __future__ import annotations

import string

from penstock.rdf.vocabulary import XSD


def _any_of(characters: str) -> str:
    """As many of the characters as there are."""
    return f"(?>{_one_of(characters)}*)"


def _one_of(characters: str) -> str:
    escaped = (f"\\{character}" if character in "[]\\^-&~" else character for character in characters)
    return f"[{''.join(escaped)}]"


_LETTERS = string.ascii_letters
_WORD = _LETTERS + string.digits
_LETTER = _one_of(_LETTERS)
_IN_HOST = _WORD + "._~-"
_IN_PATH_AS_IT_IS = _WORD + "._~-:/?@!$&'()+*,;="
_IN_PATH = _any_of(_IN_PATH_AS_IT_IS)
_PATH = rf"{_IN_PATH}(?:%[0-9A-Fa-f]{{2}}{_IN_PATH})*+"
_FRAGMENT = rf"(?:#{_PATH})?+"
_WITH_HOST = rf"//{_any_of(_IN_HOST)}(?::{_any_of(string.digits)})?+(?:[/?]{_PATH})?+{_FRAGMENT}"
_WITHOUT_HOST = rf"/?+(?:{_one_of(_IN_HOST)}{_PATH})?+{_FRAGMENT}"
_REPLACEMENT = "\ufffd"
_CONTROLS = "".join(f"\\x{code:02x}" for code in (*range(32), 127))

IRI = rf"<{_LETTER}{_any_of(_WORD + '+.-')}:(?:{_WITH_HOST}|{_WITHOUT_HOST})>"
"""An IRI of ASCII characters."""

COMMON_IRI = rf"<https?://{_one_of(_IN_HOST)}*/{_one_of(_IN_PATH_AS_IT_IS)}*(?:#{_one_of(_IN_PATH_AS_IT_IS)}*)?>"
"""What most IRIs are, and `IRI` takes as well; Java tells it in half of the time."""

LITERAL = rf'"(?>[^"\\{_CONTROLS}{_REPLACEMENT}]*)"(?:\^\^<{XSD}(?>{_LETTER}+)>)?+'.replace(
    "www.w3.org", r"www\.w3\.org"
)
"""A literal without escapes, of one of xsd's datatypes; bytes that are not UTF-8 look like U+FFFD."""

MILLISECONDS = '"-?+[0-9]{1,18}"'


def _line(iri: str) -> str:
    return rf"^{iri} {iri} (?:{iri}|{LITERAL}) {MILLISECONDS} \.\r?+\z"


COMMON_LINE, LINE = _line(COMMON_IRI), _line(IRI)
"""A line of `.tnt`, ordinary in all of its terms; Java tells the first sooner."""


def for_re2(pattern: str) -> str:
    """The same for pyarrow, whose regular expressions give nothing back in any case."""
    return pattern.replace("(?>", "(?:").replace("*+", "*").replace("?+", "?")
