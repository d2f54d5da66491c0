"""silbo with what a PYNQ image has: Python 3.10, and neither numba nor shapely nor msgpack.

Each program runs in a process of its own that cannot import them: on this Python, and on a Python 3.10 without any
package, if this machine has one.
"""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

BEGIN = """
    import runpy, sys
    sys.modules.update(dict.fromkeys(["llvmlite", "msgpack", "numba", "shapely"]))  # None: an import of one fails

    def said(verb):
        from silbo.errors import MissingPart
        try:
            verb()
        except MissingPart as error:
            return str(error).partition(chr(10))[0]
"""


def python310():
    """A Python 3.10 of this machine: one on the path that runs, or one of pyenv's; None if there is none."""
    of_pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv").glob("versions/3.10.*/bin/python3.10")
    for program in filter(None, [shutil.which("python3.10"), *map(str, of_pyenv)]):
        if subprocess.run([program, "-c", ""], capture_output=True).returncode == 0:
            return program
    return None


@pytest.fixture(scope="module", params=["this Python", "Python 3.10"])
def python(request):
    found = sys.executable if request.param == "this Python" else python310()
    if found is None:
        pytest.skip("there is no Python 3.10 here")
    return found


@pytest.fixture
def run(python, tmp_path):
    """Run a program in such a process; what it prints."""

    def run(program):
        code = textwrap.dedent(BEGIN) + textwrap.dedent(program)
        done = subprocess.run(
            [python, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        assert done.stderr[-500:] == ""
        return done.stdout

    return run


def test_the_quickstart_runs(run):
    said = run(f"runpy.run_path({str(ROOT / 'examples' / 'quickstart.py')!r})")
    assert said.startswith("<Notification camera-7#1 to car-1/s1: {'msg': 'accident', 'severity': 4}")


def test_a_broker_offloads_onto_the_driver(run):
    """Through the driver's own reads and writes, which a fake checks one by one."""
    said = run("""
        import silbo
        from silbo.hw.driver.fake import FakeDevice, Read, Send, Write
        from silbo.hw.driver.registers import ID, VALID, VERSION, Command, Register, Status
        from silbo.hw.driver.x2cbbr import ENDS, X2cbbr
        from silbo.hw.offload.offload import Offload

        names = ("ID", "VERSION", "CRT_MODE", "FILTERS", "SIDS", "SUBSCRIBERS", "LANES", "STATUS")
        begin = [Read(Register[name], value) for name, value in zip(names, (ID, VERSION, 0, 16, 15, 16, 4, 0))]
        box = [*map(Write, ENDS, (0xFFFF_EBFF, 0x1401, 0x8000_0001, 0x7FFF_FFFF)), Write(Register.CONTEXT, VALID)]
        register = [Write(Register.OSID_LOW, 1), Write(Register.OSID_HIGH, 0), Write(Register.SUBSCRIBER, VALID),
                    Write(Register.FILTER, 1), Write(Register.COMMAND, Command.REGISTER), Read(Register.STATUS, 0),
                    Read(Register.TSID, 1)]
        match = [Send([5 << 8, 0, 1]), Read(Register.STATUS, Status.DONE | 1 << 24), Read(Register.MATCH, 1 << 1),
                 Write(Register.COMMAND, Command.TAKE)]
        fake = FakeDevice([*begin, Write(Register.COMMAND, Command.INIT), Read(Register.STATUS, 0), *box, *register, *match])

        with silbo.Broker(offload=lambda *given: Offload(X2cbbr(fake), *given)) as broker:
            car = broker.connect("car")
            car.set_context(x=0)
            car.advertise("true")
            alerts = car.subscribe('msg = "ice"', context="abs(pub.x - this.x) <= 20")
            car.publish({"msg": "ice"}, context={"x": 5})
            print(len(alerts.drain()), broker.stats()["offload"]["device"])
        fake.finish()
        print(fake.closed)
    """)
    assert said.split() == ["1", "1", "True"]


def test_geometries_say_what_to_install_and_change_nothing(run):
    said = run("""
        import silbo
        car = silbo.Broker().connect("car")
        car.set_context(x=1)
        print(said(lambda: car.set_context(x=2, area={"type": "Point", "coordinates": [1, 2]})))
        print(said(lambda: silbo.geometry("POINT (1 2)")))
        print(said(lambda: car.subscribe("true", context="within(point(pub.x, pub.y), this.area)")))
        print(said(lambda: car.subscribe("true", context=silbo.fn.within(silbo.pub.at, silbo.this.area))))
        print(dict(car.context), car.broker.stats()["subscriptions"])
    """)
    missing = "shapely, which geometries need, is not there. Install it with: pip install 'shapely>=2.1'"
    assert said.splitlines() == [*[missing] * 4, "{'x': 1} 0"]


def test_a_message_is_measured_without_msgpack(run):
    said = run("""
        import silbo
        car = silbo.Broker().connect("car")
        car.advertise("true")
        print(car.publish({"a": 1}, payload=bytes(2**20 - 9)).sequence)
        try:
            car.publish({"a": 1}, payload=bytes(2**20 - 8))
        except silbo.errors.MessageTooLarge as error:
            print(error.found)
    """)
    assert said.split() == ["1", str(2**20 + 1)]


def test_what_needs_numba_or_msgpack_says_so(run):
    said = run("""
        import silbo
        from importlib import import_module
        print(said(lambda: silbo.Broker(index="fast")))
        print(said(lambda: import_module("silbo.wire.records")))
        from silbo.cli.warm import run
        print(said(lambda: run(None)))
    """)
    assert said.splitlines() == [
        "numba is not there. Install it with: pip install numba",
        "msgpack, the form of records, is not there. Install it with: pip install msgpack",
        "numba is not there. Install it with: pip install numba",
    ]


LOG = """\
{"event":"advertise","session":"a","id":"a","filter":"true"}
{"event":"subscribe","session":"b","id":"s","filter":"n = 1"}
{"event":"publish","session":"a","attributes":{"n":1},"context":{}}
"""


def test_a_log_is_replayed_on_the_broker_and_on_the_oracle(run, python, tmp_path):
    (tmp_path / "log.jsonl").write_text(LOG)
    engines = [
        "memory",
        *["oracle"] * (python == sys.executable),
    ]  # the oracle takes numpy, which a bare Python has not
    said = run(f"""
        from silbo.cli import main
        for engine in {engines}:
            main(["replay", "log.jsonl", "--engine", engine])
    """)
    assert len(said.splitlines()) == len(engines)
    assert len(set(said.splitlines())) == 1


def test_sessions_for_asyncio_give_up_in_time_and_are_woken(run):
    said = run("""
        import asyncio, silbo

        async def work():
            broker = silbo.Broker()
            async with silbo.aio.connect(broker, "car") as car:
                every = await car.subscribe("true")
                await car.advertise("true")
                try:
                    await every.get(timeout=0.01)
                except TimeoutError as error:
                    print(error)
                waiting = asyncio.create_task(every.get(timeout=60))
                await car.publish({"n": 1})
                print((await waiting)["n"])

        asyncio.run(work())
    """)
    assert said.splitlines() == ["no notification for car/s1 within 0.01 s", "1"]
