"""Two transports in one process, joined back to back: a library user's client and lspz, or two ends of a test."""

from __future__ import annotations

import asyncio

CAPACITY = 256
"""Messages one side may be ahead of the other before its `send` waits."""


class MemoryTransport:
    """One end of a pair made by `memory_pair`."""

    def __init__(self, incoming: asyncio.Queue[bytes | None], outgoing: asyncio.Queue[bytes | None]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._ended = False

    async def receive(self) -> bytes:
        """Return the next message body. Raises EOFError when the peer has closed."""
        body = None if self._ended else await self._incoming.get()
        if body is None:
            self._ended = True
            raise EOFError("the peer has closed")
        return body

    async def send(self, body: bytes) -> None:
        """Send one message body; waits while the peer is `CAPACITY` messages behind."""
        await self._outgoing.put(body)

    async def close(self) -> None:
        """Tell the peer that nothing more will come."""
        if self._outgoing.full():  # the peer no longer reads: what waits for it is lost with it
            self._outgoing.get_nowait()
        self._outgoing.put_nowait(None)


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Two ends: what one sends the other receives."""
    here: asyncio.Queue[bytes | None] = asyncio.Queue(CAPACITY)
    there: asyncio.Queue[bytes | None] = asyncio.Queue(CAPACITY)
    return MemoryTransport(here, there), MemoryTransport(there, here)
