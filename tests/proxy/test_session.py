"""The lifecycle table and the ledger, without any I/O."""

from __future__ import annotations

from lspz.proxy.session import TRANSITIONS, Event, Session, State


def test_the_table_holds_every_move() -> None:
    """Crashed is reached from everywhere but Exited, and nothing leaves an end."""
    for state in State:
        moves = TRANSITIONS[state]
        if state in (State.EXITED, State.CRASHED):
            assert moves == {}
        else:
            assert moves[Event.DIED] is State.CRASHED
            assert moves[Event.EXIT] is State.EXITED


def test_the_ledger_follows_a_session() -> None:
    """Ready while nothing is open, Working while something is; an answer in another spelling closes its request."""
    session = Session()
    session.client_request(b"0", "initialize")
    assert session.state is State.INITIALIZING
    session.backend_reply(b"0")
    assert session.state is State.READY
    session.client_request(b"1e0", "a")
    session.client_request(b'"x"', "b")
    assert session.state is State.WORKING
    assert session.backend_reply(b"7") is None
    request = session.backend_reply(b"1")
    assert request is not None
    assert request.id == b"1e0"
    assert session.state is State.WORKING
    session.backend_reply(b'"\\u0078"')
    assert session.state is State.READY
    session.client_request(b"2", "shutdown")
    assert session.state is State.SHUTTING_DOWN
    assert len(session.backend_died("gone")) == 2
    assert session.state is State.CRASHED
