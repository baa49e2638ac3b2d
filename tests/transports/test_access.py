"""Who may connect: addresses, the token, certificates, and pages of a browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import InvalidHandshake, InvalidMessage

from lspz.errors import ConfigError
from lspz.transports import TRANSPORTS
from lspz.transports.access import MAX_TOKEN, Access
from lspz.transports.address import Address, is_loopback, read_address
from lspz.transports.base import Channel, reachable

from ..certificates import certificates
from .test_channels import Inbox

TOKEN = Access("s3cret")


@asynccontextmanager
async def listening(scheme: str, access: Access) -> AsyncIterator[tuple[Address, asyncio.Queue[Channel]]]:
    """An address, and who came in."""
    came: asyncio.Queue[Channel] = asyncio.Queue()

    async def client(channel: Channel) -> None:
        came.put_nowait(channel)
        await asyncio.Event().wait()

    listener = await reachable(scheme).listen(Address(scheme, "127.0.0.1", 0), access, client)
    try:
        yield Address(scheme, "127.0.0.1", listener.port), came
    finally:
        await listener.close()


@pytest.mark.parametrize("text", ["tcp://127.0.0.1:7000", "ws://[::1]:1/a/b?c=d", "wss://example.org:443", "tls://h:1"])
def test_an_address_is_read_and_written(text: str) -> None:
    """What is read is written the same."""
    assert str(read_address(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "tcp://", "tcp://h", "tcp://h:x", "tcp://h:70000", "http://h:1", "tcp://h:1/path", "ws://u:p@h:1", "h:1"],
)
def test_what_is_no_address_is_refused_with_what_is_allowed(text: str) -> None:
    """The error names the schemes."""
    with pytest.raises(ValueError, match="SCHEME://HOST:PORT, where the scheme is one of tcp, tls, ws, wss"):
        read_address(text)


@given(st.text())
def test_reading_an_address_raises_nothing_else(text: str) -> None:
    """Any text is an address or a ValueError."""
    with suppress(ValueError):
        assert read_address(text).scheme in TRANSPORTS


def test_loopback_is_what_only_this_machine_reaches() -> None:
    """Names count as others' machines, but for localhost."""
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example.org", "")))


def test_listening_to_others_wants_permission_a_token_and_for_tls_a_certificate() -> None:
    """Each error names the option that is missing."""
    open_to_all, here = Address("tcp", "0.0.0.0", 0), Address("tcp", "127.0.0.1", 0)
    Access().check_listening(here, allow_remote=False)
    TOKEN.check_listening(open_to_all, allow_remote=True)
    with pytest.raises(ConfigError, match="--allow-remote"):
        TOKEN.check_listening(open_to_all, allow_remote=False)
    with pytest.raises(ConfigError, match="LSPZ_TOKEN"):
        Access().check_listening(open_to_all, allow_remote=True)
    with pytest.raises(ConfigError, match="--tls-cert"):
        Access().check_listening(Address("wss", "127.0.0.1", 0), allow_remote=False)


def test_a_file_that_is_no_certificate_is_named() -> None:
    """For both sides."""
    with pytest.raises(ConfigError, match=r"nowhere\.pem: no certificate and key in PEM"):
        Access(certificate="nowhere.pem").server_context(Address("tls", "h", 1))
    with pytest.raises(ConfigError, match=r"nowhere\.pem: no certificates in PEM"):
        Access(authority="nowhere.pem").client_context(Address("tls", "h", 1))


def test_the_token_is_not_in_what_is_printed_of_an_access() -> None:
    """A log does not give it away."""
    assert "s3cret" not in repr(TOKEN)


async def test_a_client_with_the_token_comes_in() -> None:
    """Whatever it says behind the token arrives, and nothing of the token does."""
    async with listening("tcp", TOKEN) as (address, came):
        _reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"Authorization: Bearer s3cret\r\nContent-Length: 2\r\n\r\n{}")
        channel = await asyncio.wait_for(came.get(), 5)
        inbox = Inbox()
        await channel.open(inbox)
        await inbox.holds(b"Content-Length: 2\r\n\r\n{}")
        writer.close()
        await channel.close(0.0)


@pytest.mark.parametrize(
    "said",
    [
        b"Authorization: Bearer s3cre\r\nContent-Length: 2\r\n\r\n{}",
        b"Authorization: s3cret\r\n",
        b"Content-Length: 2\r\n\r\n{}",
        b"x" * (MAX_TOKEN + 1),
        b"\n",
    ],
)
async def test_a_wrong_token_over_tcp_gets_nothing_but_a_close(said: bytes) -> None:
    """Not a byte."""
    async with listening("tcp", TOKEN) as (address, came):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(said)
        with suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), 5) == b""
        writer.close()
        assert came.empty()


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}])
async def test_a_wrong_token_over_websocket_gets_nothing_but_a_close(headers: dict[str, str]) -> None:
    """The handshake is not answered."""
    async with listening("ws", TOKEN) as (address, came):
        with pytest.raises((InvalidMessage, ConnectionError)):
            await open_websocket(str(address), additional_headers=headers, proxy=None)
        assert came.empty()


async def test_a_page_of_another_site_may_not_connect() -> None:
    """A browser lets any page open a WebSocket to this machine; only one that was served from here gets in."""
    async with listening("ws", Access()) as (address, came):
        with pytest.raises((InvalidHandshake, ConnectionError)):
            await open_websocket(str(address), origin="https://example.org", proxy=None)  # type: ignore[arg-type]
        assert came.empty()
        connection = await open_websocket(str(address), origin="http://localhost:3000", proxy=None)  # type: ignore[arg-type]
        await asyncio.wait_for(came.get(), 5)
        await connection.close()


async def test_a_websocket_client_that_names_a_protocol_is_served() -> None:
    """Clients that ask for a sub-protocol and get none give up."""
    async with listening("ws", Access()) as (address, _came):
        connection = await open_websocket(str(address), subprotocols=["lsp"], proxy=None)  # type: ignore[list-item]
        assert connection.subprotocol == "lsp"
        await connection.close()


@pytest.mark.parametrize("scheme", ["tls", "wss"])
async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(scheme: str) -> None:
    """A client connects to whom it can trust."""
    _, certificate, key = certificates()
    async with listening(scheme, Access(certificate=certificate, key=key)) as (address, came):
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            await reachable(scheme).connect(address, Access())
        assert came.empty()


async def test_who_connects_and_says_nothing_is_no_client() -> None:
    """A probe starts no server."""
    async with listening("tcp", Access()) as (address, came):
        _, writer = await asyncio.open_connection(address.host, address.port)
        writer.close()
        await writer.wait_closed()
        _, other = await asyncio.open_connection(address.host, address.port)
        other.write(b"C")
        await asyncio.wait_for(came.get(), 5)
        assert came.empty()
        other.close()


async def test_a_port_that_is_taken_is_an_error() -> None:
    """With each transport."""
    async with listening("tcp", Access()) as (address, _):
        for scheme in ("tcp", "ws"):
            with pytest.raises(OSError, match="address already in use"):
                await reachable(scheme).listen(address, Access(), lambda channel: asyncio.sleep(0))
