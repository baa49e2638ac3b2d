"""A pool: which servers are asked about a file, and their answers as one."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lspz import AgentPool, At, Fresh, Pending, Unavailable, count_tokens
from lspz.agent.asking import Models
from lspz.agent.merging import merged_diagnostics
from lspz.agent.options import PoolBuilder
from lspz.agent.results import Diagnostics
from lspz.config import Config
from lspz.errors import BackendDied, BackendNotFound, ConfigError, NotOffered, PlaceNotFound

from .scripted import diagnostic

SERVER = Path(__file__).with_name("tiny_server.py")


def table(**servers: dict[str, Any]) -> dict[str, Any]:
    """Tiny servers, by name: what each offers and finds is in its arguments."""
    return {
        "servers": {
            name: {
                "command": [sys.executable, str(SERVER), name, *members.pop("says", [])],
                "languages": ["tiny"],
                "default": True,
                **members,
            }
            for name, members in servers.items()
        },
        "languages": {"tiny": [".tiny"]},
    }


def pool_of(root: Path, changes: dict[str, Any]) -> PoolBuilder:
    """A builder for a pool with a table of a test's own."""
    return AgentPool.builder().workspace_root(root).table(changes).patience(limit=10, quiet=0.1, first_empty_quiet=0.3)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two projects, one in the other."""
    (tmp_path / "inner" / "src").mkdir(parents=True)
    (tmp_path / "inner" / "tiny.toml").write_text("")
    (tmp_path / "inner" / "src" / "b.tiny").write_text("b\n")
    (tmp_path / "a.tiny").write_text("a\n")
    return tmp_path.resolve()


async def test_servers_are_started_by_language_and_nearest_root(root: Path) -> None:
    """One for each project, shared by all that ask, and none for what nobody asks about."""
    async with pool_of(root, table(one={"roots": ["tiny.toml"]})).build() as pool:
        assert pool.handles == ()
        await asyncio.gather(*(pool.diagnostics(file) for file in ("a.tiny", root / "inner/src/b.tiny") * 10))
        assert {handle.root for handle in pool.handles} == {root, root / "inner"}
        found = await pool.diagnostics((root / "inner/src/b.tiny").as_uri())
        assert found.text() == '"inner/src/b.tiny" v1\nerror\n1:1 one finds this in b.tiny'
    assert not any(handle.is_running for handle in pool.handles)


async def test_several_servers_of_a_file_answer_as_one(root: Path) -> None:
    """Each under its name, with its name as source; a question that only one offers goes to that one."""
    async with pool_of(root, table(one={}, two={"says": ["--hover"]})).build() as pool:
        found = await pool.diagnostics("a.tiny")
        hover = await pool.hover(At("a.tiny", 0))
        with pytest.raises(NotOffered, match="one does not offer textDocument/rename; two does not offer"):
            await pool.rename(At("a.tiny", 0), "x")

    assert found.state == Fresh(1, 2)
    assert [d.source for d in found.diagnostics] == ["one", "two"]
    assert [entry.message for entry in found.entries] == ["one finds this in a.tiny", "two finds this in a.tiny"]
    assert found.text() == (
        'one:\n"a.tiny" v1\nerror\n1:1 one finds this in a.tiny\ntwo:\n"a.tiny" v1\nerror\n1:1 two finds this in a.tiny'
    )
    assert set(found.compact()["servers"]) == {"one", "two"}
    assert found.tokens().tokens == count_tokens(found.text()).tokens
    assert (hover.markdown, hover.server) == ("two was asked", "two")


async def test_one_that_fails_makes_the_whole_answer_uncertain(root: Path) -> None:
    """What the others found is there, and that it is not all, and why."""
    changes = table(one={}, two={"says": ["--die"]}, three={"says": ["--silent"]})
    async with pool_of(root, changes).build() as pool:
        found = await pool.diagnostics("a.tiny", limit=1.5)

    assert isinstance(found.state, Unavailable)
    assert found.state.reason.startswith("two: the language server exited with status 3")
    assert found.count == 1
    assert not found.is_clean
    assert "one:\n" in found.text()
    assert "two:\nnot known: the language server exited with status 3" in found.text()
    assert "three:\nnot ready, ask again: " in found.text()


async def test_servers_that_are_not_there(root: Path) -> None:
    """Not known at all, known and not installed, not in the table: each named, with what to do."""
    (root / "x.unheard").write_text("")
    async with AgentPool.builder().workspace_root(root).build() as pool:
        with pytest.raises(NotOffered, match=r"x\.unheard: no server is known for unheard; add one with builder"):
            await pool.diagnostics("x.unheard")
    changes = table(one={"command": ["no-such-program"], "install": "get one"})
    async with pool_of(root, changes).build() as pool:
        with pytest.raises(BackendNotFound, match=r"a\.tiny: none of its servers is installed: one: "):
            await pool.diagnostics("a.tiny")
    with pytest.raises(ConfigError, match="server='nonsense'"):
        AgentPool.builder().servers("nonsense").build()


async def test_one_that_does_not_start_spoils_nothing_else(root: Path) -> None:
    """What the others can do is done; where none can, the error says why."""
    changes = table(bad={"command": ["false"]}, one={})
    async with pool_of(root, changes).restarts(0).build() as pool:
        await pool.open("a.tiny")
        await pool.change("a.tiny", "mine\n")
        assert [action.server for action in (await pool.code_actions(At("a.tiny", 0))).actions] == ["one"]
        assert [symbol.name for symbol in (await pool.workspace_symbols("x")).symbols] == ["x in one"]
    async with pool_of(root, table(bad={"command": ["false"]})).build() as pool:
        with pytest.raises(BackendDied, match=r"bad failed once|exited with status 1"):
            await pool.open("a.tiny")


async def test_a_pool_that_was_stopped_starts_nothing(root: Path) -> None:
    """Not for a file of another language, either."""
    pool = pool_of(root, table(one={})).build()
    await pool.stop()
    with pytest.raises(BackendDied, match="the pool was stopped"):
        await pool.diagnostics("a.tiny")


async def test_a_workspace_that_is_too_large_to_know(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all of it was looked at, the answer says so."""
    monkeypatch.setattr("lspz.agent.pool.SCAN_LIMIT", 0)
    async with pool_of(root, table(one={"says": ["--workspace"]})).build() as pool:
        assert isinstance((await pool.workspace_diagnostics()).state, Unavailable)
        assert isinstance((await pool.workspace_symbols("x")).state, Unavailable)


