"""Every error that silbo raises on purpose. Each says what to do, and carries its data as attributes.

    SilboError
    ├── InvalidValue           a value, name or geometry that is not valid (path)
    │   ├── InvalidGeometry
    │   └── ValueTooLarge      (also BoundExceeded)
    │       └── NameTooLong  StringTooLong  SetTooLarge  TooManyAttributes
    │           TooManyVariables  TooManyVertices  MessageTooLarge
    ├── ExpressionError        a filter, context function or scope that cannot be read (text, start, end)
    │   └── ExpressionTooLarge  (also BoundExceeded)
    │       └── TextTooLong  TooDeep  TooManyConjunctions  TooManyConstraints
    │           TooManyNodes  TooManyMembers
    ├── BoundExceeded          one of the bounds (limit, found)
    ├── FormError              the Python form of an expression used in a way Python cannot express
    │   └── NoSuchMethod
    ├── InvalidEvent           a line of a log, or bytes, that are not an event
    ├── InvalidRecord          bytes in a topic that are not a record of silbo
    ├── Refused                a verb that the broker's rules forbid
    │   └── NotAdvertised  ScopeBeyondReads  DuplicateId  UnknownId  UnknownSession
    ├── Closed                 a verb on something that is closed
    ├── SlowSubscriber         a subscription that ended because its queue was full
    ├── NotAcknowledged        Kafka did not acknowledge a record
    ├── NotReachable           no Kafka answers at the address (address)
    ├── JobFailed              the Spark job ended with an error (cause)
    ├── DeviceError            the matcher in hardware refused a command, or does not work (failure)
    │   └── DeviceFull  DeviceNotAnswering
    ├── MissingPart            an optional part that is not installed (the command that installs it)
    │   └── HardwareUnavailable
    └── UnknownEngine          a URL or an engine's name that this version does not serve

`get(timeout=…)` raises the built-in `TimeoutError`. A call that raises leaves the state as it was before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing_extensions import Self


class SilboError(Exception):
    """The base class of all errors of silbo."""

    @property
    def line(self) -> str:
        """The message on one line, for logs and reports."""
        return printable(" ".join(str(self).split()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an error with all its data, whatever arguments its constructor takes."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[SilboError], arguments: tuple[Any, ...], data: dict[str, Any]) -> SilboError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(data)
    return error


def printable(text: str) -> str:
    """The text with control characters as escapes, so that a name or value cannot control a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class BoundExceeded(SilboError):
    """Something is larger than docs/language.md permits; `limit` and `found` say by how much."""

    limit: int
    found: int


class InvalidValue(SilboError, ValueError):
    """A value that is not valid; `path` leads to it from the argument's name."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class InvalidGeometry(InvalidValue):
    """Not a valid, non-empty, finite planar geometry."""


class ValueTooLarge(InvalidValue, BoundExceeded):
    """The base of the bounds on values: what was counted, how many were found, how many are allowed."""

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

    what = "expression"  # which of the three languages, if it is known

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
    """The base of the bounds on expressions."""

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
    """Bytes that are not a record of silbo, or a record that is not valid."""


class InvalidEvent(SilboError):
    """A line of a log, or bytes, that are not an event."""


class Refused(SilboError):
    """A verb that the broker's rules forbid."""

    def at(self, path: str) -> Self:
        """The same error with the path to what was refused, for one row of many."""
        error = _restored(type(self), (f"{path}: {self}",), self.__dict__)
        return cast("Self", error)


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
    """An id that is already active; the active one stays."""

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

    def __init__(self, session: str, connected: Iterable[str] | None = None) -> None:
        advice = (
            "A session begins with its first accepted event." if connected is None else known_names(session, connected)
        )
        super().__init__(f"session {session!r} is not connected. {advice}")
        self.session = session


