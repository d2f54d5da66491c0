"""Draw subscriptions and advertisements that have to do with one another: equal, covering, overlapping filters."""

from __future__ import annotations

from random import Random

from silbo.testing import pools
from silbo.testing.expressions import filter_condition, function_condition
from silbo.testing.filters import filter_atom
from silbo.testing.fragments import ConditionPiece, all_of, any_of, composed
from silbo.testing.world import LiveAdvertisement, LiveSubscription, Names, World, likely_message, likely_situation

EVERYTHING = ConditionPiece(("true",), lambda _: True)
# a filter derived from a derived one grows: past this it tests the parser, not the matching.
MAX_DERIVED = 200  # tokens


def subscription(random: Random, world: World) -> LiveSubscription:
    """A subscription, mostly with a context function that can be true."""
    filter = wanted_filter(random, world)
    for _ in range(3):
        function = _function(random)
        likely = likely_situation(random, filter, function)
        if function is None or function.judge(likely) is True:
            break
    return LiveSubscription(filter, function, likely)


def wanted_filter(random: Random, world: World) -> ConditionPiece:
    """A new filter, or one that is equal to, covered by, or covers one that is live."""
    live = world.subscriptions()
    if not live or random.random() < 0.55:
        return filter_condition(random, random.choice((1, 1, 2, 3)))
    base = random.choice(live)[1].filter
    derived = _derived(random, base)
    return derived if derived.fits_filter() and len(derived.tokens) <= MAX_DERIVED else base


def _derived(random: Random, base: ConditionPiece) -> ConditionPiece:
    extra = composed(random, lambda: filter_atom(random), 1)
    tighter = all_of(random, [base, extra])
    draw = random.random()
    if draw < 0.25:
        return base
    if draw < 0.6:
        return tighter
    if draw < 0.8:
        return any_of(random, [base, extra])
    # both branches are true together: still one notification
    return any_of(random, [tighter, base])


def _function(random: Random) -> ConditionPiece | None:
    if random.random() < 0.15:
        return None
    return function_condition(random, random.choice((1, 1, 2, 3)))


def included(random: Random) -> tuple[str, ...]:
    """Variables to see besides those that the function names; one never exists."""
    if random.random() < 0.6:
        return ()
    return tuple(random.sample([*pools.VARIABLES, "nowhere"], random.randint(1, 4)))


def advertisement(random: Random, world: World) -> LiveAdvertisement:
    """An advertisement of anything, of what a live subscription wants and more, or of something else."""
    filter = _advertised_filter(random, world)
    return LiveAdvertisement(
        filter, _some_names(random, 0.35), _some_names(random, 0.5), likely_message(random, filter)
    )


def _advertised_filter(random: Random, world: World) -> ConditionPiece:
    draw = random.random()
    if draw < 0.2:
        return EVERYTHING
    live = world.subscriptions()
    if draw < 0.5 and live:
        wanted = random.choice(live)[1].filter
        wider = any_of(random, [wanted, filter_atom(random)])
        return wider if wider.fits_filter() else wanted
    return filter_condition(random, random.randint(1, 2))


def _some_names(random: Random, all_share: float) -> Names:
    draw = random.random()
    if draw < all_share:
        return None
    if draw > 0.93:
        return ()
    share = random.choice((0.4, 0.8, 0.95))
    return tuple(name for name in pools.VARIABLES if random.random() < share)
