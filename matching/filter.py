"""Content filters: the messages that a subscription selects or an advertisement allows."""

from __future__ import annotations

from silbo.language.expression import Expression
from silbo.language.languages import FILTER
from silbo.model.values import Attributes, Context

NO_CONTEXT: Context = {}


class Filter(Expression):
    """A condition over the message's attributes, each compared with constants."""

    __slots__ = ()
    language = FILTER

    def selects(self, message: Attributes) -> bool:
        """Whether the filter is true for the message; unknown is not true."""
        return self.truth((message, NO_CONTEXT, NO_CONTEXT)) is True
