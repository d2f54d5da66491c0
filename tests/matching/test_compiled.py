"""Kernels are compiled once: the cache, its folder, and the messages about it."""

import json
import logging
import os
import subprocess
import sys
import textwrap
import threading

import numba
import pytest

import silbo
from silbo.cli import main
from silbo.compiled import Kernel, digest_of
from silbo.matching.fast.kernels import entries


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A folder with a new module that has a function to compile."""
    (tmp_path / "doubling.py").write_text("def doubled(n):\n    return 2 * n\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # as if NUMBA_CACHE_DIR were not set
    monkeypatch.delitem(sys.modules, "doubling", raising=False)
    return tmp_path


def kernel(digest="0"):
    import doubling
    from numba import int64

    return Kernel(doubling.doubled, lambda: int64(int64), digest)


def test_a_kernel_is_compiled_once_and_then_comes_from_the_cache(module):
    first, second = kernel(), kernel()
    assert first.make()(21) == 42
    assert not first.cached
    assert second.make()(21) == 42
    assert second.cached
    assert str(module) in second.folder


def test_another_digest_is_another_kernel(module):
    kernel("0").make()
    other = kernel("1")
    other.make()
    assert not other.cached


def test_a_read_only_installation_keeps_its_kernels_in_the_users_cache(module, monkeypatch):
    (module / "__pycache__").write_text("a file where numba wants a folder")
    monkeypatch.setenv("HOME", str(module / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(module / "home" / "cache"))
    made = kernel()
    assert made.make()(21) == 42
    assert str(module / "home") in made.folder
    again = kernel()
    again.make()
    assert again.cached


def test_if_no_cache_can_be_written_kernels_are_compiled_for_this_process(module, monkeypatch):
    (module / "__pycache__").write_text("a file where numba wants a folder")
    (module / "home").write_text("and another")
    monkeypatch.setenv("HOME", str(module / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(module / "home" / "cache"))
    made = kernel()
    assert made.make()(21) == 42
    assert made.folder is None


def test_a_digest_depends_on_the_sources(tmp_path):
    source = tmp_path / "a.py"
    source.write_text("1")
    before = digest_of([source])
    source.write_text("2")
    assert digest_of([source]) != before


def test_warm_prints_what_it_compiled(capsys):
    assert main(["warm", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in summary["kernels"]] == ["run", "add", "change", "write"]
    assert main(["warm"]) == 0
    assert "s of CPU; the cache is " in capsys.readouterr().out


def test_a_long_wait_for_kernels_is_logged_with_its_reason(monkeypatch):
    noticed = threading.Event()
    handler = logging.Handler()
    handler.emit = lambda record: noticed.set() if "silbo warm" in record.getMessage() else None
    logging.getLogger("silbo").addHandler(handler)
    slow = Kernel(lambda: 0, lambda: (), "0")
    monkeypatch.setattr(slow, "make", lambda: noticed.wait(30))
    monkeypatch.setattr(entries, "KERNELS", (slow,))
    monkeypatch.setattr(entries, "NOTICE", 0.01)
    entries.made()
    logging.getLogger("silbo").removeHandler(handler)
    assert noticed.is_set()


def test_a_process_that_only_publishes_loads_no_numba():
    script = """
        import sys
        import silbo
        broker = silbo.Broker()
        session = broker.connect("a")
        session.set_context(x=1.0)
        session.advertise("true")
        session.publish({"n": 1})
        assert "numba" not in sys.modules
        assert "numpy" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_checked_kernels_check_bounds_and_get_their_arrays_directly():
    script = """
        import silbo.compiled
        from silbo.context.table import ContextTable
        from silbo.matching.fast.arrays import Arrays
        assert silbo.compiled.CHECKED
        arrays = Arrays(ContextTable().with_cells())
        assert isinstance(arrays.handle, tuple)
        from numba import njit
        from silbo.compiled import inner
        beyond = inner(lambda array: array[array.size])
        try:
            njit(lambda array: beyond(array))(arrays.state)
        except IndexError:
            print("seen")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "SILBO_CHECKED_KERNELS": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "seen\n", done.stderr


def test_the_error_for_an_unknown_index_lists_the_known_ones(monkeypatch):
    with pytest.raises(silbo.SilboError, match="fast, fast-content, fast-context, plain"):
        silbo.Broker(index="slow")
    monkeypatch.setenv("SILBO_INDEX", "slow")
    with pytest.raises(silbo.SilboError, match="'slow'"):
        silbo.Broker()
