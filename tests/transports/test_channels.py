"""One conformance test over every way for bytes to reach lspz: pipes, sockets, messages in memory, WebSocket."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from lspz.transports import SECURE, TRANSPORTS
from lspz.transports.access import Access
from lspz.transports.address import Address
from lspz.transports.base import Channel, reachable
from lspz.transports.memory import memory_pair
from lspz.transports.messages import MessageChannel
from lspz.transports.stdio import PipeChannel, pipe_channel
from lspz.transports.threads import ThreadChannel
from lspz.transports.waiting import happens
from lspz.wire.framing import frame

from ..certificates import certificates

LIMIT = 10.0


class Inbox:
    """A receiver that remembers."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ended = asyncio.Event()
        self.failed = asyncio.Event()
        self.paused = asyncio.Event()
        self.resumed = asyncio.Event()
        self._more = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.data += data
        self._more.set()

    def eof_received(self) -> None:
        assert not self.ended.is_set(), "the end is said once"
        self.ended.set()

    def write_failed(self) -> None:
        self.failed.set()

    def pause_writing(self) -> None:
        self.paused.set()

    def resume_writing(self) -> None:
        self.resumed.set()

    async def holds(self, data: bytes) -> None:
        """Wait until exactly `data` has arrived."""
        async with asyncio.timeout(LIMIT):
            while len(self.data) < len(data):
                self._more.clear()
                await self._more.wait()
        assert bytes(self.data) == data


Pair = tuple[Channel, Channel]


def _files() -> tuple[tuple[BinaryIO, BinaryIO], tuple[BinaryIO, BinaryIO]]:
    (a, b), (c, d) = os.pipe(), os.pipe()
    return (os.fdopen(a, "rb", 0), os.fdopen(d, "wb", 0)), (os.fdopen(c, "rb", 0), os.fdopen(b, "wb", 0))


async def pipes() -> Pair:
    one, two = _files()
    return PipeChannel(*one), PipeChannel(*two)


async def threads() -> Pair:
    one, two = _files()
    return ThreadChannel(*one), ThreadChannel(*two)


async def memory() -> Pair:
    one, two = memory_pair()
    return MessageChannel(one), MessageChannel(two)


def reached(scheme: str) -> Callable[[], Awaitable[Pair]]:
    """A client and a server that meet at an address, with a token."""

    async def pair() -> Pair:
        served: asyncio.Future[Channel] = asyncio.get_running_loop().create_future()

        async def client(channel: Channel) -> None:
            served.set_result(channel)
            await asyncio.Event().wait()

        authority, certificate, key = certificates() if scheme in SECURE else (None, None, None)
        access = Access("s3cret", certificate, key, authority)
        address = Address(scheme, "localhost", 0)
        listener = await reachable(scheme).listen(address, access, client)
        connected = await reachable(scheme).connect(address._replace(port=listener.port), access)
        accepted = await served
        await listener.close()
        return accepted, connected

    return pair


PAIRS: dict[str, Callable[[], Awaitable[Pair]]] = {
    "pipes": pipes,
    "threads": threads,
    "memory": memory,
    **{scheme: reached(scheme) for scheme in TRANSPORTS},
}


@asynccontextmanager
async def opened(kind: str) -> AsyncIterator[tuple[Channel, Inbox, Channel, Inbox]]:
    one, two = await PAIRS[kind]()
    inbox_one, inbox_two = Inbox(), Inbox()
    await one.open(inbox_one)
    await two.open(inbox_two)
    try:
        yield one, inbox_one, two, inbox_two
    finally:
        await one.close(0.0)
        await two.close(0.0)


@pytest.mark.parametrize("kind", PAIRS)
async def test_bytes_arrive_in_both_directions_and_in_order(kind: str) -> None:
    """Frames written whole, glued or in pieces, small and large."""
    async with opened(kind) as (one, inbox_one, two, inbox_two):
        stream = frame(b'{"a":1}') + frame(b"x" * 1_000_000) + frame("\u00e4\u20ac".encode())
        for at in range(0, len(stream), 77_777):
            one.write(stream[at : at + 77_777])
        two.write(frame(b"{}") * 3)

        await inbox_two.holds(stream)
        await inbox_one.holds(frame(b"{}") * 3)


@pytest.mark.parametrize("kind", PAIRS)
async def test_a_slow_reader_pauses_the_writer(kind: str) -> None:
    """The writer is told when much is waiting, and told again when it is gone; nothing is lost."""
    async with opened(kind) as (one, inbox_one, two, inbox_two):
        two.pause_reading()
        piece = frame(os.urandom(10_000).hex().encode())
        written = 0
        while not inbox_one.paused.is_set():
            one.write(piece)
            written += 1
            await asyncio.sleep(0)
            assert written < 2_000
        two.resume_reading()

        assert await happens(inbox_one.resumed, LIMIT)
        await inbox_two.holds(piece * written)


@pytest.mark.parametrize("kind", PAIRS)
async def test_what_was_written_before_the_end_arrives_before_it(kind: str) -> None:
    """`close_writing` flushes, then ends the stream."""
    async with opened(kind) as (one, _, _, inbox_two):
        data = frame(b"x" * 300_000)
        one.write(data)
        one.close_writing()

        await inbox_two.holds(data)
        assert await happens(inbox_two.ended, LIMIT)


@pytest.mark.parametrize("kind", [kind for kind in PAIRS if kind != "memory"])
async def test_writing_to_a_peer_that_is_gone_raises_nothing(kind: str) -> None:
    """The end, or the failure, is heard through the receiver."""
    async with opened(kind) as (one, inbox_one, two, _):
        await two.close(0.0)
        assert await happens(inbox_one.ended, LIMIT)
        for _ in range(10):
            one.write(frame(b"x" * 100_000))
            await asyncio.sleep(0)


async def test_regular_files_and_the_null_device_work_as_pipes_do(tmp_path: Path) -> None:
    """`lspz < requests > answers`: what an event loop cannot wait for is read and written by a thread."""
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"x" * 500_000)
    channel = pipe_channel(source.open("rb", 0), target.open("wb", 0))
    inbox = Inbox()
    await channel.open(inbox)
    await inbox.holds(b"x" * 500_000)
    assert await happens(inbox.ended, LIMIT)
    channel.write(b"y" * 500_000)
    await channel.close(LIMIT)
    assert target.read_bytes() == b"y" * 500_000

    null = pipe_channel(open(os.devnull, "rb", 0), open(os.devnull, "wb", 0))  # noqa: SIM115
    inbox = Inbox()
    await null.open(inbox)
    assert await happens(inbox.ended, LIMIT)
    await null.close(LIMIT)
