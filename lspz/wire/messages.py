"""What a JSON-RPC message is: the one place that asks "is this a request?".

A message is sorted by its envelope alone, the members `id` and `method`; nothing else of the body is built. An id is
kept as the JSON it was written in, so that `12345678901234567890`, `1e3` and `1.0` go back as they came.
"""

from __future__ import annotations

import enum
import json
import re
from typing import Any

import msgspec

from .framing import HEAD

SMALL = 4 * 1024
"""Bytes. Up to here the whole envelope is read (0.4 µs and up); of longer bodies first the head."""


class Kind(enum.Enum):
    """What a message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"


_ABSENT = msgspec.Raw(b"")


class Envelope(msgspec.Struct, gc=False):
    """A message's `id` (raw JSON, empty when absent) and `method` (None when absent)."""

    id: msgspec.Raw = _ABSENT
    method: str | None = None

    @property
    def kind(self) -> Kind:
        """A method makes a request or a notification, an id tells them apart; all else is a response."""
        if self.method is None:
            return Kind.RESPONSE
        return Kind.REQUEST if self.id else Kind.NOTIFICATION


decode_envelope = msgspec.json.Decoder(Envelope).decode
"""Reads the envelope of a body that msgspec takes; raises `UNREADABLE` for others, which `read_envelope` may take."""

UNREADABLE = (msgspec.MsgspecError, RecursionError)

_STRING = rb'"(?:[^"\\\x00-\x1f]|\\.)*"'
_MEMBER = re.compile(
    rb'\s*[{,]\s*(?:"jsonrpc"\s*:\s*' + _STRING + rb'|"id"\s*:\s*(?P<id>[-+.0-9eE]+|null|' + _STRING + rb")"
    rb'|"method"\s*:\s*(?P<method>' + _STRING + rb'))(?=\s*[,}])|\s*[{,]\s*"(?P<body>params|result|error)"\s*:'
)
_LATE_ID = re.compile(
    rb',\s*"id"\s*:\s*(?P<id>[-+.0-9eE]+|null|' + _STRING + rb')\s*(?:,\s*"jsonrpc"\s*:\s*' + _STRING + rb")?\s*\}\s*$"
)


def read_envelope(body: bytes) -> Envelope | None:
    """The envelope of a whole body; None when it cannot be read at all (such a message is forwarded as it is)."""
    try:
        return decode_envelope(body)
    except UNREADABLE:
        return _read_tolerantly(body)


def _read_tolerantly(body: bytes) -> Envelope | None:
    """The envelope of what msgspec refuses: lone surrogates, NaN, deep nesting, a byte order mark."""
    try:
        message = json.loads(body, parse_int=_Number, parse_float=_Number)
    except (ValueError, RecursionError):
        sniffed = sniff(body[:HEAD])
        return sniffed.envelope if sniffed and sniffed.certain else None
    method = message.get("method") if isinstance(message, dict) else 0
    if method is not None and type(method) is not str:
        return None
    return Envelope(msgspec.Raw(_raw(message["id"])) if "id" in message else _ABSENT, method)


class _Number(str):
    """A number as it was written."""


def _raw(value: object) -> bytes:
    return value.encode() if isinstance(value, _Number) else json.dumps(value).encode()


class Sniffed(msgspec.Struct, gc=False):
    """What the head of a long body tells."""

    envelope: Envelope
    certain: bool
    """Nothing that follows can change the envelope: its kind, method and id are known."""
    late_id: bool
    """The body is a response or a notification by its head, but an `id` may follow the long member."""


def sniff(head: bytes) -> Sniffed | None:
    """Read id and method from the first bytes of a body, in any order; None when the head does not decide.

    Undecided are a body whose first long member comes before anything that tells its kind (`params` before `method`)
    and a head that is cut before its first long member.
    """
    envelope = Envelope()
    position = 0
    while member := _MEMBER.match(head, position):
        position = member.end()
        if member["id"] is not None:
            envelope.id = msgspec.Raw(member["id"])
        elif member["method"] is not None:
            envelope.method = json.loads(member["method"])
        elif (long := member["body"]) is not None:
            has_id = bool(bytes(envelope.id))
            if long == b"params" and envelope.method is None:
                return None
            return Sniffed(envelope, certain=has_id, late_id=not has_id)
    return None


def late_id(tail: bytes) -> msgspec.Raw:
    """The raw `id` at the end of a body whose last bytes are `tail`; empty when there is none."""
    found = _LATE_ID.search(tail)
    return msgspec.Raw(found["id"]) if found else _ABSENT


def id_key(raw: bytes) -> bytes:
    """The same bytes for every spelling of the same id: `1`, `1.0` and `1e0`, `"a"` and `"\\u0061"`."""
    if raw.isdigit() or (raw[:1] == b'"' and b"\\" not in raw):
        return raw
    try:
        value: Any = json.loads(raw)
    except ValueError:
        return raw
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")


def response(raw_id: bytes, result: object) -> bytes:
    """An answer to `raw_id`."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (raw_id, msgspec.json.encode(result))


def error_response(raw_id: bytes, code: int, message: str) -> bytes:
    """An error answer to `raw_id`."""
    error = json.dumps({"code": code, "message": message}, ensure_ascii=False).encode(errors="replace")
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (raw_id, error)


def notification(method: str, params: object) -> bytes:
    """A notification of lspz's own."""
    return msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params})
