"""What the tests share: the folder beside the repository, and how hard the property tests try."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.corpora.samples import ABSENT, SHARED

# Every run draws the same examples, so that a failure is a failure for everyone. PENSTOCK_TESTS=nightly tries harder,
# with new examples each night.
settings.register_profile(
    "normal", max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", settings.get_profile("normal"), max_examples=5000, derandomize=False)
settings.load_profile(os.environ.get("PENSTOCK_TESTS", "normal"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with other people's data and the design; a test that needs it skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED
