"""Compress and decompress one message's payload, as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import msgspec

from .config import Config
from .errors import ConfigError
from .formats import FORMATS
from .formats.spelling import WRITERS
from .interceptors import INTERCEPTORS, WORKSPACE
from .interceptors.base import Direction, run_inline
from .interceptors.chain import Chain

if TYPE_CHECKING:
    import cattrs

    from .interceptors.streams import DiagnosticsSender

__all__ = ["chain_for", "compress", "compress_files", "decompress", "sender_for"]


@cache
def _converter() -> cattrs.Converter:
    from .converters import get_converter

    return get_converter()


def chain_for(config: Config, form: str, without: str = "") -> Chain:
    """The interceptors for a client that gets `form`: the user's, which see what the server said, then lspz's.

    `without` is the name of a row whose messages are rewritten elsewhere.
    """
    made = [row.create(config, form) for row in INTERCEPTORS if row.name != without]
    return Chain([*config.interceptors, *(i for i in made if i is not None)], _converter)


def sender_for(config: Config, form: str) -> DiagnosticsSender | None:
    """Who says what changed in diagnostics, in a form that can; None where the form or the options do not allow it."""
    from .interceptors.streams import FORMS, DiagnosticsSender

    if form not in FORMS or config.enables("diag") is False:
        return None
    return DiagnosticsSender(form, config.compression, config.limits)


def compress(method: str, payload: Any, *, format: str = "compact", config: Config | None = None) -> Any:
    """What a client that gets `format` receives in place of `payload`.

    `payload` is plain JSON: the params of a notification, or the result of a request, of `method`. So is what is
    returned. A method that lspz does not rewrite, a message the form cannot hold, and one that would become larger come
    back as they are. Raises ConfigError for a form that does not exist.
    """
    if format not in FORMATS:
        raise ConfigError(f"format={format!r}: must be one of {', '.join(FORMATS)}")
    used = config or Config()
    chain = _strategies_chain(used, format)
    if method not in chain.methods(Direction.TO_CLIENT):
        return payload
    try:
        raw = msgspec.json.encode(payload)
        written = run_inline(chain.run(method, raw, Direction.TO_CLIENT))
        return msgspec.json.decode(written) if written is not None and written is not raw else payload
    except Exception:
        return payload


def compress_files(files: Mapping[str, Sequence[Any]], *, format: str = "text", config: Config | None = None) -> Any:
    """The diagnostics of several files as one message: what breaks forty files alike reads as one problem.

    `files` are lists of LSP diagnostics (JSON) by URI. What is returned is JSON, in text with the text itself under
    `text`; `decompress("workspace/diagnostic", …)` reads it. Text does not name files without diagnostics.

    Raises ConfigError for a form that is none of compact, toon and text, CannotCompress for what has no place in it.
    """
    from .interceptors.workspace_diagnostics import create

    if format not in WRITERS:
        raise ConfigError(f"format={format!r}: must be one of {', '.join(WRITERS)}")
    reports = [{"uri": uri, "version": None, "kind": "full", "items": found} for uri, found in files.items()]
    compressor = create(config or Config(), format)
    model = compressor.model(WORKSPACE, msgspec.json.encode({"items": reports}))
    return msgspec.json.decode(compressor.writer(WORKSPACE)(attrs.evolve(model, across=True)))


def _strategies_chain(config: Config, form: str) -> Chain:
    return chain_for(attrs.evolve(config, enable_diag_compress=None, switches={}, interceptors=()), form)


def decompress(method: str, value: Any) -> Any:
    """Standard LSP, as plain JSON, from what a client of lspz received; plain LSP comes back as it is.

    Raises DecodeError naming position and reason for a damaged message, UnsupportedVersion for a newer format.
    """
    row = next((row for row in INTERCEPTORS if method in row.methods), None)
    model = None if row is None else row.read(method, value)
    return value if model is None else model.to_lsp()
