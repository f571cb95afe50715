"""`graphpart bench` by processes: the same tables as without, Ctrl-C, a process that is killed."""

import csv
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from children import child

import graphpart as gp
from graphpart.cli import bench
from graphpart.generate import planted_partition

BENCH = [sys.executable, "-m", "graphpart", "bench"]


@pytest.fixture
def folder(tmp_path):
    """Three problems that search does not prove, and a file that is none."""
    folder = tmp_path / "in"
    folder.mkdir()
    for k in range(3):
        gp.write(planted_partition(300, 20, 3.0, seed=k).problem, folder / f"p{k}.npz")
    (folder / "manifest.csv").write_text("file,best,family\np0.npz,-1e9,first\np2.npz,,first\n")
    return folder


def test_processes_give_the_same_tables(run, folder, tmp_path, monkeypatch):
    (folder / "broken.csv").write_text("u,v,cost\na,b,much\n")
    argv = ["bench", folder, "--method", "kernighan-lin", "--method", "greedy-joining", "-v", "--time-limit", "60"]
    found = []
    for threads in "12":
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        status, out, _ = run(*argv, "--csv", tmp_path / "table.csv")
        with open(tmp_path / "table.csv", newline="") as stream:
            rows = [row | {"seconds": None} for row in csv.DictReader(stream)]
        found.append((status, re.sub(r" +\d+\.\d+$", "", out, flags=re.MULTILINE), rows))
    assert found[0] == found[1] and found[0][0] == 1
    assert [Path(row["instance"]).name for row in rows] == ["p0.npz", "p0.npz", "p2.npz", "p2.npz", "p1.npz", "p1.npz"]


def test_runs_that_end_at_once_need_no_processes(run, folder, monkeypatch):
    monkeypatch.setenv("GRAPHPART_THREADS", "2")
    jobs = []
    real = bench.in_processes
    monkeypatch.setattr(bench, "in_processes", lambda function, tasks, n: jobs.append(n) or real(function, tasks, 1))
    for argv in (["--time-limit", "1"], ["--time-limit", "60"], [folder / "p0.npz", "--time-limit", "60"]):
        assert run("bench", *(argv if len(argv) > 2 else [folder, *argv]), "--method", "greedy-joining")[0] == 0
    assert jobs == [1, 2, 1]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((folder / "p0.npz").read_bytes())))
    argv = ["-", folder / "p1.npz", "--time-limit", "60", "--method", "greedy-joining"]
    assert run("bench", *argv)[0] == 0 and jobs[3:] == [1]  # processes have no standard input


def workers(process):
    """The processes that solve for this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = re.search(r"^PPid:\s+(\d+)", (path / "status").read_text(), re.MULTILINE)[1]
            if int(parent) == process.pid and b"spawn_main" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="lists processes by /proc")
@pytest.mark.parametrize("ends", ["at the start", "interrupted", "killed"])
def test_the_end_of_processes(folder, tmp_path, ends):
    table = tmp_path / "table.csv"
    argv = [*BENCH, folder, "--method", "search", "--time-limit", "300", "--csv", table]
    environment = os.environ | {"GRAPHPART_THREADS": "2"}
    with child(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        end = time.monotonic() + 120
        least = 0.0 if ends == "at the start" else 0.5
        while len(workers(process)) < 2 or min(seconds(pid) for pid in workers(process)) < least:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.05 if least else 0.0)
        if ends != "killed":
            for pid in [*workers(process), process.pid]:  # as a terminal does
                os.kill(pid, signal.SIGINT)
        else:
            os.kill(workers(process)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=100)
    assert "Traceback" not in err
    rows = table.read_text().splitlines()[1:]
    if ends == "at the start":
        assert process.returncode == 130 and "interrupted" in err and "process ended" not in err
    elif ends == "interrupted":
        assert process.returncode == 130 and err.endswith("interrupted: the remaining runs are left out\n")
        assert len(rows) == 2 and "all families" in out
    else:
        assert process.returncode == 1 and "a process ended before its runs, perhaps for lack of memory" in err


def seconds(pid):
    """The processor seconds of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
