"""What the documentation shows is what lspz does: its messages, its decoder, its programs."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from typing import Any, NamedTuple

import pytest

import lspz
import lspz.errors
from lspz import CompressionConfig, Config

from . import keys
from .e2e.talk import Talk
from .servers import ROOT

PUBLISH, PULL = keys.PUBLISH, keys.PULL

STRATEGIES = {
    "merge": "enable_dedup",
    "prune": "enable_field_pruning",
    "enum": "enable_enum_compression",
    "delta": "enable_range_delta",
}

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+) (\w+)(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


class Example(NamedTuple):
    """A message as a page shows it, and what the page says becomes of it."""

    method: str
    payload: Any
    words: tuple[str, ...]
    """`folded`, and strategies such as `delta=false`."""
    shown: Any

    @property
    def form(self) -> str:
        return next((form for form in ("folded", "toon", "text") if form in self.words), "compact")

    @property
    def is_decoded_on_the_page(self) -> bool:
        """Whether docs/compact_format.md shows a decoder that reads it."""
        return self.form == "compact" and self.method in (PUBLISH, PULL)

    @property
    def config(self) -> Config:
        options: dict[str, Any] = {}
        for name, value in (word.split("=") for word in self.words if "=" in word):
            if name == "fields":
                options["keep_fields"] = tuple(value.split(","))
            else:
                options[STRATEGIES[name]] = value == "true"
        return Config(compression=CompressionConfig(**options))


def examples() -> Iterator[Any]:
    """Every block marked `json out`, with the block marked `json in` before it."""
    for page in PAGES:
        method, payload = PUBLISH, None
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            language, mark, rest, text = block.groups()
            if (language, mark) == ("json", "in"):
                method, payload = method_of(rest.strip()), json.loads(text)
            elif mark == "out":
                line = page.read_text(encoding="utf-8")[: block.start()].count("\n") + 1
                words = (*rest.split(), *([] if language == "json" else [language]))
                example = Example(method, payload, words, json.loads(text) if language == "json" else text[:-1])
                yield pytest.param(example, id=f"{page.name}:{line}")


def method_of(word: str) -> str:
    """The method that a block is of, by its end; none is the publish."""
    if word in ("", "pull"):
        return PULL if word else PUBLISH
    (method,) = (method for method in keys.METHODS if method == word or method.endswith(f"/{word}"))
    return method


EXAMPLES = list(examples())


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_page_shows_what_lspz_makes(example: Example) -> None:
    """Each message in the documentation comes out of lspz exactly as the page has it, member for member in order."""
    made = lspz.compress(example.method, example.payload, format=example.form, config=example.config)

    if example.form in ("toon", "text"):
        assert made["text"] == example.shown
    else:
        assert json.dumps(made) == json.dumps(example.shown)
    if example.form != "folded":
        back = lspz.decompress(example.method, made)
        assert keys.key(example.method, back) == keys.key(example.method, example.payload)


def test_the_pages_have_examples() -> None:
    """The blocks are found at all: a page whose marks change does not silently go untested."""
    assert len(EXAMPLES) > 40
    assert {"compact_format.md", "text_format.md", "README.md"} <= {case.id.split(":")[0] for case in EXAMPLES}


def documented_decoder(*marks: str) -> dict[str, Any]:
    """What the blocks with these marks define."""
    page = (ROOT / "docs" / "compact_format.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for _, mark, _, text in BLOCK.findall(page):
        if mark in (marks or ("decoder",)):
            exec(text, names)
    return names


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.values[0].is_decoded_on_the_page])
def test_the_documented_decoder_reads_what_the_pages_show(example: Example) -> None:
    """The decoder in docs/compact_format.md gives the same plain LSP as `lspz.decompress`."""
    decoded = documented_decoder()["decode"](example.shown)

    assert decoded == lspz.decompress(example.method, example.shown)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.values[0].is_decoded_on_the_page])
def test_what_the_pages_show_loses_nothing_that_is_kept(example: Example) -> None:
    """Decoding gives the server's diagnostics, in the fields that the page says are kept."""
    kept = example.config.compression.kept

    def diagnostics(payload: Any) -> Counter[str]:
        found = payload["items" if example.method == PULL else "diagnostics"]
        plain = [{k: v for k, v in d.items() if v != [] and (kept is None or k in {*kept, "tags"})} for d in found]
        return Counter(json.dumps(d, sort_keys=True) for d in plain)

    decoded = documented_decoder()["decode"](example.shown)

    assert diagnostics(decoded) == diagnostics(example.payload)


