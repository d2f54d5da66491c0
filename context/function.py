"""Context functions (a subscriber's) and scopes (a publisher's): when a notification is sent.

Both are conditions over two contexts and the message. This module says which contexts the names of each refer to;
the language itself is in `silbo.language`.
"""

from __future__ import annotations

from silbo.language.expression import Expression
from silbo.language.languages import FUNCTION, SCOPE
from silbo.model.values import Attributes, Context


class ContextFunction(Expression):
    """A condition over `pub.*` (what the publisher offers), `this.*` (the subscriber's own context) and `msg.*`."""

    __slots__ = ()
    language = FUNCTION

    def holds(self, message: Attributes, offered: Context, subscriber: Context) -> bool | None:
        """True, False, or None for unknown; only True lets a notification through."""
        return self.truth((message, offered, subscriber))


class Scope(Expression):
    """A condition over `sub.*` (the subscriber's context), `this.*` (the publisher's own, as sent) and `msg.*`."""

    __slots__ = ()
    language = SCOPE

    def admits(self, message: Attributes, subscriber: Context, publisher: Context) -> bool | None:
        """True, False, or None for unknown; only True lets a notification through."""
        return self.truth((message, subscriber, publisher))
