"""What the ways for bytes to reach lspz have in common."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from . import TRANSPORTS

if TYPE_CHECKING:
    from .access import Access
    from .address import Address

__all__ = ["Channel", "Client", "Listener", "Reachable", "Receiver", "Transport", "reachable"]


class Receiver(Protocol):
    """What a channel calls. All calls come from the event loop's thread."""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of the stream; their number says nothing."""

    def eof_received(self) -> None:
        """Hear, once, that nothing more will come: the peer closed its side, or the connection failed."""

    def write_failed(self) -> None:
        """Hear that the peer no longer reads what is written."""

    def pause_writing(self) -> None:
        """Hear that much is waiting to be written: stop producing."""

    def resume_writing(self) -> None:
        """Hear that the waiting bytes are mostly gone: go on."""


class Channel(Protocol):
    """A stream of bytes in both directions."""

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`. Call it once."""

    def write(self, data: bytes) -> None:
        """Queue bytes; nothing is raised when the peer is gone."""

    def pause_reading(self) -> None:
        """Deliver nothing until `resume_reading`."""

    def resume_reading(self) -> None:
        """Deliver again."""

    def close_writing(self) -> None:
        """Write what is queued, then tell the peer that nothing more will come. Reading goes on where it can."""

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give up both directions."""


class Transport(Protocol):
    """Whole message bodies in both directions."""

    async def receive(self) -> bytes:
        """Return the next message body. Raises EOFError when the peer has closed."""

    async def send(self, body: bytes) -> None:
        """Send one message body; returns when there is room for the next."""


Client = Callable[[Channel], Coroutine[Any, Any, None]]
"""What is called with each client that connects; it runs as a task of its own, and returns when it is done with it."""


class Listener(Protocol):
    """An address at which clients are served."""

    @property
    def port(self) -> int:
        """The port, also where the system picked it."""

    async def close(self) -> None:
        """Accept nobody any more. Who is being served stays."""


class Reachable(Protocol):
    """A module of `TRANSPORTS`."""

    async def connect(self, address: Address, access: Access) -> Channel:
        """Connect to a server. Raises OSError when nobody listens, or somebody who speaks otherwise."""

    async def listen(self, address: Address, access: Access, client: Client) -> Listener:
        """Serve clients at an address; port 0 lets the system pick one. Raises OSError when it is taken."""


def reachable(scheme: str) -> Reachable:
    """The module for a scheme of `TRANSPORTS`."""
    return cast("Reachable", import_module(f".{TRANSPORTS[scheme]}", __package__))
