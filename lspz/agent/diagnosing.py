"""Diagnostics of a document and of a workspace: pulled where the server answers, else waited for until they settle."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import attrs
import msgspec

from ..errors import AnswerTimeout, BackendError, BackendRefused
from .asking import ASK_AGAIN, Asking
from .documents import Documents
from .freshness import Fresh, Freshness, Pending, Unavailable
from .results import Diagnostics, WorkspaceDiagnostics

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
WORKSPACE = "workspace/diagnostic"

ASK_ANYWAY = 1.0
"""Seconds after which a server that is at work is asked all the same, each further time twice as long."""

_BARRIERS = (
    ("documentSymbolProvider", "textDocument/documentSymbol"),
    ("foldingRangeProvider", "textDocument/foldingRange"),
    ("documentLinkProvider", "textDocument/documentLink"),
)
"""Questions whose answer shows that a server has read the document as it was when it was asked."""


async def diagnose(asking: Asking, documents: Documents) -> Diagnostics:
    """What is wrong in a document, and whether that is known of the document as it is."""
    document, session = asking.document, asking.session
    try:
        state = await _until_known(asking, documents)
    except AnswerTimeout as error:
        state = Pending(str(error))
    except BackendError as error:
        state = Unavailable(str(error))
    said = document.said()
    if isinstance(state, Fresh):
        state = Fresh(document.version, len(said))
    raw = msgspec.json.encode({"uri": document.uri, "version": document.version, "diagnostics": said})
    return Diagnostics(
        state=state,
        model=asking.model(PUBLISH, raw),
        raw=raw,
        server=session.options.server.name,
        root=session.options.workspace,
        uri=document.uri,
    )


async def _until_known(asking: Asking, documents: Documents) -> Freshness:
    document, session = asking.document, asking.session
    barrier: asyncio.Task[None] | None = None
    try:
        while True:
            state = await _pulled(asking, documents)
            if state is not None:
                return state
            if document.judge.wants_touch(session.now, asking.patience):
                documents.touch(document, session)
            if barrier is None and document.judge.is_doubtful:
                barrier = asyncio.create_task(_pass(asking))
            now = session.now
            state = document.judge.at(now, session.work.busy, session.work.idle_since, asking.patience)
            left = asking.until - now
            if not isinstance(state, Pending) or left <= 0:
                return state
            await session.changed.wait(left if state.until is None else min(left, state.until - now))
    finally:
        if barrier is not None:
            barrier.cancel()
            await asyncio.wait([barrier])


async def _pulled(asking: Asking, documents: Documents) -> Freshness | None:
    """What is known of a server that can be asked; None of one that publishes.

    It is best asked when it is not at work. But there are servers that go on only when they are asked.
    """
    document, session = asking.document, asking.session
    wait = ASK_ANYWAY
    while True:
        busy = await session.ready(min(asking.until, session.now + wait))
        options = session.provider("diagnosticProvider", PULL)
        if options is None:
            return None
        if busy is not None and not asking.left:
            return Pending(f"the server is at work: {busy}")
        version, asked = document.version, session.now
        question = _question(asking, options)
        report = _understood(await asking.request(PULL, question), "previousResultId" in question)
        if version == document.version:
            document.pulled = document.pulled if report["kind"] == "unchanged" else report["items"]
            document.result_id = report.get("resultId")
            document.judge.pulled(version, len(document.pulled), asked)
        if session.work.busy is None and documents.check(document, session):
            continue
        if document.judge.is_pulled and session.work.busy is None:
            return Fresh(document.version, len(document.pulled))
        if session.work.busy is not None:
            wait *= 2
        elif asking.left <= ASK_AGAIN:
            return Pending("what the server answered is outdated by what happened since")
        else:
            await asyncio.sleep(ASK_AGAIN)


def _question(asking: Asking, options: Mapping[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = {"textDocument": asking.identifier}
    if options.get("identifier"):
        params["identifier"] = options["identifier"]
    if asking.document.result_id is not None:
        params["previousResultId"] = asking.document.result_id
    return params


def _understood(raw: bytes, may_be_unchanged: bool) -> dict[str, Any]:
    """A report. Raises BackendRefused for what LSP does not have: it is no empty list."""
    report = msgspec.json.decode(raw)
    if isinstance(report, dict):
        if report.get("kind") == "unchanged" and may_be_unchanged:
            return report
        if isinstance(report.get("items"), list) and all(isinstance(item, dict) for item in report["items"]):
            return {"kind": "full", **report}
    raise BackendRefused(f"the server answered {PULL} with what is no report: {raw.decode(errors='replace'):.80}")


async def _pass(asking: Asking) -> None:
    """See the server answer something that it was asked after it was told of the document as it is."""
    document, session = asking.document, asking.session
    version = document.version
    for provider, method in _BARRIERS:
        if session.provider(provider, method) is not None:
            with suppress(BackendError):
                with suppress(BackendRefused):
                    await session.request(method, {"textDocument": asking.identifier}, asking.left)
                document.judge.processed(version)
                session.changed.fire()
            return


async def diagnose_workspace(asking: Asking, documents: Documents, changed: float) -> WorkspaceDiagnostics:
    """What is wrong in a workspace. `changed`: when the server was last told that something did."""
    session = asking.session
    items: list[Any] | None = None
    state: Freshness
    try:
        state = await _workspace_state(asking, documents, changed)
        options = _offers_workspace(asking)
        if isinstance(state, Fresh) and options is not None:
            identifier = {"identifier": options["identifier"]} if options.get("identifier") else {}
            report = await asking.request(WORKSPACE, {"previousResultIds": [], **identifier})
            items = _understood(report, False)["items"]
    except AnswerTimeout as error:
        state = Pending(str(error))
    except BackendError as error:
        state = Unavailable(str(error))
    if items is None:
        items = _known(documents)
    raw = msgspec.json.encode({"items": items})
    model = asking.model(WORKSPACE, raw)
    if model is not None:
        model = attrs.evolve(model, across=True)
    if isinstance(state, Fresh):
        state = Fresh(None, sum(len(item.get("items") or ()) for item in items))
    return WorkspaceDiagnostics(
        state=state, model=model, raw=raw, server=session.options.server.name, root=session.options.workspace
    )


def _offers_workspace(asking: Asking) -> Any:
    """The options of a server that can be asked about the workspace; None of another."""
    options = asking.session.provider("diagnosticProvider", PULL)
    return options if options is not None and options.get("workspaceDiagnostics") else None


async def _workspace_state(asking: Asking, documents: Documents, changed: float) -> Freshness:
    """Whether the server has looked at everything.

    One that publishes without being asked says when it begins and ends, at best: what it has not said a while after it
    could have begun, it will not say.
    """
    session, patience = asking.session, asking.patience
    busy = await session.ready(asking.until)
    if busy is not None:
        return Pending(f"the server is at work: {busy}")
    if _offers_workspace(asking) is not None:
        return Fresh(None, 0)
    if not session.options.server.whole:
        return Unavailable(f"{session.options.server.name} reports on open files alone; ask about files")
    while True:
        now = session.now
        last = max(documents.last_published, session.work.idle_since) + patience.unversioned_quiet
        settled = max(changed + patience.first_empty_quiet, last)
        if session.died is not None:
            return Unavailable(session.died)
        if session.work.busy is None and now >= settled:
            return Fresh(None, 0)
        if now >= asking.until:
            return Pending(f"the server is at work: {session.work.busy or 'it has just begun, or may publish more'}")
        wait = asking.until - now if session.work.busy is not None else min(asking.until, settled) - now
        await session.changed.wait(wait)


def _known(documents: Documents) -> list[Any]:
    """What was said so far, as the items of a report."""
    reports: list[tuple[str, int | None, list[Any]]] = [(uri, None, said) for uri, said in documents.elsewhere.values()]
    reports += [(d.uri, d.version, d.said()) for d in documents if d.told is not None]
    return [{"uri": uri, "version": version, "kind": "full", "items": said} for uri, version, said in reports if said]
