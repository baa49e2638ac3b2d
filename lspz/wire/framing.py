"""Frames of the LSP base protocol: a block of header lines, an empty line, a JSON body.

`FrameReader` takes bytes as they arrive and says where frames lie in them. It is tolerant, as real servers demand:
header names in any case, with or without space around the colon, further headers, lines that end in LF alone, and
noise (a stray `print`) in front of a header. It never looks into a body.

Limits, each with its reason:

- `MAX_HEADER` bounds what is kept while no header has been recognised.
- `CUT_THROUGH` is the size from which an incomplete body may be passed on before it is whole.
- `MAX_HELD` bounds a body that is held until it is whole; a longer one must be passed on as it arrives.
"""

from __future__ import annotations

import re

MAX_HEADER = 8 * 1024
"""Bytes. A header block is some 30 bytes; without this limit a server that only prints would fill the memory."""

CUT_THROUGH = 64 * 1024
"""Bytes. The capacity of a pipe: a longer body cannot arrive in one piece, so waiting for it costs latency."""

MAX_HELD = 64 * 1024 * 1024
"""Bytes. The largest body that is kept in memory in order to read it; real answers stay below 10 MB."""

HEAD = 1024
"""Bytes of a body's beginning that `head` shows as soon as they are there."""

TAIL = 512
"""Bytes kept from the end of a passed body, where some servers write the `id` of an answer."""

MAX_KNOWN = 1024
"""Header blocks whose lengths are remembered, since reading a number costs more than looking up the block."""

Span = tuple[int, int, int]
"""`(start, body, stop)`: offsets into the buffer of a frame's first byte, its body's first byte, and its end.

`start == body`: the header was an odd one; whoever forwards the body writes `header(stop - body)` before it.
`body` is `PASSING` or `PASSED` for bytes of a body that is being passed on, `PASSED` with its last byte.
"""

PASSING = -1
PASSED = -2

_NAME = len(b"Content-Length: ")
_PLAIN = re.compile(rb"Content-Length: (\d{1,18})\r\n\r\n")
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_REST = re.compile(rb"(?:[^\r\n][^\n]*\n)*\r?\n")
_OTHER = re.compile(rb"[A-Za-z][A-Za-z0-9-]*[ \t]*:[^\r\n]*\r\n")
_STRICT = re.compile(
    rb"(?:[A-Za-z][A-Za-z0-9-]*: [^\r\n]*\r\n)*Content-Length: \d+\r\n(?:[A-Za-z][A-Za-z0-9-]*: [^\r\n]*\r\n)*\r\n"
)


def header(length: int) -> bytes:
    """The header block of a body of `length` bytes."""
    return b"Content-Length: %d\r\n\r\n" % length


