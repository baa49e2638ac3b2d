"""`lspz/original`: the client asks for what the server said before lspz rewrote it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import NotKept
from .originals import MAX_BYTES, Originals

Raw = msgspec.Raw


class _Request(msgspec.Struct):
    params: dict[str, Raw]


def read_original(body: bytes, originals: Originals) -> dict[str, Any]:
    """The result for a request with params `{"uri": …}` or `{"id": …}`.

    It is `{"method": …, "params": …}` for what was pushed, `{"method": …, "result": …}` for an answer; of a workspace's
    report that on the one file. Raises NotKept, and msgspec.ValidationError for other params.
    """
    params = msgspec.json.decode(body, type=_Request).params
    if len(params) != 1 or not params.keys() <= {"uri", "id"}:
        raise msgspec.ValidationError('the params must be {"uri": …} or {"id": …}')
    if "uri" in params:
        what = msgspec.json.decode(params["uri"], type=str)
        kept = originals.last_of(what)
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
    return {"method": kept.method, member: Raw(kept.payload)}
