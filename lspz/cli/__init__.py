"""The `lspz` command. The only place that prints or exits.

Exit status: 2 for a wrong option, 127 for a server that is not found, else what the server's end calls for; of the
filters 1 for what cannot be read. `check` has its own.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv` (default: the process's arguments); return the exit status."""
    import sys

    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] in (["compress"], ["decompress"]):
        from . import convert

        return convert.main(arguments)
    if arguments[:1] == ["check"]:
        from . import check

        return check.main(arguments[1:])
    if arguments[:1] == ["mcp"]:
        from . import mcp

        return mcp.main(arguments[1:])
    from . import proxy

    return proxy.main(arguments)
