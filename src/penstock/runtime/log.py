"""The logger `penstock`: what runs have to tell a program.

Python shows warnings of a logger on standard error where the program configures no logging, and each of them, whereas
`warnings.warn` shows a text once per place. `logging.getLogger("penstock").setLevel(logging.ERROR)` silences it.
"""

from __future__ import annotations

import logging

LOG = logging.getLogger("penstock")
