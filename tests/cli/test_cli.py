"""The program `silbo`, as a user calls it."""

import re
import signal
import subprocess
import sys

import pytest

from silbo import Broker

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
def test_replay_prints_notifications_and_reports_refusals_with_file_and_line(log, engine):
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


def test_diff_finds_no_difference_in_equal_outputs_of_another_order(log, tmp_path):
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


def test_explain_says_why_a_car_got_nothing(log):
    done = silbo("explain", log, "--subscriber", "car-1", "--missed")
    assert done.returncode == 0
    assert f"{log}:5: the publish of cam-1 was refused and changed nothing: no advertisement" in done.stdout
    assert (
        f"{log}:7: the line was refused and changed nothing: this is not JSON: Expecting value at column 1"
        in done.stdout
    )
    assert f"{log}:6: car-1/s1 does not get cam-1#2: the context function is false" in done.stdout
    assert "false   abs(pub.x - this.x) <= 20    [pub.x is 115.0, this.x is 12.0]" in done.stdout
    assert f"{log}:8: car-1/s1 does not get cam-1#3: the content filter is unknown" in done.stdout
    assert "unknown   severity >= 3    [severity is absent]" in done.stdout
    assert 'unknown sub.role = "vip"    [sub.role is absent]' in done.stdout


def test_explain_says_that_a_subscription_was_refused(tmp_path):
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
    done = silbo("explain", log, "--subscriber", "car-1", "--sequence", 99)
    assert done.returncode == 1
    assert "nothing to explain" in done.stdout


@pytest.mark.parametrize(
    ("option", "wrong", "answer"),
    [
        ("--subscriber", "car1", "the log has no session 'car1'. Did you mean 'car-1'? There are: cam-1, car-1."),
        ("--publisher", "car-1", "the log has no session that publishes 'car-1'. Did you mean 'cam-1'?"),
        ("--subscription", "x", "the log has no subscription 'x'. There are: s1."),
    ],
)
def test_explain_lists_the_known_names_for_a_wrong_name(log, option, wrong, answer):
    done = silbo("explain", log, option, wrong)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"silbo: {option}: {answer}" in done.stderr


@pytest.fixture(scope="module")
def slow_record(tmp_path_factory):
    """The record of a session that subscribes twice, with queues of three, and reads nothing."""
    path = tmp_path_factory.mktemp("slow") / "record.jsonl"
    with Broker(record=path) as broker:
        session = broker.connect("s")
        session.advertise("true")
        session.subscribe("true", queue=3)
        session.subscribe("true", queue=3, slow="drop_oldest")
        for i in range(5):
            session.publish({"i": i})
    return path


def test_explain_says_that_a_subscription_ended_because_it_was_slow(slow_record):
    done = silbo("explain", slow_record, "--subscription", "s1", "--missed")
    lines = [line for line in done.stdout.splitlines() if line]
    assert [line.partition(": s/")[2] for line in lines] == [
        "s1 does not get s#4: it ended at line 7, because its queue was full",
        "s1 does not get s#5: it ended at line 7, because its queue was full",
    ]
    assert re.match(r".*:8: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}: s/s1", lines[0])


def test_explain_says_which_notifications_were_dropped_also_from_a_pipe(slow_record):
    said = silbo("explain", "-", "--subscription", "s2", "--missed", input=slow_record.read_text()).stdout
    why = r"its queue was full, and the notification was dropped at line (\d)"
    assert re.findall(rf": s/s2 lost (s#\d): {why}\n  content filter: true", said) == [("s#1", "8"), ("s#2", "9")]
    assert "all three are true" not in said


def test_explain_names_the_subscription_that_is_not_active(log, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("""\
{"event":"advertise","session":"cam","id":"a1","filter":"true"}
{"event":"subscribe","session":"car","id":"s1","filter":"true"}
{"event":"publish","session":"cam","attributes":{"a":1}}
{"event":"subscribe","session":"car","id":"s2","filter":"true"}
""")
    done = silbo("explain", path, "--subscription", "s2")
    assert done.stdout == f"{path}:3: cam#1: no active subscription s2 at this publish\n\n"


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
        (["replay", "/dev/null", "--engine", "abacus"], "supported: oracle, memory"),
        (["replay", "/dev/null", "--batch", "0"], "a number from 1 on"),
        (["diff", __file__, "/dev/null"], f"{__file__}:1: this is not JSON"),
        (["diff", "/dev/null", "/dev/null", "--most", "-1"], "a number from 1 on"),
    ],
)
def test_wrong_usage_exits_with_status_2_and_a_reason(arguments, said):
    done = silbo(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error(tmp_path):
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


def test_the_error_for_a_misspelt_engine_lists_the_engines(log):
    done = silbo("replay", log, "--engine", "orcale")
    assert done.returncode == 2
    assert "no engine serves 'orcale'; supported: " in done.stderr
    assert "connect" not in done.stderr


def with_sigint():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_a_command_quietly():
    command = [sys.executable, "-m", "silbo", "replay", "-", "--batch", "1"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # a shell starts what runs in its background with SIGINT ignored, and these tests may run there
    with subprocess.Popen(command, **pipes, preexec_fn=with_sigint) as running:  # noqa: PLW1509  # no other threads
        running.stdin.write("nonsense\n" * 1_000)  # more than the command reads ahead
        running.stdin.flush()
        assert running.stderr.readline().startswith("-:1: ")
        running.send_signal(signal.SIGINT)
        rest = running.stderr.read()
    assert running.returncode == 130
    assert all(line.startswith("-:") for line in rest.splitlines())


def test_notifications_of_a_local_log_are_printed(tmp_path):
    from silbo.streaming.local.log import append, create
    from silbo.streaming.topics import NOTIFICATIONS
    from silbo.wire.records import NotificationRecord, encode

    record = NotificationRecord(5, "p", "cam", 1, "u", "car", "s", {"n": 1}, {}, None)
    create(tmp_path, NOTIFICATIONS, 1)
    append(tmp_path, NOTIFICATIONS, 0, [encode(record), encode(record)])
    done = silbo("notifications", tmp_path)
    assert done.stdout == (
        '{"publisher":"cam","sequence":1,"subscriber":"car","subscription":"s","attributes":{"n":1},"context":{}}\n'
    )
    missing = silbo("notifications", tmp_path / "nowhere")
    assert (missing.returncode, "Run silbo stream --log" in missing.stderr) == (2, True)


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("pyspark", ("stream", "--log", "city", "--checkpoint", "c")),
        ("pyspark", ("stream", "--kafka", "localhost:1", "--checkpoint", "c")),
        ("pyspark", ("bench", "stream", "--subscriptions", "10")),
        ("kafka", ("replay", "{log}", "--engine", "kafka://localhost:1")),
    ],
)
def test_a_missing_extra_is_named_with_commands_that_install_it(module, arguments, log):
    program = f"import sys; sys.modules[{module!r}] = None; from silbo.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *(each.format(log=log) for each in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    extra = {"pyspark": "spark"}.get(module, module)
    assert done.returncode == 2
    assert f"pip install 'silbo[{extra}]' (from this checkout: pip install --editable '" in done.stderr
    assert "Traceback" not in done.stderr


def test_engines_over_kafka_are_listed(log):
    assert "kafka://HOST:PORT" in silbo("replay", "--help").stdout
    assert silbo("replay", log, "--engine", "orcale").stderr.endswith("stream, kafka://HOST:PORT.\n")
