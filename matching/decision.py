"""Decide: of the candidates, who gets a publication. Written once, for every index.

Content first, then the context function, lazily as in the paper: it is looked at only where the
content fits; then the publisher's scope. The expressions as written decide, whatever found the candidate.
"""

from __future__ import annotations

from collections.abc import Iterable

from silbo.context.function import Scope
from silbo.context.table import ContextTable
from silbo.matching.candidates import SubscriptionRow
from silbo.model.notification import Publication
from silbo.model.values import Context


def decided(
    publication: Publication, scope: Scope | None, rows: Iterable[SubscriptionRow], contexts: ContextTable
) -> list[SubscriptionRow]:
    """The rows that get the publication, with the contexts as they are now."""
    return [row for row in rows if gets(publication, scope, row, contexts[row.subscriber])]


def gets(publication: Publication, scope: Scope | None, row: SubscriptionRow, context: Context) -> bool:
    """Whether the filter selects, the function holds and the scope admits; unknown is no."""
    return (
        row.filter.selects(publication.attributes)
        and (row.function is None or row.function.holds(publication.attributes, publication.offered, context) is True)
        and (scope is None or scope.admits(publication.attributes, context, publication.context) is True)
    )
