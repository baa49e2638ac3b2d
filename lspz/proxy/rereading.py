"""`lspz/original`: the client asks for what the server said before lspz rewrote it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import NotKept
from .originals import MAX_BYTES, Originals

Raw = msgspec.Raw


class _Request(msgspec.Struct):
    params: dict[str, Raw]


def read_original(body: bytes, originals: Originals) -> tuple[str, dict[str, Any]]:
    """The URI in it, if any, and the result for a request with params `{"uri": …}` or `{"id": …}`.

    It is `{"method": …, "params": …}` for what was pushed, `{"method": …, "result": …}` for an answer; of a workspace's
    report that on the one file. Raises NotKept, and msgspec.ValidationError for other params.
    """
    params = msgspec.json.decode(body, type=_Request).params
    if len(params) != 1 or not params.keys() <= {"uri", "id"}:
        raise msgspec.ValidationError('the params must be {"uri": …} or {"id": …}')
    uri = msgspec.json.decode(params["uri"], type=str) if "uri" in params else ""
    if uri:
        what, kept = uri, originals.last_of(uri)
    elif "id" not in params:
        raise msgspec.ValidationError("the uri is empty")
    else:
        raw_id = bytes(params["id"])
        what = f"request {raw_id.decode(errors='replace')}"
        kept = originals.answer_to(raw_id)
    if kept is None:
        raise NotKept(
            f"nothing that was rewritten is kept of {what}: what came is the server's own, "
            f"or it is no longer among the last {MAX_BYTES >> 20} MB"
        )
    member = "params" if kept.method == "textDocument/publishDiagnostics" else "result"
    return uri, {"method": kept.method, member: Raw(kept.payload)}
