"""Diagnostics of a whole workspace: the answer to `workspace/diagnostic`, and the partial results some servers stream.

Compact says what files have in common once: one rename that breaks forty files reads as one problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import attrs
import msgspec

from ..errors import DecodeError
from ..formats import VERSION, spelling
from ..formats.json import count, optional, typed
from ..formats.spelling import check_version
from ..formats.text.lines import Lines
from . import PROGRESS, WORKSPACE, core
from . import diagnostics_json as as_json
from . import diagnostics_names as as_names
from . import diagnostics_text as as_text
from .base import Direction, Settings
from .compressor import Compressor, fit
from .diagnostics_across import read_across, write_across
from .entries import CompactDiagnostic, CompactFile, Span
from .grouping import compact, fold, select
from .reports import counts, first_entries, size_of
from .strategies import CompressionConfig


@attrs.frozen
class CompactWorkspaceReport:
    """A report on many files: the answer to `workspace/diagnostic`, or a part of it."""

    files: tuple[CompactFile, ...]
    letters: bool = attrs.field(default=True, eq=False)
    across: bool = attrs.field(default=False, eq=False)
    """Text groups over all files, and says nothing of those without diagnostics (text_format.md §4)."""

    @property
    def size(self) -> int:
        """How many diagnostics the fullest file holds: what is left out is left out of each file."""
        return max((size_of(file.diagnostics) for file in self.files), default=0)

    def first(self, count: int) -> Self:
        """The same with the `count` worst diagnostics of each file, and the others counted as omitted there."""
        files = []
        for file in self.files:
            if file.diagnostics is not None and size_of(file.diagnostics) > count:
                entries = first_entries(file.diagnostics, count)
                left_out = size_of(file.diagnostics) - size_of(entries)
                file = attrs.evolve(file, diagnostics=entries, omitted=file.omitted + left_out)
            files.append(file)
        return attrs.evolve(self, files=tuple(files))

    def envelope(self) -> dict[str, Any]:
        """Nothing: it names its files."""
        return {}

    def to_lsp(self) -> dict[str, Any]:
        """The report as LSP's JSON."""
        return {"items": [{"uri": f.uri, "version": f.version, **f.to_lsp()} for f in self.files]}

    def to_compact(self) -> dict[str, Any]:
        """The files, and the diagnostics of all of them, those that are equal but for their place in one entry."""
        merged: dict[Any, tuple[CompactDiagnostic, dict[str, Any]]] = {}
        for i, file in enumerate(self.files):
            for e in file.diagnostics or ():
                key = (e.message, e.severity, e.code, type(e.code), e.tags, e.markup, repr(e.fields))
                _, places = merged.setdefault(key, (e, {}))
                places.setdefault(str(i), []).extend(e.ranges)
        entries = []
        for entry, places in merged.values():
            number = sum(map(len, places.values()))
            spelled = {name: as_json.write_ranges(sorted(ranges)) for name, ranges in places.items()}
            entries.append(as_json.write_entry(entry, spelled, number, self.letters))
        files = [{**file.head(), **counts(file.omitted, file.filtered)} for file in self.files]
        return {"version": VERSION, "files": files, "diagnostics": entries}

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read a compact report on many files. Raises DecodeError with position and reason, UnsupportedVersion."""
        check_version(value)
        files = typed(value, "files", list, "files")
        entries = typed(value, "diagnostics", list, "diagnostics")
        found: dict[str, list[CompactDiagnostic]] = {}
        for i, entry in enumerate(entries):
            path = f"diagnostics[{i}]"
            if not isinstance(entry, Mapping):
                raise DecodeError(path, f"must be an object, not {entry!r:.80}")
            read: list[tuple[str, tuple[Span, ...]]] = []
            for name, ranges in typed(entry, "r", dict, f"{path}.r").items():
                if not isinstance(ranges, list | tuple):
                    raise DecodeError(f"{path}.r[{name!r}]", f"must be a list, not {ranges!r:.80}")
                read.append((name, as_json.read_ranges(ranges, True, f"{path}.r[{name!r}]")))
            whole = as_json.read_shared(entry, tuple(span for _, spans in read for span in spans), path)
            for name, spans in read:
                if not name.isascii() or not name.isdigit() or int(name) >= len(files):
                    raise DecodeError(f"{path}.r", f"there is no file {name!r}")
                found.setdefault(str(int(name)), []).append(attrs.evolve(whole, ranges=spans))
        read_files = [_read_compact_file(f, tuple(found.get(str(i), ())), f"files[{i}]") for i, f in enumerate(files)]
        return cls(tuple(read_files), as_json.are_letters(entries))

    def to_names(self) -> dict[str, Any]:
        """A table for each file."""
        return {"files": [as_names.write_file(file) for file in self.files]}

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' tables. Raises DecodeError."""
        files = typed(value, "files", list, "files")
        return cls(tuple(as_names.read_file(file, f"files[{i}]") for i, file in enumerate(files)))

    def to_text(self) -> str:
        """One block a file (text_format.md §3), or groups over all of them (§4)."""
        if self.across:
            return write_across(self.files)
        return "\n".join(line for file in self.files for line in as_text.write_file(file)) or "none"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        if text == "none":
            return cls(())
        if not as_text.begins_file(text.partition("\n")[0]):
            return cls(tuple(read_across(text)), across=True)
        lines = Lines(text)
        files = []
        while lines.peek() is not None:
            files.append(as_text.read_file(lines))
        return cls(tuple(files))


