"""What serves a client in front of a server: the ways to start, signals, the exit status."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from ..errors import BackendError
from ..metrics import Metrics, MetricsSnapshot
from ..transports.stdio import PipeChannel, StdioChannel
from .parties import Parties
from .serving import Serving

if TYPE_CHECKING:
    from ..config import Config
    from ..transports import Channel
    from .connection import BackendConnection

log = logging.getLogger("lspz")


class SessionHost:
    """Serves one session at a time, with nobody in it but the client and the server."""

    backend: BackendConnection
    """The server that a session is served in front of."""

    def __init__(self, config: Config, backend: BackendConnection) -> None:
        self.config = config
        self.backend = backend
        self.exit_code = 0
        """After `start_…`: the exit status that the process should have."""
        self.counters = Metrics()
        self._stop: Callable[[int], None] | None = None

    @property
    def metrics(self) -> MetricsSnapshot:
        """What was rewritten so far."""
        return self.counters.snapshot()

    def _parties(self) -> Parties:
        """Who else takes part in a session that begins."""
        return Parties()

    # the ways to start: each wraps `serve`

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve the client on these files; by default the process's own stdin and stdout."""

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

        from ..transports.messages import MessageChannel
        from ..transports.websocket import WebSocketTransport

        async def main() -> int:
            code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

            async def client(connection: ServerConnection) -> None:
                if self._stop is not None or code.done():
                    return
                try:
                    code.set_result(await self.serve(MessageChannel(WebSocketTransport(connection))))
                except Exception as error:
                    code.set_exception(error)

            async with serve(client, host, port, max_size=None) as listening:
                log.warning("listening on %s:%d", *next(iter(listening.sockets)).getsockname()[:2])
                return await code

        self._run(main())

    def _run(self, main: Coroutine[Any, Any, int]) -> None:
        async def run() -> int:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
                if signal.getsignal(number) is signal.SIG_IGN:  # as under nohup
                    continue
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
        if not self.backend.is_started:
            if not self.config.backend:
                raise BackendError("no server: name one with Config.builder().backend(...), or start server.backend")
            await self.backend.start_io(*self.config.backend)
        serving = Serving(self.config, channel, self.backend, self._parties(), self.counters)
        self._stop = serving.stop
        try:
            return await serving.run()
        finally:
            self._stop = None
