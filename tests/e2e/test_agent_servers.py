"""The agent SDK on real servers: every question, fresh diagnostics, renames, new files, servers that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lspz import AgentHandle, AgentPool, At, Fresh
from lspz.agent.results import Diagnostics
from lspz.errors import BackendDied, BackendRefused
from tests.servers import BY_NAME

from .agent_projects import PROJECTS, Project

EACH = [pytest.param(project, id=project.server, marks=pytest.mark.server(project.server)) for project in PROJECTS]
FULL = [param for param in EACH if not param.values[0].offers]  # type: ignore[attr-defined]


@pytest.fixture
async def agent(project: Project, tmp_path: Path) -> AsyncIterator[AgentHandle]:
    """A handle on the project's server."""
    project.lay_out(tmp_path.resolve())
    builder = AgentHandle.builder().backend(*project.command).workspace_root(tmp_path).patience(limit=60)
    async with builder.initialization_options(project.options).build() as agent:
        yield agent


def append(path: Path, line: str) -> None:
    """Add a line to a file."""
    with path.open("a") as file:
        file.write(line)


def errors(found: Diagnostics) -> list[str]:
    """The messages of the errors, known to be about the document as it is."""
    assert isinstance(found.state, Fresh), found.state
    return [entry.message for entry in found.entries if entry.severity == 1]


@pytest.mark.parametrize("project", FULL)
async def test_every_question(agent: AgentHandle, project: Project) -> None:
    """The right answer to each, about two files of which only one was ever asked about before."""
    use = At(project.main, text="area(2, 3)", symbol="area")
    shapes, main = ((agent.root / name).as_uri() for name in (project.shapes, project.main))

    assert "ow much it covers" in (await agent.hover(use)).markdown
    defined = await agent.definition(use)
    assert list(defined.files) == [shapes] or project.server == "clangd"
    used = await agent.references(use)
    assert {shapes, main} <= set(used.files)
    assert project.main in used.text()
    symbols = await agent.symbols(project.main)
    assert "covered" in [symbol.name for symbol in symbols.symbols]
    found = await agent.workspace_symbols("covered")
    assert any(symbol.name.startswith("covered") or symbol.name.endswith("covered") for symbol in found.symbols)
    completed = await agent.completions(At(project.main, text="area(2, 3)", symbol="area"))
    assert any("area" in item.label for item in completed.items)
    inside = At(project.main, text="area(2, 3)", symbol="2")
    assert "width" in (await agent.signature_help(inside)).text()
    calls = await agent.incoming_calls(use)
    assert "covered" in calls.text(), calls.text()
    covered = At(project.main, 0, text="covered(", symbol="covered")
    assert "area" in (await agent.outgoing_calls(covered)).text()
    assert (await agent.type_definition(At(project.main, symbol="2"))).is_fresh
    if project.server == "gopls":
        with pytest.raises(BackendRefused, match="area is a function, not a method"):
            await agent.implementation(use)
    else:
        assert (await agent.implementation(use)).is_fresh
    await agent.code_actions(use)
    whole = await agent.workspace_diagnostics(limit=20)
    assert whole.is_fresh == (project.server in ("gopls", "rust-analyzer")), whole.state


@pytest.mark.parametrize("project", EACH)
async def test_diagnostics_are_those_of_the_edit(agent: AgentHandle, project: Project) -> None:
    """Wrong, right, wrong again, each time asked at once: never what was so before, and "clean" only when it is."""
    main = agent.root / project.main
    right = main.read_text()
    assert errors(await agent.diagnostics(main)) == []
    for times in (1, 2):
        for _ in range(times):
            append(main, project.wrong)
        found = errors(await agent.diagnostics(main))
        assert any(project.says in message for message in found)
        main.write_text(right)
        assert errors(await agent.diagnostics(main)) == []


