"""The program `silbo`, as a user calls it."""

import subprocess
import sys

import pytest

LOG = """\
{"event":"advertise","session":"cam-1","id":"a1","filter":"msg = \\"accident\\"","offers":["x"]}
{"event":"subscribe","session":"car-1","id":"s1","filter":"msg = \\"accident\\" and severity >= 3","context":"abs(pub.x - this.x) <= 20"}
{"event":"set_context","session":"car-1","values":{"x":12.0}}
{"event":"publish","session":"cam-1","attributes":{"msg":"accident","severity":4},"context":{"x":15.0,"secret":1}}
{"event":"publish","session":"cam-1","attributes":{"msg":"jam"}}
{"event":"publish","session":"cam-1","attributes":{"msg":"accident","severity":4},"context":{"x":115.0}}
nonsense
{"event":"publish","session":"cam-1","attributes":{"msg":"accident"},"context":{"x":15.0},"scope":"sub.role = \\"vip\\""}
"""


def silbo(*arguments, input=None):
    return subprocess.run(
        [sys.executable, "-m", "silbo", *map(str, arguments)], capture_output=True, text=True, input=input, timeout=60
    )


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(LOG)
    return path


@pytest.mark.parametrize("engine", ["oracle", "memory"])
def test_replay_prints_notifications_and_tells_refusals_with_file_and_line(log, engine):
    done = silbo("replay", log, "--engine", engine, "--batch", 2)
    assert done.returncode == 0
    assert done.stdout == (
        '{"publisher":"cam-1","sequence":1,"subscriber":"car-1","subscription":"s1",'
        '"attributes":{"msg":"accident","severity":4},"context":{"x":15.0}}\n'
    )
    refusals = done.stderr.splitlines()
    assert [line.partition(": ")[0] for line in refusals] == [f"{log}:5", f"{log}:7"]


def test_replay_reads_standard_input():
    output = silbo("replay", "-", input=LOG).stdout
    assert output.count("\n") == 1
    assert silbo("diff", "/dev/null", "-", input=output).returncode == 1


def test_diff_of_equal_outputs_in_another_order_is_none(log, tmp_path):
    output = silbo("replay", log).stdout
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text(output + output.replace('"sequence":1', '"sequence":2'))
    b.write_text(output.replace('"sequence":1', '"sequence":2') + output)
    done = silbo("diff", a, b)
    assert (done.returncode, done.stdout) == (0, "no difference: 2 notifications\n")


def test_diff_explains_what_is_missing(log, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text(silbo("replay", log).stdout)
    b.write_text("")
    done = silbo("diff", a, b, "--log", log)
    assert done.returncode == 1
    assert f"1 only in {a}, 0 only in {b}, 0 in both" in done.stdout
    assert f"{log}:4: car-1/s1 gets cam-1#1: all three are true" in done.stdout
    assert "abs(pub.x - this.x) <= 20    [pub.x is 15.0, this.x is 12.0]" in done.stdout


def test_diff_sees_repeats_and_other_contents(log, tmp_path):
    line = silbo("replay", log).stdout
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text(line)
    b.write_text(line * 2)
    done = silbo("diff", a, b)
    assert done.returncode == 1
    assert "a repeat" in done.stdout
    b.write_text(line.replace("15.0", "15"))
    done = silbo("diff", a, b)
    assert done.returncode == 1
    assert f'{b} has it with another context ({{"x": 15}})' in done.stdout


def test_explain_tells_why_a_car_got_nothing(log):
    done = silbo("explain", log, "--subscriber", "car-1", "--missed")
    assert done.returncode == 0
    assert f"{log}:5: the publish of cam-1 was refused and changed nothing: no advertisement" in done.stdout
    assert (
        f"{log}:7: the line was refused and changed nothing: this is no JSON: Expecting value (column 1)" in done.stdout
    )
    assert f"{log}:6: car-1/s1 does not get cam-1#2: the context function is false" in done.stdout
    assert "false   abs(pub.x - this.x) <= 20    [pub.x is 115.0, this.x is 12.0]" in done.stdout
    assert f"{log}:8: car-1/s1 does not get cam-1#3: the content filter is unknown" in done.stdout
    assert "unknown   severity >= 3    [severity is absent]" in done.stdout
    assert 'unknown sub.role = "vip"    [sub.role is absent]' in done.stdout


def test_explain_tells_that_a_subscription_was_refused(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("""\
{"event":"advertise","session":"cam","id":"a1","filter":"true"}
{"event":"subscribe","session":"car","id":"s1","filter":"true","context":"this.x => 3"}
{"event":"subscribe","session":"van","id":"s1","filter":"true","context":"this.x => 3"}
{"event":"publish","session":"cam","attributes":{"msg":"accident"}}
{"event":"publish","session":"cam","attributes":{"msg":["accident"]}}
""")
    lines = silbo("explain", path, "--subscriber", "car", "--missed").stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines if line] == [f"{path}:2", f"{path}:4", f"{path}:5"]
    assert (
        "the subscribe of car was refused and changed nothing: context function, column 8: unknown operator" in lines[0]
    )


def test_explain_narrows_to_one_message(log):
    done = silbo("explain", log, "--publisher", "cam-1", "--sequence", 1, "--subscription", "s1")
    assert done.stdout.startswith(f"{log}:4: car-1/s1 gets cam-1#1: all three are true\n")
    assert done.stdout.count("gets cam-1") == 1


def test_explain_says_when_there_is_nothing_to_explain(log):
    done = silbo("explain", log, "--subscriber", "nobody", "--sequence", 99)
    assert done.returncode == 1
    assert "nothing to explain" in done.stdout


@pytest.mark.parametrize(
    "command", [[], ["replay"], ["diff"], ["explain"], ["hw"], ["hw", "build"], ["hw", "sim"]], ids=" ".join
)
def test_every_help_has_examples(command):
    done = silbo(*command, "--help")
    assert done.returncode == 0
    assert "examples:\n  silbo " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["fly"], "invalid choice"),
        (["replay", "/no/such/log"], "silbo: /no/such/log: No such file"),
        (["replay", "/dev/null", "--engine", "abacus"], "this version has: oracle, memory"),
        (["replay", "/dev/null", "--batch", "0"], "a number from 1 on"),
        (["diff", __file__, "/dev/null"], f"{__file__}:1: this is no JSON"),
        (["diff", "/dev/null", "/dev/null", "--most", "-1"], "a number from 1 on"),
    ],
)
def test_wrong_use_is_status_2_with_a_reason(arguments, said):
    done = silbo(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_enough_is_no_error(tmp_path):
    many = tmp_path / "many.jsonl"
    lines = ['{"event":"advertise","session":"p","id":"a","filter":"true"}']
    lines += ['{"event":"subscribe","session":"s","id":"i","filter":"true"}']
    lines += ['{"event":"publish","session":"p","attributes":{"text":"' + "x" * 200 + '"}}'] * 5_000
    many.write_text("\n".join(lines))
    done = subprocess.run(
        f"{sys.executable} -m silbo replay {many} | head -n 1", shell=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
