"""Random subscriptions, contexts and publications, given to the core and to the oracle alike."""

from __future__ import annotations

import random

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.driver.registers import CrtMode, Failure, Register
from silbo.hw.tb.boxes import BORDERS
from silbo.hw.tb.core import RegisterAnswer
from silbo.hw.tb.meaning import ExpectedMatches, words_of


class Traffic:
    """Random steps, with `names` attributes, of which the first are much more frequent than the last."""

    def __init__(self, core, seed, names=6):
        self.core = core
        self.meaning = ExpectedMatches()
        self.chance = random.Random(seed)
        self.sids = core.size("SIDS")
        last = core.size("SUBSCRIBERS") - 1
        self.rows = sorted({0, 1, 2, last // 2, last - 1, last})
        self.boxes = {}  # by row
        self.names = names
        self.active = {}  # by t-SID: the o-SID and the attributes
        self.matched = 0

    def attributes(self, count):
        return [(self.name(), self.chance.randrange(3)) for _ in range(count)]

    def name(self):
        return int(self.names * self.chance.random() ** (self.names / 6))

    def coordinate(self):
        return self.chance.choice(BORDERS)

    def box(self):
        if self.chance.random() < 0.2:
            return None
        return DeviceBox(
            *sorted((self.coordinate(), self.coordinate())), *sorted((self.coordinate(), self.coordinate()))
        )

    def position(self):
        """A random position, mostly at a corner or in the middle of a box, or one off."""
        x, y = self.coordinate(), self.coordinate()
        if self.boxes and self.chance.random() < 0.8:
            box = self.chance.choice(list(self.boxes.values()))
            x, y = self.near(box.x_low, box.x_high), self.near(box.y_low, box.y_high)
        return None if x == -(2**31) else (x, y)

    def near(self, low, high):
        found = self.chance.choice((low, high, (low + high) // 2)) + self.chance.choice((-1, 0, 0, 0, 0, 1))
        return max(min(found, 2**31 - 1), -(2**31))

    def message(self):
        """Random attributes, mostly with those of a subscription added, or all but one of them."""
        attributes = dict(self.attributes(self.chance.choice((0, 2, 5))))
        if self.active and self.chance.random() < 0.85:
            wanted = list(self.chance.choice(list(self.active.values()))[1])
            if self.chance.random() < 0.2:
                wanted.pop()
            attributes |= dict(wanted)
        return attributes

    async def subscribe(self):
        attributes = self.attributes(self.chance.choice((1, 1, 1, 2, 2, 3)))
        row = None if self.chance.random() < 0.4 else self.chance.choice(self.rows)
        osid = self.chance.getrandbits(64)
        used = await self.core.read(Register.FILTERS_USED)
        answer = await self.core.register(words_of(attributes), row, osid)
        if len(self.active) == self.sids - 1:
            assert answer.failure == Failure.SMT_FULL
        elif not self.has_room(attributes, used, answer.failure):
            assert answer.failure == Failure.CRT_FULL
        else:
            free = min(set(range(1, self.sids)) - set(self.active))
            assert answer == RegisterAnswer(Failure.NONE, free)
            self.meaning.subscribe(free, attributes, row)
            self.active[free] = osid, attributes

    def has_room(self, attributes, used, failure):
        """Whether the CRT has room for these attributes, when `used` rows were in use.

        With lists a filter takes at most one more row, and row 0 never follows another row. If enough rows are left
        by this count, there is room; else the core's answer is believed, since only the core knows its chains.
        """
        if self.core.size("CRT_MODE") == CrtMode.LIST:
            return used + len(set(attributes)) <= self.core.size("FILTERS") - 1 or failure != Failure.CRT_FULL
        return len(self.filters() | set(attributes)) <= self.core.size("FILTERS")

    def filters(self):
        return {each for _, attributes in self.active.values() for each in attributes}

    async def unsubscribe(self):
        tsid = self.chance.choice([*self.active, self.sids - 1])
        expected = Failure.NONE if tsid in self.active else Failure.NO_SUCH_TSID
        assert await self.core.remove(tsid) == expected
        if self.active.pop(tsid, None) is not None:
            self.meaning.unsubscribe(tsid)

    async def set_context(self):
        row, box = self.chance.choice(self.rows), self.box()
        self.boxes.pop(row, None)
        self.boxes |= {} if box is None else {row: box}
        await self.core.set_context(row, box)
        self.meaning.set_context(row, box)

    async def publish(self):
        attributes, position = self.message(), self.position()
        words = words_of(attributes.items())
        words += self.chance.choices(words, k=len(words) // 3) if words else []
        self.chance.shuffle(words)
        expected = self.meaning.publish(position, list(attributes.items()))
        assert await self.core.publish(position, words) == expected
        self.matched += len(expected)

    async def run(self, steps):
        """Make some subscriptions and contexts, run `steps` random steps, and remove all subscriptions."""
        for _ in range(10):
            await self.subscribe()
            await self.set_context()
        for _ in range(steps):
            await self.step()
        await self.end()

    async def step(self):
        verbs = (self.subscribe, self.unsubscribe, self.set_context, self.publish)
        await self.chance.choices(verbs, weights=(3, 2, 2, 6))[0]()

    async def end(self):
        assert self.matched > 5, "hardly anything matched"
        assert await self.core.read(Register.S) == len(self.active)
        assert await self.core.read(Register.FILTERS_USED) >= len(self.filters())
        for tsid, (osid, _) in self.active.items():
            assert await self.core.osid(tsid) == osid
        for tsid in list(self.active):
            assert await self.core.remove(tsid) == Failure.NONE
        assert await self.core.read(Register.FILTERS_USED) == 0
        assert await self.core.publish((0, 0), words_of([(name, 0) for name in range(6)])) == set()
