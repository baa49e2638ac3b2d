"""What is measured. Each measure takes the peers in turn, in small slices, so that noise hits them all alike."""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .content import answer, result_of
from .peers import COMPACT, DIRECT, FOLDED, LSPZ, PUMP, RASS, Peer, installed
from .session import Flood, PeerFailed, Session, limit

MB = 1_000_000
PATIENCE = 120
"""Seconds for one peer in one slice."""

SIZES = {"200 B": (200, 600), "10 KB": (10_000, 300), "100 KB": (100_000, 100), "1 MB": (MB, 20), "10 MB": (10 * MB, 2)}
"""Sizes of answers, and how many are asked for in a slice."""
SLICES = 3

FLOOD_MESSAGES, FLOOD_SIZE = 100_000, 200
PUBLISHES = {10: 400, 100: 100, 1000: 15}
"""Numbers of diagnostics, and how many publishes of them are asked for in a slice."""
BACKEND_START = 0.6
WAITING_MESSAGES, WAITING_SIZE = 10_000, 10_000


class Results:
    """The figures so far, one of each kind for every peer and round."""

    def __init__(self) -> None:
        self._figures: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._failures: dict[tuple[str, str], str] = {}

    def add(self, figure: str, peer: Peer, value: float) -> None:
        self._figures[figure, peer.name].append(value)

    def fail(self, measure: str, peer: Peer, reason: str) -> None:
        self._failures[measure, peer.name] = reason

    def has_failed(self, measure: str, peer: Peer) -> bool:
        return (measure, peer.name) in self._failures

    @property
    def failures(self) -> list[str]:
        return [f"{measure}, {peer}: {reason}" for (measure, peer), reason in self._failures.items()]

    def of(self, figure: str, peer: str) -> list[float]:
        """The figure in each round."""
        return self._figures.get((figure, peer), [])

    def median(self, figure: str, peer: str) -> float | None:
        values = self.of(figure, peer)
        return statistics.median(values) if values else None


class Round:
    """One round of one measure: who takes part, and in which order."""

    def __init__(self, measure: str, number: int, results: Results) -> None:
        self._measure = measure
        self._number = number
        self._results = results

    def each(self, peers: Iterable[Peer], action: Callable[[Peer], object], shift: int = 0) -> None:
        """Do something with each peer, beginning with another each time; one that fails is left out from then on."""
        peers = list(peers)
        first = (self._number + shift) % (len(peers) or 1)
        for peer in peers[first:] + peers[:first]:
            if not self._results.has_failed(self._measure, peer):
                try:
                    with limit(PATIENCE):
                        action(peer)
                except (PeerFailed, OSError) as error:
                    self._results.fail(self._measure, peer, str(error))

    def slices(self, peers: Iterable[Peer], action: Callable[[Peer], Iterable[float]]) -> dict[Peer, list[float]]:
        """The figures that `action` returned for each peer in all slices."""
        figures: dict[Peer, list[float]] = defaultdict(list)
        for number in range(SLICES):
            self.each(peers, lambda peer: figures[peer].extend(action(peer)), number)
        return {peer: found for peer, found in figures.items() if not self._results.has_failed(self._measure, peer)}

    def open(self, peers: Iterable[Peer], stack: ExitStack) -> dict[Peer, Session]:
        """A fresh session with each peer."""
        sessions: dict[Peer, Session] = {}

        def start(peer: Peer) -> None:
            sessions[peer] = stack.enter_context(Session(peer))

        self.each(peers, start)
        return sessions

    def add(self, figure: str, peer: Peer, value: float) -> None:
        self._results.add(figure, peer, value)


def latency(round: Round, peers: Sequence[Peer]) -> None:
    """Small requests, answers of several sizes, one at a time; CPU time of the middle process meanwhile."""
    with ExitStack() as stack:
        sessions = round.open(peers, stack)
        round.each(sessions, lambda peer: _some_notifications(sessions[peer]))
        for name in SIZES:
            _latency_of(name, round, sessions)


def _some_notifications(session: Session) -> None:
    """No real session is without, and a relay may go another way once it has seen some."""
    session.begin_flood("bench/flood", {"count": 20, "size": FLOOD_SIZE})
    session.finish_flood()


def _latency_of(name: str, round: Round, sessions: Mapping[Peer, Session]) -> None:
    size, repetitions = SIZES[name]
    cpu: dict[Peer, list[float]] = defaultdict(list)

    def ask(peer: Peer) -> list[float]:
        session, count = sessions[peer], peer.times(repetitions)
        before = session.cpu()
        times = [session.time_answer("bench/echo", {"size": size}) for _ in range(count)]
        cpu[peer].append((session.cpu() - before) / count)
        return times

    round.each(sessions, lambda peer: _check_echo(sessions[peer], size))
    for peer, times in round.slices(sessions, ask).items():
        round.add(f"latency {name}", peer, statistics.median(times))
        if peer.has_middle:
            round.add(f"cpu {name}", peer, statistics.median(cpu[peer]))


def _check_echo(session: Session, size: int) -> None:
    """Warm up, and see that what is timed is the right thing."""
    body = session.ask("bench/echo", {"size": size})
    expected = answer(b"%d" % session.id, result_of(size))
    if body != expected and (session.peer.exact or json.loads(body) != json.loads(expected)):
        raise PeerFailed(f"an answer of {size} bytes did not come as it was sent")
    session.time_answer("bench/echo", {"size": size})


