"""The paper's road scenario: cars drive from town to town, cameras beside the roads publish what they see.

Cars and cameras speak silbo's verbs to the broker they are connected to; whether that one matches at once or writes
a log is not known here. The same seed gives the same traffic.
"""

from __future__ import annotations

import math
import random
from argparse import ArgumentParser
from dataclasses import dataclass, field
from typing import TypeAlias

import silbo

SQUARE = 300.0  # km
TOWNS = 5  # in a row, and as many rows
WIDTH = 2.0  # km: how far from a town's middle cars drive, mostly
REACH = 20.0  # km from a car to the sides of its box
NEARBY = " and ".join(f"pub.{v} >= this.{v} - {REACH} and pub.{v} <= this.{v} + {REACH}" for v in "xy")
KINDS = ("accident", "jam", "roadworks", "ice")
WISHES = ('msg = "ice"', 'msg in ("jam", "roadworks")', 'msg prefix "r"')
SHARE = 20  # one of so many cameras publishes in a minute

Place: TypeAlias = tuple[float, float]  # km from the south-western corner


@dataclass
class Camera:
    """A camera that stays where it is."""

    session: silbo.Session
    place: Place
    published: int = 0


@dataclass
class Car:
    """A car on its way to a place in a town, with all it asked for and everywhere it was, minute by minute."""

    session: silbo.Session
    alerts: list[silbo.Subscription]
    town: Place
    aim: Place
    speed: float  # km a minute
    track: list[Place] = field(default_factory=list)

    def tell(self, place: Place) -> None:
        """The new position: all that a car ever says after it has subscribed."""
        self.track.append(place)
        self.session.set_context(x=place[0], y=place[1])


class Road:
    """Towns, cars and cameras, and the minutes that have passed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311  # a repeatable scenario, no secret
        self.minute = 0
        self.cars: list[Car] = []
        self.cameras: list[Camera] = []
        gap = SQUARE / TOWNS
        self.towns = [
            ((column + self._chance.uniform(0.2, 0.8)) * gap, (row + self._chance.uniform(0.2, 0.8)) * gap)
            for column in range(TOWNS)
            for row in range(TOWNS)
        ]

    def connect(self, broker: silbo.Broker, cars: int, cameras: int) -> None:
        """Put cars and cameras on the roads: cars subscribe twice, cameras advertise."""
        self.cameras = [self._camera(broker.connect(f"camera-{number}"), number) for number in range(cameras)]
        self.cars = [self._car(broker.connect(f"car-{number}")) for number in range(cars)]

    def pass_minute(self) -> None:
        """Every car drives on, then some cameras publish what they see."""
        self.minute += 1
        self.drive()
        self.publish()

    def drive(self) -> None:
        """Every car goes a minute's way towards its town; who arrives there heads for the next."""
        for car in self.cars:
            here, left = car.track[-1], math.dist(car.track[-1], car.aim)
            if left > car.speed:
                car.tell(between(here, car.aim, car.speed / left))
            else:
                car.tell(car.aim)
                car.town = self._next(car.town)
                car.aim = self._in(car.town)

    def publish(self) -> None:
        """Some cameras see something."""
        for camera in self._chance.sample(self.cameras, math.ceil(len(self.cameras) / SHARE)):
            camera.session.publish({"msg": self._chance.choice(KINDS), "severity": self._chance.randint(1, 5)})
            camera.published += 1

    def _car(self, session: silbo.Session) -> Car:
        place, town = self._somewhere()
        car = Car(session, [], town, self._in(town), speed=self._chance.uniform(0.8, 2.2))
        car.tell(place)
        car.alerts = [
            session.subscribe('msg = "accident" and severity >= 3', context=NEARBY),
            session.subscribe(self._chance.choice(WISHES), context=NEARBY, include=["road"]),
        ]
        return car

    def _camera(self, session: silbo.Session, number: int) -> Camera:
        place, _ = self._somewhere()
        session.set_context(x=place[0], y=place[1], road=f"A{number % 9 + 1}")
        session.advertise("exists msg and exists severity", offers=["x", "y", "road"])
        return Camera(session, place)

    def _somewhere(self) -> tuple[Place, Place]:
        """A place on a road, and the town where that road leads."""
        town = self._chance.choice(self.towns)
        other = self._next(town)
        return between(self._in(town), self._in(other), self._chance.random()), other

    def _in(self, town: Place) -> Place:
        """A place in a town."""
        return self._chance.gauss(town[0], WIDTH), self._chance.gauss(town[1], WIDTH)

    def _next(self, town: Place) -> Place:
        """One of the four nearest towns: roads lead there."""
        nearest = sorted(self.towns, key=lambda other: math.dist(town, other))
        return self._chance.choice(nearest[1:5])


def between(a: Place, b: Place, part: float) -> Place:
    """The place that lies this part of the way from one to another."""
    return a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])


def add_options(parser: ArgumentParser, *, cars: int, cameras: int, minutes: int) -> None:
    """How much traffic there is: the same options for every program of this scenario."""
    parser.add_argument("--cars", type=int, default=cars, help=f"how many cars (default: {cars})")
    parser.add_argument("--cameras", type=int, default=cameras, help=f"how many cameras (default: {cameras})")
    parser.add_argument("--minutes", type=int, default=minutes, help=f"how long they drive (default: {minutes})")
    parser.add_argument("--seed", type=int, default=1, help="the same seed drives the same way (default: 1)")
