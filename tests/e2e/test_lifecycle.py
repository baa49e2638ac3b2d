"""How sessions end: nobody waits for ever, nothing outlives lspz, and everybody is told."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest

from lspz.proxy.session import BACKEND_DIED

from .talk import LIMIT, LSPZ, SCRIPTED, is_gone, lspz, talk


async def test_shutdown_and_exit_end_both_with_status_0() -> None:
    """The clean end: the server's own exit status is lspz's."""
    async with talk(lspz()) as client:
        await client.initialize()
        assert (await client.ask("shutdown"))["result"] is None
        client.send("exit")

        assert await client.end() == (0, "")


async def test_exit_without_shutdown_is_status_1() -> None:
    """As the specification has it."""
    async with talk(lspz()) as client:
        await client.initialize()
        client.send("exit")

        assert (await client.end())[0] == 1


@pytest.mark.parametrize("behaviour", ["ignore-exit", "ignore-eof"])
async def test_a_server_that_does_not_end_is_ended(behaviour: str) -> None:
    """A server that ignores `exit`, or the end of its input, is terminated, with the children it started."""
    async with talk(lspz("ignore-exit", behaviour, "ignore-term", "child")) as client:
        pid = (await client.until("child"))["pid"]
        await client.initialize()
        await client.ask("shutdown")
        if behaviour == "ignore-exit":
            client.send("exit")
        else:
            client.process.stdin.close()  # type: ignore[union-attr]

        status, _ = await client.end()

        assert status == 0
        assert is_gone(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_lspz_and_the_server(number: signal.Signals) -> None:
    """At once, with the status that says so; the server and its children go with it."""
    async with talk(lspz("child")) as client:
        pid = (await client.until("child"))["pid"]
        await client.initialize()
        client.process.send_signal(number)

        status, _ = await client.end()

        assert status == 128 + number
        assert is_gone(pid)


async def test_a_client_that_no_longer_reads_takes_the_server_along() -> None:
    """Closing lspz's output is as good as leaving, also when nothing is being written."""
    async with talk(lspz("child")) as client:
        pid = (await client.until("child"))["pid"]
        await client.initialize()
        client.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]

        async with asyncio.timeout(LIMIT):
            await client.process.wait()
        assert is_gone(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_while_lspz_still_starts_ends_the_server(number: signal.Signals) -> None:
    """Between the start of the server and lspz being ready lies half a second, in which nothing is orphaned."""
    code = (
        "import os, signal, sys\n"
        "import lspz.cli.proxy as proxy\n"
        "real = proxy.spawn\n"
        "def spawn(command):\n"
        "    process = real(command)\n"
        "    print(process.pid, file=sys.stderr, flush=True)\n"
        "    return process\n"
        "proxy.spawn = spawn\n"
        "class Slow:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == 'lspz.cli.serve': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Slow())\n"
        "sys.exit(proxy.main(sys.argv[1:]))\n"
    )
    async with talk([sys.executable, "-c", code, "--", *SCRIPTED, "ignore-term", "ignore-eof"]) as client:
        status, stderr = await client.end()

    assert status == 128 + number
    assert is_gone(int(stderr))


async def test_a_client_that_goes_away_takes_the_server_along() -> None:
    """The end of lspz's input is the end of the server's."""
    async with talk(lspz("child")) as client:
        pid = (await client.until("child"))["pid"]
        await client.initialize()
        client.process.stdin.close()  # type: ignore[union-attr]

        status, _ = await client.end()

        assert status == 1
        assert is_gone(pid)


@pytest.mark.parametrize(
    ("how", "words", "status"), [(5, "exited with status 5", 5), (-9, "killed by SIGKILL", 137), (0, "status 0", 1)]
)
async def test_a_server_that_dies_leaves_nobody_waiting(how: int, words: str, status: int) -> None:
    """Every open request gets an error that says how the server ended and what it said last; lspz exits non-zero."""
    async with talk(lspz(options=["--log-level", "error"])) as client:
        await client.initialize()
        client.send("never", id=1)
        client.send("never", id="two")
        client.send("do/stderr", "panic: out of cheese")
        client.send("do/die", how)

        answers = [await client.receive(), await client.receive()]
        shown = await client.until("window/showMessage")
        ended, stderr = await client.end()

    assert [answer["id"] for answer in answers] == [1, "two"]
    for answer in answers:
        assert answer["error"]["code"] == BACKEND_DIED
        assert words in answer["error"]["message"]
        assert answer["error"]["message"].endswith(": panic: out of cheese")
    assert shown["type"] == 1
    assert words in shown["message"]
    assert ended == status
    assert words in stderr


async def test_a_server_that_dies_at_once_answers_initialize_with_an_error() -> None:
    """A broken installation is no hang."""
    async with talk(lspz("die-at-start")) as client:
        answer = await client.ask("initialize", {"capabilities": {}})
        status, _ = await client.end()

    assert "exited with status 7: cannot read its configuration" in answer["error"]["message"]
    assert status == 7


async def test_a_half_sent_body_is_completed() -> None:
    """When the server dies in the middle of a long answer, the next message can still be found."""
    async with talk(lspz()) as client:
        await client.initialize()
        client.send("never", id=1)
        head = '{"jsonrpc":"2.0","id":1,"result":"'
        client.send("do/write", f"Content-Length: 200000\r\n\r\n{head}{'x' * 100_000}")
        client.send("do/die", 3)

        raw = b""
        while data := await client.process.stdout.read(1 << 16):  # type: ignore[union-attr]
            raw += data

    body = raw[raw.index(head.encode()) :]
    assert body[100_000 + len(head) : 200_000].strip() == b""
    assert body[200_000:].startswith(b"Content-Length: ")
    assert b'"id":1,"error"' in body[200_000:]


async def test_a_length_of_three_gigabytes_is_passed_on_and_ends() -> None:
    """Nothing is kept of a body that cannot be real; lspz ends with its server."""
    async with talk(lspz()) as client:
        await client.initialize()
        client.send("do/write", "Content-Length: 3000000000\r\n\r\n" + "x" * 200_000)
        client.send("do/die", 3)

        raw = b""
        while data := await client.process.stdout.read(1 << 16):  # type: ignore[union-attr]
            raw += data
        status, _ = await client.end()

    assert raw.endswith(b"Content-Length: 3000000000\r\n\r\n" + b"x" * 200_000)
    assert status == 3


async def test_a_server_that_is_not_found_is_one_clear_line() -> None:
    """Status 127, nothing on stdout, and how to install it."""
    async with talk([*LSPZ, "--", "gopls"], PATH="/nonexistent") as client:
        out = await client.process.stdout.read()  # type: ignore[union-attr]
        status, stderr = await client.end()

    assert (status, out) == (127, b"")
    assert stderr == "lspz: gopls: command not found; install it with: go install golang.org/x/tools/gopls@latest\n"


async def test_the_server_is_started_before_anything_slow_is_imported() -> None:
    """At the spawn neither asyncio nor lsprotocol is loaded: their cost disappears behind the server's own start."""
    code = (
        "import subprocess, sys\n"
        "class Spy(subprocess.Popen):\n"
        "    def __init__(self, *a, **k):\n"
        "        print(sorted({'asyncio', 'lsprotocol', 'pygls', 'msgspec', 'attrs', 'logging'} & set(sys.modules)),"
        " file=sys.stderr)\n"
        "        super().__init__(*a, **k)\n"
        "subprocess.Popen = Spy\n"
        "from lspz.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    async with talk([sys.executable, "-c", code, "--", *SCRIPTED]) as client:
        await client.initialize()
        await client.ask("shutdown")
        client.send("exit")

        assert await client.end() == (0, "[]\n")
