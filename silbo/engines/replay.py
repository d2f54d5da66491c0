"""Replay a log on an engine: the notifications are the same for every engine and every batch size.

An engine takes a batch of events and returns notifications and refusals. Queues, policies and
time-outs do not apply.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias, cast, runtime_checkable

from silbo.context.function import ContextFunction, Scope
from silbo.core.fold import Fold
from silbo.errors import InvalidValue, Refused, SilboError, UnknownEngine
from silbo.exhaustive import assert_never
from silbo.matching.filter import Filter
from silbo.model.events import (
    Advertise,
    Disconnect,
    Event,
    Publish,
    SetContext,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from silbo.model.notification import Notified
from silbo.wire.jsonl import Line, read_log

Tell: TypeAlias = Callable[[int, SilboError], None]  # the event's position in the batch, and the error


class Engine(Protocol):
    """A fold: `apply` takes events in order, and reports those it refuses."""

    def apply(self, events: Sequence[Event], refused: Tell) -> Sequence[Notified]:
        """The notifications of a batch, in the order of its publishes."""


@runtime_checkable
class Finishing(Protocol):
    """An engine that returns its notifications at the end of the log."""

    def finish(self) -> Sequence[Notified]:
        """All notifications, in the order of the publishes."""


@runtime_checkable
class Closing(Protocol):
    """An engine that holds resources."""

    def close(self) -> None:
        """Release the resources."""


class OracleEngine:
    """The oracle as an engine."""

    def __init__(self) -> None:
        # it imports shapely, so import it only where the oracle is used
        from silbo.matching.oracle import Oracle

        self._oracle = Oracle()

    def apply(self, events: Sequence[Event], refused: Tell) -> list[Notified]:
        """Apply one event after the other."""
        import numpy as np

        from silbo.matching import oracle

        notifications: list[Notified] = []
        with np.errstate(all="ignore"):  # coordinates near the largest double overflow inside shapely
            for i, event in enumerate(events):
                try:
                    notifications += self._verb(event)
                except SilboError as error:
                    refused(i, error)
                except oracle.Refused as error:
                    refused(i, Refused(str(error)))
        return notifications

    def _verb(self, event: Event) -> Sequence[Notified]:
        match event:
            case Advertise(session, id, filter, offers, reads):
                self._oracle.advertise(session, id, Filter.of(filter).tree, offers, reads)
            case Unadvertise(session, id):
                self._oracle.unadvertise(session, id)
            case Subscribe(session, id, filter, context, include):
                function = None if context is None else ContextFunction.of(context).tree
                self._oracle.subscribe(session, id, Filter.of(filter).tree, function, include)
            case Unsubscribe(session, id):
                self._oracle.unsubscribe(session, id)
            case SetContext(session, values):
                self._oracle.set_context(session, values)
            case Publish(session, attributes, sent, scope, payload):
                admits = None if scope is None else Scope.of(scope).tree
                return self._oracle.publish(session, attributes, sent, admits, payload)
            case Disconnect(session):
                self._oracle.disconnect(session)
            case _:
                assert_never(event)
        return ()


def _stream(batch: int | None) -> Engine:
    """The Spark job on a local log."""
    from silbo.streaming.engine import StreamEngine  # imports pyspark, so only where it is used

    return StreamEngine(batch)


# functions that create an engine for batches of this many events
ENGINES: dict[str, Callable[[int | None], Engine]] = {
    "oracle": lambda _: OracleEngine(),
    "memory": lambda _: Fold(),
    "hw": lambda _: Fold(offload="sim"),
    "stream": _stream,
}
NAMES = (*ENGINES, "kafka://HOST:PORT")  # the last is the job over Kafka, with topics of its own


def engine_of(engine: str | Engine, batch: int | None = None) -> Engine:
    """A new engine of this name, or the given engine."""
    if isinstance(engine, str) and engine in ENGINES:
        return ENGINES[engine](batch)
    if isinstance(engine, str) and engine.startswith("kafka://"):
        from silbo.streaming.engine import KafkaEngine  # with pyspark and kafka-python

        return KafkaEngine(engine.removeprefix("kafka://"), batch)
    if not hasattr(engine, "apply"):
        raise UnknownEngine(str(engine), NAMES)
    return cast("Engine", engine)


def replay(
    log: str | PathLike[str] | BinaryIO | Iterable[Event],
    engine: str | Engine = "memory",
    *,
    batch: int | None = None,
    refused: Callable[[int, SilboError], None] | None = None,
) -> Iterator[Notified]:
    """The notifications of a log, given as a file or as events, in the order of the output.

    `batch` is how many events the engine gets at a time (None: all at once); `refused` is called with the line
    (from 1) and the error of each refused event.
    """
    if batch is not None and not (type(batch) is int and 0 < batch <= sys.maxsize):
        raise InvalidValue("batch", f"a number of events from 1 is expected, not {batch!r}.")
    made = engine_of(engine, batch)
    notifications = _replayed(_lines(log), made, batch, refused or _nobody)
    return _closed(notifications, made) if isinstance(engine, str) and isinstance(made, Closing) else notifications


def _closed(notifications: Iterator[Notified], engine: Closing) -> Iterator[Notified]:
    """The same notifications; the engine is closed when the caller stops reading."""
    try:
        yield from notifications
    finally:
        engine.close()


def _replayed(
    lines: Iterator[Line], engine: Engine, batch: int | None, tell: Callable[[int, SilboError], None]
) -> Iterator[Notified]:
    while chunk := list(islice(lines, batch)):
        yield from _apply(engine, chunk, tell)
    if isinstance(engine, Finishing):
        yield from engine.finish()


def _nobody(_line: int, _error: SilboError) -> None:
    """Ignore a refused event: it changes nothing, and the caller gave no `refused`."""


def _lines(log: str | PathLike[str] | BinaryIO | Iterable[Event]) -> Iterator[Line]:
    if isinstance(log, str | PathLike):
        with Path(log).open("rb") as file:
            yield from read_log(file)
    elif hasattr(log, "read"):
        yield from read_log(cast("BinaryIO", log))
    else:
        yield from (Line(number, _checked(event), None) for number, event in enumerate(log, 1))


def _checked(event: object) -> Event:
    if isinstance(event, Event):
        return event
    raise InvalidValue("log", f"a path, a file opened as bytes, or events are expected, not {type(event).__name__}.")


def _apply(engine: Engine, lines: list[Line], tell: Callable[[int, SilboError], None]) -> Sequence[Notified]:
    reasons = {line.number: line.error for line in lines if line.error is not None}
    numbers = [line.number for line in lines if line.event is not None]
    events = [line.event for line in lines if line.event is not None]
    notifications = engine.apply(events, lambda i, error: reasons.update({numbers[i]: error}))
    for number in sorted(reasons):
        tell(number, reasons[number])
    return notifications
