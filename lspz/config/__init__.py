"""Options as written (`options`) become one frozen `Config` (`settings`).

The settings are loaded when first used: the options alone are read before the server is started.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would be loaded before the server is started
if TYPE_CHECKING:
    from .settings import Config, ConfigBuilder

__all__ = ["Config", "ConfigBuilder"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from . import settings

        return getattr(settings, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
