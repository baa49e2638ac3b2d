"""What can be asked: for each question what is sent, and what the answer is read as. A new one is a class, or a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, Self, TypeVar

import attrs
import msgspec

from ..errors import NotReady
from ..interceptors.lsp import SYMBOL_KINDS
from .asking import Asking
from .freshness import Fresh, Unavailable
from .listings import Listing
from .locators import At, File
from .naming import shown
from .options import AgentOptions
from .results import (
    Answer,
    CodeAction,
    CodeActions,
    Completions,
    Hover,
    Listed,
    Locations,
    Symbols,
    WorkspaceSymbols,
)

R = TypeVar("R")

NOT_UNDERSTOOD = Unavailable("the server's answer is not as LSP has it, and is passed on as it is")


@attrs.frozen
class Row(Generic[R]):
    """A question about a place or a document that has one request."""

    method: str
    provider: str
    """The member of `ServerCapabilities` that says whether it is offered."""
    result: type[R]
    across: bool = False
    """Whether the answer depends on the whole project, so that a server must be ready."""


HOVER = Row("textDocument/hover", "hoverProvider", Hover)
COMPLETION = Row("textDocument/completion", "completionProvider", Completions)
SYMBOLS = Row("textDocument/documentSymbol", "documentSymbolProvider", Symbols)
REFERENCES = Row("textDocument/references", "referencesProvider", Locations, across=True)
DEFINITION = Row("textDocument/definition", "definitionProvider", Locations)
TYPE_DEFINITION = Row("textDocument/typeDefinition", "typeDefinitionProvider", Locations)
IMPLEMENTATION = Row("textDocument/implementation", "implementationProvider", Locations, across=True)
WORKSPACE_SYMBOLS = Row("workspace/symbol", "workspaceSymbolProvider", WorkspaceSymbols, across=True)
SIGNATURES = Row("textDocument/signatureHelp", "signatureHelpProvider", Listed)
CALLS = Row("textDocument/prepareCallHierarchy", "callHierarchyProvider", Listed, across=True)
ACTIONS = Row("textDocument/codeAction", "codeActionProvider", CodeActions)
RENAME = Row("textDocument/rename", "renameProvider", Answer, across=True)
FORMATTING = Row("textDocument/formatting", "documentFormattingProvider", Answer)


class Query(Generic[R]):
    """A question, as a server is asked it."""

    row: Row[Any]
    file: File | None
    """The document that it is about."""

    async def run(self, asking: Asking) -> R:
        """Ask. Raises BackendRefused, BackendDied, AnswerTimeout, PlaceNotFound."""
        raise NotImplementedError

    def of(self, file: File) -> Self:
        """The same question, the document named in another way."""
        return attrs.evolve(self, file=file)  # type: ignore[misc]


@attrs.frozen
class Plain(Query[R]):
    """One request, whose answer has a compact model."""

    row: Row[R]
    file: File | None
    at: At | None = None
    extra: Mapping[str, Any] = attrs.field(factory=dict)

    async def run(self, asking: Asking) -> R:
        """Ask."""
        params = dict(self.extra)
        if self.file is not None:
            params["textDocument"] = asking.identifier
        if self.at is not None:
            params["position"] = asking.position(self.at)
        raw, busy = await asking.answer(self.row.method, params, self.row.across)
        model = asking.model(self.row.method, raw)
        options = asking.session.options
        answer: Any = self.row.result
        made = answer(state=Fresh(None, 0), model=model, raw=raw, server=options.server.name, root=options.workspace)
        done: R = attrs.evolve(made, state=asking.state(made.count, busy) if model is not None else NOT_UNDERSTOOD)
        return done


@attrs.frozen
class SignatureQuery(Query[Listed]):
    """The signatures of the call at a place."""

    row: Row[Any] = attrs.field(default=SIGNATURES, init=False)
    file: File
    at: At

    async def run(self, asking: Asking) -> Listed:
        """Ask."""
        params = {"textDocument": asking.identifier, "position": asking.position(self.at)}
        raw, busy = await asking.answer(self.row.method, params, False)
        answer = msgspec.json.decode(raw) or {}
        rows, lines = [], []
        for number, signature in enumerate(answer.get("signatures") or ()):
            is_active = number == (answer.get("activeSignature") or 0)
            parameter = signature.get("activeParameter", answer.get("activeParameter"))
            row = {"label": signature["label"], "documentation": _prose(signature.get("documentation"))}
            row |= {"active": is_active, "parameter": _parameter(signature, parameter) if is_active else ""}
            rows.append(row)
            parts = [row["label"], f"at {row['parameter']}" if row["parameter"] else "", row["documentation"]]
            lines.append(" | ".join(part.replace("\n", " ") for part in parts if part))
        return _listed(asking, "signatures", rows, lines, raw, busy)


def _parameter(signature: Mapping[str, Any], number: Any) -> str:
    parameters = signature.get("parameters") or ()
    if not isinstance(number, int) or not 0 <= number < len(parameters):
        return ""
    label = parameters[number]["label"]
    return label if isinstance(label, str) else str(signature["label"][label[0] : label[1]])


def _prose(documentation: Any) -> str:
    return documentation["value"] if isinstance(documentation, dict) else documentation or ""


@attrs.frozen
class CallsQuery(Query[Listed]):
    """Who calls what stands at a place, or whom it calls."""

    row: Row[Any] = attrs.field(default=CALLS, init=False)
    file: File
    at: At
    incoming: bool

    async def run(self, asking: Asking) -> Listed:
        """Ask for what stands there, then for each of it."""
        params = {"textDocument": asking.identifier, "position": asking.position(self.at)}
        raw, busy = await asking.answer(self.row.method, params, True)
        rows, lines = [], []
        calls: list[Any] = []
        for item in msgspec.json.decode(raw) or ():
            method = f"callHierarchy/{'incoming' if self.incoming else 'outgoing'}Calls"
            calls += msgspec.json.decode(await asking.request(method, {"item": item})) or ()
            asked = item["uri"]
        for call in calls:
            other = call["from" if self.incoming else "to"]
            calling = other["uri"] if self.incoming else asked
            start = _start(asking, other["uri"], other["selectionRange"])
            places = [_start(asking, calling, span) for span in call["fromRanges"]]
            kind = SYMBOL_KINDS.get(other["kind"], "symbol")
            row = {
                "path": shown(other["uri"], asking.session.options.workspace),
                "line": start[0],
                "character": start[1],
            }
            rows.append({**row, "kind": kind, "name": other["name"], "calls": [list(place) for place in places]})
            at = ", ".join(f"{line + 1}:{character + 1}" for line, character in places)
            lines.append(f"{row['path']}:{start[0] + 1}:{start[1] + 1} {kind} {other['name']}, call at {at}")
        return _listed(asking, "calls", rows, lines, msgspec.json.encode(calls), busy)


def _start(asking: Asking, uri: str, range: Mapping[str, Any]) -> tuple[int, int]:
    at = range["start"]
    line, character, *_ = asking.respan(uri, (at["line"], at["character"], at["line"], at["character"]))
    return line, character


@attrs.frozen
class ActionsQuery(Query[CodeActions]):
    """What can be done at a place."""

    row: Row[Any] = attrs.field(default=ACTIONS, init=False)
    file: File
    at: At
    end: At | None
    only: tuple[str, ...]

    async def run(self, asking: Asking) -> CodeActions:
        """Ask."""
        span = asking.range(self.at, self.end)
        context: dict[str, Any] = {"diagnostics": [d for d in asking.document.said() if _touch(d["range"], span)]}
        if self.only:
            context["only"] = list(self.only)
        params = {"textDocument": asking.identifier, "range": span, "context": context}
        raw, busy = await asking.answer(self.row.method, params, False)
        options = asking.session.options
        actions = tuple(_action(value, options) for value in msgspec.json.decode(raw) or ())
        listed = _listed(asking, "actions", [_row(a) for a in actions], [_line(a) for a in actions], raw, busy)
        return CodeActions(state=listed.state, model=listed.model, raw=raw, server=listed.server, actions=actions)


def _touch(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    def key(place: Mapping[str, int]) -> tuple[int, int]:
        return place["line"], place["character"]

    return key(a["start"]) <= key(b["end"]) and key(b["start"]) <= key(a["end"])


def _action(value: Mapping[str, Any], options: AgentOptions) -> CodeAction:
    return CodeAction(
        title=value["title"],
        kind=value.get("kind") or "",
        preferred=bool(value.get("isPreferred")),
        disabled=(value.get("disabled") or {}).get("reason", ""),
        lsp=value,
        server=options.server.name,
        root=options.root,
    )


def _row(action: CodeAction) -> dict[str, Any]:
    return {
        "title": action.title,
        "kind": action.kind,
        "preferred": action.preferred,
        "disabled": action.disabled,
    }


def _line(action: CodeAction) -> str:
    what = [action.kind, "preferred" if action.preferred else "", f"not now: {action.disabled}" * bool(action.disabled)]
    return " | ".join(part for part in (action.title, *what) if part)


def _listed(
    asking: Asking, name: str, rows: Iterable[Mapping[str, Any]], lines: Iterable[str], raw: bytes, busy: str | None
) -> Listed:
    model = Listing(name, tuple(rows), tuple(lines))
    return Listed(state=asking.state(model.size, busy), model=model, raw=raw, server=asking.session.options.server.name)


@attrs.frozen
class EditQuery(Query[Any]):
    """An edit: what to do to the files, as a WorkspaceEdit (JSON). Raises NotReady."""

    row: Row[Any]
    file: File
    params: Mapping[str, Any]
    at: At | None = None

    async def run(self, asking: Asking) -> Any:
        """Ask; not before the server is ready, if the whole project matters."""
        params = {**self.params, "textDocument": asking.identifier}
        if self.at is not None:
            params["position"] = asking.position(self.at)
        if self.row.across and (busy := await asking.session.ready(asking.until, True)) is not None:
            raise NotReady(f"the server is at work: {busy}: an edit might miss places; ask again")
        answer = msgspec.json.decode(await asking.request(self.row.method, params))
        if isinstance(answer, list):
            return {"documentChanges": [{"textDocument": {**asking.identifier, "version": None}, "edits": answer}]}
        return answer or {}