class Closed(SilboError):
    """A verb on a broker, session, subscription or advertisement that is closed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is closed. Open a new one.")
        self.what = what


class SlowSubscriber(SilboError):
    """A subscription ended because its queue was full; queued notifications can still be read."""

    def __init__(self, subscription: str, limit: int) -> None:
        super().__init__(
            f"subscription {subscription!r} ended: {limit:,} notifications were waiting and none was taken. "
            "Read faster, or subscribe with a larger queue=, a longer block_timeout=, or another policy slow=."
        )
        self.subscription = subscription
        self.limit = limit


class NotAcknowledged(SilboError):
    """Kafka did not acknowledge a record, or not in time."""

    def __init__(self, reason: str) -> None:
        text = reason.rstrip(". ")
        super().__init__(f"Kafka has not acknowledged what was sent: {text}. See that it runs, then send again.")


class NotReachable(SilboError, ConnectionError):
    """Nobody answers at an address; a program may try again later."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"no Kafka answers at {address} ({reason.rstrip('. ')}). Check that it runs there.")
        self.address = address


class JobFailed(SilboError):
    """The Spark job ended with an error; `cause` is the innermost one, in short."""

    def __init__(self, what: str, cause: str) -> None:
        shown = shortened(cause, 1_000)
        super().__init__(f"{what}{shown and ': '}{shown}\nSILBO_VERBOSE=1 shows all that Spark writes.")
        self.cause = cause


class MissingPart(SilboError, ImportError):
    """An optional part is not installed; `command` installs it."""

    remedy = "Install it with"

    def __init__(self, what: str, *, extra: str | None = None, command: str = "", why: str = "") -> None:
        self.command = command if extra is None else f"pip install 'silbo[{extra}]'"
        checkout = "" if extra is None else _in_checkout(extra)
        super().__init__(f"{what} is not there. {self.remedy}: {self.command}{checkout}{why and chr(10)}{why}")

    @classmethod
    def of(cls, error: ModuleNotFoundError) -> MissingPart | None:
        """The optional part that a module belongs to, if it is one."""
        module = (error.name or "").partition(".")[0]
        return cls(*PARTS[module][:1], extra=PARTS[module][1]) if module in PARTS else None


# modules of optional parts: what they are called, and the extra that brings them
PARTS: Mapping[str, tuple[str, str]] = {
    "kafka": ("kafka-python", "kafka"),
    "msgpack": ("msgpack", "kafka"),
    "py4j": ("Spark", "spark"),
    "pyspark": ("Spark", "spark"),
    "pandas": ("pandas", "spark"),
    "pyarrow": ("pyarrow", "arrow"),
    "hypothesis": ("hypothesis", "testing"),
    "matplotlib": ("matplotlib", "report"),
}


def _in_checkout(extra: str) -> str:
    """How to install an extra from the checkout that this module is part of, if it is."""
    root = Path(__file__).resolve().parents[1]
    return (
        f" (from this checkout: pip install --editable '{root}[{extra}]')" if (root / "pyproject.toml").exists() else ""
    )


class HardwareUnavailable(MissingPart):
    """There is no board, and no simulator in its place."""

    remedy = "What helps"


class DeviceError(SilboError):
    """The matcher in hardware failed or refused a command; `failure` is the device's reason for a refusal."""

    failure: str | None = None

    @classmethod
    def of(cls, command: str, failure: str, remedy: str) -> DeviceError:
        """The error for a refused command."""
        error = cls(f"the device refused {command}: {failure}. {remedy}")
        error.failure = failure
        return error


class DeviceFull(DeviceError):
    """No room for one more subscription."""


class DeviceNotAnswering(DeviceError):
    """A wait for the device reached its time-out."""

    def __init__(self, what: str, seen: str) -> None:
        super().__init__(f"the device does not come to an end with {what}: {seen}. Load its bitstream again.")
        self.what = what


class UnknownEngine(SilboError, ValueError):
    """A URL or an engine's name that this version does not serve."""

    def __init__(self, engine: str, known: Iterable[str], hint: str = "") -> None:
        super().__init__(f"no engine serves {engine!r}; supported: {', '.join(known)}.{hint}")
        self.engine = engine


def known_names(wrong: str, known: Iterable[str], most: int = 5) -> str:
    """A sentence for an error message: the name that is closest to a misspelt one, and the known names."""
    from difflib import get_close_matches

    names = sorted(set(known))
    meant = get_close_matches(wrong, names, n=1)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    there = f"There are: {', '.join(map(shortened, names[:most]))}{more}." if names else "There are none."
    return f"Did you mean {meant[0]!r}? {there}" if meant else there


def shortened(text: str, most: int = 200) -> str:
    """A text cut to a length that suits an error message."""
    return text if len(text) <= most else text[: most - 1] + "…"


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
