"""Starting the backend process, before anything heavy is imported.

Importing asyncio takes longer than lspz's whole work, and a server takes longer still to start: so the server is
started first, and the imports run beside its own. This module must stay free of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..errors import BackendNotFound


def spawn(
    command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | os.PathLike[str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a server in a process group of its own, with pipes to all three of its streams.

    Raises BackendNotFound when the command does not exist or may not be run; the text names what to do.
    """
    try:
        return subprocess.Popen(
            [_program(command[0]), *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        if cwd is not None and not os.path.isdir(cwd):
            raise BackendNotFound(f"the working directory {os.fspath(cwd)!r} does not exist") from error
        raise BackendNotFound(not_found(command[0])) from error
    except OSError as error:
        raise BackendNotFound(f"{command[0]}: cannot be run: {error.strerror}") from error


def _program(name: str) -> str:
    if sys.platform == "win32":  # where Popen finds no `.cmd`
        import shutil

        return shutil.which(name) or name
    return name


class EarlySignals:
    """Sees to it that a signal ends the server too, until the event loop has handlers of its own.

    A tenth of a second of imports lies between the two, long enough to orphan a server.
    """

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._caught: int | None = None
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
                signal.signal(getattr(signal, name), self._catch)

    def watch(self, process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
        """Take a server that a signal must end, and return it."""
        self._processes.append(process)
        if self._caught is not None:
            self._catch(self._caught)
        return process

    def _catch(self, number: int, frame: object = None) -> None:
        self._caught = number
        if self._processes:
            self.end()
            os._exit(128 + number)

    def end(self) -> None:
        """End the servers now."""
        for process in self._processes:
            end_group(process, KILL)


KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def end_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a server and to all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, number)


def not_found(program: str) -> str:
    """What to do about a program that is not there."""
    from ..config.servers import missing  # only now: nothing is started, so nobody waits

    return f"{program}: command not found; {missing([program])}"
