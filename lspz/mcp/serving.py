"""How the MCP server is reached: standard input and output, or HTTP with a token and none but its own origins."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import signal
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from ..errors import ConfigError
from .server import Context, create_server
from .workspaces import Desk, Workspaces

SESSIONS = 1000
"""Clients over HTTP whose workspace is remembered; the one that was heard of longest ago is forgotten."""

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]


async def serve_stdio(workspaces: Workspaces) -> int:
    """Serve one client, until it closes standard input or a signal comes; return the exit status."""
    desk = Desk()
    server = create_server(workspaces, lambda ctx: desk)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    caught: list[int] = []

    def end(number: int) -> None:
        caught.append(number)
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        ended.set()

    serving = asyncio.create_task(serve())
    await asyncio.wait([serving, asyncio.create_task(ended.wait())], return_when=asyncio.FIRST_COMPLETED)
    await workspaces.stop()
    if not caught:
        await serving
    return 128 + caught[0] if caught else 0


async def serve_http(
    workspaces: Workspaces, host: str, port: int, token: str | None, started: Callable[[str], None]
) -> int:
    """Serve any number of clients; `started` is called with the URL. Raises ConfigError, OSError."""
    import uvicorn

    if not _is_loopback(host) and not token:
        raise ConfigError(f"{host} can be reached by others: set LSPZ_TOKEN, and give it to the client as bearer token")
    desks = _Desks()
    server = create_server(workspaces, desks.of)
    # Host and Origin are checked by _Guard, for every address alike
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = _Guard(server.streamable_http_app(host=host, transport_security=security), token, _is_loopback(host))
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    with _listening(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        started(f"http://{shown}:{listening.getsockname()[1]}/mcp")
        try:
            await uvicorn.Server(config).serve(sockets=[listening])
        finally:
            await workspaces.stop()
    return 0


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise OSError(f"cannot listen on {host}:{port}: {error.strerror}") from None


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class _Desks:
    """The desks of clients with a session."""

    def __init__(self) -> None:
        self._by_session: OrderedDict[str, Desk] = OrderedDict()

    def of(self, ctx: Context) -> Desk:
        """That of a call's client; a new one where the client has no session."""
        session = ctx.request.headers.get("mcp-session-id") if ctx.request is not None else None
        if session is None:
            return Desk(is_kept=False)
        desk = self._by_session.setdefault(session, Desk())
        self._by_session.move_to_end(session)
        if len(self._by_session) > SESSIONS:
            self._by_session.popitem(last=False)
        return desk


class _Guard:
    """Lets through who has the token, and no page of another site (DNS rebinding)."""

    def __init__(self, app: App, token: str | None, is_loopback: bool) -> None:
        self._app = app
        self._token = token.encode() if token else None
        self._is_loopback = is_loopback

    async def __call__(self, scope: Scope, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        refused = self._refused(scope) if scope["type"] == "http" else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, text = refused
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text.encode()})

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        host, origin = headers.get(b"host", b"").decode("latin-1"), headers.get(b"origin")
        if self._is_loopback and not _is_loopback(urlsplit(f"//{host}").hostname or ""):
            return 421, "this server is for clients on this machine"
        if origin is not None and urlsplit(origin.decode("latin-1")).netloc != host:
            return 403, "pages of other sites may not ask"
        if self._token is not None:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self._token):
                return 401, "the bearer token is missing or wrong"
        return None
