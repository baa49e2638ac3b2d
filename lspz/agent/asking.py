"""One question on its way: the server it is for, the document it is about, and the time that is left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import msgspec

from ..config import Config
from ..errors import AnswerTimeout, BackendRefused, CannotCompress, PlaceNotFound
from ..formats.text.positions import Span
from ..interceptors import INTERCEPTORS
from ..interceptors.compressor import Compressor
from ..wire.text import Place, Text, units
from .documents import Document, read
from .freshness import Fresh, Freshness, Patience, Pending
from .locators import At, path_of
from .positions import respanned
from .session import ServerSession

log = logging.getLogger("lspz.agent")

ASK_AGAIN = 0.2
"""Seconds until a server that says that contents were modified, or that it cancelled, is asked again."""

KEPT = 0.2
"""The share of a question's limit that is kept for its answer, while a server is waited for that is at work."""

_ASK_AGAIN = (-32801, -32802)
"""LSP's ContentModified and ServerCancelled."""


@contextmanager
def understood(method: str) -> Iterator[None]:
    """Raise BackendRefused where an answer cannot be read: it is not as LSP has it."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BackendRefused(f"{method}: the server's answer is not as LSP has it: {error!r}") from error


class Models:
    """Reads answers the way a handle is configured to."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._compressors: dict[str, Compressor] = {}

    def read(self, method: str, raw: bytes) -> Any:
        """The model of an answer, None where the server said something that LSP does not have."""
        try:
            return self._compressor(method).model(method, raw)
        except (CannotCompress, msgspec.MsgspecError, TypeError) as error:
            log.warning("the answer to %s was not understood, and is passed on as it is: %s", method, error)
            return None

    def _compressor(self, method: str) -> Compressor:
        if method not in self._compressors:
            row = next(row for row in INTERCEPTORS if method in row.methods)
            made = row.create(self._config, "text")
            assert isinstance(made, Compressor)
            self._compressors[method] = made
        return self._compressors[method]


class Asking:
    """One question on its way."""

    def __init__(
        self,
        session: ServerSession,
        models: Models,
        patience: Patience,
        until: float,
        document: Document | None,
        open_text: Callable[[Path], str | None],
    ) -> None:
        self.session = session
        self.models = models
        self.patience = patience
        self._document = document
        self._open_text = open_text
        self._clock = asyncio.get_running_loop().time
        self.until = until
        self._texts: dict[str, Text | None] = {}

    def within(self, share: float) -> Asking:
        """The same with a share of the time that is left."""
        other = copy(self)
        other.until = self._clock() + share * self.left
        return other

    @property
    def left(self) -> float:
        """Seconds until the question is given up."""
        return max(self.until - self._clock(), 0.0)

    @property
    def document(self) -> Document:
        """The document that it is about."""
        assert self._document is not None
        return self._document

    @property
    def identifier(self) -> dict[str, Any]:
        """The document, as params have it."""
        return {"uri": self.document.uri}

    def position(self, at: At) -> dict[str, int]:
        """A place in the document, as the server counts. Raises PlaceNotFound."""
        text = self.document.lines(self.session.options.positions)
        place = text.in_encoding(self.session.encoding).place(at.offset(text))
        return {"line": place.line, "character": place.character}

    def range(self, at: At, end: At | None) -> dict[str, Any]:
        """A range of the document, as the server counts; a line of which no more is said is meant to its end.

        Raises PlaceNotFound.
        """
        last = at if end is None else end
        stop = self.position(last)
        if last.character is None and last.symbol is None:
            text = self.document.lines(self.session.encoding)
            stop = {**stop, "character": units(text.line(stop["line"]), text.encoding)}
        return {"start": self.position(at), "end": stop}

    async def request(self, method: str, params: Any) -> bytes:
        """The result, as JSON; a server that wants to be asked again is.

        Raises AnswerTimeout, BackendRefused, BackendDied.
        """
        while True:
            try:
                return await self.session.request(method, params, self.left)
            except BackendRefused as error:
                if error.code not in _ASK_AGAIN:
                    raise
                if self.left <= ASK_AGAIN:
                    raise AnswerTimeout(f"{method}: the server wants to be asked again: {error}") from error
            await asyncio.sleep(ASK_AGAIN)

    async def answer(self, method: str, params: Any, across: bool) -> tuple[bytes, str | None]:
        """The result, and what the server was still at work with when it was given.

        `across`: the whole project matters, so the server is not asked before it is ready. Else it is asked at once,
        and again when it is ready, if it found nothing.
        """
        ready_until = self.until - KEPT * self.patience.limit
        busy = await self.session.ready(ready_until, across) if across else None
        raw = await self.request(method, params)
        if raw in EMPTY and not across and self.session.is_stirred:
            busy = await self.session.ready(ready_until)
            raw = await self.request(method, params)
        return raw, busy

    def state(self, count: int, busy: str | None) -> Freshness:
        """How far an answer can be relied on."""
        if busy is not None:
            return Pending(f"the server is at work: {busy}")
        return Fresh(None if self._document is None else self._document.version, count)

    def model(self, method: str, raw: bytes) -> Any:
        """The model of an answer, its ranges as the caller counts."""
        return self.respanned(self.models.read(method, raw))

    def respanned(self, model: Any) -> Any:
        """A model with its ranges as the caller counts."""
        return model if model is None or not self._converts else respanned(model, self.respan)

    @property
    def _converts(self) -> bool:
        return self.session.encoding != self.session.options.positions

    def respan(self, uri: str | None, span: Span) -> Span:
        """A range as the caller counts; as it is where the document cannot be read."""
        if not self._converts:
            return span
        text = self._text(uri)
        if text is None or text.value.isascii():
            return span
        other = text.in_encoding(self.session.options.positions)
        start, end = (other.place(text.offset(*Place(*place))) for place in (span[:2], span[2:]))
        return (*start, *end)

    def _text(self, uri: str | None) -> Text | None:
        if uri is None:
            return self.document.lines(self.session.encoding)
        if uri not in self._texts:
            self._texts[uri] = self._read(uri)
        return self._texts[uri]

    def _read(self, uri: str) -> Text | None:
        try:
            path = path_of(uri, self.session.options.root)
            text = self._open_text(path)
            return Text(read(path)[0] if text is None else text, self.session.encoding)
        except (OSError, PlaceNotFound):
            return None


EMPTY = (b"null", b"[]", b"{}")
"""Answers that say nothing."""