def flood(round: Round, peers: Sequence[Peer]) -> None:
    """Many small notifications, as fast as they come."""
    cpu: dict[Peer, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        sessions = round.open(peers, stack)

        def ask(peer: Peer) -> list[float]:
            session, count = sessions[peer], peer.times(FLOOD_MESSAGES)
            before, started = session.cpu(), time.perf_counter()
            session.begin_flood("bench/flood", {"count": count, "size": FLOOD_SIZE})
            arrived = session.finish_flood()
            elapsed = time.perf_counter() - started
            cpu[peer].append((session.cpu() - before) / count)
            _check_flood(session, arrived, count, FLOOD_SIZE)
            return [count / elapsed]

        for peer, rates in round.slices(sessions, ask).items():
            round.add("flood", peer, statistics.median(rates))
            if peer.has_middle:
                round.add("cpu flood", peer, statistics.median(cpu[peer]))


def _check_flood(session: Session, arrived: Flood, count: int, size: int) -> None:
    expected = session.flood_size(count, size)
    if arrived.messages != count or (session.peer.exact and arrived.size != expected):
        raise PeerFailed(f"of {count} messages and {expected} bytes {arrived.messages} and {arrived.size} arrived")


def publish(round: Round, peers: Sequence[Peer]) -> None:
    """Diagnostics that lspz claims and rewrites; CPU time of the middle process for each publish."""
    with ExitStack() as stack:
        sessions = round.open(peers, stack)
        for diagnostics, repetitions in PUBLISHES.items():
            _publish_of(diagnostics, repetitions, round, sessions)


def _publish_of(diagnostics: int, repetitions: int, round: Round, sessions: Mapping[Peer, Session]) -> None:
    def ask(peer: Peer, count: int) -> list[float]:
        session = sessions[peer]
        before = session.cpu()
        session.begin_flood("bench/publish", {"count": count, "diagnostics": diagnostics})
        arrived = session.finish_flood()
        used = session.cpu() - before
        if arrived.messages != count:
            raise PeerFailed(f"{arrived.messages} of {count} publishes arrived")
        return [used / count]

    round.each(sessions, lambda peer: ask(peer, 2))  # warm up
    for peer, cpu in round.slices(sessions, lambda peer: ask(peer, peer.times(repetitions))).items():
        round.add(f"publish {diagnostics}", peer, statistics.median(cpu))


def start(round: Round, peers: Sequence[Peer]) -> None:
    """From starting the peer's command to the answer to `initialize`, with a backend that is slow to start."""

    def once(peer: Peer) -> None:
        with Session(peer, delay=BACKEND_START) as session:
            round.add("start", peer, session.start_time)

    round.each(peers, once)


def warm_up(peer: Peer) -> None:
    """Start a peer once, so that its modules are compiled and in the page cache."""
    Session(peer).close()


def memory(round: Round, peers: Sequence[Peer]) -> None:
    """How much the middle process grows: by a long message, and while a client does not read."""

    def long_message(peer: Peer) -> None:
        with Session(peer) as session:
            session.time_answer("bench/echo", {"size": 100_000})
            before = _begin(session)
            session.time_answer("bench/echo", {"size": 10 * MB})
            round.add("memory 10 MB", peer, session.middle.peak() - before)

    def slow_client(peer: Peer) -> None:
        with Session(peer) as session:
            session.time_answer("bench/echo", {"size": 100_000})
            before = _begin(session)
            session.begin_flood("bench/flood", {"count": WAITING_MESSAGES, "size": WAITING_SIZE})
            session.middle.wait_until_idle()
            waiting = session.middle.peak() - before
            arrived = session.finish_flood()
            _check_flood(session, arrived, WAITING_MESSAGES, WAITING_SIZE)
            round.add("memory waiting", peer, waiting)

    round.each(peers, long_message)
    round.each(peers, slow_client)


def _begin(session: Session) -> int:
    session.middle.reset_peak()
    return session.middle.resident()


@dataclass(frozen=True)
class Measure:
    """Something to measure and the peers it makes sense for."""

    name: str
    run: Callable[[Round, Sequence[Peer]], None]
    peers: tuple[Peer, ...]


MEASURES = (
    Measure("latency", latency, (DIRECT, PUMP, LSPZ, RASS)),
    Measure("flood", flood, (DIRECT, PUMP, LSPZ, RASS)),
    Measure("publish", publish, (COMPACT, FOLDED, RASS)),
    Measure("start", start, (DIRECT, PUMP, LSPZ, COMPACT, RASS)),
    Measure("memory", memory, (PUMP, LSPZ, RASS)),
)


def run(measures: Sequence[Measure], rounds: int, say: Callable[[str], None]) -> Results:
    """All rounds of some measures."""
    results = Results()
    for measure in measures:
        Round(measure.name, 0, results).each(installed(measure.peers), warm_up)
    gc.disable()
    for number in range(rounds):
        for measure in measures:
            say(f"round {number + 1} of {rounds}: {measure.name}")
            measure.run(Round(measure.name, number, results), installed(measure.peers))
            gc.collect()
    return results
