"""Every option, once: its name, how it is spelled in the environment and on the command line, and what it may be.

Plain rows that import nothing heavy, as they are read before the server is started.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

from ..errors import ConfigError
from ..formats import CHOICES
from ..interceptors import DEFAULT_FIELDS, INTERCEPTORS, check_fields
from ..transports.address import read_address

LOG_LEVELS = ("error", "warn", "info", "debug")


class Option:
    """One option. `parse` turns text into a value or raises ValueError with what is allowed."""

    def __init__(
        self,
        name: str,
        variable: str,
        default: object,
        parse: Callable[[str], object],
        help: str,
        flag: str | None = None,
        metavar: str | None = None,
    ) -> None:
        self.name = name
        self.variable = variable
        self.default = default
        self.parse = parse
        self.help = help
        self.flag = flag
        self.metavar = metavar
        """What the flag's value is called in its help; None: the flag stands alone, and means `true`."""

    @property
    def is_switch(self) -> bool:
        """Whether the flag stands alone, and means `true`."""
        return self.metavar is None

    def read(self, text: str, origin: str) -> object:
        """Parse `text`. Raises ConfigError that names `origin` (a variable or flag), the text and what is allowed."""
        try:
            return self.parse(text)
        except ValueError as error:
            raise ConfigError(f"{origin}={text!r}: {error}") from None


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.strip().lower() not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text.strip().lower()

    return parse


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in ("true", "1", "yes", "on"):
        return True
    if word in ("false", "0", "no", "off"):
        return False
    raise ValueError("must be true or false")


def _command(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"must be a command line ({error})") from None
    if not words:
        raise ValueError("must be a command line, such as 'basedpyright-langserver --stdio'")
    return words


