"""The byte loop on its own: what is held, what is passed on, what waits, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lspz.proxy.relay import Decision, Lane, Sink
from lspz.wire.framing import CUT_THROUGH, MAX_HELD, frame, header
from lspz.wire.messages import Envelope, Kind


class Out:
    """A channel that remembers what is written, and whether reading is paused."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.paused = False

    async def open(self, receiver: object) -> None: ...

    def write(self, data: bytes) -> None:
        self.data += data

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def close_writing(self) -> None: ...

    async def close(self, timeout: float) -> None: ...


class Claims:
    """A route that claims some methods and some answers, and notes the rest."""

    def __init__(
        self, methods: set[str], decide: Callable[[bytes], Decision], responses: set[bytes] | None = None
    ) -> None:
        self.watched = methods
        self.needs_no_ledger = True
        self.decide = decide
        self.responses = responses or set()
        self.noted: list[tuple[Kind, bytes]] = []

    def claims(self, envelope: Envelope) -> bool:
        if envelope.method is None:
            return bytes(envelope.id) in self.responses
        return envelope.method in self.watched

    def claims_unknown_response(self) -> bool:
        return bool(self.responses)

    def note(self, envelope: Envelope) -> None:
        self.noted.append((envelope.kind, bytes(envelope.id)))

    def handle(self, envelope: Envelope, body: bytes) -> Decision:
        if self.claims(envelope):
            return self.decide(body)
        self.note(envelope)
        return body


class Made:
    """A lane between two remembered ends."""

    def __init__(self, route: Claims) -> None:
        self.source, self.target = Out(), Out()
        self.sink = Sink(self.target)
        self.ended = asyncio.Event()
        self.lane = Lane("the server", self.source, self.sink, route, self.ended.set)


def notification(method: str, size: int = 0) -> bytes:
    return b'{"jsonrpc":"2.0","method":"%b","params":"%b"}' % (method.encode(), b"x" * size)


def test_unclaimed_long_bodies_are_passed_on_at_once() -> None:
    """The bytes go out before the body is whole; the one behind a held body as well."""
    made = Made(Claims({"held"}, lambda body: b"{}"))
    long = frame(notification("passed", 3 * CUT_THROUGH))
    held = frame(notification("held", 3 * CUT_THROUGH))

    made.lane.data_received(long[:5000])
    assert made.target.data == long[:5000]
    made.lane.data_received(long[5000:] + held[:5000])
    assert made.target.data == long
    made.lane.data_received(held[5000:] + long[:5000])

    assert made.target.data == long + frame(b"{}") + long[:5000]


def test_a_message_of_lspzs_own_waits_for_the_end_of_a_body() -> None:
    """It never lands in the middle of what is being passed on."""
    made = Made(Claims(set(), lambda body: body))
    long = frame(notification("passed", 2 * CUT_THROUGH))
    made.lane.data_received(long[:5000])

    made.sink.send(b"own")
    made.lane.data_received(long[5000:] + frame(b"behind"))

    assert made.target.data == long + frame(b"own") + frame(b"behind")


def test_an_answer_with_its_id_last_is_passed_on_and_noted() -> None:
    """The id is read from the end of the body once it is there; requests are noted at once."""
    route = Claims(set(), lambda body: body)
    made = Made(route)
    answer = frame(b'{"jsonrpc":"2.0","result":"%b","id":17}' % (b"x" * 2 * CUT_THROUGH))
    request = frame(b'{"jsonrpc":"2.0","id":"a","method":"m","params":"%b"}' % (b"x" * 2 * CUT_THROUGH))

    made.lane.data_received(answer[:-1])
    assert made.target.data == answer[:-1]
    assert route.noted == []
    made.lane.data_received(answer[-1:])
    made.lane.data_received(request[:5000])

    assert route.noted == [(Kind.RESPONSE, b"17"), (Kind.REQUEST, b'"a"')]


def test_an_answer_with_its_id_last_is_held_while_one_is_awaited() -> None:
    """A claimed request is open: the body must be whole before anybody knows whose answer it is."""
    made = Made(Claims(set(), lambda body: b"{}", responses={b"17"}))
    answers = [frame(b'{"jsonrpc":"2.0","result":"%b","id":%d}' % (b"x" * 2 * CUT_THROUGH, id_)) for id_ in (16, 17)]

    made.lane.data_received(answers[0][:-5])
    assert made.target.data == b""
    made.lane.data_received(answers[0][-5:] + answers[1])

    assert made.target.data == answers[0] + frame(b"{}")


def test_what_is_too_long_to_hold_is_passed_on_though_claimed() -> None:
    """Memory has a limit, and the client gets its message."""
    made = Made(Claims({"held"}, lambda body: b"{}"))
    start = header(MAX_HELD + 1) + notification("held", 5000)

    made.lane.data_received(start)

    assert made.target.data == start


def test_padding_completes_a_body() -> None:
    """After it the next message can be found."""
    made = Made(Claims(set(), lambda body: body))
    long = frame(notification("passed", 2 * CUT_THROUGH))
    made.lane.data_received(long[:5000])

    made.lane.pad()
    made.sink.send(b"error")

    assert made.target.data == long[:5000].ljust(len(long)) + frame(b"error")


def test_an_incomplete_message_at_the_end_is_left_out() -> None:
    """It would break the framing of what lspz has to say."""
    made = Made(Claims({"held"}, lambda body: b"{}"))
    made.lane.data_received(frame(b"{}") + frame(notification("held"))[:-1])

    made.lane.eof_received()

    assert made.target.data == frame(b"{}")
    assert made.ended.is_set()


