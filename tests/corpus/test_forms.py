"""What real servers sent: every captured message of every kind survives every form, and none becomes larger.

The captures are found in `LSPZ_SHARED` or `../shared`; without them these tests are skipped, in CI they must be there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lspz
from scripts.tokens import captures
from scripts.tokens.captures import PULL, Capture

from ..keys import key

ROOT = Path(os.environ.get("LSPZ_SHARED") or Path(__file__).parents[3] / "shared")

FORMS = ("compact", "toon", "text")

LISTS = (
    "diagnostics",
    "document symbols",
    "references",
    "definitions and the like",
    "workspace diagnostics",
    "workspace symbols",
)

SURELY = {
    "compact": {**dict.fromkeys(LISTS, 0), "completion": 1000, "hover": 0},
    "toon": {**dict.fromkeys(LISTS, 1000), "completion": 10_000},
    "text": {**dict.fromkeys(LISTS, 0), "completion": 1000},
}
"""By form and kind: bytes above which a message that says something is never sent as it came.

A hover without a range is a text already: what is around it in LSP may be shorter than an envelope.
"""


def sessions() -> list[Any]:
    """One case a session; one that is skipped where there is none."""
    found = captures.sessions(ROOT / "corpus")
    if not found:
        assert not os.environ.get("CI"), f"in CI the captured sessions must be in {ROOT}"
        return [pytest.param(None, marks=pytest.mark.skip("the captured sessions are not here (LSPZ_SHARED)"))]
    return [pytest.param(path, id=path.stem) for path in found]


def messages(path: Path) -> Iterator[Capture]:
    return (capture for capture in captures.read(path) if capture.payload is not None)


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("path", sessions())
def test_every_message_says_the_same_in_every_form(path: Path) -> None:
    """All kinds: decoding gives back all that formats.md §1 and §2 list, and no message is larger than it was."""
    count = 0
    for capture in messages(path):
        before = key(capture.method, capture.payload)
        for form in FORMS:
            config = lspz.Config(fold_hover=False)
            written = lspz.compress(capture.method, capture.payload, format=form, config=config)
            back = lspz.decompress(capture.method, json.loads(json.dumps(written)))
            assert key(capture.method, back) == before, (capture.method, form)
            assert size(written) <= size(capture.payload)
            if capture.says_something and size(capture.payload) > SURELY[form].get(capture.kind, 1_000_000):
                assert written != capture.payload, (capture.method, form)
            count += 1
    assert count or path.stat().st_size < 100_000


@pytest.mark.parametrize("path", sessions())
def test_whole_sessions_are_read_back_from_what_changed(path: Path) -> None:
    """Every report of diagnostics, in order: the receiver has just what the server said each time."""
    for form in ("text", "compact"):
        sender, receiver = lspz.DiagnosticsSender(form), lspz.DiagnosticsReceiver()
        for capture in messages(path):
            if capture.kind == "diagnostics":
                uri = capture.uri if capture.method == PULL else ""
                got = sender.send(capture.method, capture.payload, uri)
                back = receiver.receive(capture.method, json.loads(json.dumps(got)), uri)
                assert key(capture.method, back) == key(capture.method, capture.payload)
                assert size(got) <= size(capture.payload)
