"""The comparison with peers runs, on small sizes, with those contestants that are there."""

import csv
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from trials import FULL

import graphpart as gp

PEERS = Path(__file__).resolve().parent.parent / "benchmarks" / "peers.py"
AT_LENGTH = pytest.mark.skipif(not FULL, reason="several seconds: the same script runs other rows; GRAPHPART_FULL_CI=1")
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")


def peers(*options: str, script: Path = PEERS, first: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script with the same graphpart as this test, and with modules of a folder that come first."""
    home = Path(gp.__file__).parent.parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(x) for x in (first, home) if x)}
    command = [sys.executable, str(script), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, env=environment)


@ON_LINUX
def test_peers_quick(tmp_path):
    table = tmp_path / "measured.csv"
    done = peers("--quick", "--rounds", "1", "--csv", str(table), "--rows", "large", "overhead")
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout and "not measured" not in done.stdout, done.stdout
    lines = table.read_text().splitlines()
    assert sum(",figure," in line for line in lines) == 3
    assert sum(",graphpart joining," in line for line in lines) == 2


@ON_LINUX
@AT_LENGTH
def test_factor_graphs_quick(tmp_path):
    table = tmp_path / "measured.csv"
    options = ("--quick", "--rounds", "1", "--csv", str(table), "--rows", "chain", "sparse", "third-order")
    done = peers(*options, "--without", "pytoulbar2", script=PEERS.with_name("crf.py"))
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout, done.stdout
    lines = table.read_text().splitlines()
    assert sum(",graphpart min-sum," in line for line in lines) == 2
    assert sum(",graphpart ICM," in line for line in lines) == 1


@ON_LINUX
def test_cuts_bounds_and_moves_quick(tmp_path):
    """Without peers: their figures are not measured, those of graphpart are."""
    gp.write(gp.generate.factor_grid(3, 4, seed=1).problem, tmp_path / "small.uai")
    (tmp_path / "best_known.csv").write_text("file,family,evidence,energy\nsmall.uai,grid,,-100\n")
    new = ["roof", "ten-best", "real"]
    new = ["restore", "roof", "passes-potts", "tables", "expansion", "ten-best", "narrow", "real"] if FULL else new
    peers_left_out = ["PyMaxflow", "PyMaxflow expansion", "thinqpbo, solving", "pytoulbar2", "toulbar2"]
    options = ("--quick", "--rounds", "1", "--cpu", "--json", "--instances", str(tmp_path), "--seconds", "1")
    done = peers(*options, "--only", *new, "--without", *peers_left_out, script=PEERS.with_name("crf.py"))
    assert done.returncode == 0, done.stderr
    rows = {row["row"]: row for row in json.loads(done.stdout)["rows"]}
    assert list(rows) == new and [note for row in rows.values() for note in row["notes"]] == []
    assert all(one["rounds"] == 1 for row in rows.values() for one in row["measured"])
    for row in rows.values():
        for one in row["measured"]:
            assert one["bound"] is None or one["cost"] is None or one["bound"] <= one["cost"] + 1e-9
    figures = {(name, f["figure"]): f["value"] for name, row in rows.items() for f in row["figures"]}
    assert not FULL or figures["tables", "gap after 30 s, of the better one"] < 1e-9
    assert figures["ten-best", "tenth energy off NumPy's, relative"] < 1e-12
    assert figures["real", "auto: proven optimal"] == 1 and figures["real", "auto: best known value reached"] == 0
    assert figures["roof", "graphpart roof duality: time over thinqpbo, solving"] is None


@ON_LINUX
def test_missing_peer(tmp_path):
    """It is said in a line, and has - in the table."""
    (tmp_path / "maxflow.py").write_text("raise ImportError\n")
    done = peers("--quick", "--rounds", "1", "--only", "restore", script=PEERS.with_name("crf.py"), first=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "   PyMaxflow: not installed" in lines
    (line,) = (line for line in lines if line.startswith("12x16") and "PyMaxflow" in line)
    assert line.split()[2:] == ["-"] * 5
    assert any("graphpart graph cut: gap" in line and "not measured" not in line for line in lines)
    assert any("time over PyMaxflow" in line and "not measured" in line for line in lines)


SLOW = """
import time
class CFN:
    Option = type("Option", (), {"limited": True})
    def __init__(self, **options): self.sizes = []
    def AddVariable(self, name, values): self.sizes.append(len(values))
    def AddFunction(self, scope, costs): pass
    def GetDDualBound(self): return -1000.0
    def Solve(self, timeLimit):
        print("c something else")
        time.sleep(60 if max(self.sizes) > 2 else 0)
        return [0] * len(self.sizes), 0.0, 1
"""


@pytest.fixture
def tiny(tmp_path):
    """A folder with a factor graph of each format and what is known of them."""
    folder = tmp_path / "real"
    folder.mkdir()
    grid = gp.generate.factor_grid(3, 3, seed=1).problem
    best = gp.crf.brute_force(grid).cost
    gp.write(grid, folder / "grid.uai.xz")
    labels = gp.FactorGraph.from_arrays([3, 2], [([[0, 1]], [[[5.0, 2.0], [0.0, 1.0], [7.0, 3.0]]])])
    gp.write(labels, folder / "labels.wcsp")
    labels.sense = -1
    gp.write(labels, folder / "most.cfn.gz")
    (folder / "most.cfn.evid").write_text("1 1 1\n")
    gp.write(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0, 0.0], [0, 2.0]]]), ([[0]], [[0, -1.0]])]),
             folder / "pair.qubo")  # fmt: skip
    (folder / "best_known.csv").write_text(f"file,family,evidence,energy\ngrid.uai.xz,grid,,{best - 0.1}\n")
    (tmp_path / "best_known.csv").write_text("file,value\nreal/labels.wcsp,0\nreal/most.cfn.gz,-1\n")
    return folder


def test_map(tiny, tmp_path):
    table, picture = tmp_path / "runs.csv", tmp_path / "gaps.png"
    options = (
        str(tiny),
        "--methods",
        "auto,graph-cut",
        "--peers",
        "none",
        "--seconds",
        "1",
        "--csv",
        str(table),
    )
    drawing = ("--plot", str(picture)) if find_spec("matplotlib") else ()
    done = peers(*options, *drawing, script=PEERS.with_name("map.py"))
    assert done.returncode == 0, done.stderr
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    assert not drawing or picture.stat().st_size > 5000
    assert "graph-cut: does not take" in done.stdout
    runs = {(row["instance"], row["who"], float(row["limit"])): row for row in rows}
    for name, best in (("grid.uai.xz", None), ("labels.wcsp", 0), ("most.cfn.gz", 1), ("pair.qubo", -1)):
        row = runs[f"real/{name}", "auto", 1.0]
        assert row["proven"] == row["reached"] == "1" and row["over"] == row["killed"] == "0", row
        assert best is None or float(row["best"]) == float(row["cost"]) == best
        assert abs(float(row["above"])) < 0.2 and float(row["bound_gap"]) < 1e-9
    assert float(runs["real/grid.uai.xz", "auto", 1.0]["above"]) > 0  # reached as the value known is rounded
    assert runs["real/pair.qubo", "auto", 1.0]["best"] == "-1.0"  # of these runs
    summaries = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| real | ")]
    (auto,) = (line for line in summaries if line[1:3] == ["1", "auto"])
    assert auto[3:7] == ["4", "4", "4", "4"]


def test_map_kills_what_overruns_and_counts_duels(tiny, tmp_path):
    """A peer that sleeps where a variable has three labels, and labels all with 0 elsewhere."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "pytoulbar2.py").write_text(SLOW)
    table = tmp_path / "runs.csv"
    options = (
        str(tiny),
        "--peers",
        "toulbar2",
        "--seconds",
        "0.3",
        "--kill",
        "1",
        "--csv",
        str(table),
        "--only",
        "labels",
        "pair",
    )
    done = peers(*options, script=PEERS.with_name("map.py"), first=tmp_path / "first")
    assert done.returncode == 0, done.stderr
    with open(table, newline="") as file:
        runs = {(row["instance"], row["who"]): row for row in csv.DictReader(file)}
    slept, quick = runs["real/labels.wcsp", "toulbar2"], runs["real/pair.qubo", "toulbar2"]
    assert (
        slept["killed"] == slept["over"] == "1" and slept["cost"] == "" and slept["note"].startswith("killed after 2")
    )
    assert quick["cost"] == "0.0" and quick["killed"] == quick["reached"] == "0" and quick["bound"] == "-1000.0"
    assert "| real | 0.3 | auto | toulbar2 | 2 | 2 | 0 | 0 | never |" in done.stdout


def test_map_against_the_peers_that_are_there(tiny, tmp_path):
    pytest.importorskip("pytoulbar2")
    pytest.importorskip("dwave.samplers")
    table = tmp_path / "runs.csv"
    done = peers(
        str(tiny), "--seconds", "0.5", "--csv", str(table), "--only", "pair", "grid", script=PEERS.with_name("map.py")
    )
    assert done.returncode == 0, done.stderr
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["who"] for row in rows) == sorted(2 * ["auto", "toulbar2", "tabu", "annealing"])
    for name in ("real/pair.qubo", "real/grid.uai.xz"):
        costs = [float(row["cost"]) for row in rows if row["instance"] == name]
        assert costs == pytest.approx(4 * [costs[0]], abs=1e-4)


