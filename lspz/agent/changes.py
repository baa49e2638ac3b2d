"""Only what changed: an answer about diagnostics as its difference to an earlier one, which its reader still has."""

from __future__ import annotations

from typing import Any, TypeVar

import attrs

from ..errors import CannotCompress
from ..formats import spelling
from ..interceptors.entries import rows_of
from ..interceptors.increments import Increment, changes
from ..interceptors.reports import CompactDiagnosticsParams
from ..tokens import count_tokens
from .merging import MergedDiagnostics, MergedWorkspaceDiagnostics, merged_diagnostics, merged_workspace
from .naming import shown
from .results import Diagnostics, WorkspaceDiagnostics

D = TypeVar("D", Diagnostics, WorkspaceDiagnostics)

CLEARED = 20
"""Files that are clean now and are named; of the others it is said how many they are."""


@attrs.frozen(kw_only=True)
class ChangedDiagnostics(Diagnostics):
    """What is wrong in a document; text and compact JSON say what changed since `earlier`, if that is shorter."""

    earlier: CompactDiagnosticsParams = attrs.field(repr=False)
    report: int
    """The number of this report."""

    @property
    def says_something(self) -> bool:
        """Also that nothing is wrong any more."""
        return super().says_something or bool(self.earlier.diagnostics)

    def _model_for(self, form: str, max_tokens: int) -> Any:
        model = super()._model_for(form, max_tokens)
        if form not in ("text", "compact") or self.model is None:
            return model
        best, least = model, _size(model, form)
        for change in changes(self.earlier.diagnostics, self.model.diagnostics):
            increment = Increment(
                report=self.report,
                uri=model.uri,
                document_version=model.document_version,
                omitted=self.model.omitted,
                filtered=self.model.filtered,
                **change,
            )
            size = _size(increment, form)
            if size < least and (not max_tokens or size <= max_tokens):
                best, least = increment, size
        return best


def _size(model: Any, form: str) -> int:
    """Tokens of a model in a form."""
    try:
        written = spelling.write(model, form)
    except CannotCompress:
        return 1 << 30
    return count_tokens(written["text"] if spelling.is_enclosed(written) else str(written)).tokens


@attrs.frozen(kw_only=True)
class ChangedWorkspaceDiagnostics(WorkspaceDiagnostics):
    """What is wrong in a workspace, without the files in which nothing changed since an earlier answer."""

    cleared: tuple[str, ...]
    """URIs of files in which nothing is wrong any more."""
    unchanged: int
    """How many diagnostics are as they were."""

    @property
    def says_something(self) -> bool:
        """Always: how much is as it was."""
        return True

    def _written(self, form: str, max_tokens: int) -> str:
        tail = []
        if self.cleared:
            names = [shown(uri, self.root) if self.root is not None else uri for uri in self.cleared[:CLEARED]]
            more = f" and {len(self.cleared) - CLEARED} more files" if len(self.cleared) > CLEARED else ""
            tail.append(f"clean now: {', '.join(names)}{more}")
        if self.unchanged or not (self.cleared or self.count):
            tail.append(f"unchanged: {self.unchanged}")
        if not self.count:
            return "\n".join(tail)
        left = max(max_tokens - count_tokens("\n".join(tail)).tokens - 1, 1) if max_tokens else 0
        return "\n".join([super()._written(form, left), *tail])

    def compact(self, max_tokens: int = 0) -> dict[str, Any]:
        """Short JSON, with the members `cleared` and `unchanged`."""
        return {**super().compact(max_tokens), "cleared": list(self.cleared), "unchanged": self.unchanged}


def since(found: D, earlier: D, report: int = 1) -> D:
    """An answer, of which only what changed since an earlier one is written; the typed members still have it all.

    Both must answer the same question. `report` numbers it, for whoever keeps several. Of a workspace the files in
    which nothing changed are left out.
    """
    if isinstance(found, Diagnostics):
        assert isinstance(earlier, Diagnostics)
        return _document(found, earlier, report)
    assert isinstance(earlier, WorkspaceDiagnostics)
    return _workspace(found, earlier)


def _document(found: Diagnostics, earlier: Diagnostics, report: int) -> Diagnostics:
    if isinstance(found, MergedDiagnostics):
        before = {part.server: part for part in getattr(earlier, "parts", (earlier,))}
        return merged_diagnostics(
            [_document(part, before[part.server], report) if part.server in before else part for part in found.parts]
        )
    if found.model is None or earlier.model is None or not (found.is_fresh and earlier.is_fresh):
        return found
    values = {field.name: getattr(found, field.name) for field in attrs.fields(Diagnostics)}
    return ChangedDiagnostics(**values, earlier=earlier.model, report=report)


def _workspace(found: WorkspaceDiagnostics, earlier: WorkspaceDiagnostics) -> WorkspaceDiagnostics:
    if isinstance(found, MergedWorkspaceDiagnostics):
        before = {part.server: part for part in getattr(earlier, "parts", (earlier,))}
        return merged_workspace(
            [_workspace(part, before[part.server]) if part.server in before else part for part in found.parts]
        )
    if found.model is None or earlier.model is None:
        return found
    old = {file.uri: sorted(rows_of(file.diagnostics or ()), key=repr) for file in earlier.model.files}
    changed, cleared, unchanged = [], [], 0
    for file in found.model.files:
        rows = sorted(rows_of(file.diagnostics or ()), key=repr)
        if rows == old.get(file.uri, []):
            unchanged += len(rows)
        elif rows or file.filtered or file.omitted:
            changed.append(file)
        else:
            cleared.append(file.uri)
    if found.is_fresh:  # a file that is no longer spoken of is clean, or gone
        there = {file.uri for file in found.model.files}
        cleared += [uri for uri, rows in old.items() if rows and uri not in there]
    values = {field.name: getattr(found, field.name) for field in attrs.fields(WorkspaceDiagnostics)}
    values["model"] = attrs.evolve(found.model, files=tuple(changed))
    return ChangedWorkspaceDiagnostics(**values, cleared=tuple(cleared), unchanged=unchanged)
