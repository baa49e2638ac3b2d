"""Options as written become one frozen configuration; what is wrong is named."""

from __future__ import annotations

import attrs
import pytest

from lspz import CompressionConfig, Config
from lspz.config.options import OPTIONS, from_environment
from lspz.errors import ConfigError


def test_the_defaults() -> None:
    """In the library diagnostics pass until somebody says otherwise; from the environment the form decides."""
    assert Config().enable_diag_compress is False
    assert Config().format == "auto"
    assert Config().compression == CompressionConfig()
    assert Config().compression.keep_fields == ("message", "severity", "range", "code")
    assert Config.from_env({}) == Config(enable_diag_compress=None)
    assert Config.builder().build() == Config()


def test_every_variable_is_read() -> None:
    """All of them at once, in the spellings people use."""
    config = Config.from_env(
        {
            "LSPZ_BACKEND_CMD": "server --name 'two words'",
            "LSPZ_FORMAT": "Compact",
            "LSPZ_ENABLE_DIAG_COMPRESS": "1",
            "LSPZ_DIAG_FIELDS": "message, range,source",
            "LSPZ_DIAG_MERGE": "false",
            "LSPZ_DIAG_PRUNE": "no",
            "LSPZ_DIAG_ENUM": "0",
            "LSPZ_DIAG_DELTA": "OFF",
            "LSPZ_LOG_LEVEL": "debug",
            "LSPZ_LOG_FILE": "/tmp/x",
        }
    )

    assert config == Config(
        backend=("server", "--name", "two words"),
        format="compact",
        enable_diag_compress=True,
        compression=CompressionConfig(False, False, False, False, ("message", "range", "source")),
        log_level="debug",
        log_file="/tmp/x",
    )


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("LSPZ_FORMAT", "zip", "must be one of auto, passthrough, folded, compact"),
        ("LSPZ_LOG_LEVEL", "loud", "must be one of error, warn, info, debug"),
        ("LSPZ_DIAG_MERGE", "maybe", "must be true or false"),
        ("LSPZ_DIAG_FIELDS", "message,range,colour", "colour: must be names from message, severity"),
        ("LSPZ_DIAG_FIELDS", "severity", "must hold message and range"),
        ("LSPZ_BACKEND_CMD", "server 'unfinished", "must be a command line"),
        ("LSPZ_BACKEND_CMD", " ", "must be a command line, such as"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(variable: str, value: str, allowed: str) -> None:
    """Variable, value, and what may stand there."""
    with pytest.raises(ConfigError) as caught:
        from_environment({variable: value})

    assert str(caught.value).startswith(f"{variable}={value!r}: ")
    assert allowed in str(caught.value)


def test_an_empty_variable_counts_as_unset() -> None:
    """As `LSPZ_FORMAT= lspz …` in a shell means it."""
    assert from_environment({option.variable: "" for option in OPTIONS}) == {}


def test_the_builder_says_the_same() -> None:
    """One command line or separate arguments; naming a form lets it decide about diagnostics."""
    built = Config.builder().backend("server --stdio").format("compact").log_level("info").build()
    assert built == Config(("server", "--stdio"), "compact", None, log_level="info")
    assert Config.builder().backend("server", "two words").build().backend == ("server", "two words")
    off = Config.builder().compress_diagnostics(False).format("compact").build()
    assert off.enable_diag_compress is False
    assert Config.builder().compression(enable_dedup=False).build().compression.enable_dedup is False
    with pytest.raises(ConfigError, match="format='zip'"):
        Config.builder().format("zip").build()


def test_a_configuration_cannot_change() -> None:
    """Running code never sees half a change."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Config().format = "compact"  # type: ignore[misc]
