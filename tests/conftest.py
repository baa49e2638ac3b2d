"""Tests that need a real language server say so with `@pytest.mark.server(name)`.

Where tiktoken has no cache of its own, the vocabularies are taken from `LSPZ_SHARED` or `../shared`, if they are there.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from .servers import BY_NAME, in_ci

SHARED = Path(os.environ.get("LSPZ_SHARED") or Path(__file__).parents[2] / "shared")

if (SHARED / "tiktoken").is_dir():
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(SHARED / "tiktoken"))

settings.register_profile("usual", deadline=None)
settings.register_profile("deep", deadline=None, max_examples=10_000)
settings.load_profile("usual")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests of a missing server; in CI the required ones must be there."""
    for mark in item.iter_markers("server"):
        server = BY_NAME[mark.args[0]]
        if server.executable is None:
            if server.required and in_ci():
                pytest.fail(f"{server.name} is not installed, and CI needs it", pytrace=False)
            pytest.skip(f"{server.name} is not installed")