def frame(body: bytes) -> bytes:
    """A body with its header block."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Finds frames in a stream of bytes; holds what is incomplete.

    `noise` collects bytes that belong to no frame; the owner logs and clears it.
    """

    def __init__(self) -> None:
        self.noise: list[bytes] = []
        self.tail = b""
        self._parts: list[bytes] = []
        self.size = 0
        """Bytes that are held."""
        self._need = 0  # bytes that _parts must reach before looking again is worth it
        self._passing = 0  # bytes of the current body still to come while it is passed on
        self.held: Span | None = None
        """The incomplete frame that is held: offsets into what is held."""
        self._known: dict[bytes, int] = {}  # header blocks seen before, and the lengths they say

    def passes(self, data: bytes) -> bool:
        """Take the next bytes if all of them, and more to come, belong to a body that is being passed on."""
        if len(data) >= self._passing:
            return False
        self._passing -= len(data)
        self.tail = data[-TAIL:] if len(data) >= TAIL else (self.tail + data)[-TAIL:]
        return True

    def lone(self, data: bytes) -> bytes | None:
        """The body, when the next bytes are one whole frame with a header block seen before; else None."""
        if self._parts or self._passing:
            return None
        body = data.find(b"\r", _NAME) + 4
        return data[body:] if self._known.get(data[:body]) == len(data) - body else None

    def feed(self, data: bytes) -> tuple[bytes, list[Span]]:
        """Take the next bytes of the stream; return a buffer and the spans of all that can be handed on now.

        The spans are in order, do not overlap, and index into the returned buffer only.
        """
        spans: list[Span] = []
        position = 0
        if self._passing:
            if self.passes(data):
                return data, [(0, PASSING, len(data))]
            position = self._passing
            self.tail = (self.tail + data[max(0, position - TAIL) : position])[-TAIL:]
            self._passing = 0
            spans.append((0, PASSED, position))
        elif self._parts:
            self._parts.append(data)
            self.size += len(data)
            if self.size < self._need:
                if self.held is not None and len(self._parts[0]) < self.held[1] + HEAD:
                    self._parts = [b"".join(self._parts)]  # `head` shows the first part
                return data, spans
            data = self.take()
        self._scan(data, position, spans)
        return data, spans

    def _scan(self, data: bytes, position: int, spans: list[Span]) -> None:
        """Append the spans of all whole frames from `position` on; keep what is left."""
        end = len(data)
        find, known = data.find, self._known
        while position < end:
            start = position
            body = find(b"\r", position + _NAME) + 4
            length = known.get(data[position:body], -1)
            if length >= 0:
                pass
            elif plain := _PLAIN.match(data, position):
                body, length = plain.end(), int(plain[1])
                if len(known) >= MAX_KNOWN:
                    known.clear()
                known[plain[0]] = length
            else:
                found = self._find(data, position)
                if found is None:
                    return
                position, start, body, length = found
            stop = body + length
            if stop > end:
                self._keep(data, position, stop - position)
                self.held = (start - position, body - position, stop - position)
                return
            spans.append((start, body, stop))
            position = stop

    def _find(self, data: bytes, position: int) -> tuple[int, int, int, int] | None:
        """The next header that is not spelled plainly; None when it is not all there yet.

        Returns where its block begins, then as in a `Span` start and body, then the body's length.
        """
        search = position
        while length := _LENGTH.search(data, search):
            rest = _REST.match(data, length.end())
            if rest is None:
                if len(data) - length.end() <= MAX_HEADER:
                    break
                search = length.end()
                continue
            start, body = length.start(), rest.end()
            while start > position:  # header lines in front of it
                line = data.rfind(b"\n", position, start - 1) + 1 or position
                other = _OTHER.fullmatch(data, line, start)
                if other is None:
                    break
                start = line
            if start > position:
                self.noise.append(data[position:start])
            strict = _STRICT.fullmatch(data, start, body)
            return start, start if strict else body, body, int(length[1])
        keep = max(position, (length.start() if length else len(data)) - MAX_HEADER)
        if keep > position:
            self.noise.append(data[position:keep])
        self._keep(data, keep, 0)
        return None

    def _keep(self, data: bytes, position: int, need: int) -> None:
        self._parts = [data[position:] if position else data]
        self.size = len(data) - position
        self._need = need

    @property
    def head(self) -> tuple[bytes, int] | None:
        """The first bytes of an incomplete body over `CUT_THROUGH`, and its whole length; None when there is none."""
        if self.held is None:
            return None
        _, body, stop = self.held
        if stop - body <= CUT_THROUGH:
            return None
        return self._parts[0][body : body + HEAD], stop - body

    def release(self) -> bytes:
        """Stop holding the incomplete frame: return its bytes so far; the rest is passed on as it arrives."""
        assert self.held is not None
        start, body, stop = self.held
        data = self.take()
        self._passing = stop - len(data)
        self.tail = data[max(body, len(data) - TAIL) :]
        return header(stop - body) + data[body:] if start == body else data[start:]

    def take(self) -> bytes:
        """Take back what is held and incomplete, to feed it again with what follows."""
        if not self.size:
            return b""
        data = b"".join(self._parts)
        self._parts.clear()
        self.size = 0
        self.held = None
        return data

    @property
    def passing(self) -> int:
        """How many bytes of a body that is being passed on are still to come."""
        return self._passing

    def rest(self) -> bytes:
        """What is held and incomplete, at the end of the stream."""
        return b"".join(self._parts)
