"""What lspz is told: options as written become one frozen `Config`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ..errors import ConfigError
from ..formats import CHOICES
from ..interceptors import INTERCEPTORS
from ..interceptors.strategies import CompressionConfig, Limits
from ..transports.access import Access
from ..transports.address import Address
from .options import LOG_LEVELS, OPTIONS, SHIMS, from_environment, split_backends

if TYPE_CHECKING:
    from ..interceptors.base import Interceptor

__all__ = ["Config", "ConfigBuilder"]


@attrs.frozen
class Config:
    """Everything lspz is told. Immutable; `Config.builder()` and `Config.from_env()` make one."""

    backend: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    """The server's command and arguments, or its address; several are separated by `--`."""
    format: str = attrs.field(default="auto")
    """`auto`, or the form to give every client."""
    enable_diag_compress: bool | None = False
    """True: diagnostics are rewritten, as `compact` when no form is named. False: they pass. None: the form decides."""
    switches: Mapping[str, bool] = attrs.field(factory=dict)
    """Whether messages of the other kinds are rewritten, by their rows' `switch`; without an entry the form decides."""
    compression: CompressionConfig = attrs.field(factory=CompressionConfig)
    """How diagnostics are rewritten."""
    limits: Limits = attrs.field(factory=Limits)
    """What is left out of messages, always counted in them."""
    fold_hover: bool | None = None
    """Whether the Markdown of hovers is folded, the one declared loss. None: in `text` alone."""
    interceptors: tuple[Interceptor[Any, Any], ...] = ()
    """A library user's own interceptors; they see what the server said, before lspz compresses it."""
    restart: tuple[int, float] | None = None
    """How many times in how many seconds a server that dies is started again; None: never."""
    request_timeout: float | None = None
    """Seconds after which a request that the server has not answered is answered with an error; None: never."""
    shim: str = attrs.field(default="auto")
    """Whether lspz does for the client what it cannot do itself: `auto` (what its capabilities lack), `on`, `off`."""
    settings: Mapping[str, Any] | None = None
    """What the shim answers to `workspace/configuration`, by section; None: what is known of the server."""
    drop_superseded: bool = False
    """Whether diagnostics of a version that the client has changed since are dropped."""
    listen: Address | None = None
    """Where clients connect; None: stdin and stdout."""
    allow_remote: bool = False
    """Whether that may be an address which other machines can reach."""
    access: Access = attrs.field(factory=Access)
    """The token and the certificates of connections."""
    log_level: str = attrs.field(default="warn")
    """`error`, `warn`, `info` or `debug`; document text is logged at `debug` only."""
    log_file: str | None = None
    """Where the log goes; None is stderr."""

    @format.validator
    def _check_format(self, attribute: object, value: str) -> None:
        if value not in CHOICES:
            raise ConfigError(f"format={value!r}: must be one of {', '.join(CHOICES)}")

    @shim.validator
    def _check_shim(self, attribute: object, value: str) -> None:
        if value not in SHIMS:
            raise ConfigError(f"shim={value!r}: must be one of {', '.join(SHIMS)}")

    @backend.validator
    def _check_backend(self, attribute: object, value: tuple[str, ...]) -> None:
        if value and not all(split_backends(value)):
            raise ConfigError(f"backend={value!r}: a server is missing before or after --")

    @log_level.validator
    def _check_log_level(self, attribute: object, value: str) -> None:
        if value not in LOG_LEVELS:
            raise ConfigError(f"log_level={value!r}: must be one of {', '.join(LOG_LEVELS)}")

    @switches.validator
    def _check_switches(self, attribute: object, value: Mapping[str, bool]) -> None:
        unknown = value.keys() - {row.switch for row in INTERCEPTORS}
        if unknown or "diag" in value:
            allowed = ", ".join(row.switch for row in INTERCEPTORS if row.switch != "diag")
            raise ConfigError(f"switches={dict(value)!r}: must be of {allowed}; enable_diag_compress is diagnostics'")

    def enables(self, switch: str) -> bool | None:
        """Whether messages of a kind are rewritten; None: the form decides."""
        return self.enable_diag_compress if switch == "diag" else self.switches.get(switch)

    @property
    def backends(self) -> list[tuple[str, ...]]:
        """The commands or addresses of the servers, in order."""
        return split_backends(self.backend)

    @property
    def effective_format(self) -> str:
        """The form that is set, with `enable_diag_compress` taken into account."""
        if self.enable_diag_compress and self.format == "auto":
            return "compact"
        return self.format

    @staticmethod
    def builder() -> ConfigBuilder:
        """Start building: `Config.builder().backend("ruff server").format("compact").build()`."""
        return ConfigBuilder()

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Config:
        """Read the `LSPZ_…` variables. Raises ConfigError naming variable, value and what is allowed."""
        return cls.from_options(from_environment(os.environ if environ is None else environ))

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Config:
        """The configuration that options (names of `OPTIONS`) describe; what is missing has its default."""
        values: dict[str, Any] = {option.name: option.default for option in OPTIONS} | dict(options)
        return cls(
            backend=values["backend"],
            format=values["format"],
            enable_diag_compress=values["enable_diag_compress"],
            compression=CompressionConfig(
                enable_dedup=values["diag_merge"],
                enable_field_pruning=values["diag_prune"],
                enable_enum_compression=values["diag_enum"],
                enable_range_delta=values["diag_delta"],
                keep_fields=values["diag_fields"],
            ),
            switches={
                row.switch: enabled
                for row in INTERCEPTORS
                if row.switch != "diag" and (enabled := values[f"enable_{row.switch}_compress"]) is not None
            },
            limits=Limits(**{field.name: values[field.name] for field in attrs.fields(Limits)}),
            fold_hover=values["fold_hover"],
            restart=values["restart"],
            request_timeout=values["request_timeout"],
            shim=values["shim"],
            settings=values["settings"],
            drop_superseded=values["drop_superseded"],
            listen=values["listen"],
            allow_remote=values["allow_remote"],
            access=Access(values["token"], values["tls_cert"], values["tls_key"], values["tls_ca"]),
            log_level=values["log_level"],
            log_file=values["log_file"],
        )


