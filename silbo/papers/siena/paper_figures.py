"""The numbers that the paper published (section 6); figures that it drew without numbers are not here."""

from __future__ import annotations

MACHINE = "Intel i7 860 at 2.80 GHz, 4 GB, Linux 3.2, OpenJDK 7u3"

CHANGE_SILBO = 0.2  # µs per context change, at most (Figures 7 and 8)
MESSAGE_SIENA = 105.0  # µs per message; a change takes two messages for each filter (Figure 9)
FILTER_SIENA = 2 * MESSAGE_SIENA

CHANGES_7 = 50  # context changes of each new subscriber
SIENA_7 = 10.0  # ms for these changes
SILBO_7 = CHANGES_7 * CHANGE_SILBO / 1_000  # ms

# Table 1, at 80,000 subscriptions, by notifications sent: SIENA and explicit context
PER_SECOND = {"3000": (1_083, 984), "4000": (1_101, 1_016), "average": (1_092, 1_000)}
MICROSECONDS = {"3000": (923, 1_016), "4000": (908, 984), "average": (915, 1_000)}
NOTIFICATION_SIENA, NOTIFICATION_SILBO = MICROSECONDS["average"]
OVERHEAD = NOTIFICATION_SILBO / NOTIFICATION_SIENA - 1

EACH = 10  # subscriptions of a connection, on average
TRADE_OFF = 1.23  # notifications per context change, by equation 2 with one message per change
# the same equation with two messages for each of ten filters
REAL_TRADE_OFF = (EACH * FILTER_SIENA - CHANGE_SILBO) / (NOTIFICATION_SILBO - NOTIFICATION_SIENA)


def change_siena(filters: float) -> float:
    """Microseconds of a change in SIENA, by the paper's slope."""
    return FILTER_SIENA * filters
