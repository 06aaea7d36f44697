"""Whether tasks can run Penstock: the executors of a cluster may have a Python without it."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import penstock
from penstock.engines.spark.session import is_local

_known: WeakKeyDictionary[SparkContext, bool] = WeakKeyDictionary()

_PROBE = """
def probe(batches):
    import pyarrow
    try:
        from penstock import __version__ as found
    except ImportError:
        found = ""
    for batch in batches:
        yield pyarrow.record_batch({"found": [found] * batch.num_rows})
"""
"""As a text, because executors cannot load a function of a module that they do not have."""


def have_penstock(spark: SparkSession) -> bool:
    """Whether executors have this version of Penstock. On a cluster a small job asks one of them, once a session."""
    context = spark.sparkContext
    if context not in _known:
        _known[context] = is_local(spark) or version_in_executors(spark) == penstock.__version__
    return _known[context]


def version_in_executors(spark: SparkSession, probe: str = _PROBE) -> str:
    """The version of Penstock that tasks import; nothing if there is none."""
    space = {"__name__": "__main__"}
    exec(probe, space)
    try:
        row = spark.range(0, 1, 1, 1).mapInArrow(space["probe"], "found string").first()  # type: ignore[arg-type]
    except PySparkException:
        return ""
    return "" if row is None else str(row[0])
