"""`lspz check`: what language servers find wrong in files, for people and for CI."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..agent.selection import changed_since, files_in, workspace_of
from ..config.servers import Server, ServerTable, builtin_servers, missing
from ..errors import ConfigError, LspzError
from .reports import WRITERS
from .values import seconds

if TYPE_CHECKING:
    from ..agent.results import Diagnostics, WorkspaceDiagnostics

EXIT_FOUND = 1
EXIT_COULD_NOT = 2
EXIT_INTERRUPTED = 130

SEVERITIES = {"error": 1, "warning": 2, "info": 3, "hint": 4}

DESCRIPTION = """\
Ask the language servers of a project what is wrong in its files, and print it, grouped: each problem once, with all its
places. PATH is a file or a folder; by default the working directory. Of a folder in a git checkout it is the files that
git tracks or would.
"""

EPILOG = """\
exit status:
  0  nothing at or above --min-severity is wrong
  1  something is
  2  it is not known: a server is missing, died, or was not ready in time, or an option is wrong

examples:
  lspz check                                     the project in this folder
  lspz check src tests/test_app.py               some of it
  lspz check --changed-since main                what a branch changed
  lspz check --server basedpyright --server ruff these servers, which must be there
  lspz check --min-severity warning --format sarif > report.sarif
"""


def main(argv: Sequence[str]) -> int:
    """Run the command; return the exit status."""
    options = _parser().parse_args(argv)
    logging.basicConfig(format="lspz check: %(message)s", level=logging.ERROR)
    try:
        return asyncio.run(_check(options))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever reads has had enough
        return EXIT_FOUND
    except (LspzError, OSError) as error:
        _say(str(error))
        return EXIT_COULD_NOT


async def _check(options: argparse.Namespace) -> int:
    from ..agent.pool import AgentPool

    here = Path.cwd().resolve()
    paths = [(here / path).resolve() for path in options.paths] or [here]
    for path in paths:
        if not path.exists():
            raise ConfigError(f"{path}: there is no such file or folder")
    root = workspace_of(paths, here)
    table = builtin_servers().limited_to(options.server)
    _require(options.server, table)
    files = _select(paths, root, options.changed_since, table)
    if not files:
        _say("no files to check")
        return 0 if options.changed_since else EXIT_COULD_NOT
    builder = AgentPool.builder().workspace_root(root).watch(False).patience(limit=options.timeout)
    if options.server:
        builder.servers(*options.server)
    progress, severity = _Progress(len(files), root), SEVERITIES[options.min_severity]

    def keep(answer: Diagnostics) -> Diagnostics:
        progress.tell(answer)
        return answer.slim(severity)

    try:
        async with builder.build() as pool:
            found = await pool.diagnostics_of(files, keep=keep)
    finally:
        progress.end()
    return _print(found, options)


def _select(paths: Sequence[Path], root: Path, revision: str | None, table: ServerTable) -> list[Path]:
    """The files that are checked, in order. Says which are not for the lack of a server."""
    changed = changed_since(revision, root) if revision else None
    named = [path for path in paths if path.is_file()]
    for path in named:
        if not table.servers_for(path):
            raise ConfigError(f"{path}: no server is known for {table.language_of(path)}")
    there = [path for folder in paths if folder.is_dir() for path in files_in(folder)]
    wanted = dict.fromkeys((*named, *there))
    chosen, without = [], dict[str, list[Server]]()
    for path in wanted:
        servers = table.servers_for(path)
        if not servers or (changed is not None and path not in changed):
            continue
        if path in named or any(shutil.which(server.command[0]) for server in servers):
            chosen.append(path)
        else:
            without.setdefault(table.language_of(path), []).extend(servers)
    for language, lacking in without.items():
        hint = missing(lacking[0].command)
        _say(f"not checked: {language} files: {lacking[0].name} is not installed; {hint}")
    if without and not chosen:
        raise ConfigError("no server of these files is installed")
    return sorted(chosen)


def _require(names: Sequence[str] | None, table: ServerTable) -> None:
    for name in names or ():
        command = table.named(name).command
        if shutil.which(command[0]) is None:
            raise ConfigError(f"--server={name}: {command[0]} is not installed; {missing(command)}")


def _print(found: WorkspaceDiagnostics, options: argparse.Namespace) -> int:
    for piece in WRITERS[options.format](found, options.max_tokens):
        sys.stdout.write(piece)
    sys.stdout.write("\n")
    sys.stdout.flush()
    if found.omitted and sys.stderr.isatty():
        _say(f"{found.omitted} milder left out: --min-severity hint shows all")
    if found.note is not None:
        _say(found.note)
        return EXIT_COULD_NOT
    return EXIT_FOUND if found.count else 0


class _Progress:
    """A line on a terminal that says how far it is; silent in a pipe."""

    def __init__(self, total: int, root: Path) -> None:
        self._total = total
        self._root = root
        self._done = 0
        self._shows = sys.stderr.isatty()

    def tell(self, answer: Diagnostics) -> None:
        """One more file."""
        from ..agent.naming import shown

        self._done += 1
        if self._shows:
            width = shutil.get_terminal_size().columns
            bar = "█" * (20 * self._done // self._total)
            line = f"{bar:░<20} {self._done}/{self._total} {shown(answer.uri, self._root)}"
            sys.stderr.write(f"\r\033[K{line[: width - 1]}")
            sys.stderr.flush()

    def end(self) -> None:
        """Take the line away."""
        if self._shows and self._done:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _say(text: str) -> None:
    print(f"lspz check: {text}", file=sys.stderr, flush=True)


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number, 0 for no cap")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lspz check",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="*", help="a file or a folder (default: the working directory)")
    add("--format", choices=tuple(WRITERS), default="text", help="default text; json is plain LSP")
    add("--min-severity", choices=tuple(SEVERITIES), default="error", help="the mildest that counts; default error")
    add("--changed-since", metavar="REV", help="only files that differ from this git revision")
    add("--server", metavar="NAME", action="append", help="use this server; may be given more than once")
    add("--max-tokens", metavar="N", type=_count, default=0, help="print no more (text, toon, compact); 0 is no cap")
    add("--timeout", metavar="SECONDS", type=seconds, default=60.0, help="for one file; default 60")
    return parser