def reports(name: str) -> list[tuple[Any, str]]:
    """Every block marked `report` on a page, with the params in the block marked `json in` before it."""
    found, payload = [], None
    for language, mark, rest, text in BLOCK.findall((ROOT / "docs" / name).read_text(encoding="utf-8")):
        if (language, mark, rest) == ("json", "in", ""):
            payload = json.loads(text)
        elif mark == "report":
            found.append((payload, text))
    return found


def test_compact_reports_on_changes_are_what_the_page_shows() -> None:
    """One stream: everything, what changed, the same again; read by lspz and by the code on the page."""
    sender, receiver = lspz.DiagnosticsSender("compact"), lspz.DiagnosticsReceiver()
    names = documented_decoder("decoder", "changes")
    counts: Any = None
    shown = [(payload, json.loads(text)) for payload, text in reports("compact_format.md")]
    for payload, report in shown:
        assert json.dumps(sender.send(PUBLISH, payload)) == json.dumps(report)
        assert keys.key(PUBLISH, receiver.receive(PUBLISH, report)) == keys.key(PUBLISH, payload)
        changed = "kept" in report
        counts = (
            names["apply_changes"](counts, report)
            if changed
            else names["as_counts"](names["decode"](report)["diagnostics"])
        )
        assert counts == names["as_counts"](payload["diagnostics"])
    assert ["kept" in report for _, report in shown] == [False, True, True]
    for read in (lspz.DiagnosticsReceiver().receive, lambda _, report: names["apply_changes"](counts, report)):
        with pytest.raises((lspz.errors.ReportLost, ValueError), match=r"did not arrive|was lost"):
            read(PUBLISH, shown[1][1])


def test_text_reports_on_changes_are_what_the_page_shows() -> None:
    """The same in text: an import goes, a line is put in, and in that a name is unknown."""

    def found(a: int, b: int, c: int, d: int, message: str, severity: int, code: str = "", **more: Any) -> Any:
        start, end = {"line": a, "character": b}, {"line": c, "character": d}
        return {"range": {"start": start, "end": end}, "message": message, "severity": severity} | (
            {"code": code, **more} if code else more
        )

    def unused(line: int, start: int, end: int, name: str) -> Any:
        return found(line, start, line, end, f"`{name}` imported but unused", 2, "unused-import", tags=[1])

    def said(put_in: int) -> list[Any]:
        return [
            unused(3, 7, 10, "sys"),
            unused(5 + put_in, 20, 23, "json"),
            *(
                found(line + put_in, start, line + put_in, start + 5, "`print` found", 2, "print")
                for line, start in ((11, 4), (19, 4), (23, 8))
            ),
            found(30 + put_in, 0, 33 + put_in, 12, "12 lines too long", 1),
            found(40 + put_in, 7, 40 + put_in, 7, "expected `:`", 1, "E999"),
        ]

    before = [unused(2, 7, 9, "os"), *said(0)]
    after = [*said(1), found(4, 0, 4, 3, "Undefined name `foo`", 1, "undefined-name")]
    sender = lspz.DiagnosticsSender("text")
    made = [
        sender.send(PUBLISH, {"uri": "file:///project/app.py", "version": version, "diagnostics": diagnostics})["text"]
        for version, diagnostics in ((4, before), (5, after), (6, after))
    ]
    assert made == [text[:-1] for _, text in reports("text_format.md")]


# the programs

PROJECT = ROOT / "docs" / "examples" / "project"


