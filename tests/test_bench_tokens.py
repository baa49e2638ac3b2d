"""`scripts/bench_tokens` over a small folder of captures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .servers import ROOT

POSITION = {"line": 3, "character": 4}
DIAGNOSTIC = {"range": {"start": POSITION, "end": POSITION}, "severity": 2, "message": "unused import of something"}


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench_tokens"), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One session: two publishes, an empty one, a hover and its request."""
    publish = {"method": "textDocument/publishDiagnostics"}
    lines: list[Any] = [
        {"dir": "s2c", "msg": {**publish, "params": {"uri": "file:///a", "diagnostics": [DIAGNOSTIC] * 9}}},
        {"dir": "s2c", "msg": {**publish, "params": {"uri": "file:///a", "diagnostics": [DIAGNOSTIC] * 9}}},
        {"dir": "s2c", "msg": {**publish, "params": {"uri": "file:///a", "diagnostics": []}}},
        {"dir": "c2s", "msg": {"id": 1, "method": "textDocument/hover", "params": {"textDocument": {"uri": "u"}}}},
        {"dir": "s2c", "msg": {"id": 1, "result": {"contents": "x"}}, "method_of_response": "textDocument/hover"},
    ]
    (tmp_path / "server__project.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


def test_it_counts_what_is_there(folder: Path) -> None:
    """Messages, tokens and savings by kind, form and server; silent on stderr when that is no terminal."""
    done = bench(str(folder), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    counts = {(c["kind"], c["form"]): c for c in json.loads(done.stdout)["counts"]}

    assert {c["server"] for c in counts.values()} == {"server"}
    assert counts["diagnostics", "text"]["messages"] == 2, "empty lists are not counted"
    assert counts["diagnostics over whole sessions", "text"]["messages"] == 3, "but over whole sessions"
    assert counts["diagnostics", "minified JSON"]["raw"] == counts["diagnostics", "minified JSON"]["after"]
    assert counts["diagnostics", "text"]["after"][0] < counts["diagnostics", "compact"]["after"][0]
    assert counts["hover", "compact"]["after"] == counts["hover", "compact"]["raw"], "it cannot be made smaller"
    assert json.loads(done.stdout)["opencode"] == {"shown": 0, "found": 18}, "it shows errors only"


def test_the_tables_and_the_chart(folder: Path) -> None:
    """For people: tables, and a picture that is the same for the same figures."""
    pictures = []
    for name in ("one.svg", "two.svg"):
        done = bench(str(folder), "--chart", str(folder / name))
        assert done.returncode == 0, done.stderr
        pictures.append((folder / name).read_bytes())
    assert pictures[0] == pictures[1]
    assert "leave out 18 of 18 diagnostics: 100.0 %" in done.stdout


def test_a_folder_without_captures_is_named(tmp_path: Path) -> None:
    """With what should be in it."""
    done = bench(str(tmp_path / "nothing"))
    assert done.returncode == 2
    assert "nothing: holds no captured session (SERVER__PROJECT.jsonl)" in done.stderr
