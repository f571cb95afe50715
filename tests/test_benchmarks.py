"""The comparison with peers runs, on small sizes, with those contestants that are there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphpart

PEERS = Path(__file__).resolve().parent.parent / "benchmarks" / "peers.py"


def peers(*options: str, script: Path = PEERS) -> subprocess.CompletedProcess[str]:
    """Run the script with the same graphpart as this test."""
    environment = os.environ | {"PYTHONPATH": str(Path(graphpart.__file__).parent.parent)}
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
