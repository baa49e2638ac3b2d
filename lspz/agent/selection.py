"""Which files a command is about: those named, those in the folders named, those that changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import ConfigError
from .disk import EXCLUDED


def workspace_of(paths: Sequence[Path], here: Path) -> Path:
    """The folder that paths are checked in: `here` if they are all below it, else the one they have in common."""
    if all(path.is_relative_to(here) for path in paths):
        return here
    folders = [path if path.is_dir() else path.parent for path in paths]
    return Path(os.path.commonpath(folders))


def files_in(folder: Path) -> list[Path]:
    """The files of a folder: those that git would track, where it is a git checkout, else all but in folders that
    nothing is looked for in."""
    listed = _git(folder, "ls-files", "-co", "--exclude-standard", "--deduplicate")
    found = _walk(folder) if listed is None else (folder / name for name in listed)
    return sorted(path for path in found if path.is_file() and EXCLUDED.isdisjoint(path.relative_to(folder).parts))


def changed_since(revision: str, folder: Path) -> frozenset[Path]:
    """The files that are not as they were in a revision, those that git does not track yet among them.

    Raises ConfigError where git does not know the revision, or the folder is no checkout.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top:
        raise ConfigError(f"--changed-since={revision!r}: {folder} is no git checkout, or git is not installed")
    changed = _git(folder, "diff", "--name-only", "--diff-filter=d", revision, "--")
    new = _git(folder, "ls-files", "-o", "--exclude-standard", "--full-name", ":/")
    if changed is None or new is None:
        raise ConfigError(f"--changed-since={revision!r}: git knows no such revision")
    root = Path(top[0]).resolve()
    return frozenset(root / name for name in (*changed, *new))


def _git(folder: Path, *arguments: str) -> list[str] | None:
    """What git lists; None where it fails."""
    command = ["git", "-C", str(folder), *arguments]
    if arguments[0] in ("diff", "ls-files"):
        command.insert(4, "-z")
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return None
    if done.returncode:
        return None
    text = os.fsdecode(done.stdout)
    return [name for name in (text.split("\0") if "-z" in command else text.splitlines()) if name]


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in EXCLUDED)
        for name in names:
            yield Path(parent, name)
