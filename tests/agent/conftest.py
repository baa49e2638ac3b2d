"""Servers in one process say at once that they are at work: nobody need wait half a second for it."""

from pathlib import Path

import pytest

from lspz.agent import session


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "GRACE", 0.05)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one file in it."""
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    return tmp_path.resolve()
