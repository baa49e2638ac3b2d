"""What is open between a client and a server, and what to say to the client when the server dies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..wire.messages import Envelope, error_response, id_key, notification
from .session import BACKEND_DIED

Raw = msgspec.Raw


class Owed:
    """What one server owes its client and the client it: requests, registrations, progress."""

    def __init__(self) -> None:
        self.requests: dict[bytes, tuple[bytes, str]] = {}
        """The client's open requests, by key: raw id and method."""
        self.asked: dict[bytes, bytes] = {}
        """The server's open requests, by key: raw ids."""
        self._registered: dict[str, str] = {}  # methods by registrations' ids
        self._progress: dict[bytes, Raw] = {}  # tokens of progress that has begun

    def client_asks(self, raw_id: bytes, method: str) -> None:
        """The client sends a request."""
        self.requests[id_key(raw_id)] = (raw_id, method)

    def server_answers(self, raw_id: bytes) -> str | None:
        """The server answers; return the method, None when nothing of the kind was asked."""
        request = self.requests.pop(id_key(raw_id), None)
        return None if request is None else request[1]

    def server_says(self, envelope: Envelope, body: bytes) -> None:
        """The server sends a request or a notification."""
        if envelope.id:
            self.asked[id_key(bytes(envelope.id))] = bytes(envelope.id)
        try:
            match envelope.method:
                case "client/registerCapability":
                    for registration in msgspec.json.decode(body)["params"]["registrations"]:
                        self._registered[registration["id"]] = registration["method"]
                case "client/unregisterCapability":
                    for registration in msgspec.json.decode(body)["params"]["unregisterations"]:
                        self._registered.pop(registration["id"], None)
                case "$/progress":
                    self._hear_progress(msgspec.json.decode(body, type=_Progress).params)
        except (msgspec.MsgspecError, LookupError, TypeError):
            pass  # not as LSP has it: the client may judge

    def _hear_progress(self, progress: _ProgressParams) -> None:
        kind = msgspec.json.decode(progress.value)
        kind = kind.get("kind") if isinstance(kind, dict) else None
        if kind == "begin":
            self._progress[bytes(progress.token)] = progress.token
        elif kind == "end":
            self._progress.pop(bytes(progress.token), None)

    def client_answers(self, raw_id: bytes) -> bool:
        """The client answers; return whether the server asked."""
        return self.asked.pop(id_key(raw_id), None) is not None

    @property
    def registrations(self) -> list[dict[str, str]]:
        """What is to be unregistered when the server is gone (JSON)."""
        return [{"id": id_, "method": method} for id_, method in self._registered.items()]

    def settle(self, reason: str, keep: frozenset[str] = frozenset()) -> Iterator[bytes]:
        """The server is gone: what to say to the client, but for requests of the methods in `keep`."""
        for key, (raw_id, method) in list(self.requests.items()):
            if method not in keep:
                del self.requests[key]
                yield error_response(raw_id, BACKEND_DIED, reason)
        for token in self._progress.values():
            yield notification("$/progress", {"token": token, "value": {"kind": "end"}})
        self._progress.clear()
        self._registered.clear()


class _ProgressParams(msgspec.Struct):
    token: Raw
    value: Raw


class _Progress(msgspec.Struct):
    params: _ProgressParams


def with_id(body: bytes, raw_id: bytes) -> bytes:
    """A message under another id."""
    members: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Raw])
    members["id"] = Raw(raw_id)
    return msgspec.json.encode(members)


def request(raw_id: bytes, method: str, params: object) -> bytes:
    """A request of lspz's own."""
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (
        raw_id,
        msgspec.json.encode(method),
        msgspec.json.encode(params),
    )
