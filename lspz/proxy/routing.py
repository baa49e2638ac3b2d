"""Which messages lspz looks at, in each direction, and what it does with them. Everything else never comes here.

Both routes are tables: a method leads to a handler. What the tables hold follows from the client's form and from what
is registered on the façade, and is settled when the client initializes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import NotKept
from ..formats import VERSION
from ..interceptors import COMPLETION
from ..interceptors.base import Direction
from ..wire.messages import Envelope, Kind, error_response, response
from .relay import Decision

if TYPE_CHECKING:
    from .conversation import Conversation

Handler = Callable[[Envelope, bytes], Decision]
Raw = msgspec.Raw

INVALID_PARAMS, REQUEST_FAILED = -32602, -32803
"""Error codes of LSP's: the question is none; it cannot be answered now."""


def _as_it_is(envelope: Envelope, body: bytes) -> Decision:
    return body


class FromClient:
    """The route of what the client says."""

    needs_no_ledger = False

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._features = conversation.features
        self._session = conversation.session
        self._facade = conversation.facade
        self._requests: dict[str, Handler] = {}
        self._notifications: dict[str, Handler] = {}
        self.watched: dict[str, Handler] = self._notifications

    def settle(self) -> None:
        """Fill the tables."""
        conversation, features = self._conversation, self._features
        requests: dict[str, Handler] = {"initialize": self._initialize}
        notifications: dict[str, Handler] = {"exit": self._exit}
        for method in conversation.intercepted(Direction.TO_CLIENT):
            requests[method] = self._keep
        if conversation.form != "passthrough":
            requests["textDocument/codeAction"] = self._code_action
            requests["lspz/original"] = self._original
        if COMPLETION in conversation.intercepted(Direction.TO_CLIENT):
            requests["completionItem/resolve"] = self._resolve
        for method in features.notifications - notifications.keys():
            notifications[method] = self._deliver_copy
        if features.any:
            notifications["$/cancelRequest"] = self._cancel
        if features.has_commands:
            requests["workspace/executeCommand"] = self._command
        for method in conversation.intercepted(Direction.TO_SERVER):  # what the interceptor leaves goes the usual way
            requests[method] = self._intercepted(requests.get(method, self._keep))
            notifications[method] = self._intercepted(notifications.get(method, _as_it_is))
        self._requests = requests
        self._notifications = self.watched = notifications

    def claims(self, envelope: Envelope) -> bool:
        """Whether `handle` must see this message."""
        kind = envelope.kind
        if kind is Kind.RESPONSE:
            return self._conversation.facade.is_own(bytes(envelope.id))
        method = envelope.method
        if kind is Kind.NOTIFICATION:
            return method in self._notifications
        return method in self._requests or (method is not None and self._features.answers(method))

    def claims_unknown_response(self) -> bool:
        """Whether a response whose id is not known yet may be one for the façade."""
        return self._conversation.facade.waits

    def note(self, envelope: Envelope) -> None:
        """A message was passed on unseen."""
        if envelope.method is not None and envelope.id:
            self._session.client_request(bytes(envelope.id), envelope.method)

    def handle(self, envelope: Envelope, body: bytes) -> Decision:
        """Decide on a message."""
        method = envelope.method
        if method is None:
            if not self._facade.is_own(bytes(envelope.id)):
                return body
            self._facade.deliver_soon(body)
            return None
        if not envelope.id:
            return self._notifications[method](envelope, body)
        handler = self._requests.get(method)
        if self._features.answers(method):
            self._facade.deliver_soon(body, bytes(envelope.id))
            return None
        if handler is not None:
            return handler(envelope, body)
        self._session.client_request(bytes(envelope.id), method)
        return body

    def _initialize(self, envelope: Envelope, body: bytes) -> Decision:
        conversation = self._conversation
        self.note(envelope)
        params = json.loads(body).get("params") or {}
        conversation.client_is(params)
        self._features.client_initializes(params)
        return body

    def _exit(self, envelope: Envelope, body: bytes) -> Decision:
        self._conversation.session.exit_requested()
        self._conversation.facade.call_user_handler("exit", None)
        self._conversation.exit_requested()
        return body

    def _keep(self, envelope: Envelope, body: bytes) -> Decision:
        """The answer will be rewritten, and what it is rewritten to may depend on the question."""
        assert envelope.method is not None
        self._conversation.session.client_request(bytes(envelope.id), envelope.method, body)
        return body

    def _intercepted(self, handler: Handler) -> Handler:
        """Handle what the interceptors leave of a message."""

        def intercepted(envelope: Envelope, body: bytes) -> Decision:
            assert envelope.method is not None
            left = self._conversation.rewrite(body, "params", envelope.method, Direction.TO_SERVER)
            if left is None or isinstance(left, bytes):
                return None if left is None else handler(envelope, left)

            async def later() -> bytes | None:
                waited = await left
                handled = None if waited is None else handler(envelope, waited)
                return handled if handled is None or isinstance(handled, bytes) else await handled

            return later()

        return intercepted

    def _code_action(self, envelope: Envelope, body: bytes) -> Decision:
        self.note(envelope)
        conversation = self._conversation
        if not conversation.restores:
            return body
        from .restoring import restore

        return restore(body, conversation.originals, conversation.config.compression)

    def _resolve(self, envelope: Envelope, body: bytes) -> Decision:
        from .resolving import resolve

        conversation = self._conversation
        try:
            left = resolve(body, conversation.originals, conversation.config.limits.max_completions)
        except NotKept as error:
            self._refuse(envelope, REQUEST_FAILED, error)
            return None
        self.note(envelope)
        return left

    def _original(self, envelope: Envelope, body: bytes) -> Decision:
        from .rereading import read_original

        try:
            uri, result = read_original(body, self._conversation.originals)
            if uri:
                self._conversation.send_all(uri)
            self._conversation.answer(response(bytes(envelope.id), result))
        except NotKept as error:
            self._refuse(envelope, REQUEST_FAILED, error)
        except msgspec.ValidationError as error:
            self._refuse(envelope, INVALID_PARAMS, error)
        return None

    def _refuse(self, envelope: Envelope, code: int, error: Exception) -> None:
        self._conversation.answer(error_response(bytes(envelope.id), code, str(error)))

    def _deliver_copy(self, envelope: Envelope, body: bytes) -> Decision:
        self._facade.deliver_soon(body)
        return body

    def _cancel(self, envelope: Envelope, body: bytes) -> Decision:
        facade = self._conversation.facade
        raw = msgspec.json.decode(body, type=_Cancel).params.id
        if not facade.is_handling(bytes(raw)):
            return body
        facade.cancel_soon(body)
        return None

    def _command(self, envelope: Envelope, body: bytes) -> Decision:
        if self._features.has_command((json.loads(body).get("params") or {}).get("command")):
            self._conversation.facade.deliver_soon(body, bytes(envelope.id))
            return None
        self.note(envelope)
        return body


