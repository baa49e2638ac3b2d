"""Files that change behind a server's back: what it registered for is told, in batches, and nothing else."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from lspz import At
from lspz.agent import disk
from lspz.agent.watching import compiled

from .scripted import Scripted

HOVER = {"contents": "it"}


@pytest.mark.parametrize(
    ("glob", "fits", "fits_not"),
    [
        ("**/*.py", ["a.py", "x/y/a.py"], ["a.pyi", "a.py/x"]),
        ("*.{ts,tsx}", ["a.ts", "a.tsx"], ["x/a.ts", "a.t"]),
        ("**/{package,jsconfig}.json", ["package.json", "x/jsconfig.json"], ["json", "xpackage.json"]),
        ("src/**", ["src/a", "src/x/y"], ["a/src/b"]),
        ("src/**/test/*.go", ["src/test/a.go", "src/x/y/test/a.go"], ["src/test/x/a.go"]),
        ("a?.[ch]", ["ab.c", "ac.h"], ["a.c", "a/.c", "ab.d"]),
        ("[!a]x[0-9]", ["bx1"], ["ax1", "bxx"]),
        ("a,b}c(1).txt", ["a,b}c(1).txt"], ["a"]),
        ("{a,{b,c}d}", ["a", "bd", "cd"], ["b"]),
        ("**/.git/HEAD", [".git/HEAD", "x/.git/HEAD"], ["git/HEAD"]),
        ("[", ["["], ["x"]),
    ],
)
def test_lsps_globs(glob: str, fits: list[str], fits_not: list[str]) -> None:
    """`*`, `?`, `**`, groups and ranges, as LSP has them; what is none of them stands for itself."""
    pattern = compiled(glob)
    assert [name for name in fits if not pattern.fullmatch(name)] == []
    assert [name for name in fits_not if pattern.fullmatch(name)] == []


async def registered(server: Scripted, *watchers: Any) -> None:
    """Register for changes of files."""
    options = {"watchers": list(watchers)}
    registration = {"id": "w", "method": "workspace/didChangeWatchedFiles", "registerOptions": options}
    await server.ask("client/registerCapability", {"registrations": [registration]})


async def told(server: Scripted, *expected: tuple[str, int], root: Path) -> None:
    """Wait until the server has heard of these changes, in however many batches, and of no others."""
    wanted = {((root / name).as_uri(), kind) for name, kind in expected}
    async with asyncio.timeout(10):
        while True:
            batches = [params for method, params in server.heard if method == "workspace/didChangeWatchedFiles"]
            heard = {(change["uri"], change["type"]) for batch in batches for change in batch["changes"]}
            if wanted <= heard:
                assert heard == wanted
                return
            await server.hears("workspace/didChangeWatchedFiles", len(batches) + 1)


async def watched(server: Scripted, root: Path) -> None:
    """Wait until the disk is watched: starting takes a moment."""
    for number in range(1000):
        (root / "probe.probe").write_text(str(number))
        await asyncio.sleep(0.02)
        if any(method == "workspace/didChangeWatchedFiles" for method, _ in server.heard):
            break
    (root / "probe.probe").unlink()
    await asyncio.sleep(0.3)
    server.heard = []


async def test_files_are_told_that_were_created_changed_and_deleted(root: Path) -> None:
    """By absolute and relative globs, of the kinds that were asked for; not those in folders that nobody looks into."""
    (root / "gone.py").write_text("x")
    (root / "kept.txt").write_text("x")
    server = Scripted({"hoverProvider": True}, textDocument_hover=HOVER)
    async with server.handle(root) as agent:
        await agent.start()
        await registered(
            server,
            {"globPattern": "**/*.py"},
            {"globPattern": {"baseUri": root.as_uri(), "pattern": "*.txt"}, "kind": 4},
            {"globPattern": f"{root}/**/*.abs"},
            {"globPattern": "**/*.probe", "kind": 3},
        )
        await watched(server, root)
        (root / "node_modules").mkdir()
        (root / "node_modules" / "x.py").write_text("x")
        (root / "new.py").write_text("x")
        (root / "a.py").write_text("x")
        (root / "gone.py").unlink()
        (root / "kept.txt").write_text("y")
        (root / "more.txt").write_text("y")
        (root / "more.txt").unlink()
        (root / "kept.txt").unlink()
        (root / "far").mkdir()
        (root / "far" / "x.abs").write_text("x")
        expected = [("new.py", 1), ("a.py", 2), ("gone.py", 3), ("kept.txt", 3), ("far/x.abs", 1)]
        await told(server, *expected, ("more.txt", 3), root=root)


async def test_a_folder_that_is_moved_in_is_told_file_by_file(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The system says nothing of what is in it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "pkg" / "deep").mkdir(parents=True)
    (outside / "pkg" / "deep" / "x.py").write_text("x")
    server = Scripted()
    async with server.handle(root) as agent:
        await agent.start()
        await registered(server, {"globPattern": "**/*.py"}, {"globPattern": "**/*.probe"})
        await watched(server, root)
        shutil.move(outside / "pkg", root / "pkg")
        await told(server, ("pkg/deep/x.py", 1), root=root)


async def test_what_the_caller_says_is_told_at_once(root: Path) -> None:
    """`files_changed` waits for no watcher, and diagnostics wait for what the server makes of it."""
    server = Scripted()
    async with server.builder(root).watch(False).build() as agent:
        await agent.start()
        await registered(server, {"globPattern": "**/*.py"})
        await agent.files_changed(["a.py", "b.txt"], created=[root / "new.py"], deleted=["old.py"])
        await told(server, ("a.py", 2), ("new.py", 1), ("old.py", 3), root=root)


async def test_where_the_system_cannot_watch_one_warning_is_given(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Everything else works, and nobody waits for what will not be seen."""

    def watch(*paths: Any, **options: Any) -> Any:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", watch)
    disk._warn_once.cache_clear()
    for _ in range(2):
        server = Scripted({"hoverProvider": True, "diagnosticProvider": {}}, textDocument_hover=HOVER)
        server.answers["textDocument/diagnostic"] = {"kind": "full", "items": []}
        async with server.handle(root) as agent:
            assert (await agent.hover(At("a.py", 0))).markdown == "it"
            assert (await agent.diagnostics("a.py")).is_clean
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == ["files that change on disk are not watched: OS file watch limit reached"]