def _read_compact_file(value: Any, entries: tuple[CompactDiagnostic, ...], path: str) -> CompactFile:
    if not isinstance(value, Mapping) or value.get("kind", "unchanged") != "unchanged":
        raise DecodeError(path, f"must be a file of a report, not {value!r:.80}")
    return CompactFile(
        typed(value, "uri", str, f"{path}.uri"),
        None if "kind" in value else entries,
        optional(value, "documentVersion", int, f"{path}.documentVersion"),
        optional(value, "resultId", str, f"{path}.resultId"),
        count(value, "omitted"),
        count(value, "filtered"),
    )


# The interceptor


@attrs.frozen
class WorkspaceDiagnosticsCompressor(Compressor):
    """Rewrites reports on a workspace in one form, whole or streamed as partial results."""

    name: ClassVar[str] = "workspace-diagnostics"
    methods: ClassVar[tuple[str, ...]] = (WORKSPACE, PROGRESS)

    strategies: CompressionConfig = attrs.field(factory=CompressionConfig)

    def reader(self, method: str) -> Callable[[bytes], Any]:
        """Read an answer, or the one member of progress that matters."""
        whole = self.strategies.keeps_more
        if method == PROGRESS:
            return lambda raw: _read_progress(raw, whole)
        return lambda raw: core.read_workspace(raw, whole) if raw != b"null" else _NOTHING

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        """Return a compact model, or folded diagnostics. Progress that is no report stays as it is."""
        report = params.value if isinstance(params, ReportProgress) else params
        if not isinstance(report, core.CoreWorkspaceReport) and not hasattr(report, "items"):
            return params
        if not any(item.items for item in report.items):
            return params
        result = self._fold(report) if self.form == "folded" else self.model_of(report)
        return ReportProgress(params.token, result) if isinstance(params, ReportProgress) else result

    def model(self, method: str, raw: bytes) -> CompactWorkspaceReport:
        """The report on many files."""
        return self.model_of(core.read_workspace(raw, self.strategies.keeps_more))

    def model_of(self, report: Any) -> CompactWorkspaceReport:
        """The model of a report, of lsprotocol's type or the mirror of it. Raises CannotCompress."""
        files = []
        for item in report.items:
            if item.items is None or item.kind == "unchanged":
                files.append(CompactFile(item.uri, None, item.version, item.result_id))
                continue
            kept, omitted, filtered = select(item.items, self.limits)
            entries = compact(kept, self.strategies)
            files.append(CompactFile(item.uri, entries, item.version, item.result_id, omitted, filtered))
        return CompactWorkspaceReport(tuple(files), self.strategies.enable_enum_compression)

    def _fold(self, report: Any) -> dict[str, Any]:
        items = []
        for item in report.items:
            out: dict[str, Any] = {"uri": item.uri, "version": item.version, "kind": item.kind}
            if item.result_id is not None:
                out["resultId"] = item.result_id
            if item.items is not None:
                out["items"] = fold(item.items, self.strategies, self.limits)
            items.append(out)
        return {"items": items}

    def _write(self, result: Any) -> bytes:
        if not isinstance(result, ReportProgress):
            return super()._write(result)
        value = result.value
        if not isinstance(value, dict):
            value = fit(value, self.form, self.limits.max_tokens)
        return msgspec.json.encode({"token": result.token, "value": value})


class ReportProgress(msgspec.Struct):
    """The params of `$/progress` with a report as its value."""

    token: Any
    value: Any

    def to_lsp(self) -> dict[str, Any]:
        """The params as LSP's JSON."""
        return {"token": self.token, "value": self.value.to_lsp()}


_NOTHING = ReportProgress(0, None)


def _read_progress(raw: bytes, whole: bool) -> ReportProgress:
    """Progress with a report in it, or as `_NOTHING`: whatever else reports progress is none of ours."""
    if b'"items"' not in raw:
        return _NOTHING
    parts = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    try:
        token = msgspec.json.decode(parts["token"], type=int | str)
        return ReportProgress(token, core.read_workspace(bytes(parts["value"]), whole))
    except (KeyError, msgspec.ValidationError):
        return _NOTHING


def create(settings: Settings, form: str) -> WorkspaceDiagnosticsCompressor:
    """The compressor for a client that gets `form`."""
    return WorkspaceDiagnosticsCompressor(form, settings.compression, limits=settings.limits)


def read(method: str, value: Any) -> CompactWorkspaceReport | ReportProgress | None:
    """The model of a report or of progress in one of lspz's forms, None of plain LSP. Raises DecodeError."""
    if method == PROGRESS:
        report = read(WORKSPACE, value.get("value")) if isinstance(value, Mapping) else None
        return None if report is None else ReportProgress(value.get("token"), report)
    # a `$/progress` value that begins or ends something has a kind
    is_ours = spelling.is_ours(value) and "kind" not in value
    return spelling.read(CompactWorkspaceReport, value) if is_ours else None
