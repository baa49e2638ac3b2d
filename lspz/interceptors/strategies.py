"""The four strategies for diagnostics, as options."""

from __future__ import annotations

import attrs

from ..errors import ConfigError
from . import DEFAULT_FIELDS, check_fields


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
