"""Fixed point: who is in a box is in it on the device, whatever is rounded."""

import math
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from silbo.hw.offload import fixed_point
from silbo.testing.strategies import numbers


def moved(place, reach, share, steps):
    """A coordinate on, or some doubles beside, the border of what `reach` means; or anywhere between."""
    border = place + share * reach
    for _ in range(abs(steps)):
        border = math.nextafter(border, math.copysign(math.inf, steps))
    assume(math.isfinite(border))
    return border


places = st.one_of(st.floats(-1e4, 1e4), numbers().map(float))
reaches = st.one_of(st.floats(0, 100), st.floats(0, 2.0**100), st.sampled_from([0.0, 1e-170, 20.0]))
shares = st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-1, 1))


@given(places, reaches, shares, st.integers(-3, 3))
def test_who_is_in_a_box_by_exact_arithmetic_is_in_it_on_the_device(centre, reach, share, steps):
    near = moved(centre, reach, share, steps)
    assume(abs(Fraction(near) - Fraction(centre)) <= Fraction(reach))
    low, high = fixed_point.around(centre, reach)
    assert -(2**31) < low <= fixed_point.place(near) <= high < 2**31


@given(places, reaches, shares, st.integers(-3, 3))
def test_who_is_in_a_box_by_arithmetic_on_doubles_is_in_it_on_the_device(centre, reach, share, steps):
    near = moved(centre, reach, share, steps)
    differs = near - centre
    assume(abs(differs) <= reach or math.sqrt(differs * differs) <= reach or centre - reach <= near <= centre + reach)
    low, high = fixed_point.around(centre, reach)
    assert low <= fixed_point.place(near) <= high


@given(st.floats(-1e5, 1e5), st.floats(0, 1e5))
def test_a_box_is_no_wider_than_it_must_be(centre, reach):
    low, high = fixed_point.around(centre, reach)
    assert low / 256 >= centre - reach - 2 / 256
    assert high / 256 <= centre + reach + 2 / 256


def test_what_lies_beyond_the_range_is_at_its_end_and_never_the_mark_of_no_position():
    assert fixed_point.place(-1.7e308) == -(2**31) + 1
    assert fixed_point.place(1.7e308) == 2**31 - 1
    assert fixed_point.around(-1.7e308, 1e30) == (-(2**31) + 1, -(2**31) + 1)
