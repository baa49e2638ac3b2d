"""Who may take part in a session besides the client and the server: what pygls adds to lspz, and nobody.

With something registered, lspz answers the client and asks it (`Facade`, by what `Registered` says), and asks the
server (`Party`). pygls does that (`protocol`, `features`) and takes longer to load than all the rest of lspz; where
nothing can be registered, `NOBODY` stands in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


class Party(Protocol):
    """Somebody who shares the connection to one peer with the relay, and may ask that peer."""

    def connect(self, send: Callable[[bytes], None]) -> None:
        """From now on write message bodies with `send`."""

    def disconnect(self, reason: str) -> None:
        """The peer is gone: whatever was asked and is not answered fails with `reason`."""

    def is_own(self, raw_id: bytes) -> bool:
        """Whether a raw id is that of a question of its own."""

    @property
    def waits(self) -> bool:
        """Whether such a question is open."""

    def deliver(self, body: bytes) -> None:
        """Handle a message from the peer."""


class Facade(Party, Protocol):
    """The party at the client's side, which also answers."""

    def deliver_soon(self, body: bytes, raw_id: bytes = b"") -> None:
        """Handle a message, behind what came with it; `raw_id` is that of a request."""

    def is_handling(self, raw_id: bytes) -> bool:
        """Whether the request with this id is being handled here."""

    def cancel_soon(self, body: bytes) -> None:
        """Handle a `$/cancelRequest` for such a request, behind what came with it."""

    def call_user_handler(self, method: str, params: Any) -> None:
        """Call what is registered for a message that the server answers."""


class Registered(Protocol):
    """What is registered on the façade."""

    @property
    def any(self) -> bool:
        """Whether anything is."""

    @property
    def notifications(self) -> frozenset[str]:
        """Notifications that the façade must hear about."""

    def answers(self, method: str) -> bool:
        """Whether the façade answers a request."""

    @property
    def has_commands(self) -> bool:
        """Whether any command is registered."""

    def has_command(self, name: object) -> bool:
        """Whether a command is registered under this name."""

    def client_initializes(self, params: Any) -> None:
        """The client's `initialize` params (JSON) are on their way to the server."""

    def backend_initialized(self, result: dict[str, Any]) -> dict[str, Any]:
        """The server's answer (JSON) is on its way to the client; return the capabilities it lacks."""


class _Nobody:
    """Asks nothing and answers nothing. What is delivered would be lost, but nobody has anything delivered."""

    any = has_commands = waits = False
    notifications: frozenset[str] = frozenset()

    def connect(self, send: Callable[[bytes], None]) -> None: ...

    def disconnect(self, reason: str) -> None: ...

    def is_own(self, raw_id: bytes) -> bool:
        return False

    def deliver(self, body: bytes) -> None: ...

    def deliver_soon(self, body: bytes, raw_id: bytes = b"") -> None: ...

    def is_handling(self, raw_id: bytes) -> bool:
        return False

    def cancel_soon(self, body: bytes) -> None: ...

    def call_user_handler(self, method: str, params: Any) -> None: ...

    def answers(self, method: str) -> bool:
        return False

    def has_command(self, name: object) -> bool:
        return False

    def client_initializes(self, params: Any) -> None: ...

    def backend_initialized(self, result: dict[str, Any]) -> dict[str, Any]:
        return {}


NOBODY = _Nobody()
"""Takes every part and does nothing in it."""


class Parties(NamedTuple):
    """Who takes part in one session."""

    facade: Facade = NOBODY
    registered: Registered = NOBODY
    backend: Party = NOBODY
    """The party at the server's side."""
