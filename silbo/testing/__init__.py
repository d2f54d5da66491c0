"""For tests of programs that use silbo, and of silbo itself; docs/testing.md shows them at work.

`generate_log` makes logs by seed, `strategies` does for Hypothesis (it needs `silbo[testing]`),
`measure` says how rich a log is, `Player` plays one on a broker, `RecordingSession` keeps what a
session received, and `assert_agrees` compares that with the oracle. `python -m silbo.testing`
generates and measures from the command line.
"""

from silbo.testing.comparison import Comparison, assert_agrees, compare
from silbo.testing.generator import generate_log
from silbo.testing.measure import Measure, measure
from silbo.testing.playing import Player
from silbo.testing.recording import RecordingSession

__all__ = [
    "Comparison",
    "Measure",
    "Player",
    "RecordingSession",
    "assert_agrees",
    "compare",
    "generate_log",
    "measure",
]