def test_map_rejects():
    script = PEERS.with_name("map.py")
    for options, text in (
        (("--methods", "none-such"), "expected some of auto"),
        (("--seconds", "0"), "invalid numbers value"),
        (("/no-such-folder",), "no instances: expected folders of factor graphs"),
    ):
        done = peers(*options, script=script)
        assert done.returncode == 2 and text in done.stderr


def test_pairwise_quick():
    pytest.importorskip("bioimage_cpp")
    done = peers("--quick", "--families", "geometric", "modularity", "--verbose", script=PEERS.with_name("pairwise.py"))
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [(row[0], row[1]) for row in rows[1:]] == [("| geometric", "4"), ("| modularity", "4"), ("| all", "8")]
    assert sum(line.startswith(("geometric", "karate-club")) for line in done.stdout.splitlines()) == 5


def test_pairwise_rejects_unknown_families():
    done = peers("--families", "none", script=PEERS.with_name("pairwise.py"))
    assert done.returncode == 2 and "expected a part of one of" in done.stderr


def test_peers_rejects_unknown_rows():
    done = peers("--rows", "none")
    assert done.returncode == 2 and "invalid choice: 'none'" in done.stderr


def test_runs_in_parts(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    script, folder, table = PEERS.parent / "in_parts.py", tmp_path / "pairs", tmp_path / "measured.csv"
    for family in ("planted", "grid", "random") if FULL else ("planted",):
        made = peers("make", family, str(folder / family), "--pairs", "20000", script=script)
        assert made.returncode == 0, made.stderr
    options = ("--workers", "0", "--csv", str(table))
    costs = {}
    runs = [("solve", "planted"), ("whole", "planted")]
    runs += [("solve", "grid"), ("components", "random")] if FULL else []
    for command, family in runs:
        some = options if command != "whole" else options[2:]
        more = ("--tiles",) if (command, family) == ("solve", "grid") else ()
        done = peers(command, str(folder / family), *some, *more, script=script)
        assert done.returncode == 0, done.stderr
        row = json.loads(done.stdout)
        costs[command, family] = row.get("cost")
        if family == "planted":
            assert row["variation"] < 1.0
    assert costs["solve", "planted"] == pytest.approx(costs["whole", "planted"], rel=1e-3)
    with table.open(newline="") as stream:
        assert [row["command"] for row in csv.DictReader(stream)] == [command for command, _ in runs]


def test_groups_quick(tmp_path):
    """Without peers: groups, explicit cuts and none."""
    done = peers("cuts", "--quick", "--csv", str(tmp_path / "groups.csv"), script=PEERS.with_name("groups.py"))
    assert done.returncode == 0, done.stderr
    with (tmp_path / "groups.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 9 and {row["method"] for row in rows} == {"no groups", "groups", "explicit cuts"}
    costs = {row["work"]: row["quality"] for row in rows if row["method"] == "explicit cuts"}
    joined = "groups and cuts, 300 elements: greedy_joining"
    assert next(row["quality"] for row in rows if row["work"] == joined and row["method"] == "groups") == costs[joined]


def test_the_table_of_strategies_says_what_is_lost_without_each(tmp_path):
    script = PEERS.with_name("strategies.py")
    runs, csv_file = tmp_path / "runs.jsonl", tmp_path / "strategies.csv"
    cost = {"": -100.0, "restarts": -90.0, "annealing": -101.0}
    lines = [json.dumps(["dense 5, n=60", 1, name, each]) for name, each in cost.items()]
    runs.write_text("\n".join(lines) + "\n")
    done = peers("--families", "none of them", "--runs", str(runs), "--csv", str(csv_file), script=script)
    assert done.returncode == 0, done.stderr
    row = next(csv.DictReader(csv_file.read_text().splitlines()))
    assert row["family"] == "dense 5, n=60" and row["gap of all"] == "0.990%" and row["fusion"] == ""
    assert (row["restarts"], row["annealing"]) == ("+9.901%", "-0.990%")


def test_micro_benchmarks_of_kernels_run():
    script = PEERS.with_name("test_kernels.py")
    options = ["-o", "addopts=", "--import-mode=importlib", "-p", "no:cacheprovider", "--benchmark-disable", "-q"]
    command = [sys.executable, "-m", "pytest", *options, "-k", "grid-100 or complete-300", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout


@ON_LINUX
def test_labeled_quick(tmp_path):
    done = peers("--quick", "--csv", str(tmp_path / "labeled.csv"), script=PEERS.with_name("labeled.py"))
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader((tmp_path / "labeled.csv").read_text().splitlines())
    assert float(row["cost"]) < 0 and row["gap"].endswith("%")
