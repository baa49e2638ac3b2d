"""Nothing outlives a program that asked: however it ends, its servers and all that they started are gone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lspz import AgentHandle, At

from .agent_projects import PROJECTS, Project
from .recording import descendants

NOTICES = 5.0
"""Seconds in which a server must have noticed that its client was killed."""

EACH = [pytest.param(project, id=project.server, marks=pytest.mark.server(project.server)) for project in PROJECTS]

PROGRAM = """
import asyncio, signal, sys
sys.path.insert(0, {here!r})
from lspz import AgentHandle, AgentPool

def tell(*handles):
    print(*(handle._supervisor.session._link.pid for handle in handles), flush=True)

def handle():
    builder = AgentHandle.builder().backend(*{command!r}).initialization_options({options!r})
    return builder.workspace_root({root!r}).patience(limit=60, first_empty_quiet=0.5).build()

async def main():
{body}

asyncio.run(main())
"""

WAYS = {
    "normal": """
    async with handle() as agent:
        await agent.diagnostics({main!r})
        tell(agent)
""",
    "exception": """
    async with handle() as agent:
        await agent.diagnostics({main!r})
        tell(agent)
        raise SystemExit(3)
""",
    "never stopped": """
    agent = handle()
    await agent.diagnostics({main!r})
    tell(agent)
""",
    "cancelled": """
    agent = await handle().start()
    tell(agent)
    asking = asyncio.create_task(agent.diagnostics({main!r}))
    await asyncio.sleep(0.05)
    asking.cancel()
    asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)
    await asyncio.sleep(60)
""",
    "while it is asked": """
    agent = await handle().start()
    tell(agent)
    await agent.diagnostics({main!r})
    await asyncio.sleep(60)
""",
}


def members(group: int) -> list[str]:
    """The processes of a group that run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name, fields = (entry / "stat").read_text().rsplit(")", 1)
            except OSError:
                continue
            if int(fields.split()[2]) == group and fields.split()[0] != "Z":
                found.append(name)
    return found


def run(project: Project, folder: Path, way: str) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a program, and return it and the groups of its servers once they run."""
    project.lay_out(folder.resolve())
    told = {"main": project.main}
    body = WAYS[way].format(**told) if way in WAYS else way
    program = PROGRAM.format(
        here=str(Path(__file__).parents[2]),
        command=project.command,
        options=project.options,
        root=str(folder.resolve()),
        body=body,
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return process, [int(word) for word in line.split()]


def gone(groups: list[int], within: float) -> list[str]:
    """Wait until nothing of the groups runs, and return what still does."""
    end = time.monotonic() + within
    while (left := [name for group in groups for name in members(group)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


@linux
@pytest.mark.parametrize("way", ["normal", "exception", "never stopped", "cancelled"])
@pytest.mark.parametrize("project", EACH)
def test_a_program_that_ends_leaves_nothing(project: Project, way: str, tmp_path: Path) -> None:
    """It stopped its server, an exception went through, nobody stopped anything, it was cancelled: gone with it."""
    process, groups = run(project, tmp_path, way)
    _, stderr = process.communicate(timeout=60)
    assert gone(groups, 1.0) == []
    assert process.returncode == {"exception": 3, "cancelled": 1}.get(way, 0), stderr
    assert "never retrieved" not in stderr
    assert "was destroyed" not in stderr


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("project", EACH)
def test_a_program_that_is_killed_leaves_nothing(project: Project, number: signal.Signals, tmp_path: Path) -> None:
    """The servers notice within five seconds."""
    process, groups = run(project, tmp_path, "while it is asked")
    assert gone(groups, 0.2) != []
    process.send_signal(number)
    process.communicate(timeout=30)
    assert gone(groups, NOTICES) == []


@linux
@pytest.mark.server("ruff")
def test_ten_pools_that_are_dropped_leave_nothing(tmp_path: Path) -> None:
    """Started, asked, forgotten: they are gone when the loop is."""
    body = f"""
    pools = [AgentPool.builder().workspace_root({str(tmp_path.resolve())!r}).servers("ruff").build() for _ in range(10)]
    await asyncio.gather(*(pool.diagnostics("main.py") for pool in pools))
    tell(*(handle for pool in pools for handle in pool.handles))
    pools.clear()
    await asyncio.sleep(0.1)
"""
    process, groups = run(PROJECTS[-1], tmp_path, body)
    process.communicate(timeout=60)
    assert len(groups) == 10
    assert gone(groups, 1.0) == []
    assert process.returncode == 0


@linux
def test_a_server_that_ignores_everything_is_killed(tmp_path: Path) -> None:
    """It answers no `shutdown`, ignores `exit`, its closed input and SIGTERM, and has a child that does: all gone."""
    server = Path(__file__).with_name("scripted_server.py")
    command = [sys.executable, str(server), "ignore-exit", "ignore-eof", "ignore-term", "child"]
    body = f"""
    agent = AgentHandle.builder().backend(*{command!r}).workspace_root({str(tmp_path.resolve())!r}).build()
    async with agent:
        await agent.start()
        tell(agent)
"""
    process, groups = run(PROJECTS[-1], tmp_path, body)
    started = time.monotonic()
    process.communicate(timeout=60)
    assert gone(groups, 1.0) == []
    assert time.monotonic() - started < 15


@linux
async def test_a_question_cancelled_at_any_moment_leaves_no_process(tmp_path: Path) -> None:
    """While the server is being started, introduced, asked, or after: when the handle is stopped it is gone."""
    (tmp_path / "a.py").write_text("x\n")
    server = Path(__file__).parents[1] / "agent" / "tiny_server.py"
    for moment in (*range(12), *(number / 1000 for number in range(0, 120, 6))):
        builder = AgentHandle.builder().backend(sys.executable, str(server), "one", "--hover").workspace_root(tmp_path)
        async with builder.build() as agent:
            asking = asyncio.create_task(agent.hover(At("a.py", 0)))
            if isinstance(moment, int):
                for _ in range(moment):
                    await asyncio.sleep(0)
            else:
                await asyncio.wait([asking], timeout=moment)
            asking.cancel()
            await asyncio.wait([asking])
        assert descendants(os.getpid()) == set(), moment


@linux
async def test_stopping_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    """The server is killed where there is no time for it to end."""
    server = Path(__file__).with_name("scripted_server.py")
    for moment in range(8):
        builder = AgentHandle.builder().backend(sys.executable, str(server), "ignore-exit", "ignore-eof")
        agent = await builder.workspace_root(tmp_path).build().start()
        stopping = asyncio.create_task(agent.stop())
        for _ in range(moment):
            await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.wait([stopping])
        async with asyncio.timeout(1):
            while descendants(os.getpid()) and moment:
                await asyncio.sleep(0.01)
        await agent.stop()
        assert descendants(os.getpid()) == set()
