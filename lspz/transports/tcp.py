"""TCP: one connection, served or opened."""

from __future__ import annotations

import asyncio
import socket

from . import Receiver
from .streams import Both, StreamChannel


class SocketChannel(StreamChannel):
    """A `Channel` over a connected stream socket, which it owns."""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__()
        self._socket = connected

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        if self._socket.family in (socket.AF_INET, socket.AF_INET6):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: Both(receiver, self._ended, self._flushed), sock=self._socket
        )
        self._opened(transport, transport)


async def connect(host: str, port: int) -> SocketChannel:
    """Connect to a server. Raises OSError when nobody listens."""
    connected = await asyncio.to_thread(socket.create_connection, (host, port))
    connected.setblocking(False)
    return SocketChannel(connected)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on `host`; port 0 lets the system pick one. Raises OSError when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family)
    listening.setblocking(False)
    return listening


async def accept(listening: socket.socket) -> SocketChannel:
    """Wait for the next client of a listening socket."""
    connected, _ = await asyncio.get_running_loop().sock_accept(listening)
    return SocketChannel(connected)
