"""What the report says in every run: its title, its looks, and what a reader must know beside the numbers."""

from __future__ import annotations

TITLE = "Explicit context against SIENA: the paper's experiment, run again"

STYLE = """
body { font: 16px/1.5 Georgia, serif; color: #22303c; background: #fbfaf7 }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { font-family: system-ui, sans-serif; line-height: 1.2 }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d9d5cb }
table { border-collapse: collapse; margin: 1rem 0; font: 14px/1.4 system-ui, sans-serif }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e3e1db; text-align: right }
th { border-bottom: 2px solid #b9c0c8 }
td:first-child, th:first-child { text-align: left } figure { margin: 1.5rem 0 } img { max-width: 100% }
figcaption { font: 13px/1.4 system-ui, sans-serif; color: #5b6670 } summary { cursor: pointer }
"""

LEVELS = """\
Figures 7 to 9, the results and the trade-off have a change inside the broker, once session, lock and checks are
behind it: in silbo the write of the context's row, in the SIENA way the removal and addition of each filter in
the index. Through the public verbs both take longer: `set_context` of a session, with either way behind the
broker; and `unsubscribe` and `subscribe` of each filter, as a client of SIENA has to do it."""

EQUATION = """\
The point is the number of notifications to a context change above which SIENA takes less time. The paper's 1.23
has one message (105 µs) for a whole change; with its own ten filters a subscriber and two messages each it is
24.7. There is a crossing only if silbo's notifications take longer than SIENA's. Intervals: 95 % of a bootstrap
over the samples of changes and over the publications. What sessions, locks and queues take is the same on both
sides and cancels."""

STAGES = """\
Encode: the message, or the filters, in words for the kernels. Candidates: the postings that fit by list,
signature and interval. Residual: their other constraints; in the SIENA way the box is among them. Context: the
functions of those that are left, or, where the planner has it so, of all candidates ahead of their constraints.
These three are one kernel: its time in a publish is shared out by what its stages take alone. Deliver: all the
rest of publish: checks, lock, notifications, queues. A grid is repaired at the match behind a change, for each
row that moved."""

SCOPES = """\
A scope is decided behind filter and function, for each subscription that would get the message: it costs by
matches, and next to nothing where there are none. A context change knows nothing of scopes."""

LEAD = """\
The SIENA way has the box among the constraints of every candidate that content brings up; silbo's grid finds
the subscribers near the publisher first, so the paper's small overhead is a lead here."""

# one paragraph each
CHOICES = """\
SIENA is silbo's own index with the box in the filters, as four ordinary constraints over the publisher's x and
y; it may file a filter under any of its constraints, and matches and adds by the same kernels as silbo. What a
change does not touch (a filter's normal form, its row, the box that filters share) is kept, though a broker
that gets filters as messages could not know it.

Content (the paper names SIENA's distributions of 2003 without their numbers): 1,000 names by Zipf's law, 1 to 9
constraints a filter over distinct names, 1 to 16 attributes a message, whole numbers from 0 to 999, six
operators of which nearly half are equalities.

Subscriptions a connection: exactly 10 where the paper has 10 on average; 8 in Figure 7, where it has 10,000 in
1,250 connections.

Figure 7's new subscribers have one filter (the paper does not say; 50 changes of two messages of 105 µs are its
10 ms), and beside it ten.

Figure 8 is drawn for silbo alone in the paper; here for both systems, at a quarter, a half, three quarters and
all of the connections.

A new context is a new place anywhere in the square, in every experiment but the replay of traffic.

Figure 11: publications go through the public verb one after the other; 'notifications sent' are publications,
as in the paper. The throughput after n of them is n divided by the sum of their times, each the median of its
repeats. Nobody moves meanwhile. Silbo is drawn with its planner's plan and with content first: subscriptions are
found by their content, as in the paper, and the planner only says whether a candidate's function or its other
constraints are looked at first.

Both systems run in one process and one thread, by turns, so that noise hits both; the garbage collector rests
meanwhile. Times are medians of several repeats; a change is timed in batches of twenty, behind five that are not
timed.

Equation 2 by the paper's formula has for SIENA's change one message, the slope of Figure 9 divided by two; by
the real cost it has ten filters, and for silbo's the write and the later repair of its grid.

The oracle is a linear scan that shares no code with an index. Both systems are compared with it in full while
subscribers move on a small load, for some publications on the largest load, with scopes and at the end of the
traffic; elsewhere with each other."""