def test_neighbours_are_written_together() -> None:
    """A run of untouched frames is one write; a rewritten one splits it, a dropped one leaves a gap."""
    route = Claims({"change", "drop"}, lambda body: None if b"drop" in body else b"{}")
    made = Made(route)
    writes: list[bytes] = []
    made.sink.write = writes.append
    plain = frame(notification("plain"))

    made.lane.data_received(plain * 3 + frame(notification("change")) + plain + frame(notification("drop")) + plain * 2)

    assert writes == [plain * 3, frame(b"{}"), plain, plain * 2]


@pytest.mark.parametrize("fails", [False, True])
async def test_a_decision_may_take_time(fails: bool) -> None:
    """Reading pauses, what came meanwhile waits in order, the end too; a failure sends the original."""
    gate = asyncio.Event()

    async def decide() -> bytes:
        await gate.wait()
        if fails:
            raise RuntimeError("on purpose")
        return b"later"

    def handle(body: bytes) -> Awaitable[bytes]:
        return decide()

    made = Made(Claims({"slow"}, handle))
    slow, plain = frame(notification("slow")), frame(notification("plain"))
    made.lane.data_received(plain + slow + plain + slow)
    made.lane.data_received(plain)
    made.lane.eof_received()
    assert made.source.paused
    assert made.target.data == plain
    gate.set()
    async with asyncio.timeout(5):
        await made.ended.wait()

    one = slow if fails else frame(b"later")
    assert made.target.data == plain + one + plain + one + plain
    assert not made.source.paused


def test_the_source_is_held_as_long_as_anybody_wants() -> None:
    """Two reasons to pause need two to go on."""
    made = Made(Claims(set(), lambda body: body))
    made.lane.hold_source()
    made.lane.hold_source()
    made.lane.release_source()
    assert made.source.paused
    made.lane.release_source()
    assert not made.source.paused


def test_a_route_that_fails_sends_the_original() -> None:
    """Whatever happens inside, the stream goes on."""

    def fail(body: bytes) -> bytes:
        raise RuntimeError("on purpose")

    made = Made(Claims({"m"}, fail))
    made.lane.data_received(frame(notification("m")) * 2)

    assert made.target.data == frame(notification("m")) * 2


MESSAGES = st.one_of(
    st.builds(
        lambda method, size: notification(method, size),
        st.sampled_from(["plain", "other", "change", "drop"]),
        st.sampled_from([0, 1, 2, 150, 5000]),
    ),
    st.sampled_from(
        [
            b'{"jsonrpc":"2.0","id":1,"result":{"a":1,"params":2}}',
            b'{"jsonrpc":"2.0","id":2,"method":"plain","params":{}}',
            b'{"params":{},"method":"change"}',
            b'{"jsonrpc":"2.0","params":{},"method":"change"}',
            b'{"jsonrpc":"2.0","params":{},"method":"plain!"}',
            b'{"method":"plain"}',
            b"not json",
            b"",
        ]
    ),
)


@given(st.lists(MESSAGES, max_size=40), st.lists(st.integers(1, 700), max_size=60))
def test_a_stream_comes_out_the_same_however_it_is_cut(messages: list[bytes], pieces: list[int]) -> None:
    """What is remembered of frames' beginnings changes nothing: neither which message is seen nor what goes out."""
    route = Claims({"change", "drop"}, lambda body: None if b'"drop"' in body else b"{}")
    made = Made(route)
    stream = b"".join(map(frame, messages))

    position = 0
    for size in [*pieces, len(stream)]:
        made.lane.data_received(stream[position : position + size])
        position += size

    def expected(message: bytes) -> bytes:
        if b'"drop"' in message:
            return b""
        return frame(b"{}") if b'"change"' in message else frame(message)

    assert made.target.data == b"".join(map(expected, messages))


def test_what_is_watched_from_now_on_is_seen_from_now_on() -> None:
    """Beginnings that were learned before the client said who it is count no longer."""
    route = Claims(set(), lambda body: b"{}")
    made = Made(route)
    plain = frame(notification("change"))
    made.lane.data_received(plain * 3)
    route.watched = {"change"}
    made.lane.data_received(plain + frame(notification("other")))

    assert made.target.data == plain * 3 + frame(b"{}") + frame(notification("other"))


@pytest.mark.parametrize("first", [0, 1, 100, 1023, 5000])
def test_a_long_body_is_passed_on_however_its_head_arrives(first: int) -> None:
    """The header in a write of its own, as some libraries send it, makes no difference."""
    made = Made(Claims(set(), lambda body: body))
    body = notification("passed", 3 * CUT_THROUGH)
    head = header(len(body))

    made.lane.data_received(head + body[:first])
    made.lane.data_received(body[first : first + 20_000])

    assert made.target.data == head + body[: first + 20_000]


def test_a_claimed_request_with_its_id_last_is_held() -> None:
    """By its head it could be a notification; the route must see it all the same."""

    class Requests(Claims):
        def claims(self, envelope: Envelope) -> bool:
            return envelope.kind is Kind.REQUEST

    made = Made(Requests(set(), lambda body: b"{}"))
    request = b'{"jsonrpc":"2.0","method":"m","params":"%b","id":1}' % (b"x" * 2 * CUT_THROUGH)
    made.lane.data_received(frame(request)[:9000])
    made.lane.data_received(frame(request)[9000:])

    assert made.target.data == frame(b"{}")
