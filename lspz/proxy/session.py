"""The life of a session as a table, and the ledger of open requests: no I/O, no clock.

::

    Created ──► Initializing ──► Ready ⇄ Working ──► ShuttingDown ──► Exited
                     └────────────────────────────────────▲
    Crashed: from any of them but Exited

The ledger keeps exactly one reply per request: what the client asked and the server has not answered gets an error
when the server dies.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

import msgspec

from ..wire.messages import error_response, id_key, notification

BACKEND_DIED = -32099
"""The error code of the answers lspz gives in place of a dead server; from JSON-RPC's range for servers."""


class _Name(enum.Enum):
    """Names that are looked up for every request: hashed by identity, which they have, not by their spelling."""

    __hash__ = object.__hash__


class State(_Name):
    """Where a session is."""

    CREATED = "created"
    INITIALIZING = "initializing"
    READY = "ready"
    WORKING = "working"
    SHUTTING_DOWN = "shutting down"
    EXITED = "exited"
    CRASHED = "crashed"


class Event(_Name):
    """What happens to a session."""

    INITIALIZE = "initialize"
    INITIALIZED = "initialize answered"
    REQUEST = "request"
    IDLE = "last answer"
    SHUTDOWN = "shutdown"
    EXIT = "exit"
    DIED = "backend died"


TRANSITIONS: dict[State, dict[Event, State]] = {
    State.CREATED: {
        Event.INITIALIZE: State.INITIALIZING,
        Event.EXIT: State.EXITED,
        Event.DIED: State.CRASHED,
    },
    State.INITIALIZING: {
        Event.INITIALIZED: State.READY,
        Event.SHUTDOWN: State.SHUTTING_DOWN,
        Event.EXIT: State.EXITED,
        Event.DIED: State.CRASHED,
    },
    State.READY: {
        Event.REQUEST: State.WORKING,
        Event.SHUTDOWN: State.SHUTTING_DOWN,
        Event.EXIT: State.EXITED,
        Event.DIED: State.CRASHED,
    },
    State.WORKING: {
        Event.REQUEST: State.WORKING,
        Event.IDLE: State.READY,
        Event.SHUTDOWN: State.SHUTTING_DOWN,
        Event.EXIT: State.EXITED,
        Event.DIED: State.CRASHED,
    },
    State.SHUTTING_DOWN: {
        Event.EXIT: State.EXITED,
        Event.DIED: State.CRASHED,
    },
    State.EXITED: {},
    State.CRASHED: {},
}
"""Every legal move. What is not here changes nothing: the message is forwarded, and judging it is the server's task."""

_EVENTS = {"initialize": Event.INITIALIZE, "shutdown": Event.SHUTDOWN}


class OpenRequest(msgspec.Struct, frozen=True, gc=False):
    """A request of the client's that the server has not answered."""

    id: bytes
    """Raw JSON, as the client wrote it."""
    method: str
    body: bytes | None
    """The request itself, where its answer will be rewritten."""


class Session:
    """State and ledger of one client's session with one server."""

    def __init__(self) -> None:
        self.state = State.CREATED
        self.shutdown_seen = False
        self._open: dict[bytes, OpenRequest] = {}

    def happen(self, event: Event) -> None:
        """Move as the table says."""
        self.state = TRANSITIONS[self.state].get(event, self.state)

    def client_request(self, raw_id: bytes, method: str, body: bytes | None = None) -> None:
        """The client asks the server."""
        self._open[id_key(raw_id)] = OpenRequest(raw_id, method, body)
        self.happen(_EVENTS.get(method, Event.REQUEST))
        if method == "shutdown":
            self.shutdown_seen = True

    def open_request(self, raw_id: bytes) -> OpenRequest | None:
        """The open request that an answer with this id belongs to."""
        return self._open.get(id_key(raw_id))

    def backend_reply(self, raw_id: bytes) -> OpenRequest | None:
        """The server answers; the request is closed and returned, None when the client asked no such thing."""
        request = self._open.pop(id_key(raw_id), None)
        if request is not None:
            if request.method == "initialize":
                self.happen(Event.INITIALIZED)
            if not self._open:
                self.happen(Event.IDLE)
        return request

    def open_requests(self) -> Iterator[OpenRequest]:
        """All requests that wait for the server's answer."""
        return iter(self._open.values())

    def exit_requested(self) -> None:
        """The client sends `exit`."""
        self.happen(Event.EXIT)

    def backend_died(self, reason: str) -> list[bytes]:
        """The server is gone: the bodies to send to the client, one error for each open request and one message."""
        self.happen(Event.DIED)
        bodies = [error_response(request.id, BACKEND_DIED, reason) for request in self._open.values()]
        self._open.clear()
        bodies.append(notification("window/showMessage", {"type": 1, "message": reason}))
        return bodies
