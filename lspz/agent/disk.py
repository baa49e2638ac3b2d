"""What happens to the files of a folder, in batches, as it is told by the system."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import ClassVar

from .placing import TEMPORARY

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

SETTLE = 10
"""Milliseconds without a further change after which a batch is told; watchfiles counts in milliseconds."""

BATCH = 200
"""Milliseconds after which a batch is told though changes go on."""

MARK_AGAIN = 0.1
"""Seconds until another mark is made, where one was not seen: watching takes a moment to begin."""

MARKS_PREFIX = "lspz-marks-"

Events = list[tuple[int, Path]]


class Disk:
    """A folder that is watched, for all that want to know. Get one with `of`; it ends with its last subscriber."""

    _open: ClassVar[dict[tuple[Path, int], Disk]] = {}

    def __init__(self, root: Path) -> None:
        self._root = root
        self._loop = asyncio.get_running_loop()
        self._told: list[Callable[[Events], None]] = []
        self._marks = _folder_for_marks()
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._failed = False
        self._stop = threading.Event()
        threading.Thread(target=self._watch, name="lspz-watch", daemon=True).start()

    @classmethod
    def of(cls, root: Path) -> Disk:
        """The one that watches a folder in this event loop."""
        key = (root, id(asyncio.get_running_loop()))
        if key not in cls._open:
            cls._open[key] = cls(root)
        return cls._open[key]

    def subscribe(self, told: Callable[[Events], None]) -> None:
        """From now on `told` is called, in the event loop, with each batch."""
        self._told.append(told)

    def unsubscribe(self, told: Callable[[Events], None]) -> None:
        """No longer."""
        self._told.remove(told)
        if not self._told:
            self._stop.set()
            Disk._open.pop((self._root, id(self._loop)), None)
            shutil.rmtree(self._marks, ignore_errors=True)

    async def caught_up(self, limit: float) -> None:
        """Wait until all was told that happened before now: until a mark that is made now is seen, in its order.

        At most `limit` seconds; where the system cannot watch, no time at all.
        """
        seen: asyncio.Future[None] = self._loop.create_future()
        numbers: list[int] = []
        try:
            async with asyncio.timeout(limit):
                while not (seen.done() or self._failed or self._stop.is_set()):
                    numbers.append(number := next(self._numbers))
                    self._waiting[number] = seen
                    with suppress(OSError):
                        (self._marks / str(number)).touch()
                    await asyncio.wait([seen], timeout=MARK_AGAIN)
        except TimeoutError:
            log.warning("%s: changes of files are not seen in time", self._root)
        finally:
            for number in numbers:
                self._waiting.pop(number, None)
                (self._marks / str(number)).unlink(missing_ok=True)

    def _watch(self) -> None:
        try:
            import watchfiles

            for changes in watchfiles.watch(
                self._root,
                self._marks,
                watch_filter=lambda _, name: not is_excluded(Path(name), self._root),
                debounce=BATCH,
                step=SETTLE,
                stop_event=self._stop,
                rust_timeout=1000,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                happened = {(int(kind), name) for kind, name in changes}
                with suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(self._tell, happened)
        except Exception as error:  # the system's limit of watched folders, say
            self._failed = True
            _warn_once(f"files that change on disk are not watched: {error}")

    def _tell(self, changes: set[tuple[int, str]]) -> None:
        marks = {name for _, name in changes if os.path.dirname(name) == str(self._marks)}
        events = _settled((kind, name) for kind, name in changes if name not in marks and name != str(self._marks))
        if events:
            for told in tuple(self._told):
                told(events)
        for name in marks:
            waiting = self._waiting.get(int(os.path.basename(name)))
            if waiting is not None and not waiting.done():
                waiting.set_result(None)


def is_excluded(path: Path, root: Path) -> bool:
    """Whether a file is in one of the folders in which nothing is looked for, or is there for a moment only."""
    if path.name.startswith(TEMPORARY):
        return True
    return path.is_relative_to(root) and not EXCLUDED.isdisjoint(path.relative_to(root).parts[:-1])


def _settled(changes: Iterable[tuple[int, str]]) -> Events:
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


def _folder_for_marks() -> Path:
    """A folder for marks; those of processes that were killed are taken away."""
    for left in Path(tempfile.gettempdir()).glob(f"{MARKS_PREFIX}*"):
        with suppress(OSError, ValueError):
            if left.stat().st_uid == os.getuid() and not _runs(int(left.name.split("-")[2])):
                shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{MARKS_PREFIX}{os.getpid()}-")).resolve()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@cache
def _warn_once(text: str) -> None:
    log.warning(text)
