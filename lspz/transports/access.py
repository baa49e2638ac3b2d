"""Who may connect: a token that both sides know, TLS, and no page of a browser without it."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from ..errors import ConfigError
from .address import Address

if TYPE_CHECKING:
    import ssl

TOKEN_LIMIT = 10.0
"""Seconds a client has to show its token; whoever only connects shall not stay."""

MAX_TOKEN = 4 * 1024
"""Bytes of the line with a token."""


@attrs.frozen
class Access:
    """What one side shows and the other checks."""

    token: str | None = attrs.field(default=None, repr=False)
    """What a client must show; None: nothing is asked for."""
    certificate: str | None = None
    """Listening: the file of the certificate chain, PEM."""
    key: str | None = None
    """Listening: the file of its private key; None: it is in the same file."""
    authority: str | None = None
    """Connecting: the file of the certificates that are trusted; None: those of the system."""

    def check_listening(self, address: Address, allow_remote: bool) -> None:
        """Refuse what would let others in. Raises ConfigError that says what is missing."""
        if address.is_secure and not self.certificate:
            raise ConfigError(f"{address}: {address.scheme} needs a certificate: --tls-cert FILE (and --tls-key FILE)")
        if address.is_loopback:
            return
        if not allow_remote:
            raise ConfigError(f"{address} can be reached from other machines: say --allow-remote if it shall be")
        if not self.token:
            raise ConfigError(f"{address} can be reached from other machines: set LSPZ_TOKEN, which clients must show")

    @property
    def line(self) -> bytes:
        """What a client shows over TCP, before its first message: as a header line, servers without a token skip it."""
        return b"Authorization: Bearer %b\r\n" % self.token.encode() if self.token else b""

    def admits(self, shown: bytes) -> bool:
        """Whether what a client showed is right; takes the same time for all that is wrong."""
        return self.token is None or hmac.compare_digest(shown.strip(), b"Bearer " + self.token.encode())

    def server_context(self, address: Address) -> ssl.SSLContext | None:
        """TLS of a listener. Raises ConfigError for files that are none."""
        if not address.is_secure:
            return None
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate or "", self.key)
        except (OSError, ssl.SSLError) as error:
            where = self.certificate if self.key is None else f"{self.certificate} and {self.key}"
            raise ConfigError(f"{where}: no certificate and key in PEM: {_reason(error)}") from None
        return context

    def client_context(self, address: Address) -> ssl.SSLContext | None:
        """TLS of a client. Raises ConfigError for a file that is none."""
        if not address.is_secure:
            return None
        import ssl

        try:
            return ssl.create_default_context(cafile=self.authority)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"{Path(self.authority or '')}: no certificates in PEM: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
