"""Documents for servers that want whole texts, while another takes changes."""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from ...wire.messages import notification
from ...wire.text import UTF16
from ...wire.uris import uri_key
from ..told import changed

log = logging.getLogger("lspz.backend")

CHANGE = "textDocument/didChange"


class Mirror:
    """The texts of the client's open documents."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def opened(self, uri: str, text: str) -> None:
        """The client opens a document."""
        self._texts[uri_key(uri)] = text

    def closed(self, uri: str) -> None:
        """The client closes it."""
        self._texts.pop(uri_key(uri), None)

    def whole(self, body: bytes, params: dict[str, Any]) -> bytes:
        """A `didChange` with the whole text; as it was where the changes do not fit what is known."""
        document = params["textDocument"]
        key = uri_key(document["uri"])
        try:
            text = self._texts[key]
            for change in params["contentChanges"]:
                text = changed(text, change, UTF16)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            log.warning("%s: changes that do not fit the document (%r)", document["uri"], error)
            self._texts.pop(key, None)
            return body
        self._texts[key] = text
        members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])["params"]
        own = msgspec.json.decode(members, type=dict[str, msgspec.Raw])
        return notification(CHANGE, {**own, "contentChanges": [{"text": text}]})
