"""Every error that silbo raises on purpose. Each says what to do, and carries its data as attributes.

    SilboError
    ├── InvalidValue           a value, name or geometry that may not enter (path)
    │   ├── InvalidGeometry
    │   └── NameTooLong  StringTooLong  SetTooLarge  TooManyAttributes
    │       TooManyVariables  TooManyVertices  MessageTooLarge        (also BoundExceeded)
    ├── ExpressionError        a filter, context function or scope that cannot be read (text, start, end)
    │   └── TextTooLong  TooDeep  TooManyConjunctions  TooManyConstraints
    │       TooManyNodes  TooManyMembers                              (also BoundExceeded)
    ├── BoundExceeded          one of the bounds (limit, found)
    ├── FormError              the Python form of an expression used in a way Python cannot express
    │   └── NoSuchMethod
    ├── InvalidEvent           a line of a log that is no event
    ├── InvalidRecord          bytes in a topic that are no record of silbo's
    ├── Refused                a verb that the broker's rules forbid
    │   └── NotAdvertised  ScopeBeyondReads  DuplicateId  UnknownId  UnknownSession
    ├── Closed                 a verb on what was closed before
    ├── SlowSubscriber         a subscription that ended because its queue was full
    ├── NotAcknowledged        Kafka did not take what was sent
    ├── DeviceError            the matcher in hardware refused a command, or does not work (failure)
    │   └── DeviceFull  DeviceNotAnswering
    ├── MissingPart            an optional part that is not installed (the command that installs it)
    │   └── HardwareUnavailable
    └── UnknownEngine          a URL or an engine's name that this version does not serve

`get(timeout=…)` raises the built-in `TimeoutError`. Whatever is raised, the state is as it was before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class SilboError(Exception):
    """The base of all of them."""

    @property
    def line(self) -> str:
        """The message on one line, as logs and reports want it."""
        return printable(" ".join(str(self).split()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel between processes whole, whatever their constructors take."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[SilboError], arguments: tuple[Any, ...], data: dict[str, Any]) -> SilboError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(data)
    return error


def printable(text: str) -> str:
    """What a name or value may hold must not command a terminal: control characters are shown as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class BoundExceeded(SilboError):
    """Something is larger than docs/language.md permits; `limit` and `found` say by how much."""

    limit: int
    found: int


