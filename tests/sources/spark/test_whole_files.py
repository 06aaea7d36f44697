"""A file beside streams that go on is streamed by its name, whatever characters the name has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from penstock.rdf.addresses import parse_address
from penstock.sources.spark.live import WholeSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_one_file_of_a_folder_is_streamed(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("to{l}l [1].tnt", "toll 1.tnt", "to{l}l [1].tnt.late"):
        (tmp_path / name).write_text("# nothing\n")
    names = WholeSource(parse_address(tmp_path / "to{l}l [1].tnt"), "s").streamed(spark).select("file")
    running = names.writeStream.format("memory").queryName("whole_files").trigger(availableNow=True).start()
    running.awaitTermination()
    found = [row["file"] for row in spark.sql("SELECT * FROM whole_files").collect()]
    assert [Path(name).name for name in found] == ["to{l}l [1].tnt"]
