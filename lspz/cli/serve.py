"""The slow half of `lspz`: what runs once the server has been started."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Mapping, Sequence

from ..config import Config
from ..proxy.connection import BackendConnection, check
from ..proxy.host import SessionHost
from ..proxy.listening import Listening

_LEVELS = {"error": logging.ERROR, "warn": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


def serve(options: Mapping[str, object], started: Sequence[subprocess.Popen[bytes] | None]) -> int:
    """Serve stdin and stdout in front of started servers, or all who connect; return the exit status.

    Raises BackendError, ConfigError.
    """
    config = Config.from_options(options)
    log_to(config.log_file, config.log_level)
    if config.listen is not None:
        for command in config.backends:
            check(command)
        return Listening(config).start()
    host = SessionHost(config, BackendConnection(), started)
    host.start_io()
    return host.exit_code


def log_to(path: str | None, level: str) -> None:
    """Send lspz's log to a file or stderr."""
    handler = logging.FileHandler(path, encoding="utf-8") if path else logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s" if path else "lspz: %(message)s")
    )
    logger = logging.getLogger("lspz")
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(_LEVELS[level])