@pytest.mark.parametrize("project", FULL)
async def test_a_rename_goes_through_all_files(agent: AgentHandle, project: Project) -> None:
    """And the project is still clean."""
    before = {name: (agent.root / name).read_text() for name in (project.main, project.shapes)}
    done = await agent.rename(At(project.shapes, text="area", symbol="area", line=0), "surface")
    after = {name: (agent.root / name).read_text() for name in before}
    assert after == {
        name: text.replace("area(", "surface(")
        .replace("import area", "import surface")
        .replace("{ area }", "{ surface }")
        .replace("::area", "::surface")
        .replace("// area is", "// surface is")
        for name, text in before.items()
    }
    assert done.is_written
    assert project.main in done.text()
    for name in before:
        assert errors(await agent.diagnostics(name)) == []


@pytest.mark.parametrize("project", [param for param in EACH if param.values[0].later[0]])  # type: ignore[attr-defined]
async def test_a_file_that_is_created_on_disk_is_noticed(agent: AgentHandle, project: Project) -> None:
    """What was wrong for the lack of a file is right soon after it is there, without anybody saying so."""
    (agent.root / project.main).write_text(project.wants_later)
    assert errors(await agent.diagnostics(project.main)) != []
    (agent.root / project.later[0]).write_text(project.later[1])
    async with asyncio.timeout(20):
        while errors(await agent.diagnostics(project.main)):
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("project", FULL)
async def test_a_file_that_was_never_asked_about_changes(agent: AgentHandle, project: Project) -> None:
    """What it breaks or mends in another file is known at once, without anybody saying so."""
    declares = agent.root / project.declares
    right = declares.read_text()
    assert errors(await agent.diagnostics(project.main)) == []
    for _ in range(2):
        declares.write_text(right.replace("area(", "surface("))
        assert errors(await agent.diagnostics(project.main)) != []
        declares.write_text(right)
        assert errors(await agent.diagnostics(project.main)) == []
    declares.unlink()
    assert errors(await agent.diagnostics(project.main)) != []
    declares.write_text(right)
    assert errors(await agent.diagnostics(project.main)) == []


@pytest.mark.parametrize("project", FULL)
async def test_a_rename_reaches_a_file_that_was_just_made(agent: AgentHandle, project: Project) -> None:
    """As soon as it is written."""
    if project.server == "clangd":
        pytest.skip("a file that is not in compile_commands.json is not part of the project")
    await agent.diagnostics(project.main)
    more = agent.root / project.main.replace("main", "more")
    text = (agent.root / project.main).read_text().replace("covered", "more_of_it")
    if project.server == "rust-analyzer":
        append(agent.root / project.main, "mod more;\n")
        text = "pub fn more_of_it() -> u32 {\n    crate::shapes::area(2, 3)\n}\n"
    if project.server == "gopls":
        text = text.replace("func main()", "func other()")
    more.write_text(text)
    used = await agent.references(At(project.main, text="area(2, 3)", symbol="area"))
    assert more.as_uri() in used.files
    await agent.rename(At(project.shapes, text="area", symbol="area", line=0), "surface")
    assert "surface(2, 3)" in more.read_text()


@pytest.mark.parametrize("project", EACH)
async def test_a_server_that_is_killed_while_it_is_asked(agent: AgentHandle, project: Project) -> None:
    """The question fails with what happened, and the next one is answered, by a new server that knows the document."""
    place = At(project.main, text="area(", symbol="area") if project.offers else At(project.main, text="area(2, 3)")
    await agent.diagnostics(project.main)
    session = agent._supervisor.session
    assert session is not None
    process = session._link
    assert process is not None
    os.killpg(process.pid, signal.SIGSTOP)
    asking = asyncio.create_task(agent.hover(place))
    append(agent.root / project.main, "\n")
    diagnosing = asyncio.create_task(agent.diagnostics(project.main))
    await asyncio.sleep(0.1)
    assert not asking.done()
    os.killpg(process.pid, signal.SIGKILL)
    with pytest.raises(BackendDied, match="was killed by SIGKILL"):
        await asking
    assert "was killed by SIGKILL" in (await diagnosing).text()
    append(agent.root / project.main, project.wrong)
    assert any(project.says in message for message in errors(await agent.diagnostics(project.main)))


