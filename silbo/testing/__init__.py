"""Tools for tests of programs that use silbo; docs/testing.md has examples. silbo's own tests need `own` too.

`generate_log` generates logs by seed, `strategies` has Hypothesis strategies (they need `silbo[testing]`),
`measure` reports how much a log tests, `Player` plays a log on a broker, `RecordingSession` records what a
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
