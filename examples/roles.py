"""A publisher selects its audience by a scope over the subscribers' contexts.

A context is what a subscriber says of itself, so a scope is a filter and not a guard (SECURITY.md).
"""

import silbo

broker = silbo.Broker()
people = {}
for name, context in {
    "ada": {"role": "doctor", "ward": 3},
    "bob": {"role": "guest", "ward": 3},
    "cleo": {"role": "doctor", "ward": 5},
    "dora": {},  # a scope is never true for what is not there
}.items():
    session = broker.connect(name)
    session.set_context(context)
    people[name] = session.subscribe('kind = "alarm"')

monitor = broker.connect("monitor")
monitor.set_context(ward=3)
monitor.advertise('kind = "alarm"', offers=[], reads=["role", "ward"])
monitor.publish({"kind": "alarm", "bed": 12}, scope='sub.role = "doctor" and sub.ward = this.ward')
monitor.publish({"kind": "alarm", "bed": 14}, scope='not (sub.role = "guest")')

for name, alarms in people.items():
    print(f"{name:5}", [alarm["bed"] for alarm in alarms.drain()])

try:
    monitor.publish({"kind": "alarm", "bed": 15}, scope="sub.salary > 5000")
except silbo.ScopeBeyondReads as error:
    print(error)