@pytest.mark.server("basedpyright")
@pytest.mark.server("ruff")
async def test_two_servers_of_a_file(tmp_path: Path) -> None:
    """basedpyright and ruff, as the table has them: both find what they find, each is said, both can fix."""
    project = PROJECTS[0]
    project.lay_out(tmp_path)
    main = tmp_path / "main.py"
    main.write_text("import os\nprint(missing)\n")
    async with AgentPool.builder().workspace_root(tmp_path).patience(limit=60).build() as pool:
        found = await pool.diagnostics("main.py")
        assert isinstance(found.state, Fresh)
        assert {d.source for d in found.diagnostics} == {"basedpyright", "Ruff"}
        assert '"missing" is not defined' in found.text()
        assert "`os` imported but unused" in found.text()
        assert (await pool.hover(At("main.py", symbol="print"))).server == "basedpyright"
        fixes = (await pool.code_actions(At("main.py", text="import os", symbol="os"))).actions
        fix = next(action for action in fixes if action.title.startswith("Ruff (F401)"))
        done = await pool.apply_action(fix)
        assert done.diff() == "--- a/main.py\n+++ b/main.py\n@@ -1,2 +1 @@\n-import os\n print(missing)\n"
        assert "os" not in (await pool.diagnostics("main.py")).text().split()
        assert (await pool.formatting("main.py")).server == "ruff"


@pytest.mark.server("clangd")
async def test_positions_in_utf_8(tmp_path: Path) -> None:
    """clangd counts bytes if it is asked to; the caller may count code points all the same."""
    (tmp_path / "main.c").write_text('int café; const char *s = "😀"; int b = missing;\n')
    for encoding, column in (("utf-8", 43), ("utf-16", 40), ("utf-32", 39)):
        builder = (
            AgentHandle.builder()
            .backend(str(BY_NAME["clangd"].executable))
            .workspace_root(tmp_path)
            .positions(encoding)
        )
        async with builder.build() as agent:
            found = await agent.diagnostics("main.c")
            assert found.entries[0].ranges[0][:2] == (0, column)
            assert agent.capabilities["positionEncoding"] == encoding


@pytest.mark.server("rust-analyzer")
async def test_what_cargo_check_finds_is_waited_for(tmp_path: Path) -> None:
    """The server itself knows nothing of moved values: what it starts when a file is saved counts."""
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "src").mkdir()
    main = tmp_path / "src" / "main.rs"
    right = 'fn main() {\n    let s = String::new();\n    println!("{}", s);\n}\n'
    wrong = 'fn main() {\n    let s = String::new();\n    let t = s;\n    println!("{} {}", s, t);\n}\n'
    main.write_text(right)
    builder = AgentHandle.builder().backend(str(BY_NAME["rust-analyzer"].executable)).workspace_root(tmp_path)
    async with builder.patience(limit=60).build() as agent:
        assert errors(await agent.diagnostics(main)) == []
        for _ in range(3):
            main.write_text(wrong)
            assert any("moved value" in message for message in errors(await agent.diagnostics(main)))
            main.write_text(right)
            assert errors(await agent.diagnostics(main)) == []


@pytest.mark.server("gopls")
async def test_a_workspace_is_counted_once_and_mended(tmp_path: Path) -> None:
    """What is published of a file before it is opened, and after, is one; what is mended is gone."""
    (tmp_path / "go.mod").write_text("module m\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() { util() }\n")
    util = tmp_path / "util.go"
    util.write_text('package main\n\nfunc util() int { return 1 + "a" }\n')
    builder = AgentHandle.builder().backend(str(BY_NAME["gopls"].executable)).workspace_root(tmp_path)
    async with builder.build() as agent:
        assert (await agent.workspace_diagnostics()).state == Fresh(None, 1)
        assert (await agent.diagnostics(util)).state == Fresh(1, 1)
        assert (await agent.workspace_diagnostics()).state == Fresh(None, 1)
        util.write_text("package main\n\nfunc util() int { return 1 }\n")
        assert (await agent.workspace_diagnostics()).state == Fresh(None, 0)
        util.unlink()
        assert (await agent.workspace_diagnostics()).count > 0
