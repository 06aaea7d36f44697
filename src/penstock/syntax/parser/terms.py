"""IRIs, literals, variables, blank nodes (SPARQL 1.1 grammar rules 107 to 138)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NoReturn

from penstock.rdf import iris, vocabulary
from penstock.rdf.terms import IRI, Literal
from penstock.syntax import ast
from penstock.syntax.parser.cursor import MAX_PROBLEMS, Cursor
from penstock.syntax.spans import Span
from penstock.syntax.suggestions import closest
from penstock.syntax.tokens import Tokens

NUMBER_TYPES = {"int": vocabulary.XSD_INTEGER, "dec": vocabulary.XSD_DECIMAL, "dbl": vocabulary.XSD_DOUBLE}

_STRING_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", '"': '"', "'": "'"}
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_iri = lru_cache(1024)(IRI)
"""Many queries use the same terms: equal terms become one object."""
_NOT_IN_IRI = frozenset('<>"{}|^`\\') | {chr(code) for code in range(0x21)}


class TermRules(Cursor):
    def __init__(self, tokens: Tokens, prefixes: Mapping[str, str] | None = None, base: str | None = None) -> None:
        super().__init__(tokens)
        self.base = base
        self.prefixes = dict(prefixes or {})
        self._undeclared: set[str] = set()

    # Rules 136 to 138: iri, PrefixedName, BlankNode

    def at_iri(self) -> bool:
        return self.kind in ("iri", "pname")

    def iri(self, purpose: str = "an IRI") -> ast.Constant:
        position = self.position
        value = self.iri_value(position, purpose)
        self.position += 1
        return ast.Constant(_iri(value), span=self.tokens.span(position))

    def iri_value(self, position: int, purpose: str = "an IRI") -> str:
        """The absolute IRI that the token at `position` stands for."""
        kind, text = self.kinds[position], self.texts[position]
        if kind == "pname":
            prefix, _, local = text.partition(":")
            namespace = self.prefixes.get(prefix)
            if namespace is None:
                self._report_undeclared(prefix, position)
                return text
            return namespace + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local)
        if kind == "iri":
            value = text[1:-1]
            if "\\" in value:
                value = self._decode_escapes(value, position, 1)
                if not _NOT_IN_IRI.isdisjoint(value):
                    self.report("an IRI cannot contain this character, not even escaped", self.tokens.span(position))
            return iris.resolve(value, self.base) if self.base is not None else value
        self.fail_name(purpose)

    def fail_name(self, expected: str) -> NoReturn:
        """Fails because an IRI was expected; a plain word may be a name without its brackets or prefix."""
        word = self.texts[self.position]
        hint = None
        if self.kind.isupper() and self.following() in ("iri", "pname"):
            hint = f"drop {word}"
        elif self.kind.isupper():
            prefix = "" if "" in self.prefixes else "ex"
            hint = f"a name needs <…> or a prefix: write <{word}>, or {prefix}:{word} with a PREFIX for it"
        self.fail(expected, hint)

    def fail_term(self, expected: str) -> NoReturn:
        """Fails because a term was expected; a plain word may be a variable without its mark."""
        word = self.texts[self.position]
        hint = None
        if self.kind.isupper() and self.kind not in ("eof", "bad"):
            if any(mark + word in self.texts for mark in "?$"):
                hint = f"did you mean the variable ?{word}?"
            elif "" in self.prefixes:
                hint = f"write ?{word} for a variable, or :{word} for a name with the empty prefix"
            else:
                hint = f"write ?{word} for a variable, or a name with its prefix, such as ex:{word}"
        self.fail(expected, hint)

    def _report_undeclared(self, prefix: str, position: int) -> None:
        if prefix in self._undeclared or len(self._undeclared) == MAX_PROBLEMS:
            return
        self._undeclared.add(prefix)
        start = self.starts[position]
        near = closest(prefix, self.prefixes) if prefix else None
        common = vocabulary.COMMON_PREFIXES.get(prefix)
        if near is not None:
            hint = f"did you mean {near}:?"
        elif common is not None:
            hint = f"add at the top: PREFIX {prefix}: <{common}>"
        else:
            hint = f"add at the top: PREFIX {prefix}: <…>"
        self.report(f"the prefix {prefix}: is not declared", Span(start, start + len(prefix) + 1), hint)

    # Rules 129 to 135: RDFLiteral, NumericLiteral, BooleanLiteral, String

    def string(self) -> str:
        position = self.position
        if self.kind != "str":
            self.fail("a string")
        text = self.texts[position]
        quotes = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
        value = text[quotes:-quotes]
        if "\\" in value:
            value = self._decode_escapes(value, position, quotes)
        self.position += 1
        return value

    def literal(self) -> ast.Constant:
        """RDFLiteral: a string with a language tag or a datatype, or neither."""
        start = self.position
        lexical = self.string()
        kind = self.kinds[self.position]
        if kind == "lang":
            language = self.advance()[1:]
            term = Literal(lexical, vocabulary.RDF_LANG_STRING, language)
        elif kind == "^^":
            self.position += 1
            if not self.at_iri():
                self._fail_datatype(start)
            term = Literal(lexical, self.iri("a datatype, which is an IRI").text)
        else:
            term = Literal(lexical)
        return ast.Constant(term, span=self.span_from(start))

    def _fail_datatype(self, literal: int) -> NoReturn:
        if self.kind in ("var", "(", "!"):
            carets = self.tokens.span(self.position - 1)
            self.reject(
                f"`^^` is followed by a datatype IRI, found {self.found()}",
                carets,
                "did you mean `&&` (and)?",
            )
        self.fail(f"a datatype IRI after {self.texts[literal]}^^")

    def number(self) -> ast.Constant:
        """NumericLiteral; a sign is part of it if no space separates it from the digits."""
        start = self.position
        sign = self.advance() if self.kind in ("+", "-") else ""
        datatype = NUMBER_TYPES.get(self.kind)
        if datatype is None:
            self.fail("a number")
        lexical = sign + self.advance()
        return ast.Constant(Literal(lexical, datatype), span=self.span_from(start))

    def at_number(self) -> bool:
        if self.kind in NUMBER_TYPES:
            return True
        return self.at_signed_number()

    def at_signed_number(self) -> bool:
        position = self.position
        return (
            self.kinds[position] in ("+", "-")
            and self.kinds[position + 1] in NUMBER_TYPES
            and self.starts[position + 1] == self.starts[position] + 1
        )

    def boolean(self) -> ast.Constant:
        position = self.position
        lexical = self.advance().lower()
        return ast.Constant(Literal(lexical, vocabulary.XSD_BOOLEAN), span=self.tokens.span(position))

    def variable(self, purpose: str = "a variable") -> ast.Variable:
        position = self.position
        if self.kinds[position] != "var":
            self.fail_term(purpose)
        self.position += 1
        return ast.Variable(self.texts[position][1:], span=self.tokens.span(position))

    def variable_or_iri(self, purpose: str) -> ast.Variable | ast.Constant:
        """Rule 107: VarOrIri."""
        if self.kinds[self.position] == "var":
            return self.variable()
        return self.iri(purpose)

    def integer(self, purpose: str) -> int:
        if self.kind != "int":
            self.fail(purpose)
        if len(self.texts[self.position]) > 18:
            self.reject("this number is too large", self.tokens.span(self.position))
        return int(self.advance())

    def _decode_escapes(self, value: str, position: int, quotes: int) -> str:
        """Resolves codepoint escapes (§19.2) and string escapes (§19.7)."""

        def replace(matched: re.Match[str]) -> str:
            short, long, character = matched.groups()
            if character is not None:
                decoded = _ESCAPED_CHARACTERS.get(character)
                digits = {"u": "four", "U": "eight"}.get(character)
                message = f"there is no escape \\{character}"
                if digits is not None:
                    message = f"\\{character} needs {digits} hexadecimal digits"
            else:
                code = int(short or long, 16)
                decoded = chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else None
                message = f"{matched[0]} is not a character"
            if decoded is not None:
                return decoded
            start = self.starts[position] + quotes + matched.start()
            self.report(message, Span(start, start + len(matched[0])), "write a backslash as \\\\")
            return "\ufffd"

        return _STRING_ESCAPE.sub(replace, value)
