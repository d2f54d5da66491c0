"""The paper's road scenario: cameras publish accidents, hundreds of cars drive and get the alerts near them.

Each car has two subscriptions with the paper's box of 40 km around it; it tells its position at every
step and never subscribes again. In the end everything the cars got is compared with the oracle, which
reads the broker's own record of what happened.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from dataclasses import dataclass

import silbo
from silbo.matching.index import PlainIndex
from silbo.model.events import Event
from silbo.model.log import notification_json

SQUARE = 1_000.0  # km
NEARBY = "pub.x >= this.x - 20 and pub.x <= this.x + 20 and pub.y >= this.y - 20 and pub.y <= this.y + 20"
KINDS = ("accident", "jam", "roadworks", "ice")


@dataclass
class Car:
    """A car on its way: where it is, where it heads, and what it asked for."""

    session: silbo.Session
    subscriptions: list[silbo.Subscription]
    x: float
    y: float
    heading: float
    speed: float  # km a step

    def drive(self) -> None:
        """One step straight ahead, turning back at the border, and the new position told."""
        self.x += self.speed * math.cos(self.heading)
        self.y += self.speed * math.sin(self.heading)
        if not (0 <= self.x <= SQUARE and 0 <= self.y <= SQUARE):
            self.heading += math.pi
        self.session.set_context(x=self.x, y=self.y)


def make_cars(broker: silbo.Broker, chance: random.Random, count: int) -> list[Car]:
    """Cars at random places, each wanting severe accidents and, some of them, ice or road works."""
    cars = []
    for number in range(count):
        session = broker.connect(f"car-{number}")
        other = chance.choice(['msg = "ice"', 'msg in ("jam", "roadworks")', 'msg prefix "r"'])
        subscriptions = [
            session.subscribe('msg = "accident" and severity >= 3', context=NEARBY),
            session.subscribe(other, context=NEARBY, include=["road"]),
        ]
        x, y = chance.uniform(0, SQUARE), chance.uniform(0, SQUARE)
        cars.append(Car(session, subscriptions, x, y, chance.uniform(0, 2 * math.pi), chance.uniform(0.5, 2.5)))
    return cars


def make_cameras(broker: silbo.Broker, chance: random.Random, count: int) -> list[silbo.Session]:
    """Cameras that stay where they are."""
    cameras = []
    for number in range(count):
        camera = broker.connect(f"camera-{number}")
        camera.set_context(x=chance.uniform(0, SQUARE), y=chance.uniform(0, SQUARE), road=f"A{number % 9 + 1}")
        camera.advertise("exists msg and exists severity", offers=["x", "y", "road"])
        cameras.append(camera)
    return cameras


def drive(cars: list[Car], cameras: list[silbo.Session], chance: random.Random, steps: int) -> tuple[float, float]:
    """All cars drive, some cameras publish; the seconds spent on context changes and on publishing."""
    moving = publishing = 0.0
    for _ in range(steps):
        begin = time.perf_counter()
        for car in cars:
            car.drive()
        moving += time.perf_counter() - begin
        begin = time.perf_counter()
        for camera in chance.sample(cameras, len(cameras) // 4):
            camera.publish({"msg": chance.choice(KINDS), "severity": chance.randint(1, 5)})
        publishing += time.perf_counter() - begin
    return moving, publishing


def differences(events: list[Event], cars: list[Car]) -> tuple[int, int]:
    """How many notifications the oracle expects, and how many are missing, wrong or too many."""
    expected = Counter(notification_json(each) for each in silbo.replay(events, engine="oracle"))
    got = Counter(notification_json(each) for car in cars for alerts in car.subscriptions for each in alerts.drain())
    return expected.total(), ((expected - got) + (got - expected)).total()


def main() -> int:
    """Drive, print a summary, and fail if the oracle disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cars", type=int, default=400, help="how many cars (default: 400)")
    parser.add_argument("--cameras", type=int, default=60, help="how many cameras (default: 60)")
    parser.add_argument("--steps", type=int, default=40, help="how many steps they drive (default: 40)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed drives the same way (default: 1)")
    options = parser.parse_args()

    chance = random.Random(options.seed)  # noqa: S311  # a repeatable scenario, no secret
    events: list[Event] = []
    index = PlainIndex()  # the default; here to see that nobody touches it on the way
    with silbo.Broker(record=events.append, index=index) as broker:
        cars = make_cars(broker, chance, options.cars)
        cameras = make_cameras(broker, chance, options.cameras)
        changes = index.changes
        moving, publishing = drive(cars, cameras, chance, options.steps)
        changes = index.changes - changes
        stats = broker.stats()
        print(f"{options.cars} cars and {options.cameras} cameras, {options.steps} steps, {SQUARE:.0f} km square")
        moves, published = options.cars * options.steps, stats["published"]
        each = moving / moves * 1e6
        print(f"  context changes  {moves:>8,}   {each:8.1f} µs each; they changed the index {changes} times")
        print(f"  publications     {published:>8,}   {publishing / max(published, 1) * 1e6:8.1f} µs each")
        print(f"  notifications    {stats['notified']:>8,}")
        print("comparing with the oracle ...")
        expected, wrong = differences(events, cars)
    print(f"  the oracle expects {expected:,} notifications, {wrong:,} differ: {'FAILED' if wrong else 'agreed'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
