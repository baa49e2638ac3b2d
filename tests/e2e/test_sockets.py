"""The facade served over TCP and WebSocket, and a backend reached the same way."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from lspz import Config, LspzBackend, LspzServer, memory_pair
from lspz.errors import BackendError
from lspz.transports.messages import MessageChannel
from lspz.wire.framing import frame

from .talk import SCRIPTED, Talk, talk

SERVE = """
import sys
from lspz import Config, LspzServer
server = LspzServer(Config.builder().backend(*sys.argv[2:]).format("folded").build())
getattr(server, sys.argv[1])("127.0.0.1", 0)
sys.exit(server.exit_code)
"""
LIMIT = 20.0


@asynccontextmanager
async def served(how: str) -> AsyncIterator[tuple[Talk, int]]:
    """A process that serves one client; its port."""
    async with talk([sys.executable, "-c", SERVE, how, *SCRIPTED]) as process:
        assert process.process.stderr is not None
        async with asyncio.timeout(LIMIT):
            line = (await process.process.stderr.readline()).decode()
        found = re.search(r"listening on 127.0.0.1:(\d+)", line)
        assert found, line
        yield process, int(found[1])


@pytest.mark.parametrize("how", ["start_tcp", "start_ws"])
async def test_a_facade_behind_a_socket_behind_a_facade(how: str) -> None:
    """A whole session through two of them, 5 MB in one message; both end with the client."""
    async with served(how) as (process, port):
        backend = LspzBackend()
        await getattr(backend, how)("127.0.0.1", port)
        ours, theirs = memory_pair()
        serving = asyncio.create_task(LspzServer(Config(), backend).serve(MessageChannel(theirs)))
        async with asyncio.timeout(LIMIT):
            for id_, method, params in ((1, "initialize", {"capabilities": {}}), (2, "echo", ["x" * 5_000_000])):
                message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
                await ours.send(json.dumps(message).encode())
                answer = json.loads(await ours.receive())
                assert answer["id"] == id_
                if method == "echo":
                    assert answer["result"] == params
                else:
                    assert answer["result"]["capabilities"]["experimental"]["lspz"]["format"] == "folded"
            await ours.send(b'{"jsonrpc":"2.0","id":3,"method":"shutdown"}')
            await ours.receive()
            await ours.send(b'{"jsonrpc":"2.0","method":"exit"}')
            assert await serving == 0
        assert (await process.end())[0] == 0


async def test_a_client_that_disconnects_ends_the_session() -> None:
    """The server behind a TCP facade goes with its client."""
    async with served("start_tcp") as (process, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(frame(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

        assert (await process.end())[0] == 1


async def test_a_signal_ends_a_facade_that_nobody_called() -> None:
    """Waiting for a client is no reason to stay."""
    async with served("start_tcp") as (process, _):
        process.process.send_signal(signal.SIGTERM)

        assert (await process.end())[0] == 128 + signal.SIGTERM


async def test_nobody_there_is_named() -> None:
    """A port where nothing listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    for how in ("start_tcp", "start_ws"):
        with pytest.raises(BackendError, match=f"no language server at .*127.0.0.1:{port}"):
            await getattr(LspzBackend(), how)("127.0.0.1", port)
