"""A channel whose messages lspz reads whole and may answer: between a relay and servers that stand as one, or that die.

Slower than the relay, which hands on what nobody needs to see unread; so it stands there only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from ..transports.base import Channel, Receiver
from ..wire.framing import FrameReader, frame


class Tap:
    """A `Receiver` for the channel of one server: its messages, whole, and its end."""

    def __init__(self, owner: Interposed, channel: Channel, said: Callable[[bytes], None]) -> None:
        self.channel = channel
        self._owner = owner
        self._said = said
        self._ended: Callable[[], None] = _nothing
        self._frames = FrameReader()
        self._is_full = False
        self._is_closed = False

    async def open(self, ended: Callable[[], None]) -> None:
        """Begin to receive; `ended` is called when nothing more will come."""
        self._ended = ended
        await self.channel.open(self)

    def send(self, body: bytes) -> None:
        """Send a message to the server."""
        if not self._is_closed:
            self.channel.write(frame(body))

    def close(self) -> None:
        """Hear nothing more of this server."""
        self._is_closed = True
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        """Take the next bytes."""
        buffer, spans = self._frames.feed(data)
        self._frames.noise.clear()
        for _, body, stop in spans:
            if not self._is_closed:
                self._said(buffer[body:stop])

    def eof_received(self) -> None:
        """Hear that nothing more will come."""
        self._ended()

    def write_failed(self) -> None:
        """A server that no longer reads may still have something to say; its end is what counts."""

    def pause_writing(self) -> None:
        """Hear that the server reads slowly."""
        if not self._is_full and not self._is_closed:
            self._is_full = True
            self._owner.hold()

    def resume_writing(self) -> None:
        """Hear that it has read most of it."""
        if self._is_full:
            self._is_full = False
            self._owner.release()


def _nothing() -> None: ...


class Interposed:
    """A `Channel` for a relay, with servers behind it. What the client says comes to `heard`; `say` answers it."""

    def __init__(self) -> None:
        self._receiver: Receiver | None = None
        self._frames = FrameReader()
        self._taps: list[Tap] = []
        self._is_paused = False
        self._over = False

    def heard(self, body: bytes) -> None:
        """Take a message of the client's."""
        raise NotImplementedError

    def say(self, body: bytes) -> None:
        """Send a message to the client."""
        if self._receiver is not None and not self._over:
            self._receiver.data_received(frame(body))

    def finish(self) -> None:
        """Nothing more will come."""
        if not self._over:
            self._over = True
            if self._receiver is not None:
                self._receiver.eof_received()

    def hold(self) -> None:
        """Have the client wait; as often as this is called, `release` must be."""
        if self._receiver is not None:
            self._receiver.pause_writing()

    def release(self) -> None:
        """Take one `hold` back."""
        if self._receiver is not None:
            self._receiver.resume_writing()

    def tap(self, channel: Channel, said: Callable[[bytes], None]) -> Tap:
        """A server's channel, whose messages come to `said`."""
        tap = Tap(self, channel, said)
        self._taps.append(tap)
        return tap

    async def begin(self, tap: Tap, ended: Callable[[], None]) -> None:
        """Open a server's channel."""
        await tap.open(ended)
        if self._is_paused:
            tap.channel.pause_reading()

    def forget(self, tap: Tap) -> None:
        """A server is gone."""
        tap.close()
        self._taps.remove(tap)

    # what the relay calls

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        self._receiver = receiver

    def write(self, data: bytes) -> None:
        """Take bytes, which may be any piece of a stream of frames."""
        buffer, spans = self._frames.feed(data)
        for _, body, stop in spans:
            self.heard(buffer[body:stop])

    def pause_reading(self) -> None:
        """Deliver nothing until `resume_reading`."""
        self._is_paused = True
        for tap in self._taps:
            tap.channel.pause_reading()

    def resume_reading(self) -> None:
        """Deliver again."""
        self._is_paused = False
        for tap in self._taps:
            tap.channel.resume_reading()

    def close_writing(self) -> None:
        """Tell the servers that nothing more will come."""
        for tap in self._taps:
            tap.channel.close_writing()

    async def close(self, timeout: float) -> None:
        """Give the servers' channels up."""
        self._over = True
        for tap in self._taps:
            await tap.channel.close(timeout)