class InvalidValue(SilboError, ValueError):
    """A value that may not enter; `path` leads to it from the argument's name."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class InvalidGeometry(InvalidValue):
    """Not a valid, non-empty, finite planar geometry."""


class ValueTooLarge(InvalidValue, BoundExceeded):
    """The common form of a bound on values: what was counted, how many there are, how many may be."""

    counted = "units"
    remedy = "Make it smaller."

    def __init__(self, path: str, found: int, limit: int) -> None:
        super().__init__(path, f"{found:,} {self.counted}, at most {limit:,} are allowed. {self.remedy}")
        self.found = found
        self.limit = limit


class NameTooLong(ValueTooLarge):
    """A name, id or session name of more than 255 bytes."""

    counted = "bytes of UTF-8 in a name"
    remedy = "Choose a shorter name."


class StringTooLong(ValueTooLarge):
    """A string value of more than 65,535 bytes."""

    counted = "bytes of UTF-8 in a string"
    remedy = "Send long texts as payload."


class SetTooLarge(ValueTooLarge):
    """A set of more than 1,024 members."""

    counted = "members in a set"
    remedy = "Split it over several variables."


class TooManyAttributes(ValueTooLarge):
    """A message of more than 256 attributes."""

    counted = "attributes"
    remedy = "Send what no filter reads as payload."


class TooManyVariables(ValueTooLarge):
    """A context of more than 64 variables after the merge."""

    counted = "context variables"
    remedy = "Remove some first: set_context(name=None)."


class TooManyVertices(ValueTooLarge):
    """A geometry of more than 4,096 vertices."""

    counted = "vertices"
    remedy = "Simplify the geometry, for example with shapely.simplify."


class MessageTooLarge(ValueTooLarge):
    """Attributes and payload of more than 1 MiB together."""

    counted = "bytes in a message"
    remedy = "Send a reference in place of the data."


class ExpressionError(SilboError, ValueError):
    """An expression that cannot be read; the message shows the place with a caret."""

    what = "expression"  # which of the languages, once it is known

    def __init__(self, text: str, start: int, end: int, reason: str) -> None:
        super().__init__(text, start, end, reason)
        self.text = text
        self.start = start
        self.end = end
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot read this {self.what}:\n{pointed(self.text, self.start, self.end)} {self.reason}"

    @property
    def line(self) -> str:
        """The reason with the column in place of the carets."""
        return printable(f"{self.what}, column {self.start + 1}: {self.reason}")


class ExpressionTooLarge(ExpressionError, BoundExceeded):
    """The common form of a bound on expressions."""

    counted = "units"
    remedy = "Simplify it."

    def __init__(self, text: str, start: int, end: int, found: int, limit: int) -> None:
        super().__init__(text, start, end, f"{found:,} {self.counted}, at most {limit:,} are allowed. {self.remedy}")
        self.found = found
        self.limit = limit


class TextTooLong(ExpressionTooLarge):
    """More than 4,096 code points."""

    counted = "code points"
    remedy = "Split it into several subscriptions, or keep long lists as a set in the context."


class TooDeep(ExpressionTooLarge):
    """More than 32 parentheses, calls, `not` and unary minus open around one token."""

    counted = "levels of nesting"
    remedy = "Remove parentheses, or write it flatter."


class TooManyConjunctions(ExpressionTooLarge):
    """A filter with more than 64 conjunctions in its disjunctive form."""

    counted = "conjunctions (`or` adds, `and` multiplies)"
    remedy = "Write many values of one attribute as `in (…)`, or split it into several subscriptions."


class TooManyConstraints(ExpressionTooLarge):
    """A filter with more than 64 constraints in one conjunction."""

    counted = "constraints in one conjunction"
    remedy = "Use `in (…)` in place of many comparisons, or drop some."


class TooManyNodes(ExpressionTooLarge):
    """A context function or scope of more than 256 nodes."""

    counted = "nodes (names, constants, operators, calls)"
    remedy = "Precompute a part of it as a context variable."


class TooManyMembers(ExpressionTooLarge):
    """A list of more than 1,000 constants after `in`."""

    counted = "constants in a list"
    remedy = "Split the list with `or`, or keep it as a set in the context."


class FormError(SilboError, TypeError):
    """The Python form used in a way that Python cannot express; the message has the right spelling."""


class NoSuchMethod(FormError, AttributeError):
    """A method that names and arithmetic do not have."""


class InvalidRecord(SilboError, ValueError):
    """Bytes that are no record of silbo's, or one that may not enter."""


class InvalidEvent(SilboError):
    """A line of a log that is no event."""


class Refused(SilboError):
    """A verb that the broker's rules forbid."""


class NotAdvertised(Refused):
    """A publish that none of its session's advertisements contains."""

    def __init__(self, session: str, attributes: Mapping[str, object], advertised: Sequence[str]) -> None:
        known = "; ".join(advertised) if advertised else "none"
        super().__init__(
            f"no advertisement of {session!r} contains the message {shortened(str(dict(attributes)))}; "
            f"advertised: {shortened(known)}. "
            "Call advertise() with a filter that selects it first, or correct the attributes."
        )
        self.session = session
        self.attributes = attributes
        self.advertised = tuple(advertised)


class ScopeBeyondReads(Refused):
    """A scope that uses subscriber variables which the advertisements do not read."""

    def __init__(self, variables: Iterable[str], reads: Iterable[str]) -> None:
        self.variables = tuple(sorted(variables))
        self.reads = tuple(sorted(reads))
        super().__init__(
            f"the scope reads {', '.join('sub.' + v for v in self.variables)}, beyond the advertisement's reads; "
            f"it may read: {', '.join(self.reads) or 'nothing'}. Advertise with reads=[…] that name it."
        )


