"""The client's open requests: each gets one answer, of one server or made of several."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import msgspec

from ...wire.messages import error_response, id_key, notification, response
from ..session import BACKEND_DIED
from .answers import Answer, Combine
from .group import Error, Group, Say, Server

log = logging.getLogger("lspz.backend")

PATIENCE = 3.0
"""Seconds that the other servers have once one has answered what goes to all; then the client gets what there is."""

METHOD_NOT_FOUND = -32601
_NO_ANSWER = (METHOD_NOT_FOUND, BACKEND_DIED)
"""Errors that say nothing about what was asked."""

_BAD = (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError, RecursionError)

Raw = msgspec.Raw


@attrs.define(eq=False)
class Request:
    """A request of the client's."""

    raw_id: bytes
    method: str
    combine: Combine | None = None
    """Makes one result of the servers'; None: a server's answer goes out as it came."""
    others: list[Server] = attrs.field(factory=list)
    """Whom to ask, one after the other, while the one who was asked does not know the method."""
    body: bytes = b""
    """What they are asked."""
    is_patient: bool = False
    """Whether all answers are waited for."""
    is_strict: bool = False
    """Whether an error of one server is the answer, since a part of the result would be taken for all of it."""
    waiting: set[Server] = attrs.field(factory=set)
    answers: list[Answer] = attrs.field(factory=list)
    errors: list[tuple[Server, bytes]] = attrs.field(factory=list)
    timer: asyncio.TimerHandle | None = None


class _Response(msgspec.Struct):
    result: Raw = Raw(b"null")
    error: Raw = Raw()


class Requests:
    """The ledger of them."""

    def __init__(self, group: Group, say: Say) -> None:
        self._group = group
        self._say = say
        self._open: dict[bytes, Request] = {}

    def ask(self, request: Request, bodies: Mapping[Server, bytes]) -> None:
        """Send a request to servers, to each its body."""
        self._open[id_key(request.raw_id)] = request
        request.waiting |= set(bodies)
        for server, body in bodies.items():
            server.send(body)

    def cancel(self, raw_id: bytes, body: bytes) -> None:
        """The client takes a request back: so does lspz, where it is open."""
        request = self._open.get(id_key(raw_id))
        for server in request.waiting if request is not None else ():
            server.send(body)

    def answered(self, server: Server, raw_id: bytes, body: bytes) -> None:
        """A server answers. What it was not asked, or has answered, goes no further."""
        request = self._open.get(id_key(raw_id))
        if request is None or server not in request.waiting:
            log.info("%s: an answer to %s, which nobody waits for", server.name, raw_id.decode(errors="replace"))
            return
        request.waiting.discard(server)
        if request.combine is None and not request.others:
            self._close(request, body)
            return
        try:
            read = msgspec.json.decode(body, type=_Response)
            code = msgspec.json.decode(read.error, type=Error).code if read.error else None
        except _BAD as error:
            log.warning("%s: %s: an answer that cannot be read: %r", server.name, request.method, error)
            read, code = _Response(), 0
        if code is None:
            request.answers.append(Answer(server.number, read.result, server.offers(_resolving(request.method))))
        else:
            request.errors.append((server, body))
        self._went_on(request, body, code)

    def _went_on(self, request: Request, body: bytes, code: int | None) -> None:
        """One of the servers has answered, with an error of this code."""
        if code == METHOD_NOT_FOUND and self._ask_next(request):
            return
        is_over = request.combine is None or (request.is_strict and code is not None and code not in _NO_ANSWER)
        if is_over:
            self._close(request, body)
        elif not request.waiting:
            self._finish(request)
        elif request.timer is None and not request.is_patient and request.answers:
            request.timer = asyncio.get_running_loop().call_later(PATIENCE, self._finish, request)

    def _ask_next(self, request: Request) -> bool:
        while request.others:
            server = request.others.pop(0)
            if server.tap is not None:
                request.waiting.add(server)
                server.send(request.body)
                return True
        return False

    def _finish(self, request: Request) -> None:
        """Answer with what there is."""
        assert request.combine is not None
        if not request.answers:
            self._close(request, min(request.errors, key=_number)[1])
            return
        answers = sorted(request.answers)
        try:
            body = response(request.raw_id, request.combine(answers))
        except _BAD as error:
            log.warning(
                "%s: answers that cannot be put together: %r; the first server's goes out", request.method, error
            )
            body = response(request.raw_id, answers[0].result)
        self._close(request, body)

    def _close(self, request: Request, body: bytes) -> None:
        """The client gets its answer; who has not answered need not."""
        key = id_key(request.raw_id)
        if self._open.get(key) is request:
            del self._open[key]
        if request.timer is not None:
            request.timer.cancel()
        if request.waiting:
            cancel = notification("$/cancelRequest", {"id": Raw(request.raw_id)})
            for server in request.waiting:
                server.send(cancel)
        self._say(body)

    def died(self, server: Server, reason: str) -> None:
        """A server is gone: nobody waits for it any longer."""
        for request in [*self._open.values()]:
            if server in request.waiting:
                request.waiting.discard(server)
                if self._ask_next(request):
                    continue
                body = error_response(request.raw_id, BACKEND_DIED, reason)
                request.errors.append((server, body))
                self._went_on(request, body, BACKEND_DIED)

    def close(self) -> None:
        """Answer nothing more."""
        for request in self._open.values():
            if request.timer is not None:
                request.timer.cancel()
        self._open.clear()


def _number(error: tuple[Server, bytes]) -> int:
    return error[0].number


def _resolving(method: str) -> str:
    """The request that completes an item of an answer."""
    space, _, name = method.rpartition("/")
    if space == "workspace":
        return "workspaceSymbol/resolve"
    return ("completionItem" if name == "completion" else name) + "/resolve"


def passed(answers: Sequence[Answer]) -> Any:
    """The one answer, as it is."""
    return answers[0].result
