"""Whole proofs by the command line: solve writes them, verify checks them."""

import io
import json
import subprocess
import sys
import time

import numpy as np
import pytest

import graphpart as gp
from graphpart.cli import main


@pytest.fixture
def run(capsys):
    def call(*args):
        status = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.mark.parametrize("name", ["x.csv", "x.uai"])
def test_solve_and_verify(run, tmp_path, monkeypatch, name):
    instance = tmp_path / name
    texts = {
        "x.csv": "u,v,cost\na,b,-2\nb,c,-3\na,c,4\n",
        "x.uai": "MARKOV\n2\n2 2\n1\n2 0 1\n4 0.5 1 0.25 2\n",
    }
    instance.write_text(texts[name])
    labels, proof = tmp_path / "x.labels", tmp_path / "c.json"
    status, _, err = run("solve", instance, "-o", labels, "--certificate", proof)
    assert (status, err) == (0, "") and json.loads(proof.read_text())["format"] == "graphpart-proof"
    status, out, err = run("verify", instance, labels, proof, "--json", "--exact")
    facts = json.loads(out)
    assert (status, err) == (0, "") and facts["checked"].endswith(": optimal") and facts["status"] == "optimal"
    status, _, err = run("verify", instance, labels, proof)
    assert status == 0 and err.endswith("optimal\n")
    bound = tmp_path / "bound.npz"
    assert run("solve", instance, "-o", labels, "--certificate", bound)[0] == 0
    for files, given in [(("-", proof), labels), ((labels, "-"), proof), ((labels, "-"), bound)]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.read_bytes())))
        assert run("verify", instance, *files)[0] == 0
    data = json.loads(proof.read_text())
    proof.write_text(json.dumps(data | {"bound": data["bound"] - 1}))
    status, out, err = run("verify", instance, labels, proof)
    assert (status, out) == (1, "") and "the seal does not fit" in err and err.count("\n") == 1


def test_without_a_whole_proof_there_is_a_lower_bound(run, tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("u,v,cost\na,b,-2\nb,c,-3\na,c,4\n")
    monkeypatch.setattr("graphpart.common.proof_tree.NODES", 0)
    proof = tmp_path / "c.json"
    status, _, err = run("solve", tmp_path / "x.csv", "-o", tmp_path / "l", "--certificate", proof)
    assert status == 0 and err.endswith(f"more than 0 nodes: {proof} has a lower bound only, -3\n")
    assert err.count("\n") == 1
    assert json.loads(proof.read_text())["format"] == "graphpart-certificate"
    assert run("verify", tmp_path / "x.csv", tmp_path / "l", proof, "--exact")[0] == 0


def test_a_killed_run_leaves_a_valid_bound(run, tmp_path):
    rng = np.random.default_rng(0)
    costs = np.triu(rng.integers(-9, 10, (50, 50)), 1).astype(float)
    gp.write(gp.SetPartition.from_matrix(costs + costs.T), tmp_path / "x.npy")
    proof = tmp_path / "c.json"
    command = [sys.executable, "-m", "graphpart", "solve", "x.npy", "--time-limit", "100", "--certificate", "c.json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        first = None
        while process.poll() is None:  # until a second certificate replaces the first one
            text = proof.read_text() if proof.exists() else None
            if first is not None and text != first:
                break
            first = text
            time.sleep(0.02)
        process.kill()
    (tmp_path / "l").write_text("0\n" * 50)
    assert run("verify", tmp_path / "x.npy", tmp_path / "l", proof)[0] == 0
    before, after = json.loads(first)["bound"], json.loads(proof.read_text())["bound"]
    assert before < after < 0


def test_a_run_that_ends_early_says_what_is_in_the_file(run, tmp_path):
    rng = np.random.default_rng(0)
    costs = np.triu(rng.integers(-9, 10, (60, 60)), 1).astype(float)
    p = gp.SetPartition.from_matrix(costs + costs.T)
    gp.write(p, tmp_path / "x.npy")
    proof = tmp_path / "c.json"
    status, out, err = run(
        "solve", tmp_path / "x.npy", "--time-limit", "0", "-o", tmp_path / "l", "--certificate", proof, "--json"
    )
    bound = json.loads(proof.read_text())["bound"]
    assert status == 0 and f"{proof} has a lower bound only, {bound:.12g}" in err and err.count("\n") == 1
    assert bound <= json.loads(out)["lower_bound"] and run("verify", tmp_path / "x.npy", tmp_path / "l", proof)[0] == 0
    out = run("solve", tmp_path / "x.npy", "--time-limit", "0", "-o", tmp_path / "l", "--certificate", "-")[1]
    assert out.count('"graphpart-certificate"') == 1
