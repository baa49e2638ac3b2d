"""The façade: a pygls `LanguageServer` that a client takes for the real one."""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from .._version import __version__
from ..config import Config
from ..errors import BackendError
from ..metrics import Metrics, MetricsSnapshot
from ..transports import Channel
from ..transports.messages import MessageChannel
from ..transports.stdio import PipeChannel, StdioChannel
from ..transports.waiting import happens
from .backend import EXIT_GRACE, LspzBackend
from .features import Features
from .protocol import FacadeProtocol, shared_converter
from .relay import Relay
from .routing import Conversation
from .savings import Savings
from .session import State

log = logging.getLogger("lspz")

FLUSH = 5.0
"""Seconds that a client has, at the end, to take what is still waiting for it."""

DRAIN = 1.0
"""Seconds that the output of a server that has exited is still read; a child of its may hold it open for ever."""


class LspzServer(LanguageServer):
    """A `LanguageServer` whose answers come from a real one, compressed for the client.

    Register features and commands on it as on any pygls server: a request goes to your handler instead of the backend,
    a notification to both, `server.workspace` is in sync, and `server.backend` is a client of the real server. ::

        server = LspzServer(Config.builder().backend("ruff server").build())

        @server.feature("textDocument/hover")
        def hover(ls: LspzServer, params: HoverParams) -> Hover: ...

        server.start_io()
    """

    protocol: FacadeProtocol

    def __init__(self, config: Config | None = None, backend: LspzBackend | None = None) -> None:
        super().__init__(
            "lspz",
            __version__,
            types.TextDocumentSyncKind.Incremental,
            protocol_cls=FacadeProtocol,
            converter_factory=shared_converter,
        )
        self.config = config or Config()
        self.backend = backend or LspzBackend()
        self.exit_code = 0
        """After `start_…`: the exit status that the process should have."""
        self._metrics = Metrics()
        self._stop: Callable[[int], None] | None = None
        self._attached: subprocess.Popen[bytes] | None = None

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        """Use a server process that is started already, as the `lspz` command does."""
        self._attached = process

    @property
    def metrics(self) -> MetricsSnapshot:
        """What was rewritten so far."""
        return self._metrics.snapshot()

    # pygls' ways to start: each wraps `serve`

    def _start_io_async(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        async def main() -> int:
            own = stdin is None and stdout is None
            return await self.serve(
                StdioChannel() if own else PipeChannel(stdin or sys.stdin.buffer, stdout or sys.stdout.buffer)
            )

        self._run(main())

    def start_tcp(self, host: str, port: int) -> None:
        """Serve the first client that connects."""
        from ..transports import tcp

        async def main() -> int:
            with tcp.listen(host, port) as listening:
                log.warning("listening on %s:%d", *listening.getsockname()[:2])
                channel = await tcp.accept(listening)
            return await self.serve(channel)

        self._run(main())

    def start_ws(self, host: str, port: int) -> None:
        """Serve the first client that connects over WebSocket (extra `ws`)."""
        from websockets.asyncio.server import ServerConnection, serve

        from ..transports.websocket import WebSocketTransport

        async def main() -> int:
            code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

            async def client(connection: ServerConnection) -> None:
                if self._stop is None and not code.done():
                    code.set_result(await self.serve(MessageChannel(WebSocketTransport(connection))))

            async with serve(client, host, port, max_size=None) as listening:
                log.warning("listening on %s:%d", *next(iter(listening.sockets)).getsockname()[:2])
                return await code

        self._run(main())

    def _run(self, main: Coroutine[Any, Any, int]) -> None:
        async def run() -> int:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
                with suppress(NotImplementedError, ValueError, RuntimeError):  # Windows, or not the main thread
                    loop.add_signal_handler(number, self._on_signal, number, asyncio.current_task())
            return await main

        try:
            self.exit_code = asyncio.run(run())
        except asyncio.CancelledError:
            pass  # a signal before a client came: exit_code is set
        except KeyboardInterrupt:
            self.exit_code = 128 + signal.SIGINT

    def _on_signal(self, number: int, task: asyncio.Task[int] | None) -> None:
        log.info("got %s", signal.Signals(number).name)
        if self._stop is not None:
            self._stop(128 + number)
        elif task is not None:
            self.exit_code = 128 + number
            task.cancel()

    def shutdown(self) -> None:
        """End the session that is being served, as a signal would."""
        if self._stop is not None:
            self._stop(0)

    # one session

    async def serve(self, channel: Channel) -> int:
        """Serve one client until the session ends; return the exit status it should have.

        Starts the configured backend unless one is started already, and ends it before returning: nothing outlives the
        session. Raises BackendNotFound, and BackendError when there is none.
        """
        if self._attached is not None:
            self.backend.attach(self._attached)
            self._attached = None
        elif not self.backend.is_started:
            if not self.config.backend:
                raise BackendError("no server: name one with Config.builder().backend(...), or start server.backend")
            await self.backend.start_io(*self.config.backend)
        serving = Serving(self, channel)
        self._stop = serving.stop
        try:
            return await serving.run()
        finally:
            self._stop = None


class Serving:
    """One session from its start to its end."""

    def __init__(self, server: LspzServer, channel: Channel) -> None:
        self._server = server
        self._backend = server.backend
        self._channel = channel
        self._client_ended = asyncio.Event()
        self._server_ended = asyncio.Event()
        self._exit = asyncio.Event()
        self._stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._savings = Savings() if log.isEnabledFor(logging.INFO) else None
        self._conversation = Conversation(
            server.config,
            Features(server),
            server.protocol,
            server.backend.protocol,
            server._metrics,
            self._savings,
            self._exit.set,
        )
        self._relay = Relay(
            channel,
            server.backend.channel,
            self._conversation.from_client,
            self._conversation.from_server,
            self._client_is_gone,
            self._server_ended.set,
        )

    def _client_is_gone(self) -> None:
        """What the client said last goes to the server, and then the end of its input, as without lspz."""
        self._client_ended.set()
        self._backend.channel.close_writing()

    def stop(self, code: int) -> None:
        """End the session now, with this exit status."""
        if not self._stopped.done():
            self._stopped.set_result(code)

    async def run(self) -> int:
        """Relay until either side ends; then see to it that the other side does."""
        relay, process = self._relay, self._backend.process
        self._server.protocol.connect(relay.to_client.send)
        self._backend.protocol.connect(relay.to_server.send)
        try:
            if process is not None:
                await process.watch()
            await relay.start()
            exited = process.exited if process is not None else self._server_ended
            await self._first_of(self._client_ended, self._exit, self._server_ended, exited)
            return await self._end()
        finally:
            await self._release()

    async def _first_of(self, *events: asyncio.Event) -> None:
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(event.wait()) for event in events]
        await asyncio.wait([*waits, self._stopped], return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _end(self) -> int:
        """Both sides end; which did first decides how."""
        session, process = self._conversation.session, self._backend.process
        if self._stopped.done():
            await self._backend.end(self._server_ended, 0)
            return self._stopped.result()
        if not self._client_ended.is_set() and not self._exit.is_set():
            await self._drain()
            if self._client_ended.is_set() or self._exit.is_set():
                pass  # both at once: no crash
            elif session.state is not State.SHUTTING_DOWN or any(session.open_requests()):
                return await self._crash()
        ending: asyncio.Future[Any] = asyncio.ensure_future(self._backend.end(self._server_ended, EXIT_GRACE))
        await asyncio.wait([ending, self._stopped], return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():  # a signal while waiting: no more patience
            ending.cancel()
            with suppress(asyncio.CancelledError):
                await ending
            await self._backend.end(self._server_ended, 0)
            return self._stopped.result()
        if process is not None and ending.result():
            await self._drain()
            return process.exit_code
        return 0 if session.shutdown_seen else 1

    async def _drain(self) -> None:
        """Let what a server said last reach the client, and see how it ended."""
        process = self._backend.process
        await happens(self._server_ended, DRAIN)
        if process is not None:
            await happens(process.exited, DRAIN)

    async def _crash(self) -> int:
        """The server is gone while it was needed: say so to everybody who waits, in LSP."""
        process = self._backend.process
        reason = process.describe_end() if process is not None else "the connection to the language server was closed"
        log.error("%s", reason)
        self._relay.server_lane.pad()
        for body in self._conversation.session.backend_died(reason):
            self._relay.to_client.send(body)
        self._backend.protocol.disconnect(reason)
        code = process.exit_code if process is not None and process.exited.is_set() else 0
        await self._backend.end(self._server_ended, 0)
        return code or 1

    async def _release(self) -> None:
        """Nothing outlives the session."""
        await self._backend.end(self._server_ended, 0)
        self._server.protocol.disconnect("the session has ended")
        self._backend.protocol.disconnect("the session has ended")
        await self._channel.close(0.0 if self._client_ended.is_set() and self._stopped.done() else FLUSH)
        await self._backend.channel.close(0.0)
        if self._savings is not None:
            log.info("%s", await asyncio.to_thread(self._savings.summary))
