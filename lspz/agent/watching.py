"""Files that change behind a server's back: what it wants to hear of is watched on disk, and told in batches."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from .locators import path_of
from .session import ServerSession

log = logging.getLogger("lspz.agent")

CREATED, CHANGED, DELETED = 1, 2, 3
"""LSP's FileChangeType, and watchfiles' Change."""

EXCLUDED = frozenset(
    (
        ".git",
        ".hg",
        ".hypothesis",
        ".idea",
        ".jj",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
    )
)
"""Names of folders in which nothing is looked for."""

SETTLE = 50
"""Milliseconds without a further change after which a batch is told, so that a checkout is one batch and not thousands;
watchfiles counts in milliseconds."""

BATCH = 1000
"""Milliseconds after which a batch is told though changes go on."""

_KIND_BITS = {CREATED: 1, CHANGED: 2, DELETED: 4}
"""LSP's WatchKind."""


_Wanted = tuple[re.Pattern[str], str, int]  # the glob, the folder from which it may be, the kinds of change


class FileEvents:
    """What one server wants to hear about files, and telling it."""

    def __init__(
        self,
        root: Path,
        session: Callable[[], ServerSession | None],
        disturbed: Callable[[], None],
        saved: Iterable[str] = (),
        watch: bool = True,
    ) -> None:
        self._root = root
        self._saved = [self._read({"globPattern": glob}) for glob in saved]
        self._watch = watch
        self._session = session
        self._disturbed = disturbed
        self._wanted: list[_Wanted] = []
        self._stop: threading.Event | None = None

    def want(self, watchers: Iterable[Any]) -> None:
        """Take the `FileSystemWatcher`s that the server has registered."""
        self._wanted = [self._read(watcher) for watcher in watchers]
        self.begin()

    def begin(self) -> None:
        """Watch the disk, if the server that runs wants to hear of anything."""
        if not (self._wanted or self._saved):
            self.stop()
        elif self._watch and self._stop is None:
            self._stop = _start(self._root, self._told)

    def _read(self, watcher: Any) -> _Wanted:
        glob = watcher["globPattern"]
        base = self._root
        if isinstance(glob, dict):
            uri = glob["baseUri"]
            base = path_of(uri["uri"] if isinstance(uri, dict) else uri, self._root)
            glob = glob["pattern"]
        return compiled(glob), f"{base.as_posix().rstrip('/')}/", watcher.get("kind") or sum(_KIND_BITS.values())

    def tell(self, events: Iterable[tuple[int, Path]]) -> None:
        """Tell the server of those changes that it wants to hear of."""
        session = self._session()
        if session is None:
            return
        events = tuple(events)
        changes = [{"uri": path.as_uri(), "type": kind} for kind, path in events if _fits(kind, path, self._wanted)]
        saved = [path.as_uri() for kind, path in events if _fits(kind, path, self._saved)]
        if changes:
            session.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        for uri in saved:
            session.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        if changes or saved:
            self._disturbed()
            session.changed.fire()

    def _told(self, changes: set[tuple[int, str]]) -> None:
        if self._stop is not None:
            self.tell(_settled(changes))

    def stop(self) -> None:
        """Watch no longer."""
        if self._stop is not None:
            self._stop.set()
            self._stop = None
        self._wanted = []


def _fits(kind: int, path: Path, wanted: Iterable[_Wanted]) -> bool:
    name = path.as_posix()
    return any(
        kinds & _KIND_BITS[kind]
        and (pattern.fullmatch(name) or (name.startswith(base) and pattern.fullmatch(name[len(base) :])))
        for pattern, base, kinds in wanted
    )


@cache
def compiled(glob: str) -> re.Pattern[str]:
    """The regular expression of an LSP glob: `*`, `?`, `**`, `{a,b}`, `[a-z]`, `[!a-z]`."""
    out, depth, at = [], 0, 0
    while at < len(glob):
        char = glob[at]
        if glob.startswith("**", at):
            at += 2
            if glob.startswith("/", at):
                at += 1
                out.append("(?:.*/)?")
            else:
                out.append(".*")
            continue
        if char == "*":
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "{":
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "[" and (end := glob.find("]", at + 2)) > 0:
            inside = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^/{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]")
            at = end
        else:
            out.append(re.escape(char))
        at += 1
    return re.compile("".join(out) + ")" * depth, re.DOTALL)


def is_excluded(path: Path, root: Path) -> bool:
    """Whether a file is in one of the folders in which nothing is looked for."""
    return path.is_relative_to(root) and not EXCLUDED.isdisjoint(path.relative_to(root).parts[:-1])


def _settled(changes: set[tuple[int, str]]) -> list[tuple[int, Path]]:
    """What happened to each file, all in all; of a new folder, what is in it."""
    kinds: dict[str, set[int]] = {}
    for kind, name in changes:
        kinds.setdefault(name, set()).add(kind)
    events: dict[Path, int] = {}
    for name, seen in sorted(kinds.items()):
        path = Path(name)
        if not path.exists():
            events[path] = DELETED
        elif CREATED in seen and DELETED not in seen:
            for below in path.rglob("*") if path.is_dir() else ():
                if below.is_file() and not is_excluded(below, path.parent):
                    events[below] = CREATED
            events[path] = CREATED
        elif not path.is_dir():
            events.setdefault(path, CHANGED)
    return [(kind, path) for path, kind in events.items()]


def _start(root: Path, told: Callable[[set[tuple[int, str]]], None]) -> threading.Event | None:
    """Watch a folder in a thread; `told` is called in the event loop. Setting the event ends it."""
    try:
        import watchfiles
    except ImportError:
        _warn_once("files that change on disk are not watched: pip install 'lspz[watch]'")
        return None
    stop = threading.Event()
    loop = asyncio.get_running_loop()

    def wanted(change: int, name: str) -> bool:
        return not is_excluded(Path(name), root)

    def watch() -> None:
        try:
            for changes in watchfiles.watch(
                root,
                watch_filter=wanted,
                debounce=BATCH,
                step=SETTLE,
                stop_event=stop,
                rust_timeout=BATCH,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(told, {(int(kind), name) for kind, name in changes})
        except Exception as error:  # the system's limit of watched folders, say
            _warn_once(f"files that change on disk are not watched: {error}")

    threading.Thread(target=watch, name="lspz-watch", daemon=True).start()
    return stop


@cache
def _warn_once(text: str) -> None:
    log.warning(text)
