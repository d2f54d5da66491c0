"""The numbers that the X2CBBR paper published (section VI). Cycles are its times multiplied by its clocks."""

from __future__ import annotations

CORE_MHZ = 150  # of the broker's core
INTERFACE_MHZ = 50  # of its interface and its parser

LOADS = (42, 84, 126, 168, 210, 252)  # subscriptions: one to six times Set1
# Table 1, µs: mapping and registration of all, and matching one publication against all
REGISTER_US = (16.08, 19.50, 22.74, 26.16, 29.58, 32.10)
MATCH_US = (20.96, 21.88, 22.79, 23.71, 25.54, 28.47)
INIT_US = 17.7  # at a clock that is not stated

PUBLICATION = 1_008  # bytes, of a publication and of a load of subscriptions
FILTER = 4  # bytes; a subscription of Set1 has one filter
# Table 3, the best case: parsing and matching a publication against 252 subscriptions, µs
BEST_US = 39.01
LOADED = 6 * PUBLICATION  # bytes of subscriptions that were loaded before, which its 1,447 Mbps include

# Case II, tables 4 and 5: through software, ms
INTERFACE_MS = {"worst": 10.50, "regular": 1.90}


def cycles(microseconds: float, megahertz: float = CORE_MHZ) -> int:
    """A published time in cycles, rounded down."""
    return int(microseconds * megahertz + 1e-6)


def microseconds(cycles: float, megahertz: float = CORE_MHZ) -> float:
    """The microseconds of a number of cycles at a clock."""
    return cycles / megahertz


def mbps(bytes_: int, microseconds: float) -> float:
    """The rate in megabits per second."""
    return bytes_ * 8 / microseconds
