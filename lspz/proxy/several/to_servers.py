"""What the client says, and who gets it. A method that does not go as the others do is a row in `ROUTES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from ...wire.messages import Envelope, notification, read_envelope
from ..owed import request, with_id
from .answers import COMBINED, Answer, owner
from .answers import commands as commands_of
from .asking import Request, Requests, passed
from .capabilities import is_known, merge, sync_kind
from .group import PULL, Error, Group, Server
from .naming import LSPZ, Names
from .publishing import Diagnostics
from .pulling import document_report, fresh, workspace_report
from .syncing import CHANGE, Mirror

Raw = msgspec.Raw
Members = dict[str, Raw]

FULL, INCREMENTAL = 1, 2
"""LSP's TextDocumentSyncKind."""

CODE_ACTION = "textDocument/codeAction"
WORKSPACE_PULL = "workspace/diagnostic"
WATCHED_FILES = "workspace/didChangeWatchedFiles"


class Params(msgspec.Struct):
    """The `params` of a message, unread."""

    params: Raw = Raw(b"null")


class Refusal(msgspec.Struct):
    """A response that is an error."""

    error: Error


class ToServers:
    """Sends what the client says where it belongs."""

    def __init__(
        self, group: Group, requests: Requests, names: Names, diagnostics: Diagnostics, say: Callable[[bytes], None]
    ) -> None:
        self._group = group
        self._requests = requests
        self._names = names
        self._diagnostics = diagnostics
        self._say = say
        self._mirror = Mirror()
        self._client_pulls = False
        self.is_leaving = False
        """Whether the client has asked for the end."""
        self.refused: Callable[[Server, str], None] = lambda server, reason: None
        """Called with each server that does not take part, and why, once all have answered `initialize`."""

    def heard(self, body: bytes) -> None:
        """Take a message of the client's."""
        envelope = read_envelope(body)
        if envelope is None:
            self._to_all(body)
        elif envelope.method is None:
            self._answer(bytes(envelope.id), body)
        else:
            self._route(envelope, body)

    def _to_all(self, body: bytes) -> None:
        for server in self._group.alive:
            server.send(body)

    def _answer(self, raw_id: bytes, body: bytes) -> None:
        asked = self._names.answered(raw_id)
        if asked is not None and asked.server != LSPZ:
            self._group.servers[asked.server].send(with_id(body, asked.raw_id))

    def _route(self, envelope: Envelope, body: bytes) -> None:
        method = envelope.method or ""
        self.is_leaving |= method in ("shutdown", "exit")
        route = ROUTES.get(method)
        if route is None and envelope.id:
            route = ToServers._resolve if method.endswith("/resolve") else ToServers._ask
        elif route is None:
            route = ToServers._notebook if method.startswith("notebookDocument/") else ToServers._tell
        try:
            route(self, envelope, body)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError):
            # not as LSP has it: the servers may judge
            if envelope.id:
                self._ask_first(envelope, body)
            else:
                self._to_all(body)

    # requests

    def _ask(self, envelope: Envelope, body: bytes) -> None:
        method = envelope.method or ""
        combine = COMBINED.get(method)
        servers = self._group.alive if method == "shutdown" else self._group.offering(method)
        if combine is None or (len(servers) < 2 and method != "shutdown"):
            self._ask_first(envelope, body)
            return
        plain = _without(body, "partialResultToken", "workDoneToken")
        self._requests.ask(Request(bytes(envelope.id), method, combine), dict.fromkeys(servers, plain))

    def _ask_first(self, envelope: Envelope, body: bytes) -> None:
        """Only one server's answer counts; where LSP does not say whose, the first who knows the method."""
        method = envelope.method or ""
        server = self._group.first(method)
        if server is not None:
            others = [] if is_known(method) else [other for other in self._group.alive if other is not server]
            self._requests.ask(Request(bytes(envelope.id), method, others=others, body=body), {server: body})

    def _initialize(self, envelope: Envelope, body: bytes) -> None:
        """All servers count characters alike, since the client counts in one way."""
        params = msgspec.json.decode(body)["params"]
        capabilities = params.get("capabilities") or {}
        self._client_pulls = bool((capabilities.get("textDocument") or {}).get("diagnostic"))
        if (capabilities.get("general") or {}).get("positionEncodings"):
            capabilities["general"]["positionEncodings"] = ["utf-16"]
            body = request(bytes(envelope.id), "initialize", params)
        question = Request(bytes(envelope.id), "initialize", is_patient=True)
        question.combine = partial(self._started, question)
        self._requests.ask(question, dict.fromkeys(self._group.alive, body))

    def _started(self, question: Request, answers: Sequence[Answer]) -> Any:
        result: dict[str, Any] = {}
        names, found = [], []
        for answer in answers:
            server = self._group.servers[answer.server]
            part = msgspec.json.decode(answer.result, type=dict[str, Any])
            server.capabilities = part.get("capabilities") or {}
            found.append(server.capabilities)
            server.name = (part.get("serverInfo") or {}).get("name") or server.name
            self._diagnostics.names[server.number] = server.name
            names.append(server.name)
            if self._client_pulls and server.capabilities.get("diagnosticProvider"):
                self._diagnostics.answers_pulls(server.number)
            result = {**part, **result}
        for server, body in question.errors:
            self.refused(server, f"it refuses to start: {msgspec.json.decode(body, type=Refusal).error.message}")
        return {**result, "capabilities": merge(found), "serverInfo": {"name": " + ".join(names)}}

    def _resolve(self, envelope: Envelope, body: bytes) -> None:
        """What is asked about an item goes to its owner; it is complete where that one has nothing to add."""
        method = envelope.method or ""
        params = msgspec.json.decode(body, type=Params).params
        owned = owner(params)
        server = self._group.first(method) if owned is None else self._group.servers[owned[0]]
        if server is None or not server.offers(method):
            self._say(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (bytes(envelope.id), bytes(params)))
            return
        if owned is not None:
            body = request(bytes(envelope.id), method, owned[1])
        noted = partial(self._noted, server) if method == "codeAction/resolve" else passed
        self._requests.ask(Request(bytes(envelope.id), method, noted, is_patient=True), {server: body})

    def _noted(self, server: Server, answers: Sequence[Answer]) -> Any:
        """A server's code actions, whose commands go to it."""
        for command in commands_of(answers[0].result):
            self._group.delivers(server, command)
        return answers[0].result

    def _code_actions(self, envelope: Envelope, body: bytes) -> None:
        """Each server gets the diagnostics that are its own."""
        servers = self._group.offering(CODE_ACTION)
        params = msgspec.json.decode(msgspec.json.decode(body, type=Params).params, type=Members)
        if len(servers) < 2:
            self._ask_first(envelope, body)
            return
        uri = msgspec.json.decode(params["textDocument"])["uri"]
        context = msgspec.json.decode(params["context"], type=Members)
        diagnostics = msgspec.json.decode(context["diagnostics"], type=list[Raw])
        plain = {name: value for name, value in params.items() if not name.endswith("Token")}
        bodies = {}
        for server in servers:
            own = {**context, "diagnostics": self._diagnostics.own(server.number, uri, diagnostics)}
            bodies[server] = request(bytes(envelope.id), CODE_ACTION, {**plain, "context": own})

        def combine(answers: Sequence[Answer]) -> Any:
            for answer in answers:
                self._noted(self._group.servers[answer.server], [answer])
            return COMBINED[CODE_ACTION](answers)

        self._requests.ask(Request(bytes(envelope.id), CODE_ACTION, combine), bodies)

    def _execute(self, envelope: Envelope, body: bytes) -> None:
        server = self._group.executing(msgspec.json.decode(body)["params"]["command"])
        if server is not None:
            self._requests.ask(Request(bytes(envelope.id), envelope.method or ""), {server: body})

    def _pull(self, envelope: Envelope, body: bytes) -> None:
        """Diagnostics of all who are asked for them: an error of one is no report without its diagnostics."""
        method = envelope.method or ""
        params = msgspec.json.decode(msgspec.json.decode(body, type=Params).params, type=Members)
        identifier = msgspec.json.decode(params.get("identifier", Raw(b"null")))
        servers = self._group.pulled(identifier)
        if method == WORKSPACE_PULL:
            servers = {server: name for server, name in servers.items() if server.offers(method)}
        if len(servers) < 2:
            self._ask_one_to_report(envelope, body, next(iter(servers), None))
            return
        combine: Callable[[Sequence[Answer]], Any]
        if method == PULL:
            uri = msgspec.json.decode(params["textDocument"])["uri"]
            combine = partial(document_report, uri=uri, diagnostics=self._diagnostics)
        else:
            combine = partial(workspace_report, diagnostics=self._diagnostics)
        bodies = {server: request(bytes(envelope.id), method, fresh(params, name)) for server, name in servers.items()}
        question = Request(bytes(envelope.id), method, combine, is_patient=True, is_strict=True)
        self._requests.ask(question, bodies)

    def _ask_one_to_report(self, envelope: Envelope, body: bytes, server: Server | None) -> None:
        if server is None:
            self._ask_first(envelope, body)
        else:
            self._requests.ask(Request(bytes(envelope.id), envelope.method or ""), {server: body})

    # notifications

    def _tell(self, envelope: Envelope, body: bytes) -> None:
        self._to_all(body)

    def _cancel(self, envelope: Envelope, body: bytes) -> None:
        members = msgspec.json.decode(msgspec.json.decode(body, type=Params).params, type=Members)
        self._requests.cancel(bytes(members["id"]), body)

    def _cancel_progress(self, envelope: Envelope, body: bytes) -> None:
        members = msgspec.json.decode(msgspec.json.decode(body, type=Params).params, type=Members)
        whose = self._names.owner(bytes(members["token"]))
        if whose is None:
            self._to_all(body)
        else:
            token = Raw(whose.raw_id)
            self._group.servers[whose.server].send(notification(envelope.method or "", {"token": token}))

    def _open(self, envelope: Envelope, body: bytes) -> None:
        item = msgspec.json.decode(body)["params"]["textDocument"]
        self._diagnostics.client_has(item["uri"], item.get("version"))
        if self._wants_whole_texts:
            self._mirror.opened(item["uri"], item["text"])
        self._to_all(body)

    def _close(self, envelope: Envelope, body: bytes) -> None:
        uri = msgspec.json.decode(body)["params"]["textDocument"]["uri"]
        self._diagnostics.client_closes(uri)
        self._mirror.closed(uri)
        self._to_all(body)

    @property
    def _wants_whole_texts(self) -> bool:
        kinds = {sync_kind(server.capabilities) for server in self._group.alive}
        return kinds >= {FULL, INCREMENTAL}

    def _change(self, envelope: Envelope, body: bytes) -> None:
        """To each server as it wants to hear it."""
        params = msgspec.json.decode(body)["params"]
        document = params["textDocument"]
        self._diagnostics.client_has(document["uri"], document.get("version"))
        whole = self._mirror.whole(body, params) if self._wants_whole_texts else body
        for server in self._group.alive:
            server.send(whole if sync_kind(server.capabilities) == FULL else body)

    def _notebook(self, envelope: Envelope, body: bytes) -> None:
        method = "notebookDocument/sync"
        able = [
            server
            for server in self._group.alive
            if server.capabilities.get("notebookDocumentSync") or method in server.registered
        ]
        for server in able or self._group.alive:
            server.send(body)

    def _files_changed(self, envelope: Envelope, body: bytes) -> None:
        """To those who watch files; where nobody has said so, to all."""
        watching = [server for server in self._group.alive if WATCHED_FILES in server.registered]
        for server in watching or self._group.alive:
            server.send(body)


Route = Callable[[ToServers, Envelope, bytes], None]

ROUTES: Mapping[str, Route] = {
    "$/cancelRequest": ToServers._cancel,
    "initialize": ToServers._initialize,
    CHANGE: ToServers._change,
    CODE_ACTION: ToServers._code_actions,
    PULL: ToServers._pull,
    "textDocument/didClose": ToServers._close,
    "textDocument/didOpen": ToServers._open,
    "window/workDoneProgress/cancel": ToServers._cancel_progress,
    WORKSPACE_PULL: ToServers._pull,
    WATCHED_FILES: ToServers._files_changed,
    "workspace/executeCommand": ToServers._execute,
}
"""What does not simply go to all (notifications) or to the first who offers it, or all of them (`COMBINED`)."""


def _without(body: bytes, *names: str) -> bytes:
    """A request without some members of its params."""
    message = msgspec.json.decode(body, type=Members)
    params = message.get("params", Raw(b"null"))
    if not bytes(params).lstrip().startswith(b"{"):
        return body
    members = msgspec.json.decode(params, type=Members)
    if not any(name in members for name in names):
        return body
    message["params"] = Raw(msgspec.json.encode({name: value for name, value in members.items() if name not in names}))
    return msgspec.json.encode(message)
