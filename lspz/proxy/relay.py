"""The one byte loop: what comes in on one channel goes out on the other, in the same order, as the same bytes.

A lane reads frames from its source, asks its route about the messages the route wants to see, and forwards everything
else without building it: whole runs of frames in one write, bodies over 64 KiB while they still arrive. A slow reader
stops the source, so memory does not grow.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Container
from typing import Protocol

from msgspec import Raw

from ..transports.base import Channel
from ..wire.framing import HEAD, MAX_HELD, PASSED, TAIL, FrameReader, Span, frame, header
from ..wire.messages import (
    SMALL,
    UNREADABLE,
    Envelope,
    Kind,
    Sniffed,
    decode_envelope,
    late_id,
    read_envelope,
    sniff,
)
from .beginnings import Beginnings

log = logging.getLogger("lspz.relay")

Decision = bytes | None | Awaitable[bytes | None]
"""The body to send (the very body that came in: its original bytes go out), None to send nothing, or either later."""


_SOME_ID = Raw(b"0")


class Route(Protocol):
    """What a lane asks about the messages of its direction."""

    needs_no_ledger: bool
    """Whether a request that is not watched may go on unheard of, like a notification."""

    @property
    def watched(self) -> Container[str]:
        """Methods of the notifications that `claims` must hear about; others are forwarded without a call."""

    def claims(self, envelope: Envelope) -> bool:
        """Whether `handle` must see the body of this message, and not only hear of it (`note`)."""

    def claims_unknown_response(self) -> bool:
        """Whether `claims` could be true of a response whose id is not known yet."""

    def note(self, envelope: Envelope) -> None:
        """Hear of a request or response whose body was passed on unseen."""

    def handle(self, envelope: Envelope, body: bytes) -> Decision:
        """Decide on a request, a response, or a watched notification."""


class Sink:
    """The output of one direction. `send` may be called at any time by anybody on the event loop's thread."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.write = channel.write
        self._waiting: list[bytes] = []
        self._passing = False

    def send(self, body: bytes) -> None:
        """Send a message of lspz's own; while a body is being passed on it waits for that body's end."""
        if self._passing:
            self._waiting.append(body)
        else:
            self.write(frame(body))

    def begin_passing(self) -> None:
        """A body is being passed on in pieces from now on."""
        self._passing = True

    def end_passing(self) -> None:
        """The body is complete."""
        self._passing = False
        for body in self._waiting:
            self.write(frame(body))
        self._waiting.clear()


