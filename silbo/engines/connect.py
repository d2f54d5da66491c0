"""Connect by URL: the same session, whichever engine stands behind it."""

from __future__ import annotations

from threading import Lock

from silbo.broker.broker import Broker
from silbo.broker.session import Session
from silbo.errors import UnknownEngine

URLS = ("memory://", "memory://NAME", "kafka://HOST:PORT/PREFIX")

_brokers: dict[str, Broker] = {}
_brokers_lock = Lock()


def connect(url: str = "memory://", name: str | None = None) -> Session:
    """A session of the engine that the URL names.

    `memory://NAME` is a broker of this process, one for each NAME (none is a name too), shared by all
    who connect to it. `kafka://HOST:PORT/PREFIX` sends to Kafka's topics whose names begin
    so (none is `silbo`), which a job of `silbo stream --prefix PREFIX` matches.
    """
    scheme, separator, rest = str(url).partition("://")
    if scheme == "kafka" and rest:
        from silbo.streaming.kafka import located
        from silbo.streaming.kafka_session import connect as connect_kafka  # with kafka-python

        address, prefix = located(rest)
        return connect_kafka(address, name, prefix)
    if scheme != "memory" or not separator:
        raise UnknownEngine(str(url), URLS)
    with _brokers_lock:
        if rest not in _brokers or _brokers[rest].closed:
            _brokers[rest] = Broker()
        return _brokers[rest].connect(name)
