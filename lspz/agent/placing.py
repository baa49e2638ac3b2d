"""New contents of files, put in place together: all of them, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..errors import EditConflict

TEMPORARY = ".lspz-"
"""What the names of new files begin with until they are in place."""


class Replacement(NamedTuple):
    """What becomes of one file."""

    before: bytes | None
    """What it must still hold; None where there must be no file."""
    after: bytes | None
    """What it will hold; None where it goes."""
    like: Path
    """The file whose permissions a new one gets."""


def put_in_place(replacements: Mapping[Path, Replacement], emptied: Iterable[Path] = ()) -> None:
    """Make the files what they should be, or leave them all as they were; then take away folders that are empty.

    New contents are written beside the files, what the files hold is compared once more, and each is put in place in
    one step; if that fails, what was done is taken back. Raises EditConflict where a file holds something else, and
    OSError.
    """
    beside: dict[Path, Path] = {}
    made: list[Path] = []  # folders
    done: list[tuple[Path, bytes | None, int]] = []  # with what it held, and its permissions
    try:
        for path, replacement in replacements.items():
            if replacement.after is not None:
                made += _make_folder(path.parent)
                beside[path] = _write_beside(path, replacement.after, replacement.like)
        for path, replacement in replacements.items():
            if _held(path) != replacement.before:
                raise EditConflict(f"{path}: changed while the edit was being applied")
        for path, replacement in replacements.items():
            done.append((path, replacement.before, path.stat().st_mode if path.exists() else 0))
            if path in beside:
                os.replace(beside[path], path)
            else:
                path.unlink(missing_ok=True)
    except BaseException:
        for path, before, mode in reversed(done):
            _restore(path, before, mode)
        for path in beside.values():
            path.unlink(missing_ok=True)
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise
    for folder in emptied:
        for parent, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):  # something is in it
                os.rmdir(parent)


def _held(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and those above it; return those that were not there."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir()
    return missing[::-1]


def _write_beside(path: Path, data: bytes, like: Path) -> Path:
    """A new file in the same folder with these contents, and the permissions of `like` if that is there."""
    number, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        if like.exists():
            shutil.copymode(like, beside)
        else:
            beside.chmod(0o666 & ~_umask())
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _restore(path: Path, before: bytes | None, mode: int) -> None:
    if before is None:
        path.unlink(missing_ok=True)
    elif _held(path) != before:
        beside = _write_beside(path, before, path)
        beside.chmod(mode & 0o7777)
        os.replace(beside, path)