async def test_what_happened_before_a_question_is_told_before_it(root: Path) -> None:
    """However soon it is asked: files that were written, made and deleted, thirty times over."""
    registration = {"id": "w", "method": "workspace/didChangeWatchedFiles"}
    registration["registerOptions"] = {"watchers": [{"globPattern": "**/*.txt"}]}  # type: ignore[assignment]
    server = Scripted({"diagnosticProvider": {}})
    server.answers["textDocument/diagnostic"] = {"kind": "full", "items": []}
    async with server.handle(root) as agent:
        await agent.start()
        await server.ask("client/registerCapability", {"registrations": [registration]})
        await agent.diagnostics("a.py")
        for number in range(30):
            path = root / f"{number % 7}.txt"
            there = path.exists()
            if there and number % 3 == 0:
                path.unlink()
            else:
                path.write_text(str(number))
            server.heard = []
            await agent.diagnostics("a.py")
            methods = [method for method, _ in server.heard]
            told = methods.index("workspace/didChangeWatchedFiles")
            assert told < methods.index("textDocument/diagnostic")
            kind = 1 if not there else 2 if path.exists() else 3
            assert server.heard[told][1]["changes"] == [{"uri": path.as_uri(), "type": kind}]


async def test_a_folder_for_marks_is_taken_away(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the handle, and that of a process that was killed with the next one."""
    monkeypatch.setattr(disk.tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"{disk.MARKS_PREFIX}999999999-x"
    left.mkdir()
    async with Scripted({"hoverProvider": True}, textDocument_hover=HOVER).handle(root) as agent:
        await agent.hover(At("a.py", 0))
        assert len(list(tmp_path.glob(f"{disk.MARKS_PREFIX}*"))) == 1
        assert not left.exists()
    assert list(tmp_path.glob(f"{disk.MARKS_PREFIX}*")) == []
