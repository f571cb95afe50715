"""The comparison with peers runs, on small sizes, with those contestants that are there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphpart as gp

PEERS = Path(__file__).resolve().parent.parent / "benchmarks" / "peers.py"


def peers(*options: str, script: Path = PEERS, first: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script with the same graphpart as this test, and with modules of a folder that come first."""
    home = Path(gp.__file__).parent.parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(x) for x in (first, home) if x)}
    command = [sys.executable, str(script), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, env=environment)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_peers_quick(tmp_path):
    table = tmp_path / "measured.csv"
    done = peers("--quick", "--rounds", "1", "--csv", str(table), "--rows", "large", "overhead")
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout and "not measured" not in done.stdout, done.stdout
    lines = table.read_text().splitlines()
    assert sum(",figure," in line for line in lines) == 3
    assert sum(",graphpart joining," in line for line in lines) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_factor_graphs_quick(tmp_path):
    table = tmp_path / "measured.csv"
    options = ("--quick", "--rounds", "1", "--csv", str(table), "--rows", "chain", "sparse", "third-order")
    done = peers(*options, "--without", "pytoulbar2", script=PEERS.with_name("crf.py"))
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout, done.stdout
    lines = table.read_text().splitlines()
    assert sum(",graphpart min-sum," in line for line in lines) == 2
    assert sum(",graphpart ICM," in line for line in lines) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_cuts_bounds_and_moves_quick(tmp_path):
    """Without peers: their figures are not measured, those of graphpart are."""
    gp.write(gp.generate.factor_grid(3, 4, seed=1).problem, tmp_path / "small.uai")
    (tmp_path / "best_known.csv").write_text("file,family,evidence,energy\nsmall.uai,grid,,-100\n")
    new = ["restore", "roof", "passes-potts", "tables", "expansion", "ten-best", "narrow", "real"]
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
    assert figures["tables", "gap after 30 s, of the better one"] < 1e-9
    assert figures["ten-best", "tenth energy off NumPy's, relative"] < 1e-12
    assert figures["real", "auto: proven optimal"] == 1 and figures["real", "auto: best known value reached"] == 0
    assert figures["roof", "graphpart roof duality: time over thinqpbo, solving"] is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
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
