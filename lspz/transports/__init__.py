"""Ways for bytes to reach lspz and leave it. One file each; none of them knows JSON.

A relay connects two `Channel`s (`base`), byte streams in the callback style of asyncio's transports, which is what
makes it fast. A `Transport` carries whole message bodies (`receive`, `send`): the in-memory pair, a WebSocket, whatever
a library user brings; `messages.MessageChannel` turns one into a `Channel`.

What can be reached by an address is in `TRANSPORTS`; each row's module has `connect` and `listen`. This module is read
before the server is started, and imports nothing.
"""

from __future__ import annotations

__all__ = ["SECURE", "TRANSPORTS"]

TRANSPORTS = {"tcp": "tcp", "tls": "tcp", "ws": "websocket", "wss": "websocket"}
"""Schemes of addresses, and the module of each."""

SECURE = frozenset(("tls", "wss"))
"""Those that are encrypted."""
