"""The documents that a server is told of: what each holds, which version the server knows, what it said about it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import attrs

from ..errors import DocumentNotOpen, EditRefused
from ..wire.text import Text, decode_file
from ..wire.uris import uri_key
from .disk import DELETED
from .freshness import Habits, Judge
from .locators import File, path_of
from .session import ServerSession

RACY = 0.1
"""Seconds. A file that was written so shortly before it was read may be written again without a change of its time."""

OPEN_LIMIT = 64
"""Documents that are open at a server because something was asked about them; those asked about longest ago are
closed."""

NEWS = 32
"""Documents that are opened because their files changed, of one batch; a checkout changes thousands."""

Stamp = tuple[int, int, int, int]
"""When a file was written, how long it is, and which file it is."""

UNSURE: Stamp = (0, 0, 0, 0)
"""No file's stamp: read it again."""


@attrs.define(eq=False)
class Document:
    """A document, from when it is first asked about until it is closed; it outlives its server."""

    path: Path
    uri: str
    language: str
    text: str
    version: int = 1
    stamp: Stamp | None = None
    """What the file was when it was read; None where the text is the caller's own, and not that of the file."""
    told: int | None = None
    """The version that the server knows; None where it does not know the document."""
    held: bool = False
    """Whether the caller opened it, and it stays open until the caller closes it."""
    is_news: bool = False
    """Whether it is opened because its file was written, as if it had been saved."""
    asking: int = 0
    """How many questions about it are on their way."""
    judge: Judge = attrs.field(factory=Judge)
    published: list[Any] = attrs.field(factory=list)
    """What the server published for this version (JSON)."""
    pulled: list[Any] = attrs.field(factory=list)
    """What it answered for this version (JSON)."""
    result_id: str | None = None
    _lines: Text | None = None

    def lines(self, encoding: str) -> Text:
        """The text by positions."""
        if self._lines is None or self._lines.value is not self.text:
            self._lines = Text(self.text, encoding)
        return self._lines.in_encoding(encoding)

    def change(self, text: str) -> None:
        """There is another text, and another version."""
        self.text = text
        self.version += 1

    def refresh(self) -> None:
        """Take over what is on disk, unless it is what was read, or the text is the caller's own. Raises OSError."""
        if self.stamp is None or stamp_of(self.path) == self.stamp:
            return
        text, self.stamp = read(self.path)
        if text != self.text:
            self.change(text)

    def save(self) -> None:
        """Write the text to the file, in the encoding and with the permissions it has. Raises OSError, EditRefused."""
        encoding = decode_file(self.path.read_bytes() if self.path.exists() else b"")[1]
        try:
            data = encoding.encode(self.text)
        except UnicodeEncodeError as error:
            raise EditRefused(f"{self.path}: half a character, which {encoding.name} does not have: {error}") from None
        self.path.write_bytes(data)
        self.stamp = stamp_of(self.path)

    def said(self) -> list[Any]:
        """The diagnostics of this version (JSON), those that came on both ways once."""
        if not (self.pulled and self.published):
            return [*self.pulled, *self.published]
        known = [_identity(diagnostic) for diagnostic in self.pulled]
        return [*self.pulled, *(d for d in self.published if _identity(d) not in known)]


def _identity(diagnostic: Any) -> tuple[Any, ...]:
    return tuple(diagnostic.get(name) for name in ("range", "message", "code", "severity"))


def read(path: Path) -> tuple[str, Stamp]:
    """A file's text, and what the file is. Bytes that are no text become U+FFFD. Raises OSError."""
    stamp = stamp_of(path)
    if abs(time.time() - stamp[0] / 1e9) < RACY:
        stamp = UNSURE
    data = path.read_bytes()
    try:
        text, _ = decode_file(data)
    except UnicodeDecodeError:  # half of a UTF-16 file
        text = data.decode("utf-16", "replace")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not text.isascii() else text
    return text, stamp


def stamp_of(path: Path) -> Stamp:
    """What tells that a file was written since. Raises OSError."""
    found = path.stat()
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)


