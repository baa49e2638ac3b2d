"""The `lspz` command. The only place that prints or exits.

Exit status: 2 for a wrong option, 127 for a server that is not found, else what the server's end calls for.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv` (default: the process's arguments); return the exit status."""
    import sys

    from . import proxy

    return proxy.main(list(sys.argv[1:] if argv is None else argv))
