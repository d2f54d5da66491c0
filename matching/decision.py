"""Decide: of the candidates, who gets a publication. Written once, for every index.

Content first, then the context function, lazily as in the paper: it is looked at only where the
content fits; then the publisher's scope. The expressions as written decide, whatever found the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence

from silbo.context.function import Scope
from silbo.context.table import ContextTable
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
    """Whether the filter selects, the function holds and the scope admits; unknown is no."""
    return (
        row.filter.selects(publication.attributes)
        and (row.function is None or row.function.holds(publication.attributes, publication.offered, context) is True)
        and (scope is None or admitted(publication, scope, context))
    )


def admitted(publication: Publication, scope: Scope, context: Context) -> bool:
    """Whether the scope admits a subscriber with this context; unknown is no."""
    return scope.admits(publication.attributes, context, publication.context) is True
