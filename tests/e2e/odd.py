"""A deliberately odd conversation, as raw bytes: what real servers and clients send, and worse.

Both sides are scripts in lockstep. A step of the client's ends with a marker that the server waits for, and the other
way round, so that the same bytes are exchanged with lspz in between or without it.
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Said(NamedTuple):
    """Bytes that one side writes, and what lspz makes of them where that is not the same."""

    raw: bytes
    relayed: bytes


def say(body: bytes, header: bytes = b"Content-Length: %d\r\n\r\n", noise: bytes = b"") -> Said:
    """A frame under a header that strict readers understand."""
    framed = header % len(body) + body
    return Said(noise + framed, framed)


def odd(body: bytes, header: bytes, noise: bytes = b"") -> Said:
    """A frame under a header that lspz spells plainly."""
    return Said(noise + header % len(body) + body, b"Content-Length: %d\r\n\r\n" % len(body) + body)


def message(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, ensure_ascii=False, separators=(",", ":")).encode()


def marker(side: str, step: int) -> bytes:
    """The body that ends a step."""
    return b'{"jsonrpc":"2.0","method":"odd/%b","params":[%d]}' % (side.encode(), step)


TYPED = b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
UTF8 = b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: %d\r\n\r\n"
BIG = 20_000_000
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
PUBLISH = "textDocument/publishDiagnostics"


def publish(*diagnostics: object) -> bytes:
    return message(method=PUBLISH, params={"uri": "file:///a", "diagnostics": list(diagnostics)})


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


class Step(NamedTuple):
    """What the client says, then what the server says."""

    client: list[Said]
    server: list[Said]
    stderr: int = 0
    """Bytes that the server writes to stderr meanwhile."""


STEPS = [
    Step(
        [say(message(id=0, method="initialize", params={"capabilities": {"x": None}, "processId": None}))],
        [
            say(message(method="window/logMessage", params={"type": 3, "message": {}})),
            say(b'{"result":{"capabilities":{"vendorProvider":{"deep":[1.0,1e3]}},"x":null},"id":0,"jsonrpc":"2.0"}'),
        ],
    ),
    Step(  # header spellings, noise
        [
            say(message(method="initialized", params={}), TYPED),
            odd(message(method="a/lower"), b"content-length: %d\r\n\r\n"),
            odd(message(method="a/tight"), b"Content-Length:%d\n\n"),
        ],
        [
            say(message(method="b/typed"), UTF8, noise=b"Downloading compiler 0.8.16\n"),
            odd(message(method="b/lf"), b"CONTENT-LENGTH :  %d\n\n", noise=b"\x00\xff binary\r\n"),
            say(message(method="b/extra"), b"X-Odd: 1\r\nContent-Length: %d\r\n\r\n"),
            Said(
                b"Content-Length: 12\r\n\r\n" + b'{"method":1}leftover', b"Content-Length: 12\r\n\r\n" + b'{"method":1}'
            ),
        ],
    ),
    Step(  # ids: zero, negative, strings, huge, floats; answers out of order, with other spellings and key orders
        [
            say(b'{"jsonrpc":"2.0","id":1,"method":"q/one","params":null}'),
            say(b'{"id":-2,"params":[1,2],"method":"q/two","jsonrpc":"2.0"}'),
            say(b'{"method":"q/three","id":12345678901234567890,"jsonrpc":"2.0"}'),
            say(b'{"jsonrpc":"2.0","id":"1","method":"q/four"}'),
            say(b'{"jsonrpc":"2.0","id":1e3,"method":"q/five"}'),
            say(b'{"jsonrpc":"2.0","id":2.0,"method":"q/six","params":{"id":9,"method":"inner"}}'),
            say(message(method="$/cancelRequest", params={"id": 1})),
        ],
        [
            say(b'{"jsonrpc":"2.0","result":{"id":1,"jsonrpc":"2.0"},"id":"1"}'),
            say(b'{"id":1000.0,"jsonrpc":"2.0","error":null,"result":[]}'),
            say(b'{"jsonrpc":"2.0","id":1,"method":"workspace/configuration","params":{"items":[{}]}}'),
            say(b'{"jsonrpc":"2.0","id":0,"method":"workspace/codeLens/refresh"}'),
            say(b'{"jsonrpc":"2.0","id":12345678901234567890,"error":{"code":1,"message":"","data":null}}'),
            say(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}'),
            say(b'{"jsonrpc":"2.0","id":-2,"result":null}'),
            say(b'{"jsonrpc":"2.0","id":2.0,"result":0.7166000000000001}'),
            say(b'{"jsonrpc":"2.0","id":999,"result":"to nobody"}'),
            say(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}'),
        ],
    ),
    Step(  # answers to the server's requests; custom methods both ways; progress
        [
            say(b'{"jsonrpc":"2.0","id":1,"result":[null]}'),
            say(b'{"jsonrpc":"2.0","id":0,"result":null}'),
            say(b'{"jsonrpc":"2.0","method":"tsserver/response","params":[[1,"_vue:projectInfo",{"a":null}]]}'),
            say(message(id="req-ü", method="vendor/ask", params=["\u00a0", "\U0001f600"])),
        ],
        [
            say(message(method="$/progress", params={"token": 0, "value": {"kind": "begin", "title": ""}})),
            say(message(method="$/progress", params={"token": "t", "value": {"items": [{"uri": "a"}]}})),
            say(b'{"jsonrpc":"2.0","method":"@/tailwindCSS/projectInitialized","params":[null]}'),
            say(b'{"jsonrpc":"2.0","result":"\\u00fc \\/","id":"req-\\u00fc"}'),
        ],
    ),
    Step(  # what JSON readers refuse, and what is no message at all
        [
            say(b'{"jsonrpc":"2.0","method":"c/lone","params":["\\ud800"]}'),
            say(b'{"jsonrpc":"2.0","method":"c/nan","params":[NaN,-Infinity]}'),
            say(b'{"jsonrpc":"2.0","method":"c/deep","params":%b}' % deep(5000)),
            say(b"not json"),
            say(b"[]"),
            say(b'{"jsonrpc":"2.0","method":"c/bytes","params":"\xff\xfe"}'),
        ],
        [
            say(b'{"jsonrpc":"2.0","method":"d/lone","params":["\\udfff"]}'),
            say(b'{"jsonrpc":"2.0","method":"d/deep","params":%b}' % deep(5000)),
            say(b'{"jsonrpc":"2.0"'),
            say(b'"text"'),
            say(b'{"id":{"a":1},"method":"d/id"}'),
            say(b'{"jsonrpc":"2.0","method":"d/twice","method":"d/second","params":{}}'),
        ],
    ),
    Step(  # diagnostics that no form can hold
        [],
        [
            say(publish()),
            say(publish({"range": RANGE, "message": "m", "code": {"value": 1, "target": "x"}})),
            say(publish({"message": "no range"}, {"message": "no range"})),
            say(publish({"range": RANGE, "message": "m", "severity": "high"})),
            say(publish({"range": {"start": 1, "end": 2}, "message": "m"})),
            say(publish("a string", 5, None)),
            say(message(method=PUBLISH, params={"uri": "file:///a", "diagnostics": {"no": "list"}})),
            say(message(method=PUBLISH, params=None)),
            say(message(method=PUBLISH)),
            say(b'{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"a","diagnostics":[}}'),
            say(publish({"range": RANGE, "message": 5})),
        ],
    ),
    Step(  # long bodies: passed on, held, with the id at the end, with the method last
        [
            say(b'{"jsonrpc":"2.0","id":"big","method":"e/big","params":"%b"}' % (b"x" * 300_000)),
            say(b'{"jsonrpc":"2.0","params":"%b","id":"late","method":"e/late"}' % (b"y" * 300_000)),
            say(b'{"jsonrpc":"2.0","method":"e/tail","params":"%b","id":"tail"}' % (b"z" * 300_000)),
            say(
                b'{"jsonrpc":"2.0","id":"held","method":"textDocument/diagnostic","params":{"textDocument":{"uri":"u"}}}'
            ),
        ],
        [
            say(b'{"jsonrpc":"2.0","result":"%b","id":"big"}' % (b"x" * 300_000)),
            say(b'{"jsonrpc":"2.0","result":{"kind":"full","items":[],"x":"%b"},"id":"held"}' % (b"h" * 300_000)),
            say(b'{"jsonrpc":"2.0","result":"%b\\"id\\":1}","id":"late","jsonrpc":"2.0"}' % (b"x" * 300_000)),
            say(b'{"jsonrpc":"2.0","id":"tail","result":["%b"]}' % (b"x" * 70_000)),
            say(b'{"jsonrpc":"2.0","method":"f/big","params":"%b"}' % (b"w" * 70_000)),
        ],
    ),
    Step(  # twenty megabytes each way at once, while stderr overflows
        [say(b'{"jsonrpc":"2.0","method":"g/huge","params":"%b"}' % (b"c" * BIG))],
        [say(b'{"jsonrpc":"2.0","method":"h/huge","params":"%b"}' % (b"s" * BIG)), say(message(method="h/after"))],
        stderr=5_000_000,
    ),
    Step([say(message(id="bye", method="shutdown"))], [say(b'{"jsonrpc":"2.0","id":"bye","result":null}')]),
]
