"""Ways for bytes to reach lspz and leave it. One file each; none of them knows JSON.

A relay connects two `Channel`s, byte streams in the callback style of asyncio's transports, which is what makes it
fast. A `Transport` carries whole message bodies (`receive`, `send`): the in-memory pair, a WebSocket, whatever a
library user brings; `messages.MessageChannel` turns one into a `Channel`.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["Channel", "Receiver", "Transport"]


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
        """Write what is queued, then tell the peer that nothing more will come. Reading goes on."""

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give up both directions."""


class Transport(Protocol):
    """Whole message bodies in both directions."""

    async def receive(self) -> bytes:
        """Return the next message body. Raises EOFError when the peer has closed."""

    async def send(self, body: bytes) -> None:
        """Send one message body; returns when there is room for the next."""
