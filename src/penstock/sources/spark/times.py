"""Timestamps as text, in milliseconds (rdf/timestamps.py), in SQL expressions; NULL if invalid."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

from penstock.rdf.encoding import INTEGER_TYPES
from penstock.rdf.vocabulary import XSD
from penstock.sources.spark.terms import bound

_INTEGERS = ("", *(XSD + name for name in ("string", "integer", *INTEGER_TYPES)))
_DATES = ("", *(XSD + name for name in ("string", "dateTime", "dateTimeStamp", "date")))
_TOO_FAR = 10**18

_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?\z"
_MIDNIGHT = r"T24:00:00(?:\.[0-9]+)?"
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999, in milliseconds."""


def time_of(lexical: Column, datatype: Column) -> Column:
    """The milliseconds of a literal; its datatype is empty if it has none."""
    number = sf.when(datatype.isin(*_INTEGERS) & lexical.rlike(r"^[+-]?[0-9]{1,19}\z"), lexical.try_cast("bigint"))
    date = sf.when(datatype.isin(*_DATES), _instant(lexical))
    return sf.coalesce(sf.when(sf.abs(number.try_cast("decimal(20,0)")) < _TOO_FAR, number), date)


def time_of_term(term: Column) -> Column:
    """The milliseconds of an encoded term.

    Most terms are not timestamps, and not worth compiled code (`terms.bound`).
    """
    return bound(term, _time_of_term)


def _time_of_term(term: Column) -> Column:
    tag, rest = sf.substring(term, 1, 1), sf.substring(term, sf.lit(2), sf.length(term))
    is_named = tag.isin("n", "O")
    kind, after = sf.substring_index(rest, " ", 1), sf.substring(rest, sf.locate(" ", rest) + 1, sf.length(rest))
    datatype = sf.when(tag == "n", sf.concat(sf.lit(XSD), kind)).when(tag == "O", kind)
    for known, name in (("S", "string"), ("i", "integer"), ("t", "dateTime")):
        datatype = datatype.when(tag == known, XSD + name)
    written = sf.struct(sf.when(is_named, after).otherwise(rest), datatype)
    return bound(written, lambda written: time_of(written["col1"], written["col2"]))


def _instant(lexical: Column) -> Column:
    """The seconds, the fraction in whole milliseconds, and the offset of the time zone; no zone is UTC."""
    is_midnight = lexical.rlike(_DATE + _MIDNIGHT + _ZONE)
    is_date = lexical.rlike(f"{_DATE}(?:{_TIME})?{_ZONE}")
    time = sf.when(is_midnight | (sf.substring(lexical, 11, 1) != "T"), "00:00:00").otherwise(
        sf.substring(lexical, 12, 8)
    )
    seconds = sf.unix_seconds(
        sf.concat(sf.substring(lexical, 1, 10), sf.lit("T"), time, sf.lit("Z")).try_cast("timestamp")
    )
    day = sf.when(is_midnight, 86_400).otherwise(0)
    zone = sf.regexp_extract(lexical, r"([+-])([0-9]{2}):([0-9]{2})\z", 0)
    offset = sf.when(zone == "", 0).otherwise(
        (sf.substring(zone, 2, 2).cast("int") * 60 + sf.substring(zone, 5, 2).cast("int"))
        * sf.when(zone.startswith("-"), -60).otherwise(60)
    )
    fraction = sf.rpad(sf.substring(sf.regexp_extract(lexical, r"\.([0-9]+)", 1), 1, 3), 3, "0").cast("int")
    whole = (seconds + day - offset) * 1000
    return sf.when(is_date & whole.between(_FIRST, _LAST), whole + fraction)
