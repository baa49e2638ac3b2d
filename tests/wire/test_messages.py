"""The one classifier: what a message is, by its envelope alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lspz.wire.messages import Kind, error_response, id_key, late_id, read_envelope, sniff

CASES = [
    (b'{"jsonrpc":"2.0","id":0,"method":"a"}', Kind.REQUEST, b"0", "a"),
    (b'{"jsonrpc":"2.0","id":-7,"method":"a","params":null}', Kind.REQUEST, b"-7", "a"),
    (b'{"jsonrpc":"2.0","id":"x y","method":"a","params":[]}', Kind.REQUEST, b'"x y"', "a"),
    (b'{"params":{"id":5,"method":"inner"},"method":"a","id":12345678901234567890}', Kind.REQUEST, None, "a"),
    (b'{"id":1e3,"result":1}', Kind.RESPONSE, b"1e3", None),
    (b'{"result":null,"id":1.0}', Kind.RESPONSE, b"1.0", None),
    (b'{"id":3,"error":null,"result":{"method":"no"}}', Kind.RESPONSE, b"3", None),
    (b'{"error":{"code":-32700,"message":""},"id":null}', Kind.RESPONSE, b"null", None),
    (b'{"method":"a"}', Kind.NOTIFICATION, b"", "a"),
    (b'  {\n "params" : {} ,\n "method" : "\\u0061/b" }\n', Kind.NOTIFICATION, b"", "a/b"),
    (b'{"id":7,"method":null,"result":1}', Kind.RESPONSE, b"7", None),
]


@pytest.mark.parametrize(("body", "kind", "raw_id", "method"), CASES)
def test_messages_are_sorted_by_their_envelope(body: bytes, kind: Kind, raw_id: bytes | None, method: str) -> None:
    """Any key order, id and params; the id is the JSON it was written in."""
    envelope = read_envelope(body)

    assert envelope is not None
    assert envelope.kind is kind
    assert envelope.method == method
    if raw_id is not None:
        assert bytes(envelope.id) == raw_id


@pytest.mark.parametrize(
    "body",
    [
        b'{"id":1e3,"method":"a","params":["\\ud800"]}',
        b'{"id":1e3,"method":"a","params":[NaN,Infinity]}',
        b'\xef\xbb\xbf{"id":1e3,"method":"a"}',
    ],
)
def test_what_msgspec_refuses_is_read_all_the_same(body: bytes) -> None:
    """Lone surrogates, NaN and a byte order mark do not hide the envelope, nor change the id's spelling."""
    envelope = read_envelope(body)

    assert envelope is not None
    assert (bytes(envelope.id), envelope.method) == (b"1e3", "a")


def test_deep_nesting_is_read_or_given_up() -> None:
    """A hundred thousand levels neither crash nor hang; what the head tells is used."""
    deep = b"[" * 100_000 + b"]" * 100_000
    asked = read_envelope(b'{"jsonrpc":"2.0","id":4,"method":"a","params":%b}' % deep)

    assert asked is not None
    assert bytes(asked.id) == b"4"
    assert read_envelope(b'{"params":%b,"method":"a"}' % deep) is None


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"1", b'{"id":1', b'{"method":5}', b"\xff\xfe"])
def test_what_is_no_message_is_none(body: bytes) -> None:
    """A body without a readable envelope is said to be one."""
    assert read_envelope(body) is None


@pytest.mark.parametrize(
    ("head", "raw_id", "method", "certain", "late"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{', b"1", "a", True, False),
        (b'{"method":"a","id":"\\"q","jsonrpc":"2.0","params":[', b'"\\"q"', "a", True, False),
        (b'{"jsonrpc":"2.0","method":"a","params":{', b"", "a", False, True),
        (b'{"jsonrpc":"2.0","id":5,"result":{', b"5", None, True, False),
        (b'{"id":5,"error":{', b"5", None, True, False),
        (b'{"jsonrpc":"2.0","result":{', b"", None, False, True),
    ],
)
def test_the_head_of_a_long_body_tells(head: bytes, raw_id: bytes, method: str, certain: bool, late: bool) -> None:
    """Scalars in any order before the long member decide; an id may still follow one that shows none."""
    sniffed = sniff(head)

    assert sniffed is not None
    assert (bytes(sniffed.envelope.id), sniffed.envelope.method) == (raw_id, method)
    assert (sniffed.certain, sniffed.late_id) == (certain, late)


@pytest.mark.parametrize(
    "head", [b'{"params":{', b'{"id":1,"params":{', b'{"vendor":{},"id":1', b'{"jsonrpc":"2.0","i']
)
def test_a_head_that_does_not_decide_says_so(head: bytes) -> None:
    """A method that comes last, an unknown member first, and a cut head leave the question open."""
    assert sniff(head) is None


@pytest.mark.parametrize(
    ("tail", "raw_id"),
    [
        (b'...]},"id":17}', b"17"),
        (b'...]},"id":"s","jsonrpc":"2.0"}\n', b'"s"'),
        (b'... "text","id":17}}', b""),
        (b'... \\"id\\":17}"}', b""),
        (b'..."id":17,"more":1}', b""),
    ],
)
def test_an_id_behind_a_long_result_is_found(tail: bytes, raw_id: bytes) -> None:
    """Only a member of the message itself counts, not one of the result, nor text that looks like one."""
    assert bytes(late_id(tail)) == raw_id


def test_ids_are_the_same_in_every_spelling() -> None:
    """A server that writes an id differently still answers the same request; a string is not a number."""
    assert id_key(b"1") == id_key(b"1.0") == id_key(b"1e0") == id_key(b"10E-1")
    assert id_key(b'"a"') == id_key(b'"\\u0061"')
    assert id_key(b"1") != id_key(b'"1"')
    assert id_key(b"12345678901234567890") != id_key(b"12345678901234567891")


@given(st.one_of(st.integers(), st.text(), st.none()), st.text(), st.one_of(st.none(), st.integers(), st.text()))
def test_any_json_id_and_method_are_read(id_: object, method: str, params: object) -> None:
    """Whatever stdlib json writes, the envelope reads: id, method, and an id that goes back as it came."""
    body = json.dumps({"jsonrpc": "2.0", "params": params, "id": id_, "method": method}).encode()

    envelope = read_envelope(body)

    assert envelope is not None
    assert envelope.method == method
    assert json.loads(bytes(envelope.id)) == id_
    answer = json.loads(error_response(bytes(envelope.id), -32099, "gone"))
    assert answer == {"jsonrpc": "2.0", "id": id_, "error": {"code": -32099, "message": "gone"}}
