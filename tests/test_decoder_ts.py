"""docs/decoders/lspz.ts, run by node, reads what lspz writes."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lspz
import lspz.errors

from . import keys
from .interceptors.test_streams import histories
from .payloads import PAYLOADS
from .servers import ROOT, find
from .test_examples import EXAMPLES

DECODER = ROOT / "docs" / "decoders" / "lspz.ts"

RUNNER = """\
import { readFileSync } from "node:fs";
import { decode, DiagnosticsReceiver } from "./lspz.mjs";
const cases = JSON.parse(readFileSync(0, "utf8"));
let receiver = new DiagnosticsReceiver();
const out = cases.map(([method, value, uri]) => {
  if (method === "new") { receiver = new DiagnosticsReceiver(); return {}; }
  try { return { value: uri === undefined ? decode(method, value) : receiver.receive(method, value, uri) }; }
  catch (error) { return { error: `${error.constructor.name}: ${error.message}` }; }
});
console.log(JSON.stringify(out));
"""

TRANSPILE = """\
import ts from "typescript";
import { readFileSync } from "node:fs";
const options = { target: "ES2022", module: "ESNext", strict: true };
console.log(ts.transpileModule(readFileSync(0, "utf8"), { compilerOptions: options }).outputText);
"""


@cache
def typescript() -> Path | None:
    """The folder of the compiler that comes with typescript-language-server."""
    program = find("typescript-language-server")
    for folder in Path(program).resolve().parents if program else ():
        if (folder / "node_modules" / "typescript").is_dir():
            return folder
    return None


@pytest.fixture(scope="session")
def run_node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs the decoder over (method, value) pairs; skipped without node and a TypeScript compiler."""
    node, compiler = shutil.which("node"), typescript()
    if node is None or compiler is None:
        pytest.skip("node, or TypeScript beside typescript-language-server, is not installed")
    folder = tmp_path_factory.mktemp("decoder")
    script = folder / "transpile.mjs"
    (folder / "node_modules").symlink_to(compiler / "node_modules")
    script.write_text(TRANSPILE)
    source = DECODER.read_text(encoding="utf-8")
    done = subprocess.run([node, str(script)], input=source, capture_output=True, text=True, check=True, timeout=60)
    (folder / "lspz.mjs").write_text(done.stdout, encoding="utf-8")
    (folder / "run.mjs").write_text(RUNNER)

    def run(cases: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
        given = json.dumps(cases)
        command = [node, str(folder / "run.mjs")]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=60)
        results: list[dict[str, Any]] = json.loads(done.stdout)
        return results

    return run


def generated(method: str) -> list[Any]:
    """Some compact messages of a method."""
    out: list[Any] = []

    @settings(max_examples=60, database=None)
    @given(PAYLOADS[method])
    def gather(payload: Any) -> None:
        if is_safe(payload):
            out.append(lspz.compress(method, payload, format="compact"))

    gather()
    return out


def is_safe(value: Any) -> bool:
    """Whether JavaScript has all the numbers in JSON: it has no integers beyond 2^53."""
    if isinstance(value, dict | list):
        return all(is_safe(child) for child in (value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int) or abs(value) < 2**52


def test_it_reads_every_kind_as_python_does(run_node: Any) -> None:
    """Whatever a server says, in compact: the same LSP, member for member."""
    cases = [(method, value) for method in PAYLOADS for value in generated(method)]
    cases += [(e.values[0].method, e.values[0].shown) for e in EXAMPLES if e.values[0].form == "compact"]
    results = run_node(cases)

    assert len(cases) > 200
    for (method, value), result in zip(cases, results, strict=True):
        assert result.keys() == {"value"}, (method, value, result)
        expected = lspz.decompress(method, value)
        assert in_any_order(method, result["value"]) == in_any_order(method, expected), (method, value)


def in_any_order(method: str, value: Any) -> Any:
    """JavaScript puts members that are named like numbers first: kinds, and a URI that is one."""
    if method == keys.COMPLETION:
        return keys.key(method, value)
    return sorted(value, key=repr) if method in (*keys.LOCATIONS, keys.WORKSPACE_SYMBOLS) and value else value


def test_it_refuses_what_it_cannot_read(run_node: Any) -> None:
    """A newer version, another form, a report on changes, and damage: an error that says where."""
    publish = "textDocument/publishDiagnostics"
    cases = [
        (publish, {"version": 2, "uri": "u", "diagnostics": [{"m": "x", "r": [[1, 2, 3, 4]]}]}),
        (publish, {"version": 1, "uri": "u", "format": "text", "text": "x"}),
        (publish, {"version": 1, "uri": "u", "report": 2, "kept": 3}),
        (publish, {"version": 1, "uri": "u", "diagnostics": [{"m": "x", "r": [[1, 2, 3]]}]}),
        ("textDocument/hover", {"version": 1}),
        ("workspace/symbol", {"version": 1, "symbols": {"u": [["x", 1]]}}),
    ]
    says = ["newer", "reads compact", "what changed", "diagnostics[0].r[0]", "m: must", "symbols[u][0]"]
    for result, words in zip(run_node(cases), says, strict=True):
        assert result["error"].startswith("DecodeError: ")
        assert words in result["error"]


def test_it_reads_what_changed_as_python_does(run_node: Any) -> None:
    """Over random histories of edits, with reports that get lost: the same diagnostics, or a lost report."""
    cases: list[tuple[Any, ...]] = []
    expected: list[Any] = []

    @settings(max_examples=40, database=None)
    @given(histories(), st.booleans())
    def gather(history: Any, pulled: bool) -> None:
        sender, receiver = lspz.DiagnosticsSender("compact"), lspz.DiagnosticsReceiver()
        cases.append(("new", None))
        expected.append(None)
        for arrives, diagnostics in history:
            method = keys.PULL if pulled else keys.PUBLISH
            said = (
                {"kind": "full", "items": diagnostics} if pulled else {"uri": "file:///a", "diagnostics": diagnostics}
            )
            got = sender.send(method, said, "file:///a")
            if not arrives:
                continue
            cases.append((method, got, "file:///a"))
            try:
                expected.append(keys.key(method, receiver.receive(method, got, "file:///a")))
            except lspz.errors.ReportLost:
                expected.append("lost")
                sender.forget("file:///a")

    gather()
    results = run_node(cases)
    changes = sum("kept" in (case[1] or {}) for case in cases)

    assert changes > 20
    for case, result, meant in zip(cases, results, expected, strict=True):
        if meant == "lost":
            assert result["error"].startswith("ReportLost: file:///a: ")
        elif meant is not None:
            assert keys.key(case[0], result["value"]) == meant
