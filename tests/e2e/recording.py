"""A pytest-lsp client that keeps every message as the JSON that came, and waits without sleeping."""

from __future__ import annotations

import asyncio
import copy
import os
import select
import signal
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol

from lspz.converters import client_converter_factory

LIMIT = 40.0
"""Seconds that anything may take."""

T = TypeVar("T")
Json = dict[str, Any]


class RecordingProtocol(LanguageClientProtocol):
    """Hands every message, before it is typed, to the client."""

    def structure_message(self, data: Json) -> Any:
        """Called for every object inside a message, too."""
        if data.get("jsonrpc") == "2.0":
            self._server.record(copy.deepcopy(data))
        return super().structure_message(data)

    async def send_request_async(self, method: str, params: Any = None, msg_id: Any = None) -> Any:
        """Without pytest-lsp's checks of the result, which may be one of lspz's models."""
        return await super(LanguageClientProtocol, self).send_request_async(method, params, msg_id)

    def handle_message(self, message: Any) -> None:
        """Wake whoever waits, after the client has seen the message."""
        super().handle_message(message)
        self._server.arrived.set()


class RecordingClient(LanguageClient):
    """Knows the raw and the typed form of what the server said."""

    def __init__(self, settings: Json) -> None:
        super().__init__(
            configuration={"": settings},
            protocol_cls=RecordingProtocol,
            converter_factory=client_converter_factory,
        )
        register_lsp_features(self, {**DEFAULT_CLIENT_FEATURES, **_features()})
        self.arrived = asyncio.Event()
        self.published: dict[str, Json] = {}
        """The last params published for each document."""
        self.typed: dict[str, Any] = {}
        """The same, as the converter read them."""
        self.registered: set[str] = set()
        """Methods that the server registered at run time."""
        self.quiescent = False
        """Whether rust-analyzer says that it has loaded everything."""
        self._answers: dict[str, Json] = {}

    def record(self, message: Json) -> None:
        """Keep a message (JSON)."""
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._answers[message["id"]] = message
        elif method == types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS:
            self.published[params["uri"]] = params

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        """Nobody waits for what a server that is gone would have said."""
        await super().server_exit(server)
        self.arrived.set()

    async def until(self, what: str, holds: Callable[[], T]) -> T:
        """Wait for messages until something holds; return it."""
        try:
            async with asyncio.timeout(LIMIT):
                while not (found := holds()):
                    assert self._server is not None
                    assert self._server.returncode is None, f"the server ended before {what}"
                    self.arrived.clear()
                    await self.arrived.wait()
                return found
        except TimeoutError:
            raise AssertionError(f"no {what} within {LIMIT:g} s") from None

    async def ask(self, method: str, params: Any) -> tuple[Any, Any]:
        """Ask the server; return its answer (JSON) without the envelope, and the same as the converter read it."""
        id = str(uuid.uuid4())
        typed = None
        async with asyncio.timeout(LIMIT):
            try:
                typed = await self.protocol.send_request_async(method, params, id)
            except Exception:
                if "error" not in self._answers.get(id, {}):
                    raise
        answer = self._answers.pop(id)
        return answer.get("result", answer.get("error")), typed

    async def leave(self) -> tuple[int | None, set[int]]:
        """Shut the server down; return its exit status and the processes that it left behind (they are ended)."""
        assert self._server is not None
        started = watch({self._server.pid, *descendants(self._server.pid)})
        try:
            async with asyncio.timeout(LIMIT):
                await self.shutdown_session()
                await self.stop()
            left = {pid for pid, fd in started.items() if not await ends(fd, 2.0)}
            return self._server.returncode, left
        finally:
            for fd in started.values():
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
                os.close(fd)


def _features() -> dict[str, Any]:
    """Handlers beside pytest-lsp's own; new ones for each client, since pygls marks them."""

    def published(client: RecordingClient, params: Any) -> None:
        client.typed[params.uri] = params

    def status(client: RecordingClient, params: Any) -> None:
        client.quiescent = params.quiescent

    def register(client: RecordingClient, params: Any) -> None:
        client.registered.update(registration.method for registration in params.registrations)

    return {
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: published,
        types.CLIENT_REGISTER_CAPABILITY: register,
        "experimental/serverStatus": status,
    }


def descendants(pid: int) -> set[int]:
    """The children of a process, and theirs."""
    children: dict[int, set[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, set()).add(int(stat.parent.name))
    found: set[int] = set()
    new = children.get(pid, set())
    while new:
        found |= new
        new = set().union(*(children.get(child, set()) for child in new))
    return found


def watch(pids: set[int]) -> dict[int, int]:
    """A descriptor for each process that still runs: it stays with that process when the number is used again."""
    fds = {}
    for pid in pids:
        with suppress(ProcessLookupError):
            fds[pid] = os.pidfd_open(pid)
    return fds


async def ends(fd: int, limit: float) -> bool:
    """Whether the process behind a descriptor ends within `limit` seconds."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(fd, over.set)
    try:
        async with asyncio.timeout(limit):
            await over.wait()
        return True
    except TimeoutError:
        return bool(select.select([fd], [], [], 0)[0])
    finally:
        loop.remove_reader(fd)
