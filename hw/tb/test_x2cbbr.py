"""The whole core and its tables: full tables, long rows, repeated filters, t-SIDs and rows that are used again."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.driver.registers import (
    ID,
    VERSION,
    Command,
    CrtMode,
    Failure,
    Register,
    Status,
)  # fmt: skip
from silbo.hw.tb.core import CoreUnderTest
from silbo.hw.tb.meaning import word, words_of

HERE = (10, 10)


# identification


@cocotb.test()
async def it_says_what_it_is(dut):
    core = await CoreUnderTest.started(dut)
    assert await core.read(Register.ID) == ID
    assert await core.read(Register.VERSION) == VERSION
    for name in ("CRT_MODE", "FILTERS", "SUBSCRIBERS", "LANES"):
        assert await core.read(Register[name]) == core.size(name)
    assert await core.read(Register.SIDS) == core.size("SIDS") - 1


@cocotb.test()
async def a_new_core_is_empty(dut):
    core = await CoreUnderTest.started(dut)
    assert [await core.read(each) for each in (Register.S, Register.FILTERS_USED, Register.PUBLICATIONS)] == [0, 0, 0]
    assert await core.status() == Status(0)
    assert await core.publish(HERE, words_of([(1, 1)])) == set()


@cocotb.test()
async def an_address_without_a_register_reads_zero_and_takes_no_harm(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered(words_of([(1, 1)]))
    for address in (0x01C, 0x03C, 0x0FC, 0x200, 0x400, 0x600, 0x800, 0xFFC):
        await core.write(address, 0xFFFF_FFFF)
        assert await core.read(address) == 0
    assert await core.publish(None, words_of([(1, 1)])) == {tsid}


# how many filters a subscription has


@cocotb.test()
async def a_subscription_without_a_filter_is_refused(dut):
    core = await CoreUnderTest.started(dut)
    assert (await core.register([])).failure == Failure.NO_FILTERS
    assert await core.read(Register.S) == 0
    assert await core.registered(words_of([(1, 1)])) == 1


@cocotb.test()
@cocotb.parametrize(count=[1, 2, 15, 16])
async def a_subscription_matches_if_all_of_its_filters_are_there(dut, count):
    core = await CoreUnderTest.started(dut)
    words = words_of([(name, 1) for name in range(count)])
    tsid = await core.registered(words)
    assert await core.publish(None, words) == {tsid}
    for absent in (0, count // 2, count - 1):
        assert await core.publish(None, words[:absent] + words[absent + 1 :]) == set()


@cocotb.test()
@cocotb.parametrize(count=[17, 40])
async def a_subscription_of_more_filters_than_there_may_be_is_refused_and_changes_nothing(dut, count):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered(words_of([(0, 1)]))
    answer = await core.register(words_of([(name, 1) for name in range(count)]))
    assert answer.failure == Failure.TOO_MANY_FILTERS
    assert await core.read(Register.FILTER) == 0
    assert await core.read(Register.S) == 1
    assert await core.read(Register.FILTERS_USED) == 1
    assert await core.publish(None, words_of([(name, 1) for name in range(count)])) == {tsid}
    assert await core.registered(words_of([(3, 1)])) == tsid + 1


@cocotb.test()
async def dropped_filters_belong_to_no_subscription(dut):
    core = await CoreUnderTest.started(dut)
    await core.write(Register.FILTER, word(1, 1))
    await core.write(Register.FILTER, word(2, 1))
    assert await core.read(Register.FILTER) == 2
    assert await core.command(Command.DROP) == Failure.NONE
    assert await core.read(Register.FILTER) == 0
    tsid = await core.registered(words_of([(3, 1)]))
    assert await core.publish(None, words_of([(3, 1)])) == {tsid}


# full tables


def filter_of(number):
    """The filter with this number, of many."""
    return word(number % 200, number // 200)


@cocotb.test()
async def a_full_smt_refuses_until_a_subscription_is_removed(dut):
    core = await CoreUnderTest.started(dut)
    last = core.size("SIDS") - 1
    for tsid in range(1, last + 1):
        assert await core.registered(words_of([(tsid % 4, 1)]), None, tsid) == tsid
    assert await core.status() & Status.SMT_FULL
    assert (await core.register(words_of([(1, 1)]))).failure == Failure.SMT_FULL
    assert await core.read(Register.S) == last
    assert await core.publish(None, words_of([(1, 1)])) == set(range(1, last + 1, 4))
    assert await core.remove(5) == Failure.NONE
    assert not await core.status() & Status.SMT_FULL
    assert await core.registered(words_of([(2, 1)]), None, 99) == 5
    assert await core.osid(5) == 99
    assert await core.publish(None, words_of([(2, 1)])) == {*range(2, last + 1, 4), 5}


@cocotb.test()
async def a_full_cam_refuses_and_what_began_is_undone(dut):
    core = await CoreUnderTest.started(dut)
    filters = core.size("FILTERS")
    for name in range(0, filters - 2, 2):
        await core.registered([filter_of(name), filter_of(name + 1)])
    assert await core.read(Register.FILTERS_USED) == filters - 2
    assert not await core.status() & Status.CRT_FULL
    fresh = words_of([(250, 1), (251, 1), (252, 1)])
    old = [filter_of(name) for name in range(4)]
    assert await core.publish(None, old) == {1, 2}
    answer = await core.register([old[0], *fresh])
    assert answer.failure == Failure.CRT_FULL
    assert await core.read(Register.FILTERS_USED) == filters - 2
    assert await core.read(Register.S) == filters // 2 - 1
    assert await core.publish(None, [*old, *fresh]) == {1, 2}
    tsid = await core.registered(fresh[:2])
    assert await core.status() & Status.CRT_FULL
    assert await core.publish(None, fresh[:2]) == {tsid}
    assert (await core.register(fresh[2:])).failure == Failure.CRT_FULL
    assert await core.remove(1) == Failure.NONE
    assert not await core.status() & Status.CRT_FULL
    assert await core.registered(fresh[2:]) == 1
    assert await core.publish(None, [*old, *fresh]) == {1, 2, tsid}


@cocotb.test()
async def a_chain_that_finds_no_row_refuses_and_what_began_is_undone(dut):
    core = await CoreUnderTest.started(dut)
    filters, slots = core.size("FILTERS"), core.size("SLOTS")
    for _ in range(slots):
        await core.registered([word(0, 0)])
    everything = [filter_of(name) for name in range(filters)]
    for name in range(1, filters, 8):
        await core.registered(everything[name : name + 8])
    assert await core.status() & Status.CRT_FULL
    before = await core.publish(None, everything)
    answer = await core.register([word(1, 0), word(0, 0), word(2, 0)])
    if core.size("CRT_MODE") == CrtMode.BITMAP:
        assert answer.failure == Failure.NONE
        return
    assert answer.failure == Failure.CRT_FULL
    assert await core.read(Register.S) == len(before)
    assert await core.publish(None, everything) == before
    assert await core.remove(len(before)) == Failure.NONE
    assert await core.registered([word(1, 0), word(0, 0), word(2, 0)]) == len(before)
    assert await core.publish(None, everything) == before


# long rows


def rows_of(core, count):
    """The rows of the CRT that a filter with `count` t-SIDs takes."""
    slots = core.size("SLOTS")
    return 1 if core.size("CRT_MODE") == CrtMode.BITMAP else -(-count // slots)


@cocotb.test()
async def one_t_sid_more_than_a_row_holds_is_high_commonality_and_matches_all_the_same(dut):
    core = await CoreUnderTest.started(dut)
    slots = core.size("SLOTS")
    shared, other = word(1, 1), word(2, 1)
    for tsid in range(1, slots + 1):
        assert await core.registered([shared]) == tsid
    assert not await core.status() & Status.HCD
    assert await core.read(Register.FILTERS_USED) == rows_of(core, slots)
    assert await core.publish(None, [shared]) == set(range(1, slots + 1))
    assert await core.registered([shared, other]) == slots + 1
    assert await core.status() & Status.HCD
    assert await core.read(Register.FILTERS_USED) == rows_of(core, slots + 1) + 1
    assert await core.publish(None, [shared]) == set(range(1, slots + 1))
    assert await core.publish(None, [shared, other]) == set(range(1, slots + 2))
    assert await core.remove(slots + 1) == Failure.NONE
    assert await core.status() & Status.HCD, "it stays set until the next INIT"
    assert await core.command(Command.INIT) == Failure.NONE
    assert not await core.status() & Status.HCD


@cocotb.test()
@cocotb.parametrize(order=["first to last", "last to first", "mixed"])
async def a_chain_of_rows_shrinks_in_any_order(dut, order):
    core = await CoreUnderTest.started(dut)
    count = min(3 * core.size("SLOTS") + 1, 40)
    shared = word(1, 1)
    here = {await core.registered([shared, word(2, tsid % 2)]) for tsid in range(1, count + 1)}
    leaving = sorted(here, reverse=order == "last to first")
    if order == "mixed":
        random.Random(3).shuffle(leaving)
    for number, tsid in enumerate(leaving):
        assert await core.remove(tsid) == Failure.NONE
        here.remove(tsid)
        if count == 40 and number % 5:
            continue
        assert await core.publish(None, [shared, word(2, 0)]) == {each for each in here if each % 2 == 0}
        assert await core.publish(None, [shared, word(2, 1)]) == {each for each in here if each % 2 == 1}
    assert await core.read(Register.FILTERS_USED) == 0


@cocotb.test()
async def several_long_rows_are_walked_one_after_the_other(dut):
    """Publications whose filters all have chains, with hits close together."""
    core = await CoreUnderTest.started(dut)
    count = min(2 * core.size("SLOTS") + 1, core.size("SIDS") - 1)
    words = words_of([(1, 1), (2, 1), (3, 1)])
    here = {await core.registered(words) for _ in range(count)}
    assert await core.publish(None, words) == here
    assert await core.publish(None, words[::-1]) == here
    assert await core.publish(None, words[:2]) == set()
    assert await core.publish(None, [*words[:2], words[0], words[2]]) == here


# repeated filters


@cocotb.test()
@cocotb.parametrize(apart=[0, 1, 2, 3, 4, 5, 9])
async def a_filter_that_stands_twice_in_a_publication_counts_once(dut, apart):
    core = await CoreUnderTest.started(dut)
    twice = word(1, 1)
    await core.registered([twice, word(2, 1)])
    alone = await core.registered([twice])
    for _ in range(2):  # the next publication forgets which filters were seen
        assert await core.publish(None, [twice, *words_of([(100, i) for i in range(apart)]), twice, twice]) == {alone}


@cocotb.test()
async def a_filter_that_stands_twice_in_a_subscription_counts_once(dut):
    core = await CoreUnderTest.started(dut)
    twice, other = word(1, 1), word(2, 1)
    tsid = await core.registered([twice, other, twice, twice, other])
    assert await core.read(Register.FILTERS_USED) == 2
    assert await core.publish(None, [twice]) == set()
    assert await core.publish(None, [other, twice]) == {tsid}
    assert await core.remove(tsid) == Failure.NONE
    assert await core.read(Register.FILTERS_USED) == 0
    assert await core.publish(None, [other, twice]) == set()


# removal


@cocotb.test()
async def a_t_sid_that_is_used_again_has_nothing_of_the_one_before(dut):
    core = await CoreUnderTest.started(dut)
    first, second, third = words_of([(1, 1), (2, 1), (3, 1)])
    keeper = await core.registered([second])
    assert await core.registered([first, second, third], 1, 0xAAAA_BBBB_CCCC_DDDD) == 2
    assert await core.remove(2) == Failure.NONE
    assert await core.publish(HERE, [first, second, third]) == {keeper}
    assert await core.registered([third], None, 7) == 2
    assert await core.osid(2) == 7
    assert await core.publish(None, [third]) == {2}
    assert await core.publish(None, [first, second]) == {keeper}


@cocotb.test()
async def t_sids_are_given_lowest_first(dut):
    core = await CoreUnderTest.started(dut)
    for tsid in range(1, 7):
        assert await core.registered([word(tsid, 1)]) == tsid
    for tsid in (5, 2, 3):
        assert await core.remove(tsid) == Failure.NONE
    assert [await core.registered([word(9, 1)]) for _ in range(4)] == [2, 3, 5, 7]


@cocotb.test()
async def rows_of_the_cam_are_used_again(dut):
    """Twice as many filters as rows, eight at a time; an old filter never answers for a new one."""
    core = await CoreUnderTest.started(dut)
    for first in range(0, 2 * core.size("FILTERS") + 8, 8):
        words = [filter_of(first + each) for each in range(8)]
        tsid = await core.registered(words)
        assert await core.publish(None, words) == {tsid}
        assert await core.remove(tsid) == Failure.NONE
        assert await core.publish(None, words) == set()
    assert await core.read(Register.FILTERS_USED) == 0


@cocotb.test()
async def who_is_not_there_cannot_be_removed(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)])
    for absent in (0, tsid + 1, core.size("SIDS") - 1):
        assert await core.remove(absent) == Failure.NO_SUCH_TSID
    assert await core.read(Register.S) == 1
    assert await core.remove(tsid) == Failure.NONE
    assert await core.remove(tsid) == Failure.NO_SUCH_TSID
