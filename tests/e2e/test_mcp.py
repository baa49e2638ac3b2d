"""`lspz mcp` through the official client, on standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from lspz import count_tokens
from tests.e2e.recording import descendants

TINY = Path(__file__).parents[1] / "agent" / "tiny_server.py"
LINUX = Path("/proc/self/stat").exists()


def environment(first: Path | None = None, **more: str) -> dict[str, str]:
    """The environment of a server, with a folder at the beginning of PATH, else with the servers of the tests."""
    folders = [str(first)] if first is not None else [str(Path(sys.executable).parent), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join([*folders, os.defpath]), **more}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two Python files, one with a mistake."""
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    (root / "util.py").write_text(
        'def area(width: int, height: int) -> int:\n    """Covers."""\n    return width * height\n'
    )
    (root / "main.py").write_text("import os\nfrom util import area\n\nprint(area(2, 3))\nprint(missing)\n")
    return root


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a `ruff` that is a tiny server, whose log is `log`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _install(folder)
    return folder


def _install(folder: Path, *options: str) -> None:
    program = folder / "ruff"
    arguments = " ".join(("ruff", f"--log={folder / 'log'}", *options))
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {TINY} {arguments}\n")
    program.chmod(0o755)


@asynccontextmanager
async def client(
    cwd: Path, *arguments: str, env: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Client]:
    """The official client with an `lspz mcp` of its own."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "lspz", "mcp", *arguments],
        cwd=str(cwd),
        env={"PYTHONPATH": str(Path(__file__).parents[2]), **(env or environment())},
    )
    async with Client(stdio_client(parameters), **options) as connected:
        yield connected


async def said(connected: Client, tool: str, **arguments: Any) -> str:
    """What a tool answers. Fails on an error."""
    result = await connected.call_tool(tool, arguments)
    assert isinstance(result, types.CallToolResult)
    text = _text(result)
    assert not result.is_error, text
    assert result.structured_content is None
    return text


async def refused(connected: Client, tool: str, **arguments: Any) -> str:
    """What a tool says why it does not answer."""
    result = await connected.call_tool(tool, arguments)
    assert isinstance(result, types.CallToolResult)
    assert result.is_error
    return _text(result)


def _text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


NAMES = (
    "get_diagnostics",
    "get_hover",
    "get_definition",
    "get_type_definition",
    "get_implementation",
    "get_references",
    "get_symbols",
    "search_symbols",
    "get_completions",
    "get_code_actions",
    "apply_code_action",
    "rename_symbol",
    "set_workspace",
    "server_status",
)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.server("basedpyright")
@pytest.mark.server("ruff")
async def test_every_tool(project: Path, mode: str) -> None:
    """Listed with a schema, and called: the right answer from real servers, at the places that are told by text."""
    use = {"path": "main.py", "text": "print(area(2, 3))", "symbol": "area"}
    async with client(project, mode=mode) as c:
        tools = (await c.list_tools()).tools
        found = await said(c, "get_diagnostics", path="main.py")
        assert '"missing" is not defined' in found
        assert "`os` imported but unused" in found
        assert found.endswith("report 1")
        assert '"missing" is not defined' in await said(c, "get_diagnostics", path="main.py", min_severity="error")
        assert "main.py" in await said(c, "get_diagnostics")
        assert "main.py" in await said(c, "get_diagnostics", paths=["."], format="compact")
        assert "Covers." in await said(c, "get_hover", **use)
        assert await said(c, "get_definition", **use) == "util.py\n1:5-9"
        assert await said(c, "get_implementation", **use) == "none"
        assert "builtins.pyi" in await said(c, "get_type_definition", path="util.py", text="-> int", symbol="int")
        assert await said(c, "get_references", **use) == "main.py\n2:18-22 4:7\nutil.py\n1:5-9"
        assert "main.py" in await said(c, "get_references", **use, include_declaration=False)
        assert "function area" in await said(c, "get_symbols", path="util.py")
        assert "function area" in await said(c, "search_symbols", query="area")
        assert "area" in await said(c, "get_completions", path="main.py", line=4, column=9)
        offered = await said(c, "get_code_actions", path="main.py", line=1, kind="quickfix")
        fixes = [line for line in offered.splitlines() if "Remove unused import" in line and line.endswith("ruff")]
        remove = fixes[0].split(" ", 1)[0]
        assert "-import os\n" in await said(c, "apply_code_action", action=remove)
        changed = await said(c, "get_diagnostics", path="main.py", since=1)
        assert "kept" in changed
        assert "gone" in changed
        rename = {"path": "util.py", "symbol": "area", "new_name": "surface"}
        assert "+print(surface(2, 3))" in await said(c, "rename_symbol", **rename, dry_run=True)
        assert await said(c, "rename_symbol", **rename) == "edited main.py\nedited util.py"
        status = await said(c, "server_status")
        assert "basedpyright: ready" in status
        assert (await said(c, "set_workspace", path=str(project))).startswith(f"workspace {project}: ")
    assert (project / "main.py").read_text() == "from util import surface\n\nprint(surface(2, 3))\nprint(missing)\n"
    assert [tool.name for tool in tools] == list(NAMES)
    for tool in tools:
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
    listed = "".join(tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools)
    assert count_tokens(listed).tokens < 3000


@pytest.mark.server("ruff")
async def test_only_what_changed_since_a_report(project: Path) -> None:
    """Of a file and of several; a number of another question, or one that is not known, gives all."""
    async with client(project) as c:
        both = {"paths": ["main.py", "util.py"], "min_severity": "error"}
        everything = await said(c, "get_diagnostics", **both)
        assert everything.endswith("report 1")
        assert "unchanged: " in await said(c, "get_diagnostics", **both, since=1)
        (project / "main.py").write_text("")
        (project / "util.py").write_text("print(new)\n")
        changed = await said(c, "get_diagnostics", **both, since=1)
        assert "clean now: main.py" in changed
        assert "util.py\n1:7" in changed
        other = await said(c, "get_diagnostics", paths=["util.py"], min_severity="error", since=1)
        assert "clean now" not in other
        assert "util.py\n1:7" in other
        assert "util.py\n1:7" in await said(c, "get_diagnostics", paths=["util.py"], min_severity="error", since=99)


async def test_mistakes_are_named_with_what_to_do(project: Path, tiny: Path) -> None:
    """Unknown tools and arguments, values that are not allowed, places and files that are not there."""
    _install(tiny, "--hover")
    (project / "link.py").symlink_to("/etc/passwd")
    async with client(project, env=environment(tiny)) as c:
        assert "there is no tool get_hovr; did you mean get_hover?" in await refused(c, "get_hovr")
        told = await refused(c, "get_hover", path="main.py", lien=3)
        assert told.startswith("get_hover: lien: no such argument; did you mean line?. It takes workspace, ")
        assert "path: is missing" in await refused(c, "get_hover", line=3)
        assert "line: Input should be greater than or equal to 1" in await refused(
            c, "get_hover", path="main.py", line=0
        )
        assert "say where: line and column, or text and symbol" in await refused(c, "get_hover", path="main.py")
        assert "give path or paths, not both" in await refused(c, "get_diagnostics", path="a", paths=["b"])
        told = await refused(c, "get_hover", path="main.py", line=1, format="html")
        assert "format: Input should be 'text', 'compact' or 'toon'" in told
        assert "there is no line 99: they are 1 to 6" in await refused(c, "get_hover", path="main.py", line=99)
        assert "the text 'nowhere' is not in it" in await refused(c, "get_hover", path="main.py", text="nowhere")
        assert "gone.py: No such file" in await refused(c, "get_hover", path="gone.py", line=1)
        assert "does not offer textDocument/definition" in await refused(c, "get_definition", path="main.py", line=1)
        assert "no such action, or it is too old" in await refused(c, "apply_code_action", action="a99")
        assert "must be an absolute path" in await refused(c, "set_workspace", path="project")
        assert "there is no such folder" in await refused(c, "set_workspace", path=str(project / "none"))
        for outside in ("../x.py", "/etc/passwd", "link.py", "file:///etc/passwd", str(project.parent / "x.py")):
            assert "is outside the workspace" in await refused(c, "get_hover", path=outside, line=1)
            assert "is outside the workspace" in await refused(c, "get_diagnostics", paths=[outside])
        assert "No such file" in await refused(c, "get_hover", path="D:\\secret\\x.py", line=1)
        assert await said(c, "get_hover", path="main.py", line=1) == "ruff was asked"


async def test_a_call_that_is_given_up_is_cancelled_at_the_language_server(project: Path, tiny: Path) -> None:
    """The client's cancellation reaches it."""
    _install(tiny, "--hover", "--never")
    async with client(project, env=environment(tiny)) as c:
        call = asyncio.create_task(c.call_tool("get_hover", {"path": "main.py", "line": 1}))
        await _logged(tiny, "textDocument/hover")
        call.cancel()
        await asyncio.wait([call])
        await _logged(tiny, "$/cancelRequest")