class Snapshot(NamedTuple):
    """What a server knew when it was asked."""

    at: int
    """Nanoseconds since the epoch."""
    texts: Mapping[str, str]
    """Of the documents that were open, by key."""


class Documents:
    """All documents of one server, in the order in which they were last asked about."""

    def __init__(
        self, root: Path, language_of: Callable[[Path], str], knows: Callable[[Path], bool] = lambda _: False
    ) -> None:
        self.habits = Habits()
        self.elsewhere: dict[str, tuple[str, list[Any]]] = {}
        """What the server published for documents that are not open: URI and diagnostics (JSON), by key."""
        self.last_published = 0.0
        self._checked = 0.0  # when the server was last told of a save, if it checks then
        self._root = root
        self._language_of = language_of
        self._knows = knows
        self._by_key: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._by_key.values()))

    def path(self, file: File) -> Path:
        """The path that a file is known under: links in the folders above the workspace's root are followed.

        Raises PlaceNotFound for what is no file.
        """
        path = Path(os.path.abspath(path_of(file, self._root)))
        return path if path.is_relative_to(self._root) else path.parent.resolve() / path.name

    def snapshot(self) -> Snapshot:
        """What the server knows now."""
        return Snapshot(time.time_ns(), {key: document.text for key, document in self._by_key.items()})

    def at(self, uri: str) -> Document | None:
        """A document that is open, by its URI."""
        return self._by_key.get(uri_key(uri))

    def find(self, file: File) -> Document | None:
        """A document that is open."""
        return self._by_key.get(uri_key(self.path(file).as_uri()))

    def known(self, file: File) -> Document:
        """A document that is open. Raises DocumentNotOpen."""
        document = self.find(file)
        if document is None:
            raise DocumentNotOpen(f"{file}: open it first")
        return document

    def have(self, file: File, text: str | None = None) -> Document:
        """A document, opened if it is not; `text` is what it holds, and not what the file does. Raises OSError."""
        path = self.path(file)
        uri = path.as_uri()
        document = self._by_key.pop(uri_key(uri), None)
        if document is None:
            held, stamp = read(path) if text is None else (text, None)
            document = Document(path, uri, self._language_of(path), held, stamp=stamp)
            document.judge = Judge(self.habits)
        elif text is not None:
            document.stamp = None
            if text != document.text:
                document.change(text)
        self._by_key[uri_key(uri)] = document
        return document

    def sync(self, session: ServerSession, asked: Document | None = None) -> bool:
        """Tell the server what changed since it was last told, on disk or by the caller; return whether anything did.

        Raises OSError where the file of the document that is asked about cannot be read.
        """
        edited, told = False, []
        is_first = all(document.told is None for document in self._by_key.values())
        for document in self:
            try:
                document.refresh()
            except FileNotFoundError:
                self._gone(document, session)
                if document is asked:
                    raise
                edited = True
                continue
            except OSError:
                if document is asked:
                    raise
            if document.told != document.version:
                edited |= document.told is not None or document.stamp is None
                self._tell(document, session)
                told.append(document)
        if told and is_first:
            session.stir()
        if edited:
            self.disturb(session.now, told)
        self._close_some(session)
        return edited

    def touch(self, document: Document, session: ServerSession) -> None:
        """Have the server look at a document again: another version with the same text."""
        document.version += 1
        self._tell(document, session, touched=True)

    def _tell(self, document: Document, session: ServerSession, touched: bool = False) -> None:
        identifier = {"uri": document.uri, "version": document.version}
        if document.told is None:
            item = {**identifier, "languageId": document.language, "text": document.text}
            session.notify("textDocument/didOpen", {"textDocument": item})
            if document.is_news:
                self.saved(document, session)
                document.is_news = False
        else:
            changes = [{"text": document.text}]
            session.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
            if not touched and document.stamp is not None:
                self.saved(document, session)
        document.told = document.version
        document.judge.opened(document.version, session.now, touched)
        document.pulled, document.result_id = [], None
        if not touched:
            document.published = []
        self.elsewhere.pop(uri_key(document.uri), None)

    def _gone(self, document: Document, session: ServerSession) -> None:
        """Its file is not there any more: one that the caller opened is opened again when it is."""
        if document.held:
            self._close_at(document, session)
        else:
            self.close(document, session)
        self.elsewhere.pop(uri_key(document.uri), None)

    def saved(self, document: Document, session: ServerSession) -> None:
        """Tell a server that wants to know that the document was saved."""
        options = session.sync.get("save")
        if options is None or options is False:
            options = session.registered("textDocument/didSave")
        if options is not None:
            params: dict[str, Any] = {"textDocument": {"uri": document.uri}}
            if isinstance(options, dict) and options.get("includeText"):
                params["text"] = document.text
            session.notify("textDocument/didSave", params)
            if session.options.server.checks_saved:
                self._checked = session.now
                session.stir()

    def check(self, document: Document, session: ServerSession) -> bool:
        """Have a server check that does so when a document is saved, and has not since it loaded the project.

        Return whether it was told to.
        """
        if not session.options.server.checks_saved or self._checked > session.work.loaded:
            return False
        self.saved(document, session)
        return self._checked > session.work.loaded

    def close(self, document: Document, session: ServerSession | None) -> None:
        """Forget a document, and tell the server that it is closed."""
        self._by_key.pop(uri_key(document.uri), None)
        self._close_at(document, session)
        if document.published and document.stamp is not None:
            self.elsewhere[uri_key(document.uri)] = (document.uri, document.published)

    def _close_at(self, document: Document, session: ServerSession | None) -> None:
        if document.told is not None and session is not None:
            session.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
        document.told = None
        document.judge.closed()

    def _close_some(self, session: ServerSession) -> None:
        passing = [document for document in self if not document.held]
        for document in passing[: max(len(passing) - OPEN_LIMIT, 0)]:
            if not document.asking:
                self.close(document, session)

    def disturb(self, at: float, besides: list[Document] | None = None) -> None:
        """Something changed that may change what is said about every document, but for some."""
        for document in self:
            if document not in (besides or ()):
                document.judge.disturbed(at)

    def outdated(self, at: float) -> None:
        """What the server answered so far may be wrong by now."""
        for document in self:
            document.judge.outdated(at)

    def forget(self) -> None:
        """A server begins that knows nothing yet."""
        self.habits = Habits()
        self._checked = 0.0
        self.elsewhere.clear()
        for document in self:
            document.told = None
            document.judge = Judge(self.habits)
            document.published, document.pulled, document.result_id = [], [], None

    def news(self, events: Iterable[tuple[int, Path]], at: float) -> bool:
        """Take what happened to files; return whether any of it is news.

        Files that the server has a language for are opened, so that it certainly knows what they hold now; a few
        of many. What is known of other documents may be wrong by now.
        """
        is_news = False
        left = NEWS
        for kind, path in events:
            document = self._by_key.get(uri_key(path.as_uri()))
            try:
                if kind == DELETED:
                    is_news = True
                elif document is None:
                    is_news = True
                    if left and self._knows(path) and path.is_file():
                        left -= 1
                        self.have(path).is_news = True
                elif document.stamp is not None and stamp_of(path) != document.stamp:
                    is_news |= read(path)[0] != document.text
            except OSError:
                is_news = True
        if is_news:
            self.disturb(at)
        return is_news

    def died(self, reason: str) -> None:
        """The server is gone."""
        for document in self:
            document.judge.died(reason)

    def take_published(self, params: Any, at: float) -> None:
        """Take what a server published; what it says about another version than it was told of last is dropped."""
        self.last_published = at
        uri, diagnostics, version = params["uri"], params["diagnostics"], params.get("version")
        document = self._by_key.get(uri_key(uri))
        if document is not None:
            if document.judge.published(version, len(diagnostics), at):
                document.published = diagnostics
        elif diagnostics:
            self.elsewhere[uri_key(uri)] = (uri, diagnostics)
        else:
            self.elsewhere.pop(uri_key(uri), None)
