"""The parts of the report that are the same in every run: its title, and explanations of the numbers."""

from __future__ import annotations

TITLE = "Explicit context against SIENA: the paper's experiment, run again"

LEVELS = """\
Figures 7 to 9, the results and the trade-off measure a change inside the broker, after session, lock and checks:
in silbo the write of the context's row, in the SIENA style the removal and addition of each filter in the index.
Through the public verbs both take longer: `set_context` of a session, with either index in the broker; and
`unsubscribe` and `subscribe` of each filter, as a client of SIENA has to do it. Each figure is the median of the
batches, with the least and the greatest median of five parts of the run in parentheses."""

EQUATION = """\
The crossing is the number of notifications per context change above which SIENA takes less time. The paper's 1.23
counts one message (105 µs) for a whole change; with its own ten filters per subscriber and two messages each it is
24.7. There is a crossing only if silbo's notifications take longer than SIENA's. Intervals are 95 % of a bootstrap
over the samples of changes and over the publications. The time of sessions, locks and queues is the same on both
sides and cancels."""

STAGES = """\
Encode: writing the message, or the filters, as words for the kernels. Candidates: finding the postings that match
by list, signature and interval. Residual: checking their other constraints; in the SIENA style the box is among them.
Context: evaluating the functions of the remaining candidates or, if the planner chose so, of all candidates before
their constraints. These three are one kernel: its time in a publish is divided in proportion to the times of its
stages measured alone. Deliver: the rest of `publish`: checks, lock, notifications, queues. A grid is repaired at the
first match after a change, for each row that moved."""

SCOPES = """\
A scope is evaluated after filter and function, for each subscription that would get the message, so its cost grows
with the matches. A context change does not look at scopes; with scopes in use a subscriber's context has one
more variable, its role. If the range of the rounds includes zero, no difference was measured."""

LEAD = """\
In the SIENA style the box is among the constraints of every candidate that the content finds. Silbo's grid first
finds the subscribers near the publisher, so silbo is faster here, where the paper has a small overhead."""

# one paragraph each
CHOICES = """\
SIENA is silbo's own index with the box in the filters, as four ordinary constraints over the publisher's x and
y. It may file a filter under any of its constraints, and it matches and adds with the same kernels as silbo. The
parts that a change does not affect (a filter's normal form, its row, the box that filters share) are kept, although
a broker that gets filters as messages could not know them.

Content (the paper names SIENA's distributions of 2003 without their numbers): 1,000 names by Zipf's law, 1 to 9
constraints per filter over distinct names, 1 to 16 attributes per message, whole numbers from 0 to 999, and six
operators of which nearly half are equalities.

Subscriptions per connection: exactly 10, where the paper has 10 on average; 8 in Figure 7, where the paper has 10,000
in 1,250 connections.

Figure 7's new subscribers have one filter; ten filters are shown as well. The paper does not state the number, but 50
changes of two messages of 105 µs take its 10 ms.

The paper draws Figure 8 for silbo only. Here it has both systems, at a quarter, a half, three quarters and all of the
connections.

A new context is a new place anywhere in the square, in every experiment except the replay of traffic.

Figure 11: publications go through the public verb one after the other; 'notifications sent' are publications,
as in the paper. The throughput after n of them is n divided by the sum of their times, each the median of its
repeats. No subscriber moves meanwhile. Silbo is drawn with its planner's plan and with content first: subscriptions
are found by their content, as in the paper, and the planner only decides whether a candidate's function or its other
constraints are evaluated first.

Both systems run in turns in one process and one thread, so that noise affects both; the garbage collector is off
meanwhile. Times are medians of several repeats; changes are timed in batches of twenty, after five that are not
timed.

Equation 2, by the paper's formula: SIENA's change is one message, the slope of Figure 9 divided by two. By the real
cost: SIENA's change has ten filters, and silbo's change includes the write and the later repair of its grid.

The oracle is a linear scan that shares no code with an index. Both systems are compared with it in full while
subscribers move on a small load, for some publications on the largest load, with scopes, and at the end of the
traffic; elsewhere they are compared with each other."""
