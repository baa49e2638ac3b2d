"""Answers: every form, token counts, what was left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lspz import Config, Fresh, Limits, Pending, count_tokens
from lspz.agent.asking import Models
from lspz.agent.listings import Listing
from lspz.agent.results import Diagnostics, Hover, Listed, Locations

from .scripted import diagnostic

ROOT = Path("/work space")


def located(*lines: int) -> Locations:
    """Locations in one file below a root."""
    spans = [{"start": {"line": line, "character": 2}, "end": {"line": line, "character": 5}} for line in lines]
    raw = json.dumps([{"uri": (ROOT / "src/a.py").as_uri(), "range": span} for span in spans]).encode()
    model = Models(Config(enable_diag_compress=None)).read("textDocument/references", raw)
    return Locations(state=Fresh(None, len(lines)), model=model, raw=raw, server="s", root=ROOT)


def test_an_answer_in_every_form() -> None:
    """Text and tables name files from the root, compact JSON has URIs, `lsp` is what the server said."""
    found = located(1, 2)

    assert found.text() == "src/a.py\n2:3-6 3"
    assert "src/a.py" in found.toon()
    assert "file:" not in found.toon()
    assert (ROOT / "src/a.py").as_uri() in json.dumps(found.compact())
    assert [place["range"]["start"]["line"] for place in found.lsp] == [1, 2]
    assert found.count == 2
    for form in ("text", "toon", "compact"):
        written: Any = getattr(found, form)()
        text = written if isinstance(written, str) else json.dumps(written, separators=(",", ":"))
        assert found.tokens(form).tokens == count_tokens(text).tokens


def test_what_does_not_fit_is_counted() -> None:
    """`max_tokens` holds, with the note, in every form of text; what is left out is said."""
    found = located(*range(0, 400, 2))

    for form in ("text", "toon"):
        short = getattr(found, form)(50)
        assert count_tokens(short).tokens <= 50
        assert "omitted" in short
    pending = Locations(state=Pending("the server is at work: x"), model=found.model, raw=found.raw, root=ROOT)
    assert count_tokens(pending.text(50)).tokens <= 50
    assert pending.text(50).startswith("not ready, ask again: the server is at work: x\nsrc/a.py\n")
    assert pending.compact()["note"] == "not ready, ask again: the server is at work: x"


def test_a_listing_in_every_form() -> None:
    """Rows for programs and tables, lines for text."""
    rows = tuple({"name": f"n{number}", "line": number} for number in range(3))
    model = Listing("calls", rows, tuple(f"n{number} at {number}" for number in range(3)))
    found = Listed(state=Fresh(1, 3), model=model)

    assert found.text() == "n0 at 0\nn1 at 1\nn2 at 2"
    assert found.text(12) == "n0 at 0\nomitted 2"
    assert found.compact()["calls"] == [dict(row) for row in rows]
    assert "calls[3\t]{name\tline}:" in found.toon()
    assert Listed(state=Fresh(1, 0), model=Listing("calls", (), ())).text() == "none"


def test_nothing_is_said_to_be_nothing() -> None:
    """An empty hover is "none", a clean document "clean"; a document whose mistakes are filtered out is neither."""
    models = Models(Config(enable_diag_compress=None, limits=Limits(min_severity=1)))
    hover = Hover(state=Fresh(1, 0), model=models.read("textDocument/hover", b"null"))
    assert (hover.text(), hover.count, hover.markdown) == ("none", 0, "")

    def diagnostics(*found: Any) -> Diagnostics:
        raw = json.dumps({"uri": "file:///a.py", "version": 3, "diagnostics": found}).encode()
        model = models.read("textDocument/publishDiagnostics", raw)
        return Diagnostics(state=Fresh(3, len(found)), model=model, raw=raw, uri="file:///a.py")

    assert diagnostics().text() == "file:///a.py v3: clean"
    assert diagnostics().is_clean
    hint = diagnostics(diagnostic(1, severity=4))
    assert (hint.is_clean, hint.count, hint.omitted) == (False, 0, 1)
    assert "clean" not in hint.text()
    with pytest.raises(AttributeError):
        hint.uri = "x"  # type: ignore[misc]
