"""Connect by URL: the same session API for every engine."""

from __future__ import annotations

from threading import Lock

from silbo.embedded.broker import Broker
from silbo.errors import UnknownEngine
from silbo.session.session import Session

URLS = ("memory://", "memory://NAME", "kafka://HOST:PORT[/PREFIX]")

_brokers: dict[str, Broker] = {}
_brokers_lock = Lock()


def connect(url: str = "memory://", name: str | None = None) -> Session:
    """Open a session of the engine that the URL names.

    `memory://NAME` is a broker of this process, one for each NAME (which may be empty), shared by all its
    sessions. `kafka://HOST:PORT/PREFIX` sends to the Kafka topics with this prefix (`silbo` by default),
    which a job of `silbo stream --prefix PREFIX` matches.
    """
    scheme, separator, rest = str(url).partition("://")
    if scheme == "kafka" and rest:
        from silbo.streaming.kafka.client import located
        from silbo.streaming.kafka.kafka_session import connect as connect_kafka  # with kafka-python

        address, prefix = located(rest)
        return connect_kafka(address, name, prefix)
    if scheme != "memory" or not separator:
        hint = "" if ":" in str(url) else " (A session's name is the second argument of connect.)"
        raise UnknownEngine(str(url), URLS, hint)
    with _brokers_lock:
        if rest not in _brokers or _brokers[rest].closed:
            _brokers[rest] = Broker()
        return _brokers[rest].connect(name)
