"""WebSocket: one message a frame, as text (extra `ws`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import ServerConnection


class WebSocketTransport:
    """A `Transport` over an open connection of the `websockets` library."""

    def __init__(self, connection: ClientConnection | ServerConnection) -> None:
        self._connection = connection

    async def receive(self) -> bytes:
        """Return the next message body. Raises EOFError when the peer has closed."""
        from websockets.exceptions import ConnectionClosed

        try:
            message: bytes | str = await self._connection.recv(decode=False)
        except ConnectionClosed as closed:
            raise EOFError("the peer has closed") from closed
        return message.encode() if isinstance(message, str) else message

    async def send(self, body: bytes) -> None:
        """Send one message body as a text frame."""
        await self._connection.send(body, text=True)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()