async def _logged(tiny: Path, method: str) -> None:
    async with asyncio.timeout(10):
        while not ((tiny / "log").exists() and method in (tiny / "log").read_text().splitlines()):
            await asyncio.sleep(0.02)


async def test_a_project_that_is_still_indexed_says_so(project: Path, tiny: Path) -> None:
    """Within its limit, with progress meanwhile that says what is waited for; it is no error, and not clean."""
    _install(tiny, "--index")
    heard: list[str | None] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with client(project, "--timeout", "3", env=environment(tiny)) as c:
        started = time.monotonic()
        result = await c.call_tool("get_diagnostics", {"path": "main.py"}, progress_callback=progress)
        assert time.monotonic() - started < 6
        assert isinstance(result, types.CallToolResult)
        assert _text(result).startswith("not ready, ask again: ")
        assert "Indexing" in _text(result)
        assert any("ruff: Indexing" in (message or "") for message in heard)
        assert "ruff: at work: Indexing" in await said(c, "server_status")


async def test_twenty_calls_at_once_start_one_server(project: Path, tiny: Path) -> None:
    """They share it."""
    _install(tiny, "--hover")
    async with client(project, env=environment(tiny)) as c:
        answers = await asyncio.gather(*(said(c, "get_hover", path="main.py", line=1) for _ in range(20)))
    assert answers == ["ruff was asked"] * 20
    assert (tiny / "log").read_text().splitlines().count("initialize") == 1


