"""Every option, once: its name, how it is spelled in the environment and on the command line, and what it may be.

Plain rows that import nothing heavy, as they are read before the server is started.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from ..errors import ConfigError
from ..formats import CHOICES
from ..interceptors import DEFAULT_FIELDS, INTERCEPTORS, check_fields

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
    ) -> None:
        self.name = name
        self.variable = variable
        self.default = default
        self.parse = parse
        self.help = help
        self.flag = flag

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


OPTIONS = (
    Option("backend", "LSPZ_BACKEND_CMD", (), _command, "the server's command line", "--backend"),
    Option("format", "LSPZ_FORMAT", "auto", _choice(*CHOICES), "what the client gets", "--format"),
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
    Option("min_severity", "LSPZ_MIN_SEVERITY", 4, _severity, "the mildest diagnostics to show", "--min-severity"),
    Option("ignore_sources", "LSPZ_IGNORE_SOURCES", (), _names, "leave out diagnostics of these sources"),
    Option("ignore_codes", "LSPZ_IGNORE_CODES", (), _names, "leave out diagnostics with these codes"),
    Option("fold_hover", "LSPZ_FOLD_HOVER", None, _boolean, "fold the Markdown of hovers"),
    Option("log_level", "LSPZ_LOG_LEVEL", "warn", _choice(*LOG_LEVELS), "what is logged", "--log-level"),
    Option("log_file", "LSPZ_LOG_FILE", None, str, "where the log goes instead of stderr", "--log-file"),
)


def from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """The options that are set in `environ`. An empty variable counts as unset. Raises ConfigError."""
    return {
        option.name: option.read(environ[option.variable], option.variable)
        for option in OPTIONS
        if environ.get(option.variable)
    }
