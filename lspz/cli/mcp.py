"""`lspz mcp`: language servers as tools for agents that speak the Model Context Protocol."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import ConfigError, LspzError
from .values import seconds

EXIT_COULD_NOT = 2

DESCRIPTION = """\
Serve the language servers of a project as tools of the Model Context Protocol: diagnostics, definitions, references,
renames and so on, in few tokens. Servers start with the first question that is for them.
"""

EPILOG = """\
examples:
  lspz mcp                                       on standard input and output, as clients start it
  claude mcp add lspz -- lspz mcp                for Claude Code; docs/mcp.md has other clients
  lspz mcp --http 127.0.0.1:7331                 for clients on this machine, in this folder
  LSPZ_TOKEN=$(openssl rand -hex 32) lspz mcp --http 0.0.0.0:7331 --workspace /srv/app

The project is what a call names, what set_workspace chose, a root that the client told, or else the working directory.
"""


def main(argv: Sequence[str]) -> int:
    """Run the command; return the exit status."""
    options = _parser().parse_args(argv)
    logging.basicConfig(format="lspz mcp: %(message)s", level=logging.WARNING, stream=sys.stderr)
    try:
        import mcp  # noqa: F401
    except ImportError:
        print("lspz mcp: needs the extra mcp: pip install 'lspz[mcp]'", file=sys.stderr)
        return EXIT_COULD_NOT
    try:
        status = asyncio.run(_serve(options))
    except KeyboardInterrupt:
        return 130
    except (LspzError, OSError) as error:
        print(f"lspz mcp: {error}", file=sys.stderr)
        return EXIT_COULD_NOT
    if status:
        sys.stdout.flush()
        os._exit(status)  # a thread may still wait for standard input
    return status


async def _serve(options: argparse.Namespace) -> int:
    from ..mcp.serving import serve_http, serve_stdio
    from ..mcp.workspaces import Workspaces

    here = Path.cwd().resolve()
    folders = [Path(folder) for folder in options.workspace or ()]
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"--workspace={str(folder)!r}: there is no such folder")
    if options.http is None:
        return await serve_stdio(Workspaces(folders, here, options.timeout))
    host, port = options.http
    workspaces = Workspaces(folders or [here], here, options.timeout)

    def started(url: str) -> None:
        print(f"lspz mcp: {url}", file=sys.stderr, flush=True)

    return await serve_http(workspaces, host, port, os.environ.get("LSPZ_TOKEN") or None, started)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r}: must be HOST:PORT, such as 127.0.0.1:7331")
    return host.strip("[]"), int(port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lspz mcp",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--http", metavar="HOST:PORT", type=_address, help="serve streamable HTTP; not on loopback it needs LSPZ_TOKEN")
    add("--workspace", metavar="DIR", action="append", help="work in this folder alone; may be given more than once")
    add("--timeout", metavar="SECONDS", type=seconds, default=30.0, help="of one question; default 30")
    return parser
