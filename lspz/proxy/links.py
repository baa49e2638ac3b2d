"""What a session needs of a server, however it is reached: a channel, and to see it end."""

from __future__ import annotations

import asyncio
from typing import Protocol

from ..transports.base import Channel
from ..transports.waiting import first_of, happens

EXIT_GRACE = 5.0
"""Seconds a server has to end by itself once it was told to, or once its input is closed."""

DRAIN = 1.0
"""Seconds that the output of a server that has exited is still read; a child of its may hold it open for ever."""


class Link(Protocol):
    """A server that is reached: a process of lspz's own, a connection, several servers that stand as one."""

    @property
    def channel(self) -> Channel:
        """What it reads and writes."""

    @property
    def ended(self) -> asyncio.Event:
        """Set when the server has closed its output; who reads the channel sets it."""

    @property
    def exited(self) -> asyncio.Event:
        """Set when the server is gone."""

    @property
    def exit_code(self) -> int | None:
        """Its exit status as a shell would give it, once it has exited; None where it has none."""

    async def watch(self) -> None:
        """Begin to wait for its end. Call it once, before the channel is opened."""

    def describe_end(self) -> str:
        """How it ended, in words."""

    async def end(self, grace: float) -> bool:
        """Wait `grace` seconds for it to end, then end it; return whether it ended by itself."""

    def kill(self) -> None:
        """End it now, where it is lspz's own."""


class Connected:
    """A `Link` to a server that somebody else started."""

    exit_code = None

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.ended = asyncio.Event()

    @property
    def exited(self) -> asyncio.Event:
        """Set when it has closed the connection, which is all that can be seen of it."""
        return self.ended

    async def watch(self) -> None:
        """There is nothing to wait for but the end of the connection."""

    def describe_end(self) -> str:
        """How it ended, in words."""
        return "the connection to the language server was closed"

    async def end(self, grace: float) -> bool:
        """Wait `grace` seconds for it to close the connection; return whether it did."""
        return await happens(self.ended, grace)

    def kill(self) -> None:
        """It is not lspz's own."""


async def gone(link: Link) -> None:
    """Wait until a server has ended, or closed its output, and what it said last has been read."""
    await first_of(link.ended, link.exited)
    await happens(link.ended, DRAIN)
    await happens(link.exited, DRAIN)