class Lane:
    """One direction of a relay; a `Receiver` for its source channel."""

    def __init__(self, name: str, source: Channel, sink: Sink, route: Route, ended: Callable[[], None]) -> None:
        self._name = name
        self._source = source
        self._sink = sink
        self._route = route
        self._ended = ended
        self._frames = FrameReader()
        self._beginnings = Beginnings()
        self._holding = False  # the incomplete body is one to hold: do not ask again
        self._passed: Sniffed | None = None  # what is known of the body being passed on
        self._holds = 0  # reasons to read nothing
        self._waiting: asyncio.Task[None] | None = None  # a decision that takes time
        self._backlog: list[bytes] = []

    # what the source channel calls

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of this direction."""
        if self._waiting is not None:
            self._backlog.append(data)
            return
        frames = self._frames
        if frames.passes(data):
            self._sink.write(data)
            return
        if len(data) <= SMALL:
            if (lone := frames.lone(data)) is not None:
                self._take(lone, data)
                return
        elif frames.size <= SMALL and not frames.passing and self._beginnings.are_known(self._route.watched):
            data = frames.take() + data
            if skimmed := self._beginnings.skim(data):
                self._sink.write(data[:skimmed] if skimmed < len(data) else data)
                data = data[skimmed:]
                if not data:
                    return
        buffer, spans = frames.feed(data)
        if frames.noise:
            self._log_noise()
        self._forward(buffer, spans, 0)

    def _take(self, message: bytes, data: bytes) -> None:
        """Hand on a message that came alone, as most do; `data` is its frame."""
        envelope = read_envelope(message)
        decision: Decision = message
        if envelope is None:
            log.warning("%s sent a message of %d bytes that cannot be read; it goes on as it is", self._name, len(data))
        elif envelope.method is None or envelope.id or envelope.method in self._route.watched:
            decision = self._ask(envelope, message)
        if decision is message:
            self._sink.write(data)
        elif isinstance(decision, bytes):
            self._sink.write(frame(decision))
        elif decision is not None:
            self._wait(decision, message, data, [], 0)

    def _ask(self, envelope: Envelope, message: bytes) -> Decision:
        """Ask the route; whatever it raises, the original goes out."""
        try:
            return self._route.handle(envelope, message)
        except Exception as error:
            log.warning(
                "%s sent %s, which lspz cannot handle (%r); it goes on as it is",
                self._name,
                envelope.method or "an answer",
                error,
            )
            log.debug("the error in full", exc_info=error)
        return message

    def eof_received(self) -> None:
        """Hear that nothing more will come."""
        if self._waiting is not None:
            self._waiting.add_done_callback(lambda _: self.eof_received())
            return
        rest = self._frames.rest()
        if rest:
            log.warning("%s ended in the middle of a message; its %d bytes are left out", self._name, len(rest))
        self._ended()

    # the loop

    def _forward(self, buffer: bytes, spans: list[Span], index: int) -> None:
        """Hand on the spans from `index` on: untouched neighbours in one write."""
        route = self._route
        write, watched, learns = self._sink.write, route.watched, route.needs_no_ledger
        if spans:
            self._holding = False
        run = end = -1  # the bytes that wait to be written as they came
        for start, body, stop in spans[index:] if index else spans:
            index += 1
            if body >= 0:
                message = buffer[body:stop]
                envelope: Envelope | None
                try:  # read_envelope(), without the call
                    envelope = decode_envelope(message) if stop - body <= SMALL else self._read_long(message)
                except UNREADABLE:
                    envelope = read_envelope(message)
                if envelope is None:
                    log.warning(
                        "%s sent a message of %d bytes that cannot be read; it goes on as it is",
                        self._name,
                        len(message),
                    )
                elif envelope.method is not None and not envelope.id and envelope.method not in watched:
                    if learns:
                        self._beginnings.learn(watched, buffer, (start, body, stop))
                else:
                    decision = self._ask(envelope, message)
                    if decision is not message:
                        if run >= 0:
                            write(buffer[run:end])
                            run = -1
                        if isinstance(decision, bytes):
                            write(frame(decision))
                        elif decision is not None:
                            self._wait(decision, message, buffer, spans, index)
                            return
                        continue
                if start == body:
                    if run >= 0:
                        write(buffer[run:end])
                        run = -1
                    write(header(stop - body))
            elif body == PASSED:
                write(buffer[start:stop])
                self._end_passing()
                continue
            if run < 0:
                run = start
            elif start != end:
                write(buffer[run:end])
                run = start
            end = stop
        if run >= 0:
            write(buffer[run:end] if run or end < len(buffer) else buffer)
        if self._frames.held is not None and (head := self._frames.head) is not None:
            self._consider_passing(*head)

    def _read_long(self, message: bytes) -> Envelope | None:
        """The envelope of a body over `SMALL` bytes, from its head and its end where they tell."""
        sniffed = sniff(message[:HEAD])
        if sniffed is None:
            return read_envelope(message)
        if sniffed.late_id and (raw := late_id(message[-TAIL:])):
            sniffed.envelope.id = raw
        elif sniffed.late_id and sniffed.envelope.method is None:
            return read_envelope(message)
        return sniffed.envelope

    # bodies passed on while they arrive

    def _consider_passing(self, head: bytes, length: int) -> None:
        """Decide whether an incomplete long body is passed on from now on, as nobody needs to see it."""
        if self._holding:
            return
        sniffed = sniff(head[:HEAD])
        if sniffed is None and len(head) < HEAD:
            return
        if length > MAX_HELD:
            log.warning(
                "%s sends a message of %d bytes, too long to be compressed; it is passed on", self._name, length
            )
        elif sniffed is None or self._needs(sniffed):
            self._holding = True
            return
        self._passed = sniffed
        self._sink.begin_passing()
        self._sink.write(self._frames.release())
        if sniffed is not None and sniffed.certain and sniffed.envelope.kind is Kind.REQUEST:
            self._route.note(sniffed.envelope)

    def _needs(self, sniffed: Sniffed) -> bool:
        envelope = sniffed.envelope
        if envelope.method is None and sniffed.late_id:
            return self._route.claims_unknown_response()
        if sniffed.late_id and self._route.claims(Envelope(_SOME_ID, envelope.method)):
            return True  # a notification by its head, but it may be a request
        return self._route.claims(envelope)

    def _end_passing(self) -> None:
        """A passed body is complete: the ledger hears of it now, as its end may have been cut off."""
        sniffed, self._passed = self._passed, None
        self._sink.end_passing()
        if sniffed is None:
            return
        envelope = sniffed.envelope
        if sniffed.late_id:
            envelope.id = late_id(self._frames.tail)
        if envelope.kind is Kind.RESPONSE or (sniffed.late_id and envelope.kind is Kind.REQUEST):
            self._route.note(envelope)

    def pad(self) -> None:
        """Complete a body whose rest will never come with spaces, so that the next message can be found."""
        missing = self._frames.passing
        if 0 < missing <= MAX_HELD:
            self._sink.write(b" " * missing)
            self._passed = None
            self._sink.end_passing()

    # decisions that take time

    def _wait(
        self, decision: Awaitable[bytes | None], message: bytes, buffer: bytes, spans: list[Span], index: int
    ) -> None:
        """Keep the order: everything behind the message waits with it."""

        async def finish() -> None:
            body: bytes | None = message
            try:
                body = await decision
            except Exception as error:
                log.warning("%s: an interceptor failed (%r); the message goes on as it is", self._name, error)
                log.debug("the error in full", exc_info=error)
            try:
                if body is not None:
                    self._sink.write(frame(body))
                self._waiting = None
                self._forward(buffer, spans, index)
                while self._backlog and self._waiting is None:
                    self.data_received(self._backlog.pop(0))
            finally:
                self.release_source()

        assert inspect.isawaitable(decision)
        self.hold_source()
        self._waiting = asyncio.ensure_future(finish())

    # flow control

    def hold_source(self) -> None:
        """Read no more until `release_source` has been called as often."""
        self._holds += 1
        self._source.pause_reading()

    def release_source(self) -> None:
        """Take one `hold_source` back."""
        self._holds -= 1
        if self._holds == 0:
            self._source.resume_reading()

    def _log_noise(self) -> None:
        for noise in self._frames.noise:
            log.warning("%s wrote %d bytes that belong to no message; they are left out", self._name, len(noise))
            log.debug("left out: %r", noise)
        self._frames.noise.clear()


class _End:
    """What one channel calls: its bytes belong to one lane, its flow control to the other."""

    def __init__(self, lane: Lane, other: Lane, write_failed: Callable[[], None]) -> None:
        self.data_received = lane.data_received
        self.eof_received = lane.eof_received
        self.pause_writing = other.hold_source
        self.resume_writing = other.release_source
        self.write_failed = write_failed


class Relay:
    """Two channels and the two lanes between them.

    `client_ended` and `server_ended` are called once each, when the peer has closed its side; the client also when it
    no longer reads.
    """

    def __init__(
        self,
        client: Channel,
        server: Channel,
        from_client: Route,
        from_server: Route,
        client_ended: Callable[[], None],
        server_ended: Callable[[], None],
    ) -> None:
        self._client, self._server = client, server
        self.to_client, self.to_server = Sink(client), Sink(server)
        self._client_ended = client_ended
        self.client_lane = Lane("the client", client, self.to_server, from_client, client_ended)
        self.server_lane = Lane("the server", server, self.to_client, from_server, server_ended)

    async def start(self) -> None:
        """Open both channels; from here on messages flow."""
        await self._server.open(_End(self.server_lane, self.client_lane, _ignore))
        await self._client.open(_End(self.client_lane, self.server_lane, self._client_ended))


def _ignore() -> None:
    """A server that no longer reads may still have something to say; its end is what counts."""
