"""Hypothesis strategies: expressions, values and logs for your own tests.

    from hypothesis import given
    from silbo.testing import strategies

    @given(strategies.logs())
    def test_my_engine_agrees(events): ...

Expressions shrink towards few and plainly written atoms, logs towards few events.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError("silbo.testing.strategies needs Hypothesis: pip install 'silbo[testing]'") from error

from silbo.model.events import Event
from silbo.testing import pools
from silbo.testing.expressions import Pair, filter_pair, function_pair, scope_pair
from silbo.testing.generator import generate_log

Draw: TypeAlias = Callable[[Random, int], Pair]

MAX_ATOMS = 4
KEPT = 31  # of 32 events: a draw of 0 drops an event, and so Hypothesis shrinks by dropping


def filter_pairs(max_atoms: int = MAX_ATOMS) -> st.SearchStrategy[Pair]:
    """Content filters with their meaning."""
    return _pairs(filter_pair, max_atoms)


def context_function_pairs(max_atoms: int = MAX_ATOMS) -> st.SearchStrategy[Pair]:
    """Context functions with their meaning."""
    return _pairs(function_pair, max_atoms)


def scope_pairs(max_atoms: int = MAX_ATOMS) -> st.SearchStrategy[Pair]:
    """Scopes with their meaning."""
    return _pairs(scope_pair, max_atoms)


def _pairs(draw: Draw, max_atoms: int) -> st.SearchStrategy[Pair]:
    return st.builds(draw, st.randoms(use_true_random=False), st.integers(1, max_atoms))


def filters(max_atoms: int = MAX_ATOMS) -> st.SearchStrategy[str]:
    """The text of content filters."""
    return filter_pairs(max_atoms).map(_text)


def context_functions(max_atoms: int = MAX_ATOMS) -> st.SearchStrategy[str]:
    """The text of context functions."""
    return context_function_pairs(max_atoms).map(_text)


def scopes(max_atoms: int = MAX_ATOMS) -> st.SearchStrategy[str]:
    """The text of scopes."""
    return scope_pairs(max_atoms).map(_text)


def _text(pair: Pair) -> str:
    return pair.text


def numbers() -> st.SearchStrategy[int | float]:
    """Valid numbers, many of which occur in the expressions."""
    return st.one_of(
        st.sampled_from([*pools.COMMON_NUMBERS, *pools.BORDER_NUMBERS]),
        st.integers(pools.SMALLEST, pools.LARGEST),
        st.floats(allow_nan=False, allow_infinity=False),
    )


def strings() -> st.SearchStrategy[str]:
    """Valid strings, many of which occur in the expressions."""
    return st.one_of(st.sampled_from([*pools.COMMON_STRINGS, *pools.BORDER_STRINGS]), st.text(max_size=20))


def scalars() -> st.SearchStrategy[pools.Scalar]:
    """Numbers, strings and bools."""
    return st.one_of(numbers(), strings(), st.booleans())


def attributes() -> st.SearchStrategy[dict[str, pools.Scalar]]:
    """Messages with names that the expressions use."""
    return st.dictionaries(st.sampled_from(list(pools.ATTRIBUTES)), scalars(), max_size=len(pools.ATTRIBUTES))


def contexts() -> st.SearchStrategy[dict[str, object]]:
    """Contexts with names that the expressions use; sets are lists, geometries `silbo.geometry`."""
    geometries = st.sampled_from([*pools.POINTS, *pools.AREAS]).map(pools.known_geometry)
    sets = st.one_of(*(st.lists(kind, max_size=5) for kind in (numbers(), strings(), st.booleans())))
    values: st.SearchStrategy[object] = st.one_of(scalars(), sets, geometries)
    return st.dictionaries(st.sampled_from(list(pools.VARIABLES)), values, max_size=len(pools.VARIABLES))


@st.composite
def logs(draw: st.DrawFn, max_events: int = 100, *, sessions: int = 4) -> list[Event]:
    """Logs of at most `max_events` events. A few events are left out, so that ids and sessions may be unknown."""
    seed, count = draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, max_events))
    kept = draw(st.lists(st.integers(0, KEPT), min_size=count, max_size=count))
    return [event for event, keep in zip(generate_log(seed, count, sessions=sessions), kept, strict=True) if keep]