class ConfigBuilder:
    """Builds a `Config` one word at a time; every method returns the builder."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._interceptors: list[Interceptor[Any, Any]] = []

    def backend(self, command: str, *arguments: str) -> ConfigBuilder:
        """The server: one command line as a shell would split it, or a command and its arguments."""
        option = next(option for option in OPTIONS if option.name == "backend")
        self._values["backend"] = (command, *arguments) if arguments else option.read(command, "backend")
        return self

    def format(self, name: str) -> ConfigBuilder:
        """The form to give the client; it decides about diagnostics unless `compress_diagnostics` does."""
        self._values["format"] = name
        self._values.setdefault("enable_diag_compress", None)
        return self

    def compress_diagnostics(self, enabled: bool = True) -> ConfigBuilder:
        """Whether diagnostics are rewritten."""
        self._values["enable_diag_compress"] = enabled
        return self

    def compression(self, **strategies: Any) -> ConfigBuilder:
        """The strategies, by the names of `CompressionConfig`'s fields."""
        self._values["compression"] = CompressionConfig(**strategies)
        return self

    def compress(self, **kinds: bool) -> ConfigBuilder:
        """Whether messages of other kinds are rewritten: `compress(completion=False, hover=False)`."""
        self._values["switches"] = {**self._values.get("switches", {}), **kinds}
        return self

    def limits(self, **limits: Any) -> ConfigBuilder:
        """What is left out of messages, by the names of `Limits`' fields: `limits(max_diags=50, min_severity=2)`."""
        self._values["limits"] = Limits(**limits)
        return self

    def restart(self, times: int, seconds: float) -> ConfigBuilder:
        """A server that dies is started again, at most so many times in so many seconds."""
        self._values["restart"] = (times, seconds)
        return self

    def request_timeout(self, seconds: float) -> ConfigBuilder:
        """A request that the server has not answered by then is answered with an error, and cancelled."""
        self._values["request_timeout"] = seconds
        return self

    def shim(self, how: str, settings: Mapping[str, Any] | None = None) -> ConfigBuilder:
        """Whether lspz does for a client what it cannot do itself; `settings` are the server's, by section."""
        self._values |= {"shim": how, "settings": settings}
        return self

    def interceptor(self, interceptor: Interceptor[Any, Any]) -> ConfigBuilder:
        """Add an interceptor of your own; it runs after those added before, and before lspz compresses."""
        self._interceptors.append(interceptor)
        return self

    def log_level(self, level: str) -> ConfigBuilder:
        """What is logged: error, warn, info or debug."""
        self._values["log_level"] = level
        return self

    def build(self) -> Config:
        """The configuration. Raises ConfigError."""
        return Config(interceptors=tuple(self._interceptors), **self._values)
