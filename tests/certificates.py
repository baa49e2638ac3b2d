"""Certificates for the tests of TLS, made anew in each run."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import trustme


@cache
def certificates() -> tuple[str, str, str]:
    """Files, PEM: whom to trust, the certificate of localhost, its key."""
    folder = Path(tempfile.mkdtemp(prefix="lspz-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    return str(folder / "ca.pem"), str(folder / "cert.pem"), str(folder / "key.pem")
