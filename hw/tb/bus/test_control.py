"""The control: a command or a publication runs, never both."""

from __future__ import annotations

import cocotb

from silbo.hw.driver.registers import Command
from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES

LONG = {Command.INIT: "start_init", Command.REGISTER: "start_register", Command.REMOVE: "start_remove"}


async def started(dut):
    """Reset the module and finish its initialisation."""
    control = await Module.started(
        dut, "command_valid init_done finished start found_all scanning",
        "busy failure_reg start_init start_register start_remove drop allowed matching finish done_reg", "rst",
        command=0, finished_failure=0,
    )  # fmt: skip
    assert (await control.step()).busy
    await control.step(init_done=1)
    assert (await control.step()).allowed
    return control


async def end(control, command, failure=0):
    name = "init_done" if command == Command.INIT else "finished"
    return await control.step(**{name: 1}, finished_failure=failure)


@cocotb.test()
async def after_a_reset_it_initialises_by_itself_once(dut):
    control = await Module.started(dut, "", "start_init busy allowed", "", **dict.fromkeys((
        "command_valid", "command", "init_done", "finished", "finished_failure", "start", "found_all", "scanning",
    ), 0), rst=1)  # fmt: skip
    seen = await control.steps(9, rst=0)
    assert [each.start_init for each in seen] == [1] + [0] * 8
    assert all(each.busy and not each.allowed for each in seen)
    await control.step(init_done=1)
    after = await control.step(init_done=0)
    assert (after.busy, after.allowed) == (0, 1)


@cocotb.test()
@cocotb.parametrize(command=list(LONG), takes=[0, 1, 5])
async def a_command_starts_once_and_holds_publications_back_until_its_end(dut, command, takes):
    control = await started(dut)
    await control.step(command_valid=1, command=command)
    seen = await control.steps(1 + takes)
    assert [getattr(each, LONG[command]) for each in seen] == [1] + [0] * takes
    assert all(each.busy and not each.allowed for each in seen)
    await end(control, command, failure=4)
    after = await control.step()
    assert (after.busy, after.allowed) == (0, 1)
    assert after.failure_reg == (0 if command == Command.INIT else 4)


@cocotb.test()
async def a_command_may_end_in_the_cycle_in_which_it_starts(dut):
    control = await started(dut)
    await control.step(command_valid=1, command=Command.REGISTER)
    assert (await control.step(finished=1, finished_failure=1)).start_register
    after = await control.step()
    assert (after.busy, after.failure_reg) == (0, 1)


@cocotb.test()
@cocotb.parametrize(command=list(LONG), late=[0, 1, 4])
async def a_command_in_a_publication_starts_when_that_has_its_result(dut, command, late):
    control = await started(dut)
    await control.step(start=1, command_valid=late == 0, command=command)
    for cycle in range(1, 6):
        seen = await control.step(command_valid=cycle == late, command=command)
        assert seen.matching
        assert not getattr(seen, LONG[command])
    assert (await control.step(found_all=1)).finish
    assert getattr(await control.step(), LONG[command])


@cocotb.test()
@cocotb.parametrize(first=["found_all", "the scan's end", "both at once"])
async def a_publication_is_decided_when_words_and_context_are_known(dut, first):
    control = await started(dut)
    await control.step(start=1)
    await control.steps(3, scanning=1)
    if first == "found_all":
        assert not (await control.step(found_all=1, scanning=1)).finish
        assert not (await control.step(scanning=1)).finish
        assert (await control.step()).finish
    elif first == "both at once":
        assert (await control.step(found_all=1)).finish
    else:
        assert not any(each.finish for each in await control.steps(3))
        assert (await control.step(found_all=1)).finish
    for seen in await control.steps(5):
        assert (seen.done_reg, seen.matching, seen.allowed, seen.finish) == (1, 0, 0, 0)
    await control.step(command_valid=1, command=Command.TAKE)
    after = await control.step()
    assert (after.done_reg, after.allowed) == (0, 1)


@cocotb.test()
@cocotb.parametrize(idle=NAMES, late=NAMES)
async def commands_and_publications_take_turns_whatever_pauses_there_are(dut, idle, late):
    """Requests and answers both pause; each command and publication that began ends exactly once."""
    control = await started(dut)
    asks, answers, work, done = PAUSES[idle](), PAUSES[late](), None, []
    for _ in range(120):
        if work is None and not next(asks):
            is_command = len(done) % 3 == 0
            work = Command.REGISTER if is_command else "publication"
            inputs = {"command_valid": 1, "command": Command.REGISTER} if is_command else {"start": 1}
            assert (await control.step(**inputs)).allowed
        elif work == Command.REGISTER:
            is_over = not next(answers)
            seen = await control.step(finished=is_over)
            assert (seen.busy, seen.allowed, seen.matching) == (1, 0, 0)
            done, work = ([*done, work], None) if is_over else (done, work)
        elif work == "publication":
            is_over = not next(answers)
            seen = await control.step(found_all=is_over)
            assert (seen.busy, seen.allowed, seen.matching, seen.finish) == (0, 0, 1, is_over)
            done, work = ([*done, work], "result") if is_over else (done, work)
        elif work == "result":
            is_taken = not next(answers)
            seen = await control.step(command_valid=is_taken, command=Command.TAKE)
            assert (seen.done_reg, seen.allowed) == (1, 0)
            work = None if is_taken else work
        else:
            seen = await control.step(command=Command.REGISTER)
            assert (seen.busy, seen.matching, seen.allowed) == (0, 0, 1)
    assert {*done} == {Command.REGISTER, "publication"}


@cocotb.test()
async def other_commands_do_not_make_it_busy(dut):
    control = await started(dut)
    for command in (0, Command.TAKE, Command.DROP, 6, 7):
        seen = await control.step(command_valid=1, command=command)
        assert seen.drop == (command == Command.DROP)
        assert not (await control.step()).busy
