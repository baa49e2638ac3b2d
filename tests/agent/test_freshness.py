"""Never "clean" for "not known yet"."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lspz.agent.freshness import (
    FIRST_EMPTY_QUIET,
    MARGIN,
    QUIET,
    UNVERSIONED_QUIET,
    Fresh,
    Judge,
    Patience,
    Pending,
    Unavailable,
)


def opened(version: int = 1) -> Judge:
    judge = Judge()
    judge.opened(version)
    return judge


def test_before_anything_comes_nothing_is_known() -> None:
    """Not even after a long time: silence is no answer."""
    judge = opened()
    answer = judge.at(1e9)
    assert isinstance(answer, Pending)
    assert "version 1" in answer.reason
    assert answer.until is None
    assert isinstance(Judge().at(0), Unavailable)


def test_a_publish_for_the_version_counts_when_it_is_quiet() -> None:
    """Each further publish begins the wait anew; the judge says when to ask again."""
    judge = opened(3)
    judge.published(3, 2, 1.0)
    assert judge.at(1.0) == Pending("the server has published diagnostics, and may publish more", 1.0 + QUIET)
    judge.published(3, 5, 1.2)
    assert isinstance(judge.at(1.0 + QUIET), Pending)
    assert judge.at(1.2 + QUIET) == Fresh(3, 5)


def test_a_publish_for_an_older_version_never_counts() -> None:
    """However late it comes."""
    judge = opened(1)
    judge.published(1, 2, 0.1)
    judge.opened(2)
    judge.published(1, 2, 1.5)
    assert isinstance(judge.at(100.0), Pending)
    judge.published(2, 1, 101.0)
    assert judge.at(101.0 + QUIET) == Fresh(2, 1)


def test_a_publish_without_a_version_counts_later() -> None:
    """It may have been on its way before the edit."""
    judge = opened()
    judge.published(None, 1, 0.0)
    assert isinstance(judge.at(QUIET), Pending)
    assert judge.at(UNVERSIONED_QUIET) == Fresh(1, 1)


def test_a_first_empty_list_is_not_believed_for_long() -> None:
    """The real one comes three seconds later: until then nothing is said to be clean."""
    judge = opened()
    judge.published(1, 0, 0.0)
    assert "may not be its last word" in getattr(judge.at(2.9), "reason", "")
    judge.published(1, 7, 3.0)
    assert judge.at(3.0 + QUIET) == Fresh(1, 7)
    judge.opened(2)
    judge.published(2, 0, 10.1)
    assert isinstance(judge.at(13.0), Pending), "it took three seconds to fill in an empty list before"
    assert judge.at(10.1 + FIRST_EMPTY_QUIET) == Fresh(2, 0), "its first empty list that stands"
    judge.opened(3)
    judge.published(3, 0, 20.0)
    assert judge.at(20.0 + MARGIN * 3.0) == Fresh(3, 0), "the second"
    clean = opened()
    clean.published(1, 0, 0.0)
    assert clean.at(FIRST_EMPTY_QUIET) == Fresh(1, 0)
    clean.opened(2)
    clean.published(2, 0, 10.0)
    assert clean.at(10.0 + QUIET) == Fresh(2, 0), "its empty lists were true so far"


def test_while_the_server_indexes_nothing_counts() -> None:
    """What it publishes or answers meanwhile is of half a project; the wait begins when it is done."""
    judge = opened()
    judge.published(1, 3, 1.0)
    judge.pulled(1, 3, 1.0)
    assert judge.at(50.0, "indexing") == Pending("the server is at work: indexing")
    judge.outdated(60.0)
    assert isinstance(judge.at(60.0, None, 60.0), Pending)
    judge.pulled(1, 2, 59.0)
    assert isinstance(judge.at(60.0, None, 60.0), Pending), "asked while it was at work"
    assert judge.at(60.0 + QUIET, None, 60.0) == Fresh(1, 3)


def test_an_unversioned_list_may_be_of_the_text_before_the_edit() -> None:
    """Until the server has answered something that it was asked after the edit."""
    judge = opened()
    judge.published(None, 2, 0.0)
    judge.opened(2)
    judge.published(None, 2, 10.0)
    assert isinstance(judge.at(10.0 + UNVERSIONED_QUIET), Pending)
    assert judge.at(10.0 + FIRST_EMPTY_QUIET) == Fresh(2, 2), "it publishes nothing else: so that is it"
    judge.opened(3)
    judge.published(None, 2, 20.0)
    judge.processed(2)
    judge.published(None, 2, 20.5)
    assert isinstance(judge.at(20.5 + UNVERSIONED_QUIET), Pending), "an answer for an older version says nothing"
    judge.processed(3)
    judge.published(None, 1, 21.0)
    assert judge.at(21.0 + UNVERSIONED_QUIET) == Fresh(3, 1)


def test_a_change_elsewhere_makes_what_was_published_doubtful() -> None:
    """The server has a moment to say more; then it is told of the document again, and what it then says counts."""
    judge = opened(1)
    judge.published(1, 1, 12.0)
    assert judge.at(12.5) == Fresh(1, 1)
    judge.disturbed(20.0)
    assert isinstance(judge.at(1e9), Pending), "what was said before it is not known to hold"
    assert not judge.wants_touch(20.0, Patience())
    assert judge.wants_touch(20.0 + QUIET, Patience())
    judge.opened(2, 21.0, touched=True)
    assert not judge.wants_touch(1e9, Patience())
    judge.published(2, 3, 22.0)
    assert judge.at(22.0 + QUIET) == Fresh(2, 3)


def test_a_server_that_is_told_the_same_may_have_nothing_to_add() -> None:
    """Where it keeps silent about a text that it is told again, what it said holds; after an edit it does not."""
    judge = opened(1)
    judge.published(1, 2, 1.0)
    judge.disturbed(20.0)
    judge.opened(2, 21.0, touched=True)
    assert isinstance(judge.at(21.0 + FIRST_EMPTY_QUIET - 0.1), Pending)
    assert judge.at(21.0 + FIRST_EMPTY_QUIET) == Fresh(2, 2)
    judge.opened(3, 40.0)
    assert isinstance(judge.at(1e9), Pending)


def test_a_server_that_says_nothing_once_has_nothing_to_say_again() -> None:
    """Of those that name no versions some publish no second empty list; others must, and so must those with a list."""
    judge = opened(1)
    judge.published(None, 0, 1.0)
    judge.opened(2, 10.0)
    assert isinstance(judge.at(1e9), Pending), "it has not read the edit, as far as is known"
    judge.processed(2)
    assert isinstance(judge.at(10.0 + FIRST_EMPTY_QUIET - 0.1), Pending)
    assert judge.at(10.0 + FIRST_EMPTY_QUIET) == Fresh(2, 0)
    assert isinstance(judge.at(1e9, busy="indexing"), Pending)
    for version, count in ((1, 0), (None, 1)):
        judge = opened(1)
        judge.published(version, count, 1.0)
        judge.opened(2, 10.0)
        judge.processed(2)
        assert isinstance(judge.at(1e9), Pending)


def test_an_answer_counts_at_once_for_the_version_it_was_asked_for() -> None:
    """And not for another."""
    judge = opened(1)
    judge.opened(2)
    judge.pulled(1, 9, 1.0)
    assert isinstance(judge.at(5.0), Pending)
    judge.pulled(2, 0, 1.0)
    assert judge.at(5.0) == Fresh(2, 0)
    judge.opened(3)
    assert isinstance(judge.at(9.0), Pending)


def test_a_server_that_is_gone_knows_nothing() -> None:
    """The reason is said; so it is of a document that is not open."""
    judge = opened()
    judge.published(1, 3, 0.0)
    judge.died("the language server was ended by signal 9")
    assert judge.at(9.0) == Unavailable("the language server was ended by signal 9")
    judge = opened()
    judge.closed()
    assert judge.at(99.0) == Unavailable("the document is not open")


EVENTS = st.lists(
    st.one_of(
        st.just(("open",)),
        st.tuples(st.just("publish"), st.sampled_from([None, -1, 0]), st.integers(0, 2)),
        st.tuples(st.just("pull"), st.sampled_from([-1, 0]), st.integers(0, 2)),
        st.tuples(st.just("begin"), st.integers(0, 1)),
        st.tuples(st.just("end"), st.integers(0, 1)),
    ),
    max_size=20,
)


@given(events=EVENTS, gaps=st.lists(st.sampled_from([0.0, 0.3, 1.0, 6.0]), min_size=21, max_size=21))
def test_fresh_is_only_what_was_said_of_this_version(events: list[Any], gaps: list[float]) -> None:
    """Whatever happens in whatever order: a count that is called fresh was the last that was said of this version."""
    judge, now, version = Judge(), 0.0, 1
    judge.opened(version)
    said: set[int] = set()
    busy: set[int] = set()
    idle_since = 0.0
    for event, gap in zip(events, gaps, strict=False):
        if event[0] == "open":
            version += 1
            judge.opened(version)
            said.clear()
        elif event[0] == "publish":
            about = None if event[1] is None else version + event[1]
            judge.published(about, event[2], now)
            if about in (None, version):
                said.add(event[2])
        elif event[0] == "pull":
            judge.pulled(version + event[1], event[2], now)
            if event[1] == 0:
                said.add(event[2])
        elif event[0] == "begin":
            busy.add(event[1])
        else:
            if busy == {event[1]}:
                idle_since = now
            busy.discard(event[1])
        now += gap
        known = judge.at(now, "work" if busy else None, idle_since)
        if isinstance(known, Fresh):
            assert known.version == version
            assert known.count in said
        elif isinstance(known, Pending) and known.until is not None:
            assert known.until > now
            assert isinstance(judge.at(known.until, None, idle_since), Fresh)
        else:
            assert busy or not said
