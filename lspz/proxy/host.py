"""What serves a client in front of a server: the ways to start, signals, the exit status."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from ..metrics import Metrics, MetricsSnapshot
from ..transports.access import Access
from ..transports.address import Address
from ..transports.base import reachable
from ..transports.stdio import pipe_channel, stdio_channel
from .opening import open_link
from .parties import Parties
from .serving import Serving
from .signals import run

if TYPE_CHECKING:
    from ..config import Config
    from ..transports.base import Channel
    from .connection import BackendConnection

log = logging.getLogger("lspz")


class SessionHost:
    """Serves one session at a time, with nobody in it but the client and the server."""

    backend: BackendConnection
    """The server that a session is served in front of."""

    def __init__(
        self, config: Config, backend: BackendConnection, started: Sequence[subprocess.Popen[bytes] | None] = ()
    ) -> None:
        self.config = config
        self.backend = backend
        self.exit_code = 0
        """After `start_…`: the exit status that the process should have."""
        self.counters = Metrics()
        self._started = started
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
                stdio_channel() if own else pipe_channel(stdin or sys.stdin.buffer, stdout or sys.stdout.buffer)
            )

        self._run(main())

    def start_tcp(self, host: str, port: int) -> None:
        """Serve the first client that connects. Raises OSError when the port is taken."""
        self._run(self._serve_first(Address("tcp", host, port)))

    def start_ws(self, host: str, port: int) -> None:
        """Serve the first client that connects over WebSocket (extra `ws`). Raises OSError when the port is taken."""
        self._run(self._serve_first(Address("ws", host, port)))

    async def _serve_first(self, address: Address) -> int:
        first: asyncio.Future[Channel] = asyncio.get_running_loop().create_future()
        over = asyncio.Event()

        async def client(channel: Channel) -> None:
            if first.done():
                await channel.close(0.0)
                return
            first.set_result(channel)
            await over.wait()

        listener = await reachable(address.scheme).listen(address, Access(), client)
        log.warning("listening on %s:%d", address.host, listener.port)
        try:
            channel = await first
            await listener.close()
            return await self.serve(channel)
        finally:
            over.set()

    def _run(self, main: Coroutine[Any, Any, int]) -> None:
        self.exit_code = run(main, self.stop)

    def shutdown(self) -> None:
        """End the session that is being served, as a signal would."""
        self.stop(0)

    def stop(self, code: int) -> bool:
        """End the session that is being served, with this exit status; return whether one is."""
        if self._stop is None:
            return False
        self._stop(code)
        return True

    # one session

    async def serve(self, channel: Channel) -> int:
        """Serve one client until the session ends; return the exit status it should have.

        Starts the configured backend unless one is started already, and ends it before returning: nothing outlives the
        session. Raises BackendNotFound, and BackendError when there is none.
        """
        if not self.backend.is_started:
            self.backend.take(await open_link(self.config, self._started))
        serving = Serving(self.config, channel, self.backend, self._parties(), self.counters)
        self._stop = serving.stop
        try:
            return await serving.run()
        finally:
            self._stop = None