async def test_a_folder_is_no_file(root: Path) -> None:
    """And is not said to be of an unknown language."""
    async with pool_of(root, table(one={})).build() as pool:
        with pytest.raises(IsADirectoryError):
            await pool.diagnostics("inner")


async def test_many_documents_are_asked_about_a_few_at_a_time(root: Path) -> None:
    """Together they are one answer, each server's by itself; what is kept of each may be less."""
    files = []
    for number in range(100):
        files.append(root / f"f{number:02}.tiny")
        files[-1].write_text("x\n")
    seen: list[str] = []

    def keep(answer: Diagnostics) -> Diagnostics:
        seen.append(answer.uri)
        return answer.slim(1) if len(seen) % 2 else answer.slim(0)

    async with pool_of(root, table(one={}, two={})).build() as pool:
        found = await pool.diagnostics_of(files)
        assert found.state == Fresh(None, 200)
        assert [file.uri for file in found.parts[1].model.files] == [file.as_uri() for file in files]  # type: ignore[attr-defined]
        assert found.text().count("@ f42.tiny") == 2
        part = await pool.diagnostics_of(files, keep=keep)
    assert sorted(seen) == [file.as_uri() for file in files]
    assert (part.state, part.count, part.omitted) == (Fresh(None, 200), 100, 100)
    assert sum(len(item["items"]) for item in part.lsp["items"]) == 100


async def test_the_servers_to_use_can_be_named(root: Path) -> None:
    """Then no others are."""
    async with pool_of(root, table(one={}, two={})).servers("two").build() as pool:
        found = await pool.diagnostics("a.tiny")
    assert found.server == "two"


async def test_the_whole_workspace_is_asked(root: Path) -> None:
    """The servers of all languages and projects in it; excluded folders are not looked into."""
    (root / "node_modules").mkdir()
    (root / "node_modules" / "tiny.toml").write_text("")
    (root / "node_modules" / "c.tiny").write_text("")
    async with pool_of(root, table(one={"roots": ["tiny.toml"], "says": ["--workspace"]})).build() as pool:
        found = await pool.workspace_diagnostics()
        symbols = await pool.workspace_symbols("x")
        assert {handle.root for handle in pool.handles} == {root, root / "inner"}

    assert found.state == Fresh(None, 2)
    assert sorted(uri.rsplit("/", 1)[-1] for uri in found.files) == ["a.tiny", "b.tiny"]
    assert [symbol.name for symbol in symbols.symbols] == ["x in one", "x in one"]


