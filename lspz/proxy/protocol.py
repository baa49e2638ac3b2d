"""What pygls needs in order to share a connection with the relay.

pygls sees only messages that are meant for it, and writes through the relay. Its own requests carry ids that nobody
else uses, since it keeps one table for both directions: with plain numbers a client that cancels its request 1 would
cancel the server's request 1.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import JsonRPCProtocol, LanguageServerProtocol

from ..converters import client_converter_factory
from ..wire.messages import id_key, read_envelope

log = logging.getLogger("lspz.pygls")

_MEMBERS = ("jsonrpc", "id", "method", "params", "result", "error")


shared_converter = cache(client_converter_factory)
"""One converter for all of lspz's own pygls objects: making one takes tens of milliseconds."""


class SharedProtocol(JsonRPCProtocol):
    """A pygls protocol whose messages come from a relay (`deliver`) and go to one (`connect`)."""

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        self._own = f"lspz:{secrets.token_hex(4)}:"
        self._own_raw = f'"{self._own}'.encode()
        self._sent = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._send: Callable[[bytes], None] | None = None
        self._raw_ids: dict[Any, bytes] = {}  # ids of the peer's requests in progress here, as it wrote them
        self._handling: set[bytes] = set()  # and their keys, from when they were accepted

    def connect(self, send: Callable[[bytes], None]) -> None:
        """From now on write message bodies with `send`, which is called on this event loop's thread."""
        self._loop = asyncio.get_running_loop()
        self._send = send

    def disconnect(self, reason: str) -> None:
        """The peer is gone: every open request of ours fails with `reason`."""
        self._send = None
        for id_, future in list(self._request_futures.items()):
            if not future.done() and isinstance(id_, str) and id_.startswith(self._own):
                future.set_exception(ConnectionError(reason))

    def is_own(self, raw_id: bytes) -> bool:
        """Whether a raw id is one of our requests'."""
        return raw_id.startswith(self._own_raw)

    @property
    def waits(self) -> bool:
        """Whether a request of ours is open."""
        return any(isinstance(id_, str) and id_.startswith(self._own) for id_ in self._request_futures)

    def is_handling(self, raw_id: bytes) -> bool:
        """Whether the request with this id is being handled here."""
        return id_key(raw_id) in self._handling

    def deliver_soon(self, body: bytes, raw_id: bytes = b"") -> None:
        """Handle a message once what came with it is on its way, so that what a handler sends comes behind.

        `raw_id` is that of a request, which counts as being handled from now on. Messages are handled in order.
        """
        if raw_id:
            self._handling.add(id_key(raw_id))
        self.soon(self.deliver, body)

    def soon(self, call: Callable[..., None], *arguments: Any) -> None:
        """Call something after the messages that are being handed on."""
        assert self._loop is not None
        self._loop.call_soon(call, *arguments)

    def deliver(self, body: bytes) -> None:
        """Handle a message that is for pygls. A request that cannot be understood is answered with an error."""
        message = {name: member for name, member in json.loads(body).items() if name in _MEMBERS}
        if "method" in message:
            message.setdefault("params", None)
            envelope = read_envelope(body)
            if envelope is not None and envelope.id:
                message["id"] = self._take_id(message["id"], bytes(envelope.id))
        elif message.get("error") is None:
            message.pop("error", None)
        try:
            self.handle_message(self.structure_message(message))
        except JsonRpcException as error:
            self._refuse(message, error)

    def _take_id(self, value: Any, raw_id: bytes) -> int | str:
        key: int | str = value if isinstance(value, int | str) else raw_id.decode()
        self._raw_ids[key] = raw_id
        return key

    def _refuse(self, message: dict[str, Any], error: JsonRpcException) -> None:
        if "method" in message and "id" in message:
            self._send_response(message["id"], error=JsonRpcInvalidParams.of(error).to_response_error())
        elif (future := self._request_futures.pop(message.get("id"), None)) is not None:  # type: ignore[arg-type]
            future.set_exception(JsonRpcInvalidParams("the answer is not as LSP has it"))
        else:
            log.warning("a message was not understood: %s", error)

    def cancel_soon(self, body: bytes) -> None:
        """Handle the peer's `$/cancelRequest` for a request that is being handled here, as `deliver_soon` does."""
        self.soon(self._cancel, body)

    def _cancel(self, body: bytes) -> None:
        value = json.loads(body)["params"]["id"]
        self._handle_cancel_notification(value if isinstance(value, int | str) else json.dumps(value))

    # what pygls calls

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: str | int | None = None,
    ) -> Future[Any]:
        """Send a request under an id of our own. Without a connection its future fails with ConnectionError."""
        self._sent += 1
        future = super().send_request(method, params, callback, f"{self._own}{self._sent}")
        if self._send is None:
            self.disconnect("nobody is connected")
        return future

    def _send_data(self, data: Any) -> None:
        if not data:
            return
        body = json.dumps(data, default=self._serialize_message, separators=(",", ":")).encode()
        id_: Any = getattr(data, "id", None)
        if id_ in self._raw_ids and not hasattr(data, "method"):
            raw = self._raw_ids.pop(id_)
            self._handling.discard(id_key(raw))
            body = _with_id(body, id_, raw)
        loop, send = self._loop, self._send
        if loop is None or send is None:
            log.info("a message could not be sent: nobody is connected")
        elif _running_loop() is loop:
            send(body)
        else:  # a handler in a thread
            loop.call_soon_threadsafe(send, body)


def _with_id(body: bytes, id_: int | str, raw: bytes) -> bytes:
    """An answer under the id as the peer wrote it."""
    if raw == json.dumps(id_).encode():
        return body
    answer = json.loads(body)
    name = "error" if "error" in answer else "result"
    return b'{"jsonrpc":"2.0","id":%b,"%b":%b}' % (raw, name.encode(), json.dumps(answer.get(name)).encode())


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class ClientProtocol(SharedProtocol):
    """The backend's side: lsprotocol's types for requests and answers."""

    def _handle_notification(self, method_name: str, params: Any) -> None:
        if method_name in self.fm.features:  # of others pygls would say, on stderr, that it ignores them
            super()._handle_notification(method_name, params)

    def get_message_type(self, method: str) -> type[Any] | None:
        """lsprotocol's type of a request or notification."""
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(self, method: str) -> type[Any] | None:
        """lsprotocol's type of a response."""
        return types.METHOD_TO_TYPES.get(method, (None, None))[1]


class FacadeProtocol(SharedProtocol, LanguageServerProtocol):
    """The client's side: pygls' language server protocol."""

    def call_user_handler(self, method: str, params: Any) -> None:
        """Call the handler a user registered for a message that the backend answers, if there is one."""
        handler = self.fm.features.get(method)
        if handler is not None:
            self.soon(self._execute_handler, f"handler:{method}", handler, self._check_handler_result, (params,))
