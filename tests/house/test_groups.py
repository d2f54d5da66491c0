"""Tests that share a Spark session, a Kafka or compiled simulations run on one worker."""

import pytest


@pytest.fixture
def scheduler(pytestconfig):
    (settings,) = [plugin for plugin in pytestconfig.pluginmanager.get_plugins() if hasattr(plugin, "ByGroup")]
    assert settings.pytest_xdist_make_scheduler  # xdist asks conftest.py for the scheduler
    return settings.ByGroup.__new__(settings.ByGroup)  # without the workers of a parallel run


def groups(scheduler, *tests):
    return {scheduler._split_scope(f"tests/{test}") for test in tests}


def test_the_tests_of_a_marked_folder_are_one_group(scheduler):
    assert groups(scheduler, "streaming/spark/test_job.py::test_a", "streaming/spark/test_road.py::test_b[7]") == {
        "spark"
    }
    assert groups(scheduler, "hw/rtl/test_pynq.py::test_a", "papers/x2cbbr/test_x2cbbr.py::test_b") == {"rtl"}


def test_the_tests_of_a_file_whose_fixture_takes_long_are_one_group(scheduler):
    file = "papers/siena/test_siena.py"
    assert groups(scheduler, f"{file}::test_a", f"{file}::test_b[x::y]") == {file}


def test_every_other_test_is_handed_out_on_its_own(scheduler):
    assert len(groups(scheduler, "wire/test_jsonl.py::test_a", "wire/test_jsonl.py::test_b")) == 2
