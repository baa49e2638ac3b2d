"""lspz with an interceptor and a feature of your own. Point your client at `python own_server.py`."""

from __future__ import annotations

import sys
from typing import Any

from lsprotocol import types

from lspz import Config, Direction, Interceptor, LspzServer


class ShortHover(Interceptor[types.Hover, types.Hover]):
    """Keeps the first lines of a hover's text."""

    name = "short-hover"
    methods = (types.TEXT_DOCUMENT_HOVER,)

    def __init__(self, lines: int) -> None:
        self.lines = lines

    async def intercept(self, method: str, params: types.Hover | None, direction: Direction) -> types.Hover | None:
        """See the answer to a hover request on its way to the client; None is LSP's "nothing here"."""
        if params is not None and isinstance(params.contents, types.MarkupContent):
            params.contents.value = "\n".join(params.contents.value.splitlines()[: self.lines])
        return params


config = Config.builder().backend("basedpyright-langserver", "--stdio").format("folded").interceptor(ShortHover(3))
server = LspzServer(config.build())


@server.feature("project/todos")
def todos(params: Any) -> list[dict[str, Any]]:
    """Answer a request that the language server knows nothing of: what is still to do in a document."""
    document = server.workspace.get_text_document(params.uri)
    return [{"line": number, "text": line.strip()} for number, line in enumerate(document.lines) if "TODO" in line]


if __name__ == "__main__":
    server.start_io()
    sys.exit(server.exit_code)
