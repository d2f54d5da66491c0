"""Context functions (a subscriber's) and scopes (a publisher's): the situation in which a notification goes out.

Both are conditions over two contexts and the message. What a name means on each side is said here;
the language itself is `silbo.language`.
"""

from __future__ import annotations

from silbo.language.expression import Expression
from silbo.language.languages import FUNCTION, SCOPE
from silbo.model.values import Attributes, Context


class ContextFunction(Expression):
    """Over `pub.*` (what the publisher offers), `this.*` (the subscriber's own) and `msg.*`."""

    __slots__ = ()
    language = FUNCTION

    def holds(self, message: Attributes, offered: Context, subscriber: Context) -> bool | None:
        """True, False, or None for unknown; only True lets a notification through."""
        return self.truth((message, offered, subscriber))


class Scope(Expression):
    """Over `sub.*` (the subscriber's context), `this.*` (the publisher's own, as sent) and `msg.*`."""

    __slots__ = ()
    language = SCOPE

    def admits(self, message: Attributes, subscriber: Context, publisher: Context) -> bool | None:
        """True, False, or None for unknown; only True lets a notification through."""
        return self.truth((message, subscriber, publisher))
