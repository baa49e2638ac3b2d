"""WebSocket, plain or with TLS: one message a frame, as text (extra `ws`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import ConfigError
from .access import Access
from .address import Address, is_loopback
from .base import Channel, Client
from .messages import MessageChannel

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import Server, ServerConnection
    from websockets.http11 import Request, Response

PING_EVERY = 20.0
"""Seconds between pings, which keep what lies between awake. A peer that is too busy to answer is not given up."""

CLOSE_LIMIT = 2.0
"""Seconds a peer has to answer that the connection is closed."""


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


def _library() -> None:
    """Raises ConfigError where the library is missing."""
    try:
        import websockets  # noqa: F401
    except ImportError:
        raise ConfigError("WebSocket needs a library that is not installed: pip install 'lspz[ws]'") from None


async def connect(address: Address, access: Access) -> Channel:
    """Connect to a server. Raises OSError when nobody listens or the answer is no WebSocket's, ConfigError."""
    _library()
    from websockets.asyncio.client import connect as open_connection
    from websockets.exceptions import WebSocketException

    headers = {"Authorization": f"Bearer {access.token}"} if access.token else None
    options: dict[str, Any] = {"ssl": context} if (context := access.client_context(address)) else {}
    try:
        connection = await open_connection(
            str(address),
            additional_headers=headers,
            max_size=None,
            compression=None,
            ping_interval=PING_EVERY,
            ping_timeout=None,
            close_timeout=CLOSE_LIMIT,
            proxy=None,
            **options,
        )
    except WebSocketException as error:
        raise OSError(f"it does not answer as a WebSocket ({error})") from error
    return MessageChannel(WebSocketTransport(connection))


async def listen(address: Address, access: Access, client: Client) -> WebSocketListener:
    """Serve clients at an address. Raises OSError when it is taken, ConfigError."""
    _library()
    from websockets.asyncio.server import serve

    async def connected(connection: ServerConnection) -> None:
        await client(MessageChannel(WebSocketTransport(connection)))

    def check(connection: ServerConnection, request: Request) -> Response | None:
        if _may_connect(request, access):
            return None
        connection.transport.abort()  # and no word
        return connection.respond(401, "")

    server = await serve(
        connected,
        address.host,
        address.port,
        ssl=access.server_context(address),
        process_request=check,
        select_subprotocol=_first,
        max_size=None,
        compression=None,
        ping_interval=PING_EVERY,
        ping_timeout=None,
        close_timeout=CLOSE_LIMIT,
        server_header=None,
    )
    return WebSocketListener(server)


def _may_connect(request: Request, access: Access) -> bool:
    """Whether a client has the token or, where none is asked for, is no page of another site."""
    if access.token is not None:
        return access.admits(request.headers.get("Authorization", "").encode())
    origin = request.headers.get("Origin")
    return origin is None or is_loopback(urlsplit(origin).hostname or "")


def _first(connection: ServerConnection, offered: Sequence[Any]) -> Any:
    """A client that names sub-protocols gives up when none is taken; what is spoken is the same in all of them."""
    return offered[0] if offered else None


class WebSocketListener:
    """A `Listener` for WebSocket."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def port(self) -> int:
        """The port, also where the system picked it."""
        return int(next(iter(self._server.sockets)).getsockname()[1])

    async def close(self) -> None:
        """Accept nobody any more."""
        self._server.close(close_connections=False)
