"""The command line as a process: streams, terminals, broken outputs, Ctrl-C."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from children import child

import graphpart as gp

GRAPHPART = [sys.executable, "-m", "graphpart"]
TRIANGLES = "u,v,cost\na,b,-2\nb,c,-1\na,c,-1\nd,e,-1\ne,f,-1\nd,f,-2\nc,d,3\n"

# A method that holds the best labels it has for as long as nobody stops it, and says on standard error that it runs.
PATIENT = """
import sys, time
import numpy as np
import graphpart.methods as methods
from graphpart.cli import main
from graphpart.partition.results.finish import finish
from graphpart.result import Status
from graphpart.stopping import Stopping

def patient(problem, time_limit=None, callback=None):
    stopping = Stopping(time_limit, None, None, callback)
    print("running", file=sys.stderr, flush=True)
    while not stopping.check(0.0):
        time.sleep(0.01)
    return finish(problem, np.zeros(problem.n, np.int32), stopping, "patient", Status.FEASIBLE)

methods.patient = patient
method = methods.Method("patient", "partition", "graphpart.methods:patient", "waits")
methods.METHODS = (*methods.METHODS, method)
import graphpart.cli.arguments
graphpart.cli.arguments.METHODS = methods.METHODS
sys.exit(main())
"""


@pytest.fixture
def triangles(tmp_path):
    path = tmp_path / "triangles.csv"
    path.write_text(TRIANGLES)
    return str(path)


def graphpart(*argv, **options):
    done = subprocess.run([*GRAPHPART, *map(str, argv)], capture_output=True, text=True, timeout=100, **options)
    assert "Traceback" not in done.stderr
    return done


def interrupted(argv, code=PATIENT, words=("running",)):
    """Run with the patient method, interrupt it whenever it says one of these words; as (status, output, errors)."""
    argv = [sys.executable, "-c", code, *argv]
    with child(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        before = ""
        for word in words:
            while (said := process.stderr.readline()) != f"{word}\n":
                assert said, f"it never said {word}: {before}"
                before += said
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return process.returncode, out, before + err


# ------------------------------------------------------------------------------------------------------------- streams


def test_the_console_script_and_the_module_are_the_same():
    script = Path(sys.executable).with_name("graphpart")
    if not script.exists():
        pytest.skip("graphpart is not installed here")
    assert (
        subprocess.run([script, "--version"], capture_output=True).stdout
        == subprocess.run([*GRAPHPART, "--version"], capture_output=True).stdout
    )


def test_dash_is_standard_input_and_output():
    generated = graphpart("generate", "planted-partition", "--n", 20, "--subsets", 3, "-o", "-", "--to", "multicut")
    assert generated.stdout.startswith("MULTICUT\n")
    converted = graphpart("convert", "-", "-", "--to", "json", input=generated.stdout)
    assert json.loads(converted.stdout)["nodes"]
    solved = graphpart("solve", "-", "--json", input=converted.stdout)
    record = json.loads(solved.stdout)
    assert (record["file"], record["n"]) == ("-", 20)
    assert graphpart("info", "-", input=converted.stdout).stdout.splitlines()[1].split()[:2] == ["<stdin>", "20"]


def test_labels_through_a_pipe(triangles):
    labels = graphpart("solve", triangles, "-o", "-").stdout
    assert labels == "0\n0\n0\n1\n1\n1\n"
    assert json.loads(graphpart("evaluate", triangles, "-", "--json", input=labels).stdout)["cost"] == -8


def test_a_wrong_input_names_the_standard_input():
    done = graphpart("info", "-", input="MULTICUT\n0 0 1\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("graphpart: <stdin>:2: ")


WRITERS = ["info {}", "solve {} --json", "solve {} -o -", "convert {} - --to csv", "--help", "solve --help"]
WITHOUT = [(line, where) for where in ("full", "broken", "closed") for line in WRITERS]
WITHOUT = [one for one in WITHOUT if one[1] != "closed" or "--help" not in one[0]]  # then it goes to standard error


@pytest.mark.parametrize(("line", "where"), WITHOUT)
def test_standard_output_that_cannot_be_written(triangles, line, where):
    argv = line.split()
    command = [*GRAPHPART, *(arg.format(triangles) for arg in argv)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full", "w") as full:
        options = {
            "full": {"stdout": full},
            "broken": {"stdout": writing},
            "closed": {"preexec_fn": lambda: os.close(1)},
        }[where]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=100, env=env, **options)
    os.close(writing)
    reason = {"full": "No space left on device", "broken": "Broken pipe", "closed": "Bad file descriptor"}[where]
    lines = done.stderr.splitlines()
    if argv[-2:] == ["-o", "-"]:
        lines = lines[:1]  # the table stands aside
    assert lines == [f"graphpart: <stdout>: {reason}"]
    assert done.returncode == 1


def test_a_full_disk_is_named(triangles):
    done = graphpart("solve", triangles, "-o", "/dev/full")
    assert done.returncode == 1
    assert done.stderr == "graphpart: /dev/full: No space left on device\n"
    assert "triangles.csv" in done.stdout  # the row is not lost


def test_an_unwritable_folder_is_named(triangles, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    done = graphpart("solve", triangles, "-o", folder / "labels")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"graphpart: {folder}/labels: Permission denied\n"


def test_file_names_that_are_not_text(tmp_path):
    name = os.fsencode(tmp_path / "odd") + b"\xff.csv"
    with open(name, "w") as file:
        file.write(TRIANGLES)
    for options in ([], ["--json"]):
        done = subprocess.run([*GRAPHPART, "solve", name, *options], capture_output=True, timeout=100)
        assert (done.returncode, done.stderr) == (0, b"")


# ----------------------------------------------------------------------------------------------------------- terminals


def plain(parts):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(parts).decode(errors="replace"))


def on_terminal(argv, width=140, until=None):
    """Run on a pseudo-terminal, and interrupt it once it has shown a pattern; (status, everything printed)."""
    master, slave = pty.openpty()
    env = dict(os.environ, TERM="xterm", COLUMNS=str(width))
    with child(argv, stdin=slave, stdout=slave, stderr=slave, env=env) as process:
        os.close(slave)
        parts = []
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # what Linux reports at the end
                break
            if not part:
                break
            parts.append(part)
            if until and re.search(until, plain(parts)):
                process.send_signal(signal.SIGINT)
                until = None
        os.close(master)
        status = process.wait(60)
    text = plain(parts)
    assert "Traceback" not in text
    return status, text


def test_tables_and_progress_on_a_terminal(triangles, tmp_path):
    odd = tmp_path / "[bold]odd.csv"
    odd.write_text(TRIANGLES)
    status, text = on_terminal([*GRAPHPART, "solve", triangles, odd, "--method", "kernighan-lin"])
    assert status == 0
    assert re.search(r"instance +elements +pairs +method +cost +objective +lower_bound +gap +status +clusters", text)
    assert re.search(r"triangles\.csv +6 +15 +kernighan-lin +-8 +-8 +- +- +local_optimum +2 +\d\.\d{3}", text)
    assert "[bold]odd.csv" in text
    assert "─" in text  # rich's rule
    assert re.search(r"[01]/2", text)  # the progress line


def test_a_line_per_second_on_a_terminal(tmp_path):
    path = tmp_path / "noisy.npz"
    gp.write(gp.generate.planted_partition(120, 12, 3.0).problem, path)
    line = r"[\r\n]\d+ s  cost -\S+  lower bound -\S+  gap \S+%  \d+ nodes, \d+ rounds, \d+ cuts"
    status, text = on_terminal([*GRAPHPART, "solve", path, "--method", "exact", "--time-limit", 60], until=line)
    assert status == 0
    assert re.search(line, text)


def test_progress_shows_cost_bound_and_gap_and_fits_the_terminal(tmp_path):
    width = 80
    path = tmp_path / f"{'a-rather-long-name-' * 4}.npz"
    gp.write(gp.generate.planted_partition(120, 12, 3.0).problem, path)
    shown = r"\.\.\.[^\r\n]*  cost -\S+  bound -\S+  gap \S+%"
    status, text = on_terminal([*GRAPHPART, "solve", path, "--time-limit", 60], width, until=shown)
    assert status == 0
    lines = [line for line in re.split(r"[\r\n]+|(?=[\u2800-\u28ff] )", text) if re.search(r"\d:\d\d:\d\d", line)]
    assert any(re.search(r"\.\.\..*  cost -\S+  bound -\S+  gap \S+%", line) for line in lines), text
    assert all(len(line.rstrip()) <= width for line in lines)
    assert not re.search(r"\d/1\b", text)  # one run is not "0 of 1 done"


def test_errors_on_a_terminal_are_lines(triangles):
    status, text = on_terminal([*GRAPHPART, "solve", "missing.csv", triangles, "--method", "kernighan-lin"])
    assert status == 1
    assert "graphpart: missing.csv: No such file or directory" in text
    assert re.search(r"triangles\.csv +6", text)


# -------------------------------------------------------------------------------------------------------------- Ctrl-C


def test_interrupt_keeps_the_best_so_far(triangles, tmp_path):
    labels = tmp_path / "labels"
    status, out, err = interrupted(["solve", triangles, "--method", "patient", "-o", labels, "--json"])
    assert status == 0
    record = json.loads(out)
    assert (record["status"], record["cost"]) == ("interrupted", -5.0)
    assert err == "graphpart: interrupted: the best so far is kept\n"
    assert labels.read_text() == "0\n" * 6


def test_interrupt_leaves_out_the_files_not_begun(triangles):
    status, out, err = interrupted(["solve", triangles, triangles, triangles, "--method", "patient", "--json"])
    assert status == 130
    assert len(out.splitlines()) == 1
    assert err == "graphpart: interrupted: the best so far is kept, 2 of the files are not begun\n"


def test_interrupt_ends_a_benchmark_after_a_row(triangles, tmp_path):
    table = tmp_path / "table.csv"
    status, out, err = interrupted(["bench", triangles, triangles, "--method", "patient", "--csv", table])
    assert status == 130
    assert len(out.splitlines()) == 3  # head, the one run, all families
    assert err.endswith("graphpart: interrupted: the remaining runs are left out\n") and err.count("\n") == 2
    assert len(table.read_text().splitlines()) == 2


def test_a_second_interrupt_gives_up(triangles, tmp_path):
    loop = "    while not stopping.check(0.0):\n        time.sleep(0.01)\n"
    assert loop in PATIENT
    deaf = '    print("heard", file=sys.stderr, flush=True)\n    while True:\n        time.sleep(0.01)\n'
    deaf = PATIENT.replace(loop, loop + deaf)
    labels = tmp_path / "labels"
    argv = ["solve", triangles, "--method", "patient", "-o", labels]
    status, out, err = interrupted(argv, deaf, words=("running", "heard"))
    assert (status, out, err) == (130, "", "graphpart: interrupted\n")
    assert not labels.exists()


@pytest.mark.parametrize("there", [False, True])
def test_interrupt_while_writing_leaves_no_half_written_file(triangles, tmp_path, there):
    folder = tmp_path / "out"
    folder.mkdir()
    labels = folder / "labels"
    if there:
        labels.write_text("what was there")
    code = """
