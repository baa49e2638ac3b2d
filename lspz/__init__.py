"""lspz stands between an AI coding agent and a language server and makes what the server says cheaper to read.

Everything here is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module

from ._version import __version__

TYPE_CHECKING = False  # as in typing, which takes longer to load than all that starting a server needs of lspz
if TYPE_CHECKING:
    from typing import Any

    from . import converters
    from .agent.blocking import Blocking
    from .agent.freshness import Fresh, Pending, Unavailable
    from .agent.handle import AgentHandle
    from .agent.locators import At
    from .agent.pool import AgentPool
    from .codec import compress, compress_files, decompress
    from .config.settings import Config, ConfigBuilder
    from .errors import LspzError
    from .interceptors.base import Direction, Interceptor
    from .interceptors.entries import CompactDiagnostic
    from .interceptors.reports import CompactDiagnosticReport, CompactDiagnosticsParams
    from .interceptors.strategies import CompressionConfig, Limits
    from .interceptors.streams import DiagnosticsReceiver, DiagnosticsSender
    from .proxy.backend import LspzBackend
    from .proxy.library import Proxy
    from .proxy.server import LspzServer
    from .tokens import count_tokens
    from .transports.memory import memory_pair

_PLACES = {
    "AgentHandle": "agent.handle",
    "AgentPool": "agent.pool",
    "At": "agent.locators",
    "Blocking": "agent.blocking",
    "CompactDiagnostic": "interceptors.entries",
    "CompactDiagnosticReport": "interceptors.reports",
    "CompactDiagnosticsParams": "interceptors.reports",
    "CompressionConfig": "interceptors.strategies",
    "Config": "config.settings",
    "ConfigBuilder": "config.settings",
    "DiagnosticsReceiver": "interceptors.streams",
    "DiagnosticsSender": "interceptors.streams",
    "Direction": "interceptors.base",
    "Fresh": "agent.freshness",
    "Interceptor": "interceptors.base",
    "Limits": "interceptors.strategies",
    "LspzBackend": "proxy.backend",
    "LspzError": "errors",
    "LspzServer": "proxy.server",
    "Pending": "agent.freshness",
    "Proxy": "proxy.library",
    "Unavailable": "agent.freshness",
    "compress": "codec",
    "compress_files": "codec",
    "count_tokens": "tokens",
    "decompress": "codec",
    "memory_pair": "transports.memory",
}

__all__ = [
    "AgentHandle",
    "AgentPool",
    "At",
    "Blocking",
    "CompactDiagnostic",
    "CompactDiagnosticReport",
    "CompactDiagnosticsParams",
    "CompressionConfig",
    "Config",
    "ConfigBuilder",
    "DiagnosticsReceiver",
    "DiagnosticsSender",
    "Direction",
    "Fresh",
    "Interceptor",
    "Limits",
    "LspzBackend",
    "LspzError",
    "LspzServer",
    "Pending",
    "Proxy",
    "Unavailable",
    "__version__",
    "compress",
    "compress_files",
    "converters",
    "count_tokens",
    "decompress",
    "memory_pair",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    elif name == "converters":
        value = import_module(".converters", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