def environment() -> dict[str, str]:
    """The one of the tests, with the servers that are installed beside Python."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def printed_by(*program: str) -> str:
    command = [sys.executable, "-W", "error", *program]
    ended = run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.server("basedpyright")
def test_the_agent_demo_runs_against_basedpyright() -> None:
    """It names every file of the project with its problems, and after the edit sixteen fewer in the file edited."""
    printed = printed_by("docs/examples/agent_demo.py")

    found = re.findall(r"^(\w+\.py), version (\d+): (\d+) in (\d+) groups$", printed, re.MULTILINE)
    first = {name: (int(total), int(groups)) for name, version, total, groups in found if version == "1"}
    assert first.keys() == {path.name for path in PROJECT.glob("*.py")}
    assert all(total > groups > 0 for total, groups in first.values())
    after = [int(total) for name, version, total, _ in found if version == "2"]
    assert after == [first["pricing.py"][0] - 16]


@pytest.mark.server("basedpyright")
@pytest.mark.server("ruff")
def test_the_agent_loop_mends_the_program() -> None:
    """It ends clean, one mistake fewer each turn, each answer a fraction of the server's own JSON."""
    printed = printed_by("docs/examples/agent_loop.py")

    turns = [
        tuple(map(int, turn)) for turn in re.findall(r"^turn (\d+): (\d+) problems, (\d+) .* (\d+)$", printed, re.M)
    ]
    problems = [count for _, count, _, _ in turns]
    assert problems == sorted(set(problems), reverse=True)
    assert all(3 * tokens < raw for _, _, tokens, raw in turns)
    assert printed.endswith(f"turn {len(turns) + 1}: clean\n")
    assert "-import os\n" in printed
    assert "-    return widht * height\n+    return width * height\n" in printed


@pytest.mark.server("basedpyright")
@pytest.mark.server("ruff")
def test_the_demo_shows_every_file_with_fewer_tokens() -> None:
    """scripts/demo prints plain text into a pipe: two tables, each file cheaper in both forms, nothing lost."""
    printed = printed_by("scripts/demo.py")

    row = r"^(\w+\.py) +([\d,]+) +([\d,]+) → +([\d,]+) → +([\d,]+) "
    rows = re.findall(row, printed, re.MULTILINE)
    assert sorted(name for name, *_ in rows) == sorted(2 * [path.name for path in PROJECT.glob("*.py")])
    for name, *numbers in rows:
        diagnostics, raw, compact, folded = (int(number.replace(",", "")) for number in numbers)
        assert 0 < diagnostics < compact < folded < raw, name
    assert "12 of 12 compact messages decode to exactly the server's diagnostics" in printed
    assert "\033" not in printed


@pytest.mark.server("basedpyright")
async def test_the_own_server_of_the_interceptors_page_runs(tmp_path: Path) -> None:
    """The hover is cut, the request that only the façade knows is answered, the diagnostics are folded."""
    text = """def twice(x: int) -> int:
    \"\"\"Twice x.

    A second paragraph.
    \"\"\"
    return x * 2  # TODO: overflow


twice(missing)
twice(missing)
"""
    uri = (tmp_path / "a.py").as_uri()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROJECT.parent / "own_server.py"), stdin=pipe, stdout=pipe, stderr=pipe, env=environment()
    )
    talk = Talk(process)

    await talk.initialize(workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "tmp"}])
    talk.send(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}},
    )
    while not (published := await talk.until("textDocument/publishDiagnostics"))["diagnostics"]:
        pass
    hover = await talk.ask(
        "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 8, "character": 2}}
    )
    todos = await talk.ask("project/todos", {"uri": uri})
    await talk.ask("shutdown")
    talk.send("exit")
    code, _ = await talk.end()

    assert any("(+1 more: 10:7)" in diagnostic["message"] for diagnostic in published["diagnostics"])
    assert "Twice x." in hover["result"]["contents"]["value"]
    assert "second" not in hover["result"]["contents"]["value"]
    assert todos["result"] == [{"line": 5, "text": "return x * 2  # TODO: overflow"}]
    assert code == 0
