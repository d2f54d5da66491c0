"""Decide which candidates get a publication. Every index uses this code.

The filter comes first, then the context function, lazily as in the paper: it is evaluated only if the filter is
true; then the publisher's scope. The expressions as written decide, whichever index found the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence

from silbo.context.function import Scope
from silbo.context.table import ContextTable
from silbo.language.expression import evaluation_of
from silbo.matching.candidates import Found, SubscriptionRow
from silbo.model.notification import Publication
from silbo.model.values import Context


def decided(
    publication: Publication, scope: Scope | None, found: Found, contexts: ContextTable
) -> Sequence[SubscriptionRow]:
    """The rows that get the publication, with the contexts as they are now."""
    sure, others = found
    if scope is not None:
        sure = [row for row in sure if admitted(publication, scope, contexts[row.subscriber])]
    more = [row for row in others if gets(publication, scope, row, contexts[row.subscriber])]
    return [*sure, *more] if more else sure


def gets(publication: Publication, scope: Scope | None, row: SubscriptionRow, context: Context) -> bool:
    """Whether the filter, the function and the scope are all true; unknown counts as no."""
    bindings = publication.attributes, publication.offered, context  # a filter reads the first only
    filter, function = row.filter, row.function
    return (
        (filter._evaluate or evaluation_of(filter))(bindings) is True
        and (function is None or (function._evaluate or evaluation_of(function))(bindings) is True)
        and (scope is None or admitted(publication, scope, context))
    )


def admitted(publication: Publication, scope: Scope, context: Context) -> bool:
    """Whether the scope admits a subscriber with this context; unknown counts as no."""
    return scope.admits(publication.attributes, context, publication.context) is True
