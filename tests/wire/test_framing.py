"""Frames are found however the bytes are spelled, split and glued."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lspz.wire.framing import CUT_THROUGH, MAX_HEADER, PASSED, PASSING, FrameReader, frame, header

BODY = b'{"jsonrpc":"2.0","method":"x","params":"\xc3\xa9\xe2\x82\xac"}'

SPELLINGS = {
    "plain": b"Content-Length: %d\r\n\r\n",
    "lower case": b"content-length: %d\r\n\r\n",
    "upper case": b"CONTENT-LENGTH: %d\r\n\r\n",
    "no space": b"Content-Length:%d\r\n\r\n",
    "many spaces": b"Content-Length \t:  %d \r\n\r\n",
    "LF only": b"Content-Length: %d\n\n",
    "content type behind": b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
    "content type in front": b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: %d\r\n\r\n",
    "unknown header": b"X-Trace: 1\r\nContent-Length: %d\r\nX-More: a: b\r\n\r\n",
    "leading zero": b"Content-Length: 00%d\r\n\r\n",
}
STRICT = ("plain", "content type behind", "content type in front", "unknown header", "leading zero")


def read(stream: bytes, pieces: list[int] | None = None) -> tuple[list[bytes], bytes, bytes]:
    """Bodies, the bytes a relay would forward, and the noise, when `stream` arrives in pieces."""
    reader = FrameReader()
    bodies, forwarded, noise = [], b"", b""
    position = 0
    for size in [*(pieces or []), len(stream)]:
        data, spans = reader.feed(stream[position : position + size])
        position += size
        for start, body, stop in spans:
            assert body >= 0
            bodies.append(data[body:stop])
            forwarded += header(stop - body) + data[body:stop] if start == body else data[start:stop]
        noise += b"".join(reader.noise)
        reader.noise.clear()
    return bodies, forwarded, noise


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
def test_every_spelling_of_a_header_is_understood(spelling: str, step: int) -> None:
    """Two glued frames are found whole and in any pieces; what a strict reader would refuse is spelled plainly."""
    one = SPELLINGS[spelling] % len(BODY) + BODY
    stream = one + one

    bodies, forwarded, noise = read(stream, [step] * (len(stream) // step))

    assert bodies == [BODY, BODY]
    assert noise == b""
    assert forwarded == (stream if spelling in STRICT else frame(BODY) * 2)


@pytest.mark.parametrize(
    "noise",
    [
        b"Downloading compiler 0.8.16\n",
        b"no line end",
        b"Warning: deprecated option\n",
        b"\r\n\r\n",
        b"\x00\xff\xfe binary \x01\n",
        b"Content-Length: many\r\n\r\n",
        b"Content-Length\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    ],
)
@pytest.mark.parametrize("step", [1, 5, 10_000])
def test_noise_is_skipped_and_reported(noise: bytes, step: int) -> None:
    """What a server prints between its messages reaches the log, not the client; no message is lost."""
    stream = noise + frame(BODY) + noise + frame(b"{}")

    bodies, forwarded, reported = read(stream, [step] * (len(stream) // step))

    assert bodies == [BODY, b"{}"]
    assert forwarded == frame(BODY) + frame(b"{}")
    assert reported == noise + noise


def test_noise_without_end_does_not_fill_the_memory() -> None:
    """A server that only prints costs no more than the limit for a header; the message after it is found."""
    reader = FrameReader()
    for _ in range(100):
        reader.feed(b"x" * 10_000)
        reader.noise.clear()
    assert len(reader.rest()) <= MAX_HEADER

    data, spans = reader.feed(frame(BODY))

    assert [data[body:stop] for _, body, stop in spans] == [BODY]


def test_a_length_without_end_of_header_is_given_up() -> None:
    """A header that never ends is noise once it is longer than any header."""
    reader = FrameReader()
    reader.feed(b"Content-Length: 5\r\n" + b"x" * (2 * MAX_HEADER))

    data, spans = reader.feed(b"\n" + frame(BODY))

    assert [data[body:stop] for _, body, stop in spans][-1:] == [BODY]


def test_an_empty_body_is_a_frame() -> None:
    """Content-Length 0 is a frame like any other."""
    assert read(header(0) + frame(BODY))[0] == [b"", BODY]


@given(
    st.lists(st.binary(max_size=200).map(lambda b: b.replace(b"\n", b"")), max_size=6),
    st.lists(st.integers(1, 50), max_size=40),
)
def test_frames_survive_any_splitting(bodies: list[bytes], pieces: list[int]) -> None:
    """Whatever the bodies hold and however the stream is cut, the same bodies and bytes come out."""
    stream = b"".join(map(frame, bodies))

    found, forwarded, noise = read(stream, pieces)

    assert (found, forwarded, noise) == (bodies, stream, b"")


@given(st.binary(max_size=400), st.lists(st.integers(1, 20), max_size=60))
def test_noise_is_the_same_however_it_is_split(garbage: bytes, pieces: list[int]) -> None:
    """Any garbage is read without an error, and cutting it differently changes nothing."""
    stream = garbage + b"\n" + frame(BODY)

    assert read(stream, pieces) == read(stream)


def test_a_long_body_is_passed_on_while_it_arrives() -> None:
    """After `release` every byte of the body comes out as it comes in, and the frame behind it is found."""
    body = b"x" * (3 * CUT_THROUGH)
    stream = frame(body) + frame(BODY)
    reader = FrameReader()
    data, spans = reader.feed(stream[:1000])
    assert spans == []
    assert reader.head == (stream[len(header(len(body))) : 1000], len(body))

    out = reader.release()
    kinds = []
    for position in range(1000, len(stream), 50_000):
        data, spans = reader.feed(stream[position : position + 50_000])
        kinds += [body for _, body, _ in spans if body < 0]
        out += b"".join(data[start:stop] for start, _, stop in spans)

    assert out == stream
    assert kinds[-1] == PASSED
    assert set(kinds[:-1]) == {PASSING}
    assert reader.tail == body[-512:]


def test_the_rest_of_a_passed_body_is_known() -> None:
    """When a server dies in the middle of a body, `passing` says how many bytes are missing."""
    reader = FrameReader()
    reader.feed(header(CUT_THROUGH + 10) + b"x" * 4)
    reader.release()
    reader.feed(b"x" * 5)

    assert reader.passing == CUT_THROUGH + 1
