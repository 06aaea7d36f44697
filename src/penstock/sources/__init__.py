"""Sources of streams, read in bounded batches from the beginning or from a position."""

from penstock.sources.batches import Batch, Position, Source
from penstock.sources.feeds import Feed
from penstock.sources.source_opener import open_source

__all__ = ["Batch", "Feed", "Position", "Source", "open_source"]
