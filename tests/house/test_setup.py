"""The script setup-debian: it installs missing packages if it may, and prints the command otherwise; and finding Java.

apt-get, sudo and id are stubs that record their calls, so that a test installs nothing.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from silbo.errors import MissingPart
from silbo.streaming.local.java import java

SCRIPT = Path(__file__).parents[2] / "setup-debian"
BASH = shutil.which("bash")
JAVA_17 = "openjdk-17-jre-headless"
HARDWARE = {"g++": "g++", "make": "make", "iverilog": "iverilog", "tclsh": "tcl"}  # program: its Debian package


class Machine:
    """A PATH with stubs of Python and the hardware's programs, and the stubs that a test adds."""

    def __init__(self, folder):
        self.bin = folder / "bin"
        self.calls = folder / "calls"
        self.bin.mkdir(parents=True)
        for name in ("python3", *HARDWARE):
            self.put(name, "")
        self.put("env", 'shift\nexec "$@"')  # drops DEBIAN_FRONTEND, which no stub reads

    def put(self, name, body):
        path = self.bin / name
        path.write_text(f"#!{BASH}\n{body}\n")
        path.chmod(0o755)

    def java(self, version, status=0):
        self.put("java", f"echo 'openjdk version \"{version}\" 2024-01-16' >&2; exit {status}")

    def user(self, number):
        self.put("id", f"echo {number}")

    def apt(self, installs="", known=JAVA_17):
        """Add an apt-get that runs `installs` on install, and an apt-cache that knows one Java package."""
        self.put("apt-get", f'echo "apt-get $*" >> {self.calls}\n[[ $1 == install ]] || exit 0\n{installs or ":"}')
        self.put("apt-cache", f"[[ $2 == {known} ]]")

    def sudo(self, works):
        self.put("sudo", f'echo "sudo $*" >> {self.calls}\n{works} || exit 1\nshift\n"$@"')

    def set_up(self, **more):
        done = subprocess.run(
            [BASH, str(SCRIPT)], env={"PATH": str(self.bin), **more}, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stderr

    def called(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path):
    made = Machine(tmp_path)
    made.user(1000)
    made.apt()
    return made


def test_if_nothing_is_missing_the_script_does_and_prints_nothing(machine):
    machine.java("17.0.12")
    machine.put("mvn", "exit 1")
    machine.sudo("true")
    assert machine.set_up() == ""
    assert machine.called() == []


@pytest.mark.parametrize("version", [None, "11.0.2", "1.8.0_292"])
def test_for_root_missing_packages_are_installed_and_an_old_java_counts_as_missing(machine, version):
    machine.user(0)
    machine.apt(installs=f"echo 'echo version \\\"17.0.1\\\"' > {machine.bin}/java; chmod +x {machine.bin}/java")
    machine.put("chmod", f'exec {shutil.which("chmod")} "$@"')
    machine.put("mvn", "")
    if version is not None:
        machine.java(version)
    assert machine.set_up() == f"installing {JAVA_17}\n"
    assert machine.called() == [
        "apt-get update -qq",
        f"apt-get install --yes -qq --no-install-recommends {JAVA_17}",
    ]


def test_packages_are_installed_through_sudo_if_it_needs_no_password(machine):
    machine.sudo("true")
    machine.java("21")
    machine.apt(installs=f"echo > {machine.bin}/mvn; {shutil.which('chmod')} +x {machine.bin}/mvn")
    machine.set_up()
    assert [call for call in machine.called() if call.startswith("sudo")] == [
        "sudo -n true",
        "sudo -n apt-get update -qq",
        "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends maven",
    ]


@pytest.mark.parametrize("has_sudo", [True, False])
def test_without_permission_the_command_is_printed_in_one_line(machine, has_sudo):
    if has_sudo:
        machine.sudo("false")
    said = machine.set_up()
    assert said.count("\n") == 1
    assert "Spark and Kafka" in said
    assert said.endswith(f"as root: apt-get install {JAVA_17} maven\n")
    assert [call for call in machine.called() if call != "sudo -n true"] == []


def test_if_apt_fails_the_command_is_printed_and_the_set_up_continues(machine):
    machine.user(0)
    machine.apt(installs="exit 100")
    assert machine.set_up().endswith(f"could not be installed; as root: apt-get install {JAVA_17} maven\n")


def test_a_missing_venv_is_reported_with_the_other_packages(machine):
    machine.put("python3", "exit 1")
    assert machine.set_up().endswith(f"as root: apt-get install python3-venv {JAVA_17} maven\n")


@pytest.mark.parametrize("name", HARDWARE)
def test_a_missing_program_of_the_hardware_tests_is_reported(machine, name):
    machine.java("17.0.12")
    machine.put("mvn", "")
    (machine.bin / name).unlink()
    said = machine.set_up()
    assert said.count("\n") == 1
    assert said.endswith(f"as root: apt-get install {HARDWARE[name]}\n")


def test_if_debian_has_only_a_newer_java_that_one_is_named(machine):
    machine.apt(known="openjdk-21-jre-headless")
    assert machine.set_up().endswith("as root: apt-get install openjdk-21-jre-headless maven\n")


def test_an_old_java_that_is_found_before_the_new_one_is_reported(machine, tmp_path):
    old = Machine(tmp_path / "old")
    old.java("11.0.2")
    machine.user(0)
    machine.java("17.0.1")
    machine.put("mvn", "")
    assert "set JAVA_HOME and PATH to the new one" in machine.set_up(JAVA_HOME=str(old.bin.parent))


def test_without_apt_the_note_names_another_package_manager(machine):
    """As on macOS, where `java` is a program that only prints an error."""
    (machine.bin / "apt-get").unlink()
    machine.put("java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    assert "brew install" in machine.set_up()


# Java as Spark and Kafka would run it


@pytest.mark.parametrize("version", ["17", "17.0.12", "21.0.1", "25-ea"])
def test_a_java_that_is_new_enough_is_used(machine, monkeypatch, version):
    machine.java(version)
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert java() == str(machine.bin / "java")


@pytest.mark.parametrize(("version", "number"), [("11.0.2", 11), ("1.8.0_292", 8)])
def test_an_old_java_counts_as_missing_on_the_path_and_in_java_home(machine, monkeypatch, version, number):
    machine.java(version)
    path = os.environ["PATH"]
    for variables in ({"PATH": str(machine.bin)}, {"PATH": path, "JAVA_HOME": str(machine.bin.parent)}):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(MissingPart, match=rf"apt-get install {JAVA_17}\n.*java is Java {number}\."):
            java()


@pytest.mark.parametrize("home", ["", "/nowhere"])
def test_without_java_the_error_names_the_command_that_installs_it(machine, monkeypatch, home):
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(MissingPart, match=f"apt-get install {JAVA_17}"):
        java()