async def test_edits_are_told_to_all(root: Path) -> None:
    """An edit that one server made is known to the others, and to those of another project."""
    changes = table(one={"says": ["--format"]}, two={})
    async with pool_of(root, changes).build() as pool:
        await pool.diagnostics("a.tiny")
        done = await pool.formatting("a.tiny")
        found = await pool.diagnostics("a.tiny")
        place = {"line": 0, "character": 0}
        edit = {"changes": {(root / "a.tiny").as_uri(): [{"range": {"start": place, "end": place}, "newText": "# "}]}}
        await pool.apply_edit(edit)
        again = await pool.diagnostics("a.tiny")
        actions = await pool.code_actions(At("a.tiny", 0))
        fixed = await pool.apply_action(actions.actions[1])

    assert done.text() == "edited a.tiny"
    assert (found.state, again.state) == (Fresh(2, 2), Fresh(3, 2))
    assert [(action.title, action.server) for action in actions.actions] == [
        ("fix of one", "one"),
        ("fix of two", "two"),
    ]
    assert fixed.text() == "edited a.tiny"
    assert (root / "a.tiny").read_text() == "two# formatted a\n"


async def test_text_of_the_callers_own_goes_to_all(root: Path) -> None:
    """`open`, `change`, `save`, `close` and `files_changed`."""
    async with pool_of(root, table(one={}, two={})).build() as pool:
        await pool.open("a.tiny", "mine\n")
        await pool.change("a.tiny", "mine, too\n")
        assert (await pool.diagnostics("a.tiny")).state == Fresh(2, 2)
        await pool.save("a.tiny")
        await pool.files_changed(["a.tiny"])
        await pool.close("a.tiny")
    assert (root / "a.tiny").read_text() == "mine, too\n"


async def test_a_place_that_is_not_there_fails_the_question(root: Path) -> None:
    """In whichever server's handle it is found out; no other goes on asking."""
    async with pool_of(root, table(one={"says": ["--hover"]}, two={})).build() as pool:
        with pytest.raises(PlaceNotFound, match="the symbol 'nowhere' is not in it"):
            await pool.hover(At("a.tiny", symbol="nowhere"))
        with pytest.raises(FileNotFoundError):
            await pool.diagnostics("gone.tiny")


def test_a_cap_holds_for_all_parts_together() -> None:
    """`max_tokens` is shared, and what a part leaves goes to the next."""

    def part(server: str, lines: int) -> Diagnostics:
        said = [diagnostic(line, f"problem number {line} of many") for line in range(lines)]
        raw = json.dumps({"uri": "file:///a.py", "version": 1, "diagnostics": said}).encode()
        model = Models(Config(enable_diag_compress=None)).read("textDocument/publishDiagnostics", raw)
        return Diagnostics(state=Fresh(1, lines), model=model, raw=raw, server=server, uri="file:///a.py")

    merged = merged_diagnostics([part("one", 2), part("two", 100), part("three", 100)])
    assert count_tokens(merged.text(300)).tokens <= 300
    assert "omitted" in merged.text(300)
    assert merged.text(300).split("two:")[0] == merged.parts[0].text().join(("one:\n", "\n"))  # type: ignore[attr-defined]
    assert merged.count == 202


def test_the_worst_state_wins() -> None:
    """Unavailable before pending before fresh, with the reasons of all that are so."""

    def part(state: Any, server: str) -> Diagnostics:
        return Diagnostics(state=state, model=None, server=server, uri="file:///a.py")

    fresh, pending, gone = part(Fresh(3, 0), "a"), part(Pending("busy"), "b"), part(Unavailable("died"), "c")
    assert merged_diagnostics([fresh, pending, gone, part(Unavailable("no"), "d")]).state == Unavailable(
        "c: died; d: no"
    )
    assert merged_diagnostics([fresh, pending]).state == Pending("b: busy")
    assert merged_diagnostics([fresh, part(Fresh(3, 2), "b")]).state == Fresh(3, 2)
    assert merged_diagnostics([pending]) is pending
