"""What goes over the wire, the same in every run. Imports nothing slow: the scripted backend needs it to start."""

import json

URI = "file:///home/dev/shop/src/shop/orders.py"


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def answer(raw_id: bytes, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (raw_id, result)


def result_of(size: int) -> bytes:
    """A result that makes the answer to a request with a six-digit id `size` bytes long: completion items, padded."""
    room = size - len(answer(b"100000", b'{"isIncomplete":false,"items":[],"pad":""}'))
    items: list[bytes] = []
    while True:
        item = encode(_completion_item(len(items)))
        if room < len(item) + 1:
            break
        items.append(item)
        room -= len(item) + 1
    room += 1 if items else 0  # one comma fewer than items
    return b'{"isIncomplete":false,"items":[%b],"pad":"%b"}' % (b",".join(items), b" " * room)


def _completion_item(number: int) -> dict[str, object]:
    name = f"{_NAMES[number % len(_NAMES)]}_{number}"
    return {
        "label": name,
        "kind": 2 + number % 20,
        "sortText": f"09.9999.{name}",
        "textEdit": {
            "range": {"start": {"line": number, "character": 8}, "end": {"line": number, "character": 11}},
            "newText": name,
        },
        "data": {"uri": URI, "position": {"line": number, "character": 11}, "symbolLabel": name},
    }


def notification_of(size: int) -> bytes:
    """A notification nobody claims, `size` bytes with its header."""
    length = size - len(b"Content-Length: \r\n\r\n")
    length -= len(str(length))
    text = "Found 27 source files; 3 of them changed since the last run. "
    body = encode({"jsonrpc": "2.0", "method": "window/logMessage", "params": {"type": 3, "message": ""}})
    padding = (text * (length // len(text) + 1))[: length - len(body)]
    return frame(body.replace(b'"message":""', b'"message":"%b"' % padding.encode()))


def publish_of(count: int) -> bytes:
    """`textDocument/publishDiagnostics` with `count` diagnostics as basedpyright writes them, framed.

    Some 370 bytes each; of 100 about half say something that another one says too, as in a module without type
    annotations.
    """
    params = {"uri": URI, "version": 3, "diagnostics": diagnostics(count)}
    return frame(encode({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}))


def diagnostics(count: int) -> list[dict[str, object]]:
    return [_diagnostic(i, _Dice(i)) for i in range(count)]


def _diagnostic(number: int, dice: "_Dice") -> dict[str, object]:
    message, code, severity, tags = _RULES[dice.roll(len(_RULES))]
    name = _NAMES[min(dice.roll(len(_NAMES)), dice.roll(len(_NAMES)))]  # some names are everywhere
    message = message.format(name=name)
    line, character = number * 2 + dice.roll(2), 4 * dice.roll(6)
    out: dict[str, object] = {
        "range": {
            "start": {"line": line, "character": character},
            "end": {"line": line, "character": character + len(name)},
        },
        "message": message,
        "severity": severity,
        "code": code,
        "source": "basedpyright",
        "data": {"category": 1, "rule": code},
        "codeDescription": {"href": f"https://docs.basedpyright.com/v1.40.2/configuration/config-files/#{code}"},
    }
    if tags:
        out["tags"] = tags
    return out


class _Dice:
    """Numbers that look random and are the same in every run; `random` takes 5 ms to import."""

    def __init__(self, seed: int) -> None:
        self._state = (seed * 2654435761 + 97) & 0xFFFFFFFF

    def roll(self, sides: int) -> int:
        self._state = (self._state * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self._state >> 16) % sides


_RULES: list[tuple[str, str, int, list[int]]] = [
    ('Type of "{name}" is unknown', "reportUnknownMemberType", 2, []),
    (
        'Cannot access attribute "{name}" for class "Order"\n\xa0\xa0Attribute "{name}" is unknown',
        "reportAttributeAccessIssue",
        1,
        [],
    ),
    ("Return type is unknown", "reportUnknownParameterType", 2, []),
    ('Type of parameter "{name}" is unknown', "reportUnknownParameterType", 2, []),
    ('Type annotation is missing for parameter "{name}"', "reportMissingParameterType", 2, []),
    ('Argument missing for parameter "{name}"', "reportCallIssue", 1, []),
    ('Variable "{name}" is not accessed', "reportUnusedVariable", 2, [1]),
    ('Import "{name}" is not accessed', "reportUnusedImport", 2, [1]),
    ('This type is deprecated as of Python 3.10; use "| None" instead', "reportDeprecated", 2, [2]),
]

_NAMES = [
    "status", "total", "result", "items", "lines", "add_item", "customer", "quantity", "price", "order_id", "currency",
    "discount", "shipping", "warehouse", "invoice", "payment", "refund", "created_at", "updated_at", "reference",
    "supplier", "barcode", "category", "stock_level", "threshold", "region", "tax_rate", "coupon", "gift_note",
    "tracking_code",
]  # fmt: skip