@pytest.mark.server("ruff")
async def test_no_answer_is_longer_than_its_cap(project: Path) -> None:
    """The default of 4,000 tokens, or what is asked for, in every form; what is left out is said."""
    (project / "main.py").write_text("".join(f"print(missing_{number})\n" for number in range(3000)))
    async with client(project, env=environment()) as c:
        for form in ("text", "compact", "toon"):
            for cap in (None, 100, 1000):
                arguments = {"path": "main.py", "format": form, "min_severity": "error"}
                found = await said(c, "get_diagnostics", **arguments, **({} if cap is None else {"max_tokens": cap}))
                assert count_tokens(found).tokens <= (cap or 4000), (form, cap)
                assert "not all: raise min_severity" in found or "(cut)" in found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_where_a_call_works(project: Path, tiny: Path, tmp_path: Path, mode: str) -> None:
    """In what it names, what was chosen, a root of the client, the working directory if it is a project; in order."""
    _install(tiny, "--hover")
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "only_there.py").write_text("x\n")

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=other.as_uri()), types.Root(uri=project.as_uri())])  # type: ignore[arg-type]

    async with client(tmp_path, env=environment(tiny), mode=mode) as c:
        assert "which workspace? call set_workspace" in await refused(c, "get_hover", path="main.py", line=1)
        assert await said(c, "get_hover", path="main.py", line=1, workspace=str(project)) == "ruff was asked"
        await said(c, "set_workspace", path=str(other))
        assert await said(c, "get_hover", path="only_there.py", line=1) == "ruff was asked"
    async with client(tmp_path, env=environment(tiny), mode=mode, list_roots_callback=roots) as c:
        assert await said(c, "get_hover", path="only_there.py", line=1) == "ruff was asked"
        assert await said(c, "get_hover", path="main.py", line=1) == "ruff was asked"
    async with client(project, env=environment(tiny), mode=mode) as c:
        assert await said(c, "get_hover", path="main.py", line=1) == "ruff was asked"
    async with client(tmp_path, "--workspace", str(project), env=environment(tiny), mode=mode) as c:
        assert await said(c, "get_hover", path="main.py", line=1) == "ruff was asked"
        assert "is in none of the folders" in await refused(c, "set_workspace", path=str(other))
        assert "is in none of the folders" in await refused(c, "server_status", workspace=str(other))


