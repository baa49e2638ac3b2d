"""Addresses: `tcp://127.0.0.1:7000`, `ws://[::1]:7000/path`. Read before anything slow is imported."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

from . import SECURE, TRANSPORTS


class Address(namedtuple("Address", ("scheme", "host", "port", "path"), defaults=("/",))):
    """Where somebody listens: a scheme of `TRANSPORTS`, a name or an IP address (without brackets), a port, and the
    path of a WebSocket with its query."""

    __slots__ = ()
    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_secure(self) -> bool:
        """Whether it is encrypted."""
        return self.scheme in SECURE

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" + (self.path if self.path != "/" else "")


def is_address(command: Sequence[str]) -> bool:
    """Whether a command is none, but one word with a scheme of `TRANSPORTS`."""
    return len(command) == 1 and "://" in command[0] and command[0].partition("://")[0] in TRANSPORTS


def read_address(text: str) -> Address:
    """Read an address. Raises ValueError with what is allowed."""
    from urllib.parse import urlsplit  # only where there is one: it takes a while to load

    allowed = f"must be SCHEME://HOST:PORT, where the scheme is one of {', '.join(TRANSPORTS)}"
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        raise ValueError(allowed) from None
    extra = bool(parts.username or parts.password or parts.fragment)
    takes_path = TRANSPORTS.get(parts.scheme) == "websocket" or (parts.path in ("", "/") and not parts.query)
    if parts.scheme not in TRANSPORTS or not parts.hostname or port is None or extra or not takes_path:
        raise ValueError(allowed)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme, parts.hostname, port, path)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, seen from itself alone."""
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
