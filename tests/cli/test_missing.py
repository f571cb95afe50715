"""The command line where pairs that are not listed cost something: --missing, and files that say so."""

import json

import pytest

import graphpart as gp

# 0 and 1, 1 and 2 attract; what 0 and 2 cost, which are not listed, decides
PAIRS = "u,v,cost\n0,1,-2\n1,2,-1\n3,,\n"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS)
    return path


def test_all_commands_take_it(run, pairs, tmp_path):
    labels, proof, out = tmp_path / "labels", tmp_path / "proof.json", tmp_path / "with.json"
    for missing, cost, objects in (("0.5", -2.5, 2), ("1.5", -2.0, 3)):
        options = ("--missing", missing, "--json")
        status, text, err = run("solve", pairs, *options, "-o", labels, "--certificate", proof)
        assert (status, err) == (0, "")
        facts = json.loads(text)
        assert facts["cost"] == cost and facts["subsets"] == objects and facts["status"] == "optimal"
        assert json.loads(run("evaluate", pairs, labels, *options)[1])["cost"] == cost
        status, text, _ = run("verify", pairs, labels, proof, *options, "--exact")
        assert status == 0 and json.loads(text)["lower_bound"] == cost
        assert run("verify", pairs, labels, proof)[0] == 1  # of another problem
        assert run("convert", pairs, out, "--missing", missing)[0] == 0
        assert gp.read(out).evaluate([0, 0, 0, 1]) == -3.0 + float(missing)
    assert json.loads(run("solve", pairs, "--json")[1])["cost"] == -3.0
    status, text, _ = run("solve", pairs, "--cost", "cost", "--missing", "1.5", "--json")
    assert status == 1 or json.loads(text)["cost"] == -2.0  # a row without a number is none of a table


def test_tables(run, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("a,b,score\nx,y,0.9\ny,z,0.8\n")
    status, text, _ = run("solve", table, "--similarity", "score", "--threshold", "0.5", "--missing", "0.5", "--json")
    assert status == 0 and json.loads(text)["cost"] == pytest.approx(-0.4)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", PAIRS + ",,0.25\n", "has a background already: 0.25 for each other pair"),
        ("a.gr", "p cep 3 1\n1 2\n", "format pace has all of them"),
        ("a.cplib", "2\n1\n", "format cplib has all of them"),
        ("a.qubo", "2 1\n1 1 2\n", "the file holds a factor graph"),
        ("a.csv", "u,v,cost\n0,1,1\n", "all pairs are listed"),
    ],
)
def test_what_does_not_fit(run, tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    for command in ("solve", "info"):
        status, _, err = run(command, path, "--missing", "0.5")
        assert status == 2 and message in err and err.count("\n") == 1


@pytest.mark.parametrize("value", ["nan", "inf", "much", ""])
def test_bad_values(run, pairs, value):
    status, _, err = run("solve", pairs, "--missing", value)
    assert status == 2 and "--missing" in err
