"""scripts/bench_tokens counts what it says it counts, over captures that are made here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lspz

from .servers import ROOT, in_ci

SCRIPT = ROOT / "scripts" / "bench_tokens"
ENCODINGS = ("o200k_base", "cl100k_base")

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
HOVER = "textDocument/hover"
URI = "file:///project/app.py"


def diagnostic(line: int, severity: int = 1) -> dict[str, Any]:
    span = {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 9}}
    return {"range": span, "severity": severity, "code": "undefined-name", "message": '"money" is not defined'}


Counted = dict[tuple[str, str, str], dict[str, Any]]

PUSHED = {"uri": URI, "version": 3, "diagnostics": [diagnostic(line) for line in range(30)]}
PULLED = {"kind": "full", "resultId": "1", "items": [diagnostic(line, severity=2) for line in range(5)]}
HOVERED = {"contents": {"kind": "markdown", "value": "```python\ndef twice(x: int) -> int\n```\n---\nTwice **x**."}}

PUSHING = [
    {"dir": "s2c", "msg": {"jsonrpc": "2.0", "method": PUBLISH, "params": params}}
    for params in (PUSHED, PUSHED, {"uri": URI, "diagnostics": []})
]


def asked(number: int, method: str, result: Any) -> list[dict[str, Any]]:
    """A request on the document and its answer, as they are captured."""
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"textDocument": {"uri": URI}}}
    answer = {"jsonrpc": "2.0", "id": number, "result": result}
    return [{"dir": "c2s", "msg": request}, {"dir": "s2c", "msg": answer, "method_of_response": method}]


ASKING = [
    *asked(1, PULL, PULLED),
    *asked(2, HOVER, HOVERED),
    *asked(3, HOVER, None),
    *asked(4, HOVER, {"contents": ""}),
]


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the script as a program does: nothing of it is a terminal."""
    command = [sys.executable, SCRIPT, *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a session that was pushed and one that was asked for."""
    if any(lspz.count_tokens("", encoding).encoding != encoding for encoding in ENCODINGS):
        assert not in_ci(), "in CI tiktoken's vocabularies must be there (TIKTOKEN_CACHE_DIR)"
        pytest.skip("tiktoken's vocabularies are not here (TIKTOKEN_CACHE_DIR)")
    folder = tmp_path_factory.mktemp("captures")
    for name, records in {"alpha__project": PUSHING, "beta__project": ASKING}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


@pytest.fixture(scope="module")
def counted(captured: Path) -> Counted:
    """What `--json` prints, by kind, server and form."""
    ended = bench(captured, "--json", "--chart", captured / "chart.svg")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return {(one["kind"], one["server"], one["form"]): one for one in json.loads(ended.stdout)["counts"]}


def tokens(*texts: str) -> list[int]:
    """The sums, in each encoding."""
    return [sum(lspz.count_tokens(text, encoding).tokens for text in texts) for encoding in ENCODINGS]


def minified(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_each_message_is_counted_raw_and_in_each_form(counted: Counted) -> None:
    """JSON forms are counted as minified JSON, the others as their text; nothing became larger."""
    for kind, server, method, payloads in (
        ("diagnostics", "alpha", PUBLISH, [PUSHED, PUSHED]),
        ("diagnostics", "beta", PULL, [PULLED]),
        ("hover", "beta", HOVER, [HOVERED]),
    ):
        for form in ("compact", "toon", "text"):
            one = counted[kind, server, form]
            written = [lspz.compress(method, payload, format=form) for payload in payloads]
            read = [out["text"] if isinstance(out, dict) and "text" in out else minified(out) for out in written]
            assert one["messages"] == len(payloads)
            assert one["raw"] == tokens(*map(minified, payloads))
            assert one["after"] == tokens(*read)
            assert one["larger"] == 0
    assert counted["diagnostics", "alpha", "text"]["after"][0] < counted["diagnostics", "alpha", "text"]["raw"][0] / 5


def test_empty_answers_are_counted_over_whole_sessions_alone(counted: Counted) -> None:
    """An empty publish is no message of its kind, but a report of its session, of which the second said nothing new."""
    session = counted["diagnostics over whole sessions", "alpha", "text"]
    sender = lspz.DiagnosticsSender("text")
    payloads = [record["msg"]["params"] for record in PUSHING]
    sent = [sender.send(PUBLISH, payload) for payload in payloads]

    assert session["messages"] == 3
    assert session["raw"] == tokens(*map(minified, payloads))
    assert session["after"] == tokens(*(out["text"] if "text" in out else minified(out) for out in sent))
    assert session["after"][0] < 2 * counted["diagnostics", "alpha", "text"]["after"][0]


def test_what_users_have_today_is_counted_on_the_same_messages(counted: Counted) -> None:
    """Minified JSON is the raw itself, indented JSON costs more, and OpenCode's lines leave all but errors out."""
    for server in ("alpha", "beta"):
        raw = counted["diagnostics", server, "text"]["raw"]
        assert counted["diagnostics", server, "minified JSON"]["after"] == raw
        assert counted["diagnostics", server, "indented JSON"]["after"][0] > 1.3 * raw[0]
    lines = [f'ERROR [{line}:5] "money" is not defined' for line in range(1, 21)]
    assert counted["diagnostics", "alpha", "OpenCode's lines"]["after"] == tokens(*2 * ["\n".join(lines)])
    assert counted["diagnostics", "beta", "OpenCode's lines"]["after"] == [0, 0]


def test_the_tables_and_the_chart_say_what_was_counted(captured: Path, counted: Counted, tmp_path: Path) -> None:
    """The Markdown has the sums over all servers, and the same figures draw the same SVG, without a date."""
    ended = bench(captured, "--markdown", "--chart", tmp_path / "again.svg")

    assert ended.returncode == 0, ended.stderr
    of_text = [counted["diagnostics", server, "text"] for server in ("alpha", "beta")]
    raw, after = (sum(one[column][0] for one in of_text) for column in ("raw", "after"))
    assert f"| diagnostics | text | 3 | {raw:,} | {after:,} | {100 * (1 - after / raw):.2f} % |" in ended.stdout
    assert "(errors only, 20 a file) leave out 25 of 65 diagnostics: 38.5 %." in ended.stdout
    drawn = (tmp_path / "again.svg").read_text(encoding="utf-8")
    assert drawn == (captured / "chart.svg").read_text(encoding="utf-8")
    assert f">{100 * (1 - after / raw):.0f} %<" in drawn
    assert "<dc:date>" not in drawn


@pytest.mark.parametrize("name", ["missing", ""])
def test_a_folder_without_captures_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    """Exit status 2 and one line that says which folder, missing or empty."""
    folder = tmp_path / name
    ended = bench(folder)

    assert ended.returncode == 2
    assert f"error: {folder}: " in ended.stderr
    assert "Traceback" not in ended.stderr
