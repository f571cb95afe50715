"""Whole proofs by the command line: solve writes them, verify checks them."""

import io
import json

import pytest

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
    assert status == 0 and err.endswith(f"more than 0 nodes: {proof} has a lower bound only\n") and err.count("\n") == 1
    assert json.loads(proof.read_text())["format"] == "graphpart-certificate"
    assert run("verify", tmp_path / "x.csv", tmp_path / "l", proof, "--exact")[0] == 0
