"""Generates the stock exchange, always with the same data, and the query of the paper.

Brokers are from 20 countries. A transaction is two triples at one instant: its broker, and its amount, 1 to 20. So one
in 20 brokers is from Switzerland, and more than half of the amounts are at least 10.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from penstock.bench.data_files import write_once

MARKET = "http://stockexchange.org/market.trdf"
BROKERS = "http://brokerscentral.org/brokers.rdf"
COUNTRIES = "CH AT BE DE DK EE ES FI FR GB GR HU IE IT LU NL NO PL PT SE".split()
DAY = 86_400_000
AMOUNTS = 20

QUERY = Path(__file__).with_name("total-amount-per-day-and-broker.rq").read_text()
_STATIC, _STREAMING = "?broker b:is_from ?country .", "?broker x:does ?tx .\n  ?tx x:with ?amount ."
_FILTER = "FILTER (?country = 'CH' && ?amount >= 10)"

WRITTEN, STATIC, STREAMING, BOTH = (
    "as written",
    "static filter pushed",
    "streaming filter pushed",
    "both, by the optimizer",
)
VARIANTS: dict[str, tuple[str, bool]] = {
    WRITTEN: (QUERY, False),
    STATIC: (
        QUERY.replace(_STATIC, f"{{ {_STATIC} FILTER (?country = 'CH') }}").replace(_FILTER, "FILTER (?amount >= 10)"),
        False,
    ),
    STREAMING: (
        QUERY.replace(_STREAMING, f"{{ {_STREAMING} FILTER (?amount >= 10) }}").replace(
            _FILTER, "FILTER (?country = 'CH')"
        ),
        False,
    ),
    BOTH: (QUERY, True),
}
"""The text, and whether the optimizer may change it: one filter is pushed by hand, both by the optimizer."""


def brokers(count: int) -> Iterator[str]:
    for number in range(count):
        country = COUNTRIES[number % len(COUNTRIES)]
        yield f'<{_broker(number)}> <http://brokerscentral.org/accounts#is_from> "{country}" .\n'


def transactions(days: int, a_day: int, brokers: int) -> Iterator[str]:
    """`a_day` transactions per day, and one more after the last day, which ends it."""
    chance = random.Random(6)
    for number in range(days * a_day + 1):
        time = 1 + number * DAY // a_day
        broker, amount = chance.randrange(brokers), chance.randint(1, AMOUNTS)
        transaction = f"<http://stockexchange.org/transactions/{number}>"
        yield f'<{_broker(broker)}> <http://stockexchange.org/exchanges#does> {transaction} "{time}" .\n'
        integer = f'"{amount}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        yield f'{transaction} <http://stockexchange.org/exchanges#with> {integer} "{time}" .\n'


def write_brokers(folder: Path, count: int) -> Path:
    return write_once(folder / f"brokers-{count}.nt", brokers(count))


def write_market(folder: Path, days: int, a_day: int, brokers: int) -> Path:
    return write_once(folder / f"market-{days}-{a_day}-{brokers}.tnt", transactions(days, a_day, brokers))


def _broker(number: int) -> str:
    return f"http://brokerscentral.org/brokers/{number}"