class _CancelParams(msgspec.Struct):
    id: Raw


class _Cancel(msgspec.Struct):
    params: _CancelParams


class FromServer:
    """The route of what the server says."""

    needs_no_ledger = True

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._session = conversation.session
        self._methods: frozenset[str] = frozenset()
        self.watched: frozenset[str] = frozenset()

    def settle(self) -> None:
        """Fill the table."""
        self._methods = self.watched = self._conversation.intercepted(Direction.TO_CLIENT)

    def claims(self, envelope: Envelope) -> bool:
        """Whether `handle` must see this message."""
        if envelope.kind is not Kind.RESPONSE:
            return envelope.method in self._methods
        raw = bytes(envelope.id)
        if self._conversation.backend.is_own(raw):
            return True
        request = self._session.open_request(raw)
        return request is not None and self._is_claimed(request.method)

    def _is_claimed(self, method: str) -> bool:
        return method in self._methods or method == "initialize"

    def claims_unknown_response(self) -> bool:
        """Whether a response whose id is not known yet may be a claimed one."""
        if self._conversation.backend.waits:
            return True
        return any(self._is_claimed(request.method) for request in self._session.open_requests())

    def note(self, envelope: Envelope) -> None:
        """A message was passed on unseen."""
        if envelope.method is None:
            self._session.backend_reply(bytes(envelope.id))

    def handle(self, envelope: Envelope, body: bytes) -> Decision:
        """Decide on a message."""
        conversation = self._conversation
        if (method := envelope.method) is not None:
            return (
                conversation.rewrite(body, "params", method, Direction.TO_CLIENT) if method in self._methods else body
            )
        raw = bytes(envelope.id)
        request = self._session.backend_reply(raw)
        if request is None:
            if not conversation.backend.is_own(raw):
                return body
            conversation.backend.deliver(body)
            return None
        if request.method in self._methods:
            return conversation.rewrite(body, "result", request.method, Direction.TO_CLIENT, request)
        return self._initialized(body) if request.method == "initialize" else body

    def _initialized(self, body: bytes) -> Decision:
        """Say in the capabilities what lspz adds; with nothing to add the server's own bytes go on."""
        conversation = self._conversation
        result = json.loads(body).get("result")
        if not isinstance(result, dict):
            return body
        added = conversation.features.backend_initialized(result)
        if conversation.form != "passthrough":
            incremental = {"incremental": True} if conversation.is_incremental else {}
            experimental = (result.get("capabilities") or {}).get("experimental")
            added["experimental"] = {
                **(experimental if isinstance(experimental, dict) else {}),
                "lspz": {"version": VERSION, "format": conversation.form} | incremental,
            }
        return _with_capabilities(body, added) if added else body


def _with_capabilities(body: bytes, added: dict[str, Any]) -> bytes:
    """An answer to `initialize` with these capabilities in place of its own; all other bytes stay."""
    answer = msgspec.json.decode(body, type=dict[str, Raw])
    result = msgspec.json.decode(answer["result"], type=dict[str, Raw])
    own = result.get("capabilities", Raw(b"null"))
    capabilities: dict[str, Any] = msgspec.json.decode(own, type=dict[str, Raw] | None) or {}
    result["capabilities"] = Raw(msgspec.json.encode({**capabilities, **added}))
    answer["result"] = Raw(msgspec.json.encode(result))
    return msgspec.json.encode(answer)
