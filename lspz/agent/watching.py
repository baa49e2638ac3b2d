"""Files that change behind a server's back: what it wants to hear of is watched on disk, and told in batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .disk import CHANGED, CREATED, DELETED, Disk
from .locators import path_of
from .session import ServerSession

_KIND_BITS = {CREATED: 1, CHANGED: 2, DELETED: 4}
"""LSP's WatchKind."""


_Wanted = tuple[re.Pattern[str], str, int]  # the glob, the folder from which it may be, the kinds of change


class FileEvents:
    """What one server wants to hear about files, and telling it."""

    def __init__(
        self,
        root: Path,
        workspace: Path,
        session: Callable[[], ServerSession | None],
        matters: Callable[[Path], bool],
        happened: Callable[[Sequence[tuple[int, Path]]], None],
        saved: Iterable[str] = (),
        watch: bool = True,
    ) -> None:
        self._root = root
        self._workspace = workspace
        self._saved = [self._read({"globPattern": glob}) for glob in saved]
        self._watches = watch
        self._session = session
        self._matters = matters
        self._happened = happened
        self._wanted: list[_Wanted] = []
        self._disk: Disk | None = None

    def begin(self) -> None:
        """Watch the disk: a server is about to be started."""
        if self._watches and self._disk is None:
            self._disk = Disk.of(self._workspace)
            self._disk.subscribe(self.tell)

    def want(self, watchers: Iterable[Any]) -> None:
        """Take the `FileSystemWatcher`s that the server has registered."""
        self._wanted = [self._read(watcher) for watcher in watchers]

    async def caught_up(self, limit: float) -> None:
        """Wait until the server was told of all that happened on disk before now, `limit` seconds at most."""
        if self._disk is not None:
            await self._disk.caught_up(limit)

    def _read(self, watcher: Any) -> _Wanted:
        glob = watcher["globPattern"]
        base = self._root
        if isinstance(glob, dict):
            uri = glob["baseUri"]
            base = path_of(uri["uri"] if isinstance(uri, dict) else uri, self._root)
            glob = glob["pattern"]
        return compiled(glob), f"{base.as_posix().rstrip('/')}/", watcher.get("kind") or sum(_KIND_BITS.values())

    def tell(self, happened: Iterable[tuple[int, Path]]) -> None:
        """Tell the server what happened to files, as far as it wants to hear of it."""
        session = self._session()
        if session is None:
            return
        wanted = (*self._wanted, *self._saved)
        events = [(kind, path) for kind, path in happened if self._matters(path) or _fits(kind, path, wanted)]
        changes = [{"uri": path.as_uri(), "type": kind} for kind, path in events if _fits(kind, path, self._wanted)]
        if changes:
            session.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        for kind, path in events:
            if _fits(kind, path, self._saved):
                session.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})
        if events:
            self._happened(events)
            session.changed.fire()

    def stop(self) -> None:
        """Watch no longer."""
        if self._disk is not None:
            self._disk.unsubscribe(self.tell)
            self._disk = None
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
