"""The logger `penstock`, for the messages of runs.

Python shows the warnings of a logger on standard error if the program configures no logging, and it shows each of them,
whereas `warnings.warn` shows a text once per place. `logging.getLogger("penstock").setLevel(logging.ERROR)` silences
it.
"""

from __future__ import annotations

import logging

LOG = logging.getLogger("penstock")
