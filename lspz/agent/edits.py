"""WorkspaceEdits on disk: all of an edit, or nothing.

First everything is worked out in memory; a mistake in the edit touches no file. Then new contents are written beside
the files, what the files hold is compared once more, and each is put in place in one step. If that fails, what was done
is taken back.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

import attrs

from ..errors import EditConflict, EditRefused
from ..wire.text import UTF16, Text, decode_file
from ..wire.uris import uri_key
from .placing import Replacement, put_in_place

VersionOf = Callable[[str], int | None]
"""The version of a document that is open, by its URI; None where it is not open."""


@attrs.frozen
class FileChange:
    """What an edit did to one file."""

    path: Path
    """Where it is now; of a deleted file, where it was."""
    before: bytes | None = attrs.field(repr=False)
    """What it held; None where there was no file."""
    after: bytes | None = attrs.field(repr=False)
    """What it holds; None where there is no file any more."""
    moved_from: Path | None = None

    @property
    def kind(self) -> str:
        """`edited`, `created`, `deleted` or `renamed`."""
        if self.moved_from is not None:
            return "renamed"
        return "created" if self.before is None else "deleted" if self.after is None else "edited"

    def diff(self, root: Path) -> str:
        """A unified diff, with paths from `root`; of a file that is no text a line that says so."""
        old, new = _shown(self.moved_from or self.path, root), _shown(self.path, root)
        before, after = (decode_file(data or b"")[0] for data in (self.before, self.after))
        if "\0" in before or "\0" in after:
            return f"Binary files {old} and {new} differ\n"
        lines = difflib.unified_diff(
            _lines(before),
            _lines(after),
            "/dev/null" if self.before is None else f"a/{old}",
            "/dev/null" if self.after is None else f"b/{new}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@attrs.frozen
class AppliedEdit:
    """What an edit did."""

    root: Path
    changes: tuple[FileChange, ...]

    def diff(self) -> str:
        """All of it as a unified diff."""
        return "".join(change.diff(self.root) for change in self.changes)

    def lines(self) -> tuple[str, ...]:
        """What happened to each file: `edited src/a.py`."""
        lines = []
        for change in self.changes:
            moved = f"{_shown(change.moved_from, self.root)} -> " if change.moved_from is not None else ""
            lines.append(f"{change.kind} {moved}{_shown(change.path, self.root)}")
        return tuple(lines)


def apply_workspace_edit(
    edit: Mapping[str, Any],
    root: str | os.PathLike[str],
    *,
    encoding: str = UTF16,
    version_of: VersionOf | None = None,
    write: bool = True,
) -> AppliedEdit:
    """Apply a WorkspaceEdit (LSP, as JSON) to the files below `root`; without `write`, say what it would do.

    `encoding` is the position encoding that was agreed on with the server; `version_of` says in which version documents
    are open, to be compared with that which the edit is for. Files keep their encoding (UTF-8 or UTF-16, with or
    without a mark), their line ends and their permissions; lines of new text end as the file's do.

    Raises EditRefused for an edit that is no valid one or leaves `root`, EditConflict where versions or contents are
    not what the edit is for, OSError where a file cannot be read or written. Then every file is as it was.
    """
    tree = _Tree(Path(root).resolve(), encoding)
    for operation in _together(_operations(edit)):
        tree.do(operation, version_of)
    if write:
        put_in_place(tree.replacements(), tree.emptied)
    return AppliedEdit(tree.root, tree.changes())


def apply_text_edits(text: str, edits: Sequence[Mapping[str, Any]], encoding: str = UTF16) -> str:
    """A text after TextEdits (JSON), all of which speak of the text as it is. Raises EditRefused where they overlap.

    Inserts at one place come in their order. Lines of new text end as most of the text's do.
    """
    document = Text(text, encoding)
    end_of_line = document.line_end
    spans = []
    for number, edit in enumerate(edits):
        try:
            start, end = (
                document.offset(place["line"], place["character"])
                for place in (edit["range"]["start"], edit["range"]["end"])
            )
            new = str(edit["newText"])
        except (KeyError, TypeError, ValueError) as error:
            raise EditRefused(f"edit {number} is no TextEdit: {error!r}") from error
        if end < start:
            raise EditRefused(f"edit {number} ends before it starts")
        if end_of_line != "\n":
            new = end_of_line.join(new.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        spans.append((start, end, number, new))
    out, at = [], 0
    # at one place what is inserted comes before what is replaced
    for start, end, number, new in sorted(spans, key=lambda span: (span[0], span[1] > span[0], span[2])):
        if start < at:
            raise EditRefused(f"edit {number} overlaps another")
        out += [text[at:start], new]
        at = end
    return "".join([*out, text[at:]])


class _Operation(NamedTuple):
    kind: str
    """`edit`, `create`, `rename` or `delete`."""
    members: Mapping[str, Any]


def _operations(edit: Mapping[str, Any]) -> Iterable[_Operation]:
    """What is to be done, in order. `documentChanges` win over `changes`, as LSP has it."""
    try:
        if edit.get("documentChanges") is not None:
            for change in edit["documentChanges"]:
                yield _Operation(change.get("kind", "edit"), change)
        else:
            for uri, edits in (edit.get("changes") or {}).items():
                yield _Operation("edit", {"textDocument": {"uri": uri}, "edits": edits})
    except (AttributeError, TypeError) as error:
        raise EditRefused(f"no WorkspaceEdit: {error}") from error


def touched(edit: Mapping[str, Any]) -> set[str]:
    """The URIs of all files that an edit speaks of. Raises EditRefused."""
    found: set[str] = set()
    for operation in _operations(edit):
        document = operation.members.get("textDocument") or {}
        found |= {uri for uri in (document.get("uri"), *map(operation.members.get, ("uri", "oldUri", "newUri"))) if uri}
    return found


def _together(operations: Iterable[_Operation]) -> Iterable[_Operation]:
    """The same with all edits of a document between two operations on files as one: they all speak of the same text."""
    edits: dict[str, _Operation] = {}
    for operation in operations:
        if operation.kind != "edit":
            yield from edits.values()
            edits = {}
            yield operation
            continue
        try:
            document, new = operation.members["textDocument"], operation.members["edits"]
            key = uri_key(document["uri"])
            known = edits.get(key)
            if known is not None and known.members["textDocument"].get("version") != document.get("version"):
                raise EditConflict(f"{document['uri']}: edits for several versions")
            before = known.members["edits"] if known is not None else ()
            edits[key] = _Operation("edit", {"textDocument": document, "edits": [*before, *new]})
        except (KeyError, TypeError, AttributeError) as error:
            raise EditRefused(f"edit: not as LSP has it: {error!r}") from error
    yield from edits.values()


class _Tree:
    """The files below a folder as they would be."""

    def __init__(self, root: Path, encoding: str) -> None:
        self.root = root
        self._encoding = encoding
        self._before: dict[Path, bytes | None] = {}  # of every file that was looked at
        self._now: dict[Path, bytes | None] = {}
        self._origin: dict[Path, Path] = {}  # where a file that was moved comes from
        self.emptied: list[Path] = []
        """Folders that go when nothing is in them any more."""

    def do(self, operation: _Operation, version_of: VersionOf | None) -> None:
        """Do one thing, in memory."""
        members = operation.members
        options = members.get("options") or {}
        try:
            if operation.kind == "edit":
                self._edit(members["textDocument"], members["edits"], version_of)
            elif operation.kind == "create":
                self._create(self._own_path(members["uri"]), options)
            elif operation.kind == "rename":
                self._rename(self._own_path(members["oldUri"]), self._own_path(members["newUri"]), options)
            elif operation.kind == "delete":
                self._delete(self._own_path(members["uri"]), options)
            else:
                raise EditRefused(f"an operation that LSP does not have: {operation.kind!r}")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise EditRefused(f"{operation.kind}: not as LSP has it: {error!r}") from error

    def changes(self) -> tuple[FileChange, ...]:
        """What is different."""
        gone = set(self._origin.values())
        found = []
        for path, after in self._now.items():
            origin = self._origin.get(path)
            if origin is not None and after is not None:
                found.append(FileChange(path, self._before[origin], after, origin))
            elif after != self._before[path] and not (after is None and path in gone):
                found.append(FileChange(path, self._before[path], after))
        return tuple(found)

    def replacements(self) -> dict[Path, Replacement]:
        """What every file whose contents are different held, and will hold."""
        return {
            path: Replacement(self._before[path], after, self._origin.get(path, path))
            for path, after in self._now.items()
            if after != self._before[path] or path in self._origin
        }

    def _path(self, uri: str) -> Path:
        """The file that a URI names, behind links. Raises EditRefused outside the root."""
        named = _named(uri)
        path = named.parent.resolve() / named.name
        path = path.resolve() if path.is_symlink() else path
        if not path.is_relative_to(self.root) or path == self.root:
            raise EditRefused(f"{uri}: is outside {self.root}")
        return path

    def _own_path(self, uri: str) -> Path:
        """The same for what is to be made, moved or deleted, which must be no link: whose target would go?"""
        path = self._path(uri)
        if _named(uri).is_symlink():
            raise EditRefused(f"{uri}: is a link, which lspz neither moves nor deletes")
        return path

    def _read(self, path: Path) -> bytes | None:
        if path not in self._now:
            if path.is_dir():
                raise EditRefused(f"{path}: is a folder")
            self._before[path] = self._now[path] = path.read_bytes() if path.exists() else None
        return self._now[path]

    def _edit(self, document: Mapping[str, Any], edits: Sequence[Any], version_of: VersionOf | None) -> None:
        uri, version = document["uri"], document.get("version")
        if version is not None and version_of is not None:
            current = version_of(uri)
            if current is not None and current != version:
                raise EditConflict(f"{uri}: the edit is for version {version}, and {current} is open: ask again")
        path = self._path(uri)
        data = self._read(path)
        if data is None:
            raise EditConflict(f"{uri}: there is no such file")
        text, held = decode_file(data)
        try:
            self._now[path] = held.encode(apply_text_edits(text, edits, self._encoding))
        except EditRefused as error:
            raise EditRefused(f"{uri}: {error}") from None

    def _create(self, path: Path, options: Mapping[str, Any]) -> None:
        if self._read(path) is not None and not options.get("overwrite"):
            if options.get("ignoreIfExists"):
                return
            raise EditConflict(f"{path}: is there already")
        self._now[path] = b""

    def _rename(self, old: Path, new: Path, options: Mapping[str, Any]) -> None:
        moves = [(old, new)]
        if self._is_folder(old):
            moves = [(path, new / path.relative_to(old)) for path in self._below(old)]
            self.emptied.append(old)
        for source, target in moves:
            data = self._read(source)
            if data is None:
                raise EditConflict(f"{source}: there is no such file")
            if self._read(target) is not None and not options.get("overwrite"):
                if options.get("ignoreIfExists"):
                    continue
                raise EditConflict(f"{target}: is there already")
            self._now[source] = None
            self._now[target] = data
            self._origin[target] = self._origin.pop(source, source)

    def _delete(self, path: Path, options: Mapping[str, Any]) -> None:
        if self._is_folder(path):
            below = self._below(path)
            self.emptied.append(path)
            if below and not options.get("recursive"):
                raise EditConflict(f"{path}: is a folder, and the edit does not say that what is in it goes, too")
        elif self._read(path) is None:
            if options.get("ignoreIfNotExists"):
                return
            raise EditConflict(f"{path}: there is no such file")
        else:
            below = [path]
        for file in below:
            self._read(file)
            self._now[file] = None
            self._origin.pop(file, None)

    def _is_folder(self, path: Path) -> bool:
        return path.is_dir() or any(known.is_relative_to(path) and known != path for known in self._now)

    def _below(self, folder: Path) -> list[Path]:
        """The files in a folder, as they would be."""
        there = [path for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()]
        for path in there:
            if path.is_symlink():
                raise EditRefused(f"{path}: is a link, which lspz neither moves nor deletes")
        there = [path for path in there if path not in self._now]
        return there + [path for path, data in self._now.items() if data is not None and path.is_relative_to(folder)]


def _named(uri: str) -> Path:
    """The path that a URI names. Raises EditRefused."""
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise EditRefused(f"{uri}: is no URI: {error}") from error
    if parts.scheme != "file":
        raise EditRefused(f"{uri}: is no file")
    return Path(url2pathname(parts.path))


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, as `diff` and `patch` see them: they end in LF alone."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
