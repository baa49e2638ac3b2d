"""The client's end of a connection to a language server: questions whose answers are awaited, and what the server says.

A result is handed on as the JSON it came in: what reads it builds only what it needs, and nothing a server says is
lost on the way.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..errors import AnswerTimeout, BackendDied, BackendRefused
from ..transports.base import Channel
from ..wire.framing import FrameReader, frame
from ..wire.messages import error_response, response

log = logging.getLogger("lspz.agent")

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603

Handler = Callable[[Any], Any]
"""Takes params (JSON); what it returns (JSON) answers a request."""


class _Error(msgspec.Struct):
    code: int = 0
    message: str = ""


class _Message(msgspec.Struct):
    id: msgspec.Raw = msgspec.Raw(b"")
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Message).decode


class Endpoint:
    """Speaks JSON-RPC over a channel.

    `handlers` answer the server's requests and take its notifications, by method. `ended` is called once, when nothing
    more will come.
    """

    def __init__(self, channel: Channel, handlers: Mapping[str, Handler], ended: Callable[[], None]) -> None:
        self._channel = channel
        self._handlers = handlers
        self._ended = ended
        self._frames = FrameReader()
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[bytes]] = {}
        self._gone: str | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()

    async def open(self) -> None:
        """Begin to listen."""
        await self._channel.open(self)

    async def request(self, method: str, params: Any, limit: float) -> bytes:
        """Ask, and return the result as JSON.

        Raises AnswerTimeout after `limit` seconds, BackendRefused for an error, BackendDied. A question that is given
        up, also by cancellation, is cancelled at the server.
        """
        if self._gone is not None:
            raise BackendDied(self._gone)
        number = next(self._numbers)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        answered = False
        try:
            async with asyncio.timeout(limit):
                await self._may_write.wait()
                self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                result = await answer
                answered = True
                return result
        except TimeoutError:
            raise AnswerTimeout(f"no answer to {method} within {limit:g} s") from None
        except BackendRefused as error:
            answered = True
            raise BackendRefused(f"{method}: {error}", error.code) from None
        finally:
            self._open.pop(number, None)
            if not answered and self._gone is None:
                self.notify("$/cancelRequest", {"id": number})

    def notify(self, method: str, params: Any) -> None:
        """Tell the server something. Nothing is raised when it is gone."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def fail(self, reason: str) -> None:
        """The server is gone: every open question fails with BackendDied, and so does every later one."""
        self._gone = reason
        self._may_write.set()
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(BackendDied(reason))

    def _send(self, message: Any) -> None:
        try:
            body = msgspec.json.encode(message)
        except UnicodeEncodeError:  # text with half a surrogate pair, which UTF-8 does not have
            body = json.dumps(message).encode()
        self._channel.write(frame(body))

    # what the channel calls

    def data_received(self, data: bytes) -> None:
        """Take the next bytes."""
        buffer, spans = self._frames.feed(data)
        if self._frames.noise:
            log.info("the server wrote what is no message: %.200r", b"".join(self._frames.noise))
            self._frames.noise.clear()
        for _, body, stop in spans:
            try:
                self._take(buffer[body:stop])
            except Exception:
                log.exception("a message of the server's could not be handled")

    def eof_received(self) -> None:
        """Hear that nothing more will come."""
        self._ended()

    def write_failed(self) -> None:
        """Hear that the server no longer reads; that it ended is heard by itself."""

    def pause_writing(self) -> None:
        """Hear that the server is slow to read: questions wait."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """Hear that it has caught up."""
        self._may_write.set()

    def _take(self, body: bytes) -> None:
        try:
            message = _decode(body)
        except (msgspec.MsgspecError, RecursionError):
            message = _read_leniently(body)
        raw_id = bytes(message.id)
        if message.method is None:
            self._answered(raw_id, message)
        elif raw_id:
            self._channel.write(frame(self._answer(raw_id, message)))
        elif (handler := self._handlers.get(message.method)) is not None:
            handler(msgspec.json.decode(message.params))

    def _answered(self, raw_id: bytes, message: _Message) -> None:
        answer = self._open.get(int(raw_id)) if raw_id.isdigit() else None
        if answer is None or answer.done():
            log.debug("an answer that nobody waits for: id %s", raw_id.decode(errors="replace"))
        elif message.error is not None:
            answer.set_exception(BackendRefused(f"{message.error.message} ({message.error.code})", message.error.code))
        else:
            answer.set_result(bytes(message.result))

    def _answer(self, raw_id: bytes, message: _Message) -> bytes:
        assert message.method is not None
        handler = self._handlers.get(message.method)
        if handler is None:
            return error_response(raw_id, METHOD_NOT_FOUND, f"lspz does not answer {message.method}")
        try:
            return response(raw_id, handler(msgspec.json.decode(message.params)))
        except Exception as error:
            log.exception("%s of the server's could not be answered", message.method)
            return error_response(raw_id, INTERNAL_ERROR, str(error))


def _read_leniently(body: bytes) -> _Message:
    """A message that is not as JSON-RPC has it: bytes that are no UTF-8, an error without a code. Raises ValueError."""
    value = json.loads(body.decode(errors="replace"))
    error = value.get("error")
    return _Message(
        id=msgspec.Raw(json.dumps(value["id"]).encode() if "id" in value else b""),
        method=value.get("method"),
        params=msgspec.Raw(json.dumps(value.get("params")).encode()),
        result=msgspec.Raw(json.dumps(value.get("result")).encode()),
        error=None if error is None else _Error(INTERNAL_ERROR, str(error)),
    )
