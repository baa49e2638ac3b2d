"""Scripts without an event loop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lspz import AgentHandle, At, Blocking, Fresh
from lspz.agent.questions import Questions
from lspz.errors import LspzError, NotOffered

SERVER = f"{sys.executable} {Path(__file__).with_name('tiny_server.py')} one --hover"


def handle(root: Path) -> AgentHandle:
    """A handle on a tiny server."""
    return AgentHandle.builder().backend(SERVER).workspace_root(root).patience(quiet=0.05).build()


def test_questions_without_await(root: Path) -> None:
    """Every method returns when it is done, errors come out, and several may be asked at once from many threads."""
    with Blocking(handle(root)) as agent:
        found = agent.diagnostics("a.py")
        assert found.state == Fresh(1, 1)
        assert agent.name == "python3" or agent.name.startswith("python")
        with pytest.raises(NotOffered):
            agent.definition(At("a.py", 0))
        answers: list[str] = []
        ask = [threading.Thread(target=lambda: answers.append(agent.hover(At("a.py", 0)).text())) for _ in range(8)]
        for thread in ask:
            thread.start()
        for thread in ask:
            thread.join()
        assert answers == ["one was asked"] * 8
    agent.stop()
    with pytest.raises(LspzError, match="it was stopped: make another"):
        agent.diagnostics("a.py")


def test_stopping_while_somebody_asks(root: Path) -> None:
    """Whoever asks hears of it; all who stop wait until the server has ended; the loop's own thread does not hang."""
    blocking = Blocking(handle(root))
    blocking.diagnostics("a.py")
    heard: list[str] = []

    def ask() -> None:
        with pytest.raises(LspzError) as caught:
            blocking.run(lambda: asyncio.sleep(60))
        heard.append(str(caught.value))

    asking = threading.Thread(target=ask)
    asking.start()
    stopping = [threading.Thread(target=blocking.stop) for _ in range(2)]
    for thread in stopping:
        thread.start()
    for thread in (*stopping, asking):
        thread.join(10)
        assert not thread.is_alive()
    assert heard == ["it was stopped while this was asked"] or heard == ["it was stopped: make another"]
    assert not blocking.asked.is_running


def test_the_loops_own_thread_cannot_wait_for_itself(root: Path) -> None:
    """It is said so, and nothing hangs."""

    async def inside() -> None:
        blocking.diagnostics("a.py")

    with Blocking(handle(root)) as blocking:
        with pytest.raises(LspzError, match="the loop's own thread"):
            blocking.run(inside)
        assert {"diagnostics", "hover", "stop", "run"} <= set(dir(blocking))


def test_a_script_that_forgets_to_stop_leaves_nothing(root: Path) -> None:
    """At the end of the program, after an exception too, the server is ended."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from lspz import AgentHandle, Blocking
agent = Blocking(AgentHandle.builder().backend({SERVER!r}).workspace_root({str(root)!r}).build())
print(agent.diagnostics("a.py", quiet=0.05).count, flush=True)
raise SystemExit(3)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (3, "1\n"), done.stderr
    assert done.stderr == ""


def test_every_question_is_documented() -> None:
    """What can be asked says what it answers."""
    for name in Questions.__abstractmethods__ | {name for name in vars(Questions) if not name.startswith("_")}:
        if not name.startswith("_"):
            assert getattr(Questions, name).__doc__, name
