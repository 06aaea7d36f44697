"""The elements of messages, and their times: stated in the message, or the broker's timestamp."""

from __future__ import annotations

import time
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.addresses import ARRIVAL, RECORD
from penstock.rdf.conversion import decode_oxigraph
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.messages import USUAL_TIMES
from penstock.rdf.stream_reader import predicate
from penstock.rdf.timestamps import timestamp_of
from penstock.sources.batches import SCHEMA
from penstock.sources.columns import time_of_term, times
from penstock.sources.tables import each_triple_once

NO_TIMESTAMP = "the broker has no timestamp for this message: ?time= names the predicate of its time"


class MessageTimes:
    """The times of messages; `said` is the option `time`: a predicate, RECORD, ARRIVAL, or None for the defaults."""

    def __init__(self, said: str | None) -> None:
        self._said = said
        self._is_stated = said is not None and not self.are_given
        self._predicates = [] if self.are_given else [f"I{iri}" for iri in USUAL_TIMES]
        if self._is_stated:
            assert said is not None
            self._predicates = [f"I{predicate(said).value}"]

    @property
    def are_given(self) -> bool:
        """Whether no element has a time of its own."""
        return self._said in (RECORD, ARRIVAL)

    def of_lines(self, stamps: pa.ChunkedArray, broker: pa.Array) -> pa.ChunkedArray | pa.Array:
        """The times of lines of `.tnt`, each with its own timestamp."""
        return self._given(broker) if self.are_given else stamps

    def _given(self, broker: pa.Array) -> pa.Array:
        if self._said == ARRIVAL:
            return pa.repeat(pa.scalar(time.time_ns() // 1_000_000, pa.int64()), len(broker))
        return broker

    def elements(self, quads: pa.Table, broker: pa.Array, refuse: Callable[[int, str], None]) -> pa.Table:
        """Elements (`messages.ELEMENTS`) of quads (`messages.QUADS`), in their order.

        `broker` has the broker's timestamps of the messages.
        """
        rows, message_of = _in_elements(quads)
        stamps = self._given(broker.take(message_of))
        reasons: dict[int, str] = {}
        if self._predicates:
            stamps = self._stated(quads, rows, stamps, len(message_of), reasons)
        lacking = pc.indices_nonzero(stamps.is_null()).to_pylist()
        refused = {message_of[place].as_py() for place in lacking}
        for place in lacking:
            number = message_of[place].as_py()
            if number in refused:
                refuse(number, reasons.get(place, self._without_time()))
                refused.discard(number)
        if lacking:  # a message with an error has no elements
            gone = message_of.take(pa.array(lacking)).unique()
            rows = rows.filter(pc.invert(pc.is_in(rows["message"], value_set=gone)))
        columns = [rows["s"], rows["p"], rows["o"], stamps.take(rows["element"]), _anew(rows["element"])]
        return pa.table([*columns, rows["g"], rows["message"]], [*SCHEMA.names, "g", "message"])

    def _without_time(self) -> str:
        if not self._is_stated:
            return NO_TIMESTAMP
        stated = self._predicates[0][1:]
        return f"the message has no time: no triple has the predicate <{stated}> (?time=record takes the broker's)"

    def _stated(
        self, quads: pa.Table, rows: pa.Table, given: pa.Array, count: int, reasons: dict[int, str]
    ) -> pa.Array:
        """The times that messages state, by the first predicate that they have; of several times the latest."""
        dated = pc.is_in(rows["p"], value_set=pa.array(self._predicates))
        own = rows.filter(dated).select(["element", "p", "o"]).append_column("level", _constant(1, dated))
        about = _about_graphs(quads, rows, self._predicates)
        stated = pa.concat_tables([about, own.cast(about.schema)])
        if not stated.num_rows:
            return given if not self._is_stated else pa.nulls(count, pa.int64())
        rank = pc.index_in(stated["p"], value_set=pa.array(self._predicates)).cast(pa.int64())
        rank = pc.add(pc.multiply(stated["level"], len(self._predicates)), rank)
        stated = stated.append_column("rank", rank).append_column("time", _times_of_terms(stated["o"].combine_chunks()))
        best = stated.group_by("element").aggregate([("rank", "min")])
        first = best["rank_min"].take(pc.index_in(stated["element"], value_set=best["element"]))
        chosen = stated.filter(pc.equal(stated["rank"], first))
        latest = chosen.group_by("element").aggregate([("time", "max")])
        places = pc.index_in(pa.arange(0, count), value_set=latest["element"])
        found = latest["time_max"].take(places)
        found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
        for place in latest.filter(latest["time_max"].is_null())["element"].to_pylist():
            term = chosen.filter(pc.equal(chosen["element"], place))["o"][0].as_py()
            reasons[place] = f"{_reason(term)} (?time=record takes the broker's timestamp)"
        return found if self._is_stated else pc.if_else(places.is_valid(), found, given)


def _in_elements(quads: pa.Table) -> tuple[pa.Table, pa.Array]:
    """The rows of the elements, with their numbers in the column `element`, and the message of each element.

    Named graphs are elements, each triple once; of a dataset without any, the default graph.
    """
    keys = _keys(quads)
    has_names = pc.is_in(keys, value_set=keys.filter(quads["g"].is_valid().combine_chunks()).unique())
    is_element = pc.or_(quads["g"].is_valid().combine_chunks(), pc.invert(has_names))
    rows, keys = quads.filter(is_element), keys.filter(is_element)
    if rows["g"].null_count < rows.num_rows:
        keys = pc.binary_join_element_wise(keys, pc.fill_null(rows["g"].combine_chunks(), ""), " ")
    coded = keys.dictionary_encode()
    element = coded.indices.cast(pa.int64())
    rows = rows.append_column("element", element)
    pairs = pa.table({"e": element, "m": rows["message"]})
    of_elements = pairs.group_by("e", use_threads=False).aggregate([("m", "min")]).sort_by("e")
    return each_triple_once(rows, "element"), of_elements["m_min"].combine_chunks()


def _keys(quads: pa.Table) -> pa.Array:
    """A text for each message and part."""
    message, part = (pc.cast(quads[name], pa.string()) for name in ("message", "part"))
    return pc.binary_join_element_wise(message, part, ".").combine_chunks()


def _about_graphs(quads: pa.Table, rows: pa.Table, predicates: list[str]) -> pa.Table:
    """The statements of default graphs about the times of named graphs."""
    schema = pa.schema([("element", pa.int64()), ("p", pa.string()), ("o", pa.string()), ("level", pa.int64())])
    if rows["g"].null_count == rows.num_rows:
        return schema.empty_table()
    is_about = pc.and_(quads["g"].is_null(), pc.is_in(quads["p"], value_set=pa.array(predicates)))
    about = quads.filter(is_about)
    subjects = pc.binary_join_element_wise(_keys(about), about["s"].combine_chunks(), " ")
    names = pc.binary_join_element_wise(_keys(rows), rows["g"].combine_chunks(), " ")
    place = pc.index_in(subjects, value_set=names)
    element = rows["element"].combine_chunks().take(place)
    found = pa.table([element, about["p"], about["o"], _constant(0, is_about)], schema=schema)
    return found.filter(element.is_valid())


def _constant(number: int, chosen: pa.ChunkedArray | pa.Array) -> pa.Array:
    return pa.repeat(pa.scalar(number, pa.int64()), pc.sum(chosen).as_py() or 0)


def _anew(element: pa.ChunkedArray) -> pa.Array:
    """Numbers without gaps, in the same order."""
    return element.combine_chunks().dictionary_encode().indices.cast(pa.int64())


def _times_of_terms(terms: pa.Array) -> pa.Array:
    """Timestamps of encoded terms; NULL for a term that is not one."""
    different = terms.dictionary_encode()
    texts = different.dictionary
    lexical = pc.if_else(pc.match_substring_regex(texts, "^[tiS]"), pc.utf8_slice_codeunits(texts, 1), "")
    quoted = pc.binary_join_element_wise('"', lexical, '"', "")
    found = times(quoted.cast(pa.large_string()))
    odd = pc.indices_nonzero(found.is_null())
    if len(odd):
        others = pa.array([time_of_term(text) for text in texts.take(odd).to_pylist()], pa.int64())
        found = pc.replace_with_mask(found, found.is_null(), others)
    return found.take(different.indices)


def _reason(term: str) -> str:
    try:
        timestamp_of(decode_oxigraph(term))
    except ReadingError as error:
        return error.reason
    raise AssertionError("it is a timestamp")
