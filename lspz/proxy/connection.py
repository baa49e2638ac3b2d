"""The connection to the real server: a process of lspz's own, a socket, or whatever carries messages."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

from ..errors import BackendError
from ..transports import Channel, Transport
from ..transports.messages import MessageChannel
from ..transports.waiting import happens
from .process import BackendProcess
from .spawn import spawn

EXIT_GRACE = 5.0
"""Seconds a server has to end by itself once it was told to, or once its input is closed."""


class BackendConnection:
    """The connection to the real server: opened by one of the `start_…` methods, `attach` or `use`."""

    process: BackendProcess | None = None
    """The server's process, where it is lspz's own."""

    _channel: Channel | None = None

    @property
    def channel(self) -> Channel:
        """The connection. Raises BackendError before one of the `start_…` methods was called."""
        if self._channel is None:
            raise BackendError("the backend is not started; call start_io, start_tcp or start_ws first")
        return self._channel

    @property
    def is_started(self) -> bool:
        """Whether there is a connection to serve over."""
        return self._channel is not None

    async def start_io(self, cmd: str, *args: str, **kwargs: Any) -> None:
        """Start a server process; `kwargs` are `spawn`'s. Raises BackendNotFound."""
        self.attach(spawn([cmd, *args], **kwargs))

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        """Take over a server process that `spawn` started."""
        self.process = BackendProcess(process)
        self._channel = self.process.channel

    async def start_tcp(self, host: str, port: int) -> None:
        """Connect to a server over TCP. Raises BackendError when nobody listens."""
        from ..transports import tcp

        try:
            self._channel = await tcp.connect(host, port)
        except OSError as error:
            raise BackendError(f"no language server at {host}:{port}: {error}") from error

    async def start_ws(self, host: str, port: int) -> None:
        """Connect to a server over WebSocket (extra `ws`). Raises BackendError when nobody listens."""
        from websockets.asyncio.client import connect

        from ..transports.websocket import WebSocketTransport

        try:
            connection = await connect(f"ws://{host}:{port}", max_size=None)
        except OSError as error:
            raise BackendError(f"no language server at ws://{host}:{port}: {error}") from error
        self.use(WebSocketTransport(connection))

    def use(self, transport: Transport) -> None:
        """Talk to a server over a transport of your own."""
        self._channel = MessageChannel(transport)

    async def end(self, ended: asyncio.Event, grace: float) -> bool:
        """Wait `grace` seconds for the server to end, then end it; return whether it ended by itself.

        `ended` is set when the server has closed its output.
        """
        if self.process is not None:
            return await self.process.stop(grace)
        return await happens(ended, grace)
