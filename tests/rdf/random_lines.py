"""Any terms, timestamps and lines of N-Triples and its kin, right and wrong."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.rdf.lines import ODD_TERMS, ODD_TIMES, ORDINARY_TERMS, ORDINARY_TIMES, WRONG_TERMS, WRONG_TIMES

TERMS = st.one_of(
    st.sampled_from(ORDINARY_TERMS),
    st.sampled_from(ODD_TERMS),
    st.sampled_from(WRONG_TERMS),
    st.text(max_size=8).map(lambda text: f"<http://ex.org/{text}>"),
    st.text("aZ09:/?#@[]%.-_~!é<> ", max_size=12).map(lambda text: f"<{text}>"),
    st.text("aZ09:/?#@[]%.-_~!é", max_size=12).map(lambda text: f"<http:{text}>"),
    st.text("aZ09.-_:é\u00b7", max_size=5).map(lambda text: f"_:{text}"),
    st.text(max_size=8).map(lambda text: f'"{text}"'),
    st.text("aZ09-", max_size=9).map(lambda tag: f'"x"@{tag}'),
    st.text("htps:/w3.org#", max_size=12).map(lambda iri: f'"x"^^<{iri}>'),
)
TIMES = st.one_of(
    st.sampled_from(ORDINARY_TIMES + ODD_TIMES + WRONG_TIMES),
    st.integers(-100, 100).map(lambda time: f'"{time}"'),
    st.from_regex(r'"[012][09][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,5})?'
                  r'(Z|[+-][01][0-9]:[0-6][0-9])?"', fullmatch=True),
)  # fmt: skip
SUBJECTS = st.one_of(st.sampled_from(["<a:s>", "_:b", "_:c"]), TERMS)
PREDICATES = st.one_of(st.just("<a:p>"), TERMS)
TRIPLES = st.tuples(SUBJECTS, PREDICATES, TERMS)


@st.composite
def mutated(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> bytes:
    """A text with a few of its bytes changed, or none."""
    text = bytearray(draw(texts).encode(errors="replace"))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 2))] = draw(
            st.sampled_from(
                [b"", b" ", b'"', b"\\", b"<", b">", b".", b"\t", b"\r", b"\n", b"\xff", b"\x00", b"#", b"1"]
            )
        )
    return bytes(text)
