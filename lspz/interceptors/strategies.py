"""How messages are rewritten, as options."""

from __future__ import annotations

import attrs

from ..errors import ConfigError
from . import DEFAULT_FIELDS, check_fields
from .core import CORE_FIELDS


@attrs.frozen
class CompressionConfig:
    """The four strategies for diagnostics (formats.md §1), each on or off on its own."""

    enable_dedup: bool = True
    """Merge diagnostics that are equal but for their range."""
    enable_field_pruning: bool = True
    """Leave out the fields that are not in `keep_fields`."""
    enable_enum_compression: bool = True
    """Write severities and tags as letters (compact only)."""
    enable_range_delta: bool = True
    """Write the second and further ranges as differences (compact only)."""
    keep_fields: tuple[str, ...] = attrs.field(default=DEFAULT_FIELDS, converter=tuple)
    """Names of LSP's Diagnostic; must hold message and range."""

    @keep_fields.validator
    def _check(self, attribute: object, value: tuple[str, ...]) -> None:
        try:
            check_fields(value)
        except ValueError as error:
            raise ConfigError(f"keep_fields={','.join(value)!r}: {error}") from None

    @property
    def kept(self) -> frozenset[str] | None:
        """The fields that stay; None when all do."""
        return frozenset(self.keep_fields) if self.enable_field_pruning else None

    @property
    def keeps_more(self) -> bool:
        """Whether members stay that not every form has a place for."""
        return self.kept is None or not self.kept <= CORE_FIELDS


@attrs.frozen
class Limits:
    """What is left out of a message, and always counted in it. Off by default (formats.md §2, capping)."""

    max_diags: int = 0
    """Diagnostics a document, errors first; 0 is no cap, here and below."""
    max_completions: int = 0
    """Items of a completion list, by the server's own order of preference."""
    max_symbols: int = 0
    """Symbols of a document or of a workspace search, in the server's order."""
    max_tokens: int = 0
    """Tokens of a rewritten message's text or compact JSON; whole rows go until it fits. Not in `folded`."""
    min_severity: int = 4
    """The mildest severity of diagnostics that stays: 1 error, 2 warning, 3 information, 4 hint, which is all."""
    ignore_sources: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    """Diagnostics of these sources are left out."""
    ignore_codes: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    """Diagnostics with these codes are left out; a number matches its digits."""

    @property
    def filters(self) -> bool:
        """Whether diagnostics are left out for what they are."""
        return self.min_severity < 4 or bool(self.ignore_sources or self.ignore_codes)
