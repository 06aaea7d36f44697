"""The memory of a Spark driver on one machine: half of the machine's, unless the user has set it.

On one machine the driver does all of the work, and Spark's own default of 1 GB is too little for it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from penstock.engines.machine_memory import machine_memory

MEMORY = "spark.driver.memory"
_MASTER = "spark.master"
_SHARE = 2
_LEAST = 1 << 30
"""Spark's own default."""


def driver_memory(settings: Mapping[str, str]) -> str | None:
    """A value for spark.driver.memory; None if the user has set it, and if executors do the work."""
    set_by = {**_defaults_file(), **_submit_arguments(), **settings}
    if MEMORY in set_by or os.environ.get("SPARK_DRIVER_MEMORY"):
        return None
    if set_by.get(_MASTER, "local[*]").partition("[")[0] != "local":
        return None
    return f"{max(machine_memory() // _SHARE, _LEAST) >> 20}m"


def _defaults_file() -> dict[str, str]:
    """The settings in `spark-defaults.conf`."""
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf"
    try:
        lines = (Path(folder) / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.replace("=", " ", 1).split(None, 1) for line in lines if not line.lstrip().startswith("#"))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def _submit_arguments() -> dict[str, str]:
    """The memory and the master in PYSPARK_SUBMIT_ARGS."""
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "").replace("=", " "))
    named = {"--driver-memory": MEMORY, "--master": _MASTER, MEMORY: MEMORY, _MASTER: _MASTER}
    return {named[word]: value for word, value in pairwise(words) if word in named}