# over HTTP


@contextmanager
def web(cwd: Path, *arguments: str, env: dict[str, str]) -> Iterator[str]:
    """An `lspz mcp --http` on a port that the system picks: its URL."""
    command = [sys.executable, "-m", "lspz", "mcp", "--http", "127.0.0.1:0", *arguments]
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), **env}
    process = subprocess.Popen(command, cwd=cwd, env=env, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("lspz mcp: http://127.0.0.1:"), line
        yield line.removeprefix("lspz mcp: ").strip()
        process.send_signal(signal.SIGINT)
        assert process.wait(15) in (0, 130)
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_over_http(project: Path, tiny: Path, mode: str) -> None:
    """Listed and called, with progress."""
    _install(tiny, "--hover", "--index")
    heard: list[str | None] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    with web(project, "--timeout", "3", env=environment(tiny)) as url:
        async with Client(url, mode=mode) as c:
            await c.call_tool("get_diagnostics", {"path": "main.py"}, progress_callback=progress)
            assert any("ruff: Indexing" in (message or "") for message in heard)
            assert len((await c.list_tools()).tools) == 14
            assert await said(c, "get_hover", path="main.py", line=1) == "ruff was asked"
            if mode == "legacy":
                await said(c, "set_workspace", path=str(project))
            else:
                told = await refused(c, "set_workspace", path=str(project))
                assert "no session that would remember it: pass workspace" in told


async def test_a_call_that_is_given_up_over_http_is_cancelled(project: Path, tiny: Path) -> None:
    """The language server hears of it."""
    _install(tiny, "--hover", "--never")
    with web(project, env=environment(tiny)) as url:
        async with Client(url, mode="legacy") as c:
            call = asyncio.create_task(c.call_tool("get_hover", {"path": "main.py", "line": 1}))
            await _logged(tiny, "textDocument/hover")
            call.cancel()
            await asyncio.wait([call])
            await _logged(tiny, "$/cancelRequest")


async def test_who_may_not_ask_over_http(project: Path, tiny: Path) -> None:
    """No token, a wrong one, a page of another site, a name that leads here from elsewhere: refused before any tool."""
    _install(tiny, "--hover")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    with web(project, env=environment(tiny, LSPZ_TOKEN="the right one")) as url:
        async with httpx2.AsyncClient() as plain:

            async def status(**headers: str) -> int:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                return (await plain.post(url, json=body, headers={**accept, **named})).status_code

            right = {"Authorization": "Bearer the right one"}
            assert await status() == 401
            assert await status(Authorization="Bearer wrong") == 401
            assert await status(Authorization="the right one") == 401
            assert await status(**right, Origin="https://evil.example") == 403
            assert await status(**right, Origin="null") == 403
            assert await status(**right, Host="evil.example") == 421
            assert await status(**right, Origin=url.removesuffix("/mcp")) not in (401, 403, 421)
            headers = {"Authorization": "Bearer the right one"}
        async with (
            httpx2.AsyncClient(headers=headers) as with_token,
            Client(streamable_http_client(url, http_client=with_token)) as c,
        ):
            assert await said(c, "get_hover", path="main.py", line=1) == "ruff was asked"


async def test_fifty_clients_over_http(project: Path, tiny: Path, tmp_path: Path) -> None:
    """Each in the workspace that it chose, and nothing of one reaches another; a server for each folder."""
    _install(tiny, "--hover")
    folders = []
    for number in range(5):
        folder = tmp_path.resolve() / "many" / f"p{number}"
        folder.mkdir(parents=True)
        (folder / "ruff.toml").write_text("")
        (folder / f"only_{number}.py").write_text("x\n")
        folders.append(folder)
    with web(project, "--workspace", str(tmp_path / "many"), env=environment(tiny)) as url:

        async def work(number: int) -> None:
            async with Client(url, mode="legacy") as c:
                mine, other = number % 5, (number + 1) % 5
                await said(c, "set_workspace", path=str(folders[mine]))
                assert await said(c, "get_hover", path=f"only_{mine}.py", line=1) == "ruff was asked"
                assert "No such file" in await refused(c, "get_hover", path=f"only_{other}.py", line=1)
                assert "is outside" in await refused(c, "get_hover", path=f"../p{other}/only_{other}.py", line=1)
                assert str(folders[other]) not in await said(c, "server_status")
                assert "is in none of the folders" in await refused(c, "set_workspace", path=str(project))

        await asyncio.gather(*(work(number) for number in range(50)))
    assert (tiny / "log").read_text().splitlines().count("initialize") == 5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--http", "0.0.0.0:0"), "0.0.0.0 can be reached by others: set LSPZ_TOKEN"),
        (("--http", "7331"), "'7331': must be HOST:PORT, such as 127.0.0.1:7331"),
        (("--workspace", "nowhere"), "--workspace='nowhere': there is no such folder"),
        (("--timeout", "never"), "'never': must be a number of seconds above 0"),
        (("--htpt", "x"), "unrecognized arguments"),
    ],
)
def test_mistakes_on_the_command_line(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    """Named, with exit status 2."""
    env = {name: value for name, value in environment().items() if name != "LSPZ_TOKEN"}
    command = [sys.executable, "-m", "lspz", "mcp", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """It is said which."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "lspz", "mcp", "--http", f"127.0.0.1:{port}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr


@pytest.mark.skipif(not LINUX, reason="looks for processes in /proc")
@pytest.mark.parametrize("way", ["eof", "SIGTERM", "SIGINT", "SIGKILL"])
async def test_nothing_is_left(project: Path, way: str) -> None:
    """However lspz ends, real servers end within five seconds."""
    if not (Path(sys.executable).parent / "basedpyright-langserver").exists():
        pytest.skip("basedpyright is not installed")
    command = [sys.executable, "-m", "lspz", "mcp"]
    process = subprocess.Popen(
        command, cwd=project, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}'
    process.stdin.write(f'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{hello}}}\n')
    process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    call = '{"name":"get_hover","arguments":{"path":"main.py","line":4}}'
    process.stdin.write(f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{call}}}\n')
    process.stdin.flush()
    await asyncio.to_thread(process.stdout.readline)
    await asyncio.to_thread(process.stdout.readline)
    servers = descendants(process.pid)
    assert servers
    if way == "eof":
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, way))
    assert await asyncio.to_thread(process.wait, 15) == {"eof": 0, "SIGTERM": 143, "SIGINT": 130, "SIGKILL": -9}[way]
    end = time.monotonic() + 5
    while (left := [pid for pid in servers if Path(f"/proc/{pid}").exists()]) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    assert left == []