def _fields(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    check_fields(names)
    return names


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


SEVERITIES = ("error", "warning", "info", "hint")


def _severity(text: str) -> int:
    word = text.strip().lower()
    if word not in SEVERITIES:
        raise ValueError(f"must be one of {', '.join(SEVERITIES)}")
    return SEVERITIES.index(word) + 1


def _number(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError("must be a number from 0 up, where 0 is no cap")
    return int(text)


def _token(text: str) -> str:
    token = text.strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("must be printable ASCII without spaces")
    return token


def _restart(text: str) -> tuple[int, float] | None:
    word = text.strip().lower()
    if word in ("off", "0"):
        return None
    times, _, seconds = word.removesuffix("s").partition("/")
    if not times.isdecimal() or not seconds.isdecimal() or not int(times) or not int(seconds):
        raise ValueError("must be TIMES/SECONDS, such as 3/60s, or off")
    return int(times), float(seconds)


def _seconds(text: str) -> float | None:
    word = text.strip().lower().removesuffix("s")
    if word != "off" and not word.replace(".", "", 1).isdecimal():
        raise ValueError("must be seconds, such as 30, or off")
    return None if word == "off" else float(word) or None


def _settings(text: str) -> dict[str, object]:
    import json

    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"must be a JSON object of settings by section ({error})") from None
    if not isinstance(value, dict):
        raise ValueError('must be a JSON object of settings by section, such as {"python": {"analysis": {}}}')
    return value


SHIMS = ("auto", "on", "off")

OPTIONS = (
    Option(
        "backend",
        "LSPZ_BACKEND_CMD",
        (),
        _command,
        "the server's command line, or its address; several servers are separated by --",
        "--backend",
        '"COMMAND ARG ..."',
    ),
    Option(
        "format",
        "LSPZ_FORMAT",
        "auto",
        _choice(*CHOICES),
        f"what the client gets: {', '.join(CHOICES)}",
        "--format",
        "FORM",
    ),
    *(
        Option(f"enable_{row.switch}_compress", f"LSPZ_ENABLE_{row.switch.upper()}_COMPRESS", None, _boolean, row.what)
        for row in INTERCEPTORS
    ),
    Option("diag_fields", "LSPZ_DIAG_FIELDS", DEFAULT_FIELDS, _fields, "the diagnostics' fields to keep"),
    Option("diag_merge", "LSPZ_DIAG_MERGE", True, _boolean, "merge equal diagnostics"),
    Option("diag_prune", "LSPZ_DIAG_PRUNE", True, _boolean, "leave out the fields that are not kept"),
    Option("diag_enum", "LSPZ_DIAG_ENUM", True, _boolean, "write severities and tags as letters"),
    Option("diag_delta", "LSPZ_DIAG_DELTA", True, _boolean, "write ranges as differences"),
    Option("max_diags", "LSPZ_MAX_DIAGS", 0, _number, "diagnostics a document, errors first"),
    Option("max_completions", "LSPZ_MAX_COMPLETIONS", 0, _number, "items of a completion list, the preferred first"),
    Option("max_symbols", "LSPZ_MAX_SYMBOLS", 0, _number, "symbols of an outline or a search"),
    Option("max_tokens", "LSPZ_MAX_TOKENS", 0, _number, "tokens of a rewritten message"),
    Option(
        "min_severity",
        "LSPZ_MIN_SEVERITY",
        4,
        _severity,
        "the mildest diagnostics to show",
        "--min-severity",
        "SEVERITY",
    ),
    Option("ignore_sources", "LSPZ_IGNORE_SOURCES", (), _names, "leave out diagnostics of these sources"),
    Option("ignore_codes", "LSPZ_IGNORE_CODES", (), _names, "leave out diagnostics with these codes"),
    Option("fold_hover", "LSPZ_FOLD_HOVER", None, _boolean, "fold the Markdown of hovers"),
    Option(
        "restart",
        "LSPZ_RESTART",
        None,
        _restart,
        "start a server again that dies, so often within so long: 3/60s",
        "--restart",
        "TIMES/SECONDS",
    ),
    Option(
        "request_timeout",
        "LSPZ_REQUEST_TIMEOUT",
        None,
        _seconds,
        "answer a request with an error when the server has not answered by then",
        "--request-timeout",
        "SECONDS",
    ),
    Option(
        "shim",
        "LSPZ_SHIM",
        "auto",
        _choice(*SHIMS),
        f"do for a client what it cannot do itself: {', '.join(SHIMS)}",
        "--shim",
        "HOW",
    ),
    Option("settings", "LSPZ_SETTINGS", None, _settings, "the server's settings by section (JSON), for the shim"),
    Option("drop_superseded", "LSPZ_DROP_SUPERSEDED", False, _boolean, "drop diagnostics of versions that are past"),
    Option(
        "listen",
        "LSPZ_LISTEN",
        None,
        read_address,
        "serve all who connect to this address, each with a server of its own",
        "--listen",
        "ADDRESS",
    ),
    Option("allow_remote", "LSPZ_ALLOW_REMOTE", False, _boolean, "let other machines connect", "--allow-remote"),
    Option("token", "LSPZ_TOKEN", None, _token, "what clients must show, and what lspz shows a server at an address"),
    Option("tls_cert", "LSPZ_TLS_CERT", None, str, "the certificate to listen with, PEM", "--tls-cert", "FILE"),
    Option("tls_key", "LSPZ_TLS_KEY", None, str, "its private key, if it is in another file", "--tls-key", "FILE"),
    Option("tls_ca", "LSPZ_TLS_CA", None, str, "what to trust in a server at an address, PEM", "--tls-ca", "FILE"),
    Option(
        "log_level",
        "LSPZ_LOG_LEVEL",
        "warn",
        _choice(*LOG_LEVELS),
        f"what is logged: {', '.join(LOG_LEVELS)}",
        "--log-level",
        "LEVEL",
    ),
    Option("log_file", "LSPZ_LOG_FILE", None, str, "where the log goes instead of stderr", "--log-file", "FILE"),
)


def from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """The options that are set in `environ`. An empty variable counts as unset. Raises ConfigError."""
    return {
        option.name: option.read(environ[option.variable], option.variable)
        for option in OPTIONS
        if environ.get(option.variable)
    }


def split_backends(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The commands that stand in one, separated by `--`."""
    backends: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            backends.append([])
        else:
            backends[-1].append(word)
    return [tuple(backend) for backend in backends]