import os, signal, sys
from graphpart.cli import main
fsync = os.fsync
def interrupted(number):  # all is written, and nothing is in place
    os.kill(os.getpid(), signal.SIGINT)
    fsync(number)
os.fsync = interrupted
sys.exit(main())
"""
    argv = [sys.executable, "-c", code, "solve", triangles, "--method", "kernighan-lin", "-o", str(labels)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "graphpart: interrupted\n")
    assert [path.name for path in folder.iterdir()] == ["labels"] * there
    if there:
        assert labels.read_text() == "what was there"


def test_interrupt_while_reading(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    err = None
    with child([*GRAPHPART, "info", pipe], stderr=subprocess.PIPE, text=True) as process, open(pipe, "w"):
        for _ in range(6):  # a signal just before the system call that waits is only noted: as a user, press again
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                _, err = process.communicate(timeout=10)
                break
    assert (process.returncode, err) == (130, "graphpart: interrupted\n")


def test_interrupt_of_the_integer_program_writes_the_best_so_far(tmp_path):
    instance, labels = tmp_path / "hard.npy", tmp_path / "labels"
    options = ("--n", 60, "--subsets", 6, "--sigma", 3, "--seed", 1)
    assert graphpart("generate", "planted-partition", *options, "-o", instance).returncode == 0
    code = """
import sys
import graphpart.milp.solvers as milp
from graphpart.cli import main
start = milp._start
def told(*given):
    process = start(*given)
    print("running", file=sys.stderr, flush=True)
    return process
milp._start = told
sys.exit(main())
"""
    argv = ["solve", instance, "--method", "ilp", "--option", "solver=cbc", "-o", labels, "--json"]
    status, out, _ = interrupted(argv, code=code)
    assert status == 0
    record = json.loads(out)
    assert record["status"] == "interrupted"
    assert record["lower_bound"] <= record["cost"] < 0
    assert json.loads(graphpart("evaluate", instance, labels, "--json").stdout)["cost"] == record["cost"]