class DuplicateId(Refused):
    """An id that is active already; the active one stays."""

    def __init__(self, kind: str, id: str) -> None:
        super().__init__(f"{kind} id {id!r} is active in this session. End it first, or choose another id.")
        self.kind = kind
        self.id = id


class UnknownId(Refused):
    """An id that is not active."""

    def __init__(self, kind: str, id: str, known: Iterable[str]) -> None:
        names = ", ".join(repr(name) for name in known) or "none"
        super().__init__(f"no active {kind} {id!r} in this session; active: {names}. Correct the id.")
        self.kind = kind
        self.id = id


class UnknownSession(Refused):
    """A session that is not connected."""

    def __init__(self, session: str) -> None:
        super().__init__(f"session {session!r} is not connected. A session begins with its first accepted event.")
        self.session = session


class Closed(SilboError):
    """A verb on a broker, session, subscription or advertisement that was closed before."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is closed. Open a new one.")
        self.what = what


class SlowSubscriber(SilboError):
    """A subscription ended because its queue was full; what was queued could still be read."""

    def __init__(self, subscription: str, limit: int) -> None:
        super().__init__(
            f"subscription {subscription!r} ended: {limit:,} notifications were waiting and none was taken. "
            "Read faster, or subscribe with a larger queue=, a longer block_timeout=, or another policy slow=."
        )
        self.subscription = subscription
        self.limit = limit


class NotAcknowledged(SilboError):
    """Kafka did not take what was sent, or did not say so in time."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Kafka has not acknowledged what was sent: {reason}. See that it runs, then send again.")


class MissingPart(SilboError, ImportError):
    """An optional part is not there; `command` installs it."""

    remedy = "Install it with"

    def __init__(self, what: str, *, extra: str | None = None, command: str = "", why: str = "") -> None:
        self.command = command if extra is None else f"pip install 'silbo[{extra}]'"
        super().__init__(f"{what} is not there. {self.remedy}: {self.command}{why and chr(10)}{why}")


class HardwareUnavailable(MissingPart):
    """There is no board, or nothing to simulate it with."""

    remedy = "What helps"


class DeviceError(SilboError):
    """The matcher in hardware failed, or refused a command: then `failure` is its own word for why."""

    failure: str | None = None

    @classmethod
    def of(cls, command: str, failure: str, remedy: str) -> DeviceError:
        """The error of a command that was refused."""
        error = cls(f"the device refused {command}: {failure}. {remedy}")
        error.failure = failure
        return error


class DeviceFull(DeviceError):
    """No room for one more subscription."""


class DeviceNotAnswering(DeviceError):
    """A wait for the device that came to its bound."""

    def __init__(self, what: str, seen: str) -> None:
        super().__init__(f"the device does not come to an end with {what}: {seen}. Load its bitstream anew.")
        self.what = what


class UnknownEngine(SilboError, ValueError):
    """A URL or an engine's name that this version does not serve."""

    def __init__(self, engine: str, known: Iterable[str]) -> None:
        hint = "" if ":" in engine else " (A session's name is the second argument of connect.)"
        super().__init__(f"no engine serves {engine!r}; this version has: {', '.join(known)}.{hint}")
        self.engine = engine


def shortened(text: str, most: int = 200) -> str:
    """A text that may be long, for a message."""
    return text if len(text) <= most else text[:most] + "…"


# a caret line must stay readable in a terminal: show this much on each side of the fault.
SHOWN = 60  # characters


def pointed(text: str, start: int, end: int) -> str:
    """The line of `text` that holds `start`, cut to a readable width, with carets under start to end."""
    first = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", start)
    last = len(text) if stop < 0 else stop
    left = max(first, start - SHOWN)
    right = min(last, max(min(end, start + SHOWN), start + 1) + SHOWN)
    line = "".join(c if c.isprintable() else " " for c in text[left:right])
    before, after = "…" if left > first else "", "…" if right < last else ""
    carets = "^" * max(1, min(end, right) - start)
    return f"{before}{line}{after}\n{' ' * (len(before) + start - left)}{carets}"
