"""Lifted pairs on the command line: generate, info, convert, solve, evaluate, verify, report."""

import json

import pytest


@pytest.fixture
def instance(run, tmp_path):
    path = str(tmp_path / "grid.multicut")
    options = ("--height", "8", "--width", "8", "--regions", "3", "--sigma", "0.5", "--seed", "1")
    status, out, err = run("generate", "lifted-grid", *options, "-o", path)
    assert (status, err) == (0, ""), out
    return path


def test_files_and_facts(run, instance, tmp_path):
    facts = json.loads(run("info", "--json", instance)[1])
    assert facts["connected"] is True and facts["lifted"] == 192 and facts["components"] == 1
    assert "192 lifted" in run("info", instance)[1]
    for suffix in ("npz", "json", "multicut"):
        path = str(tmp_path / f"copy.{suffix}")
        assert run("convert", instance, path)[0] == 0
        again = json.loads(run("info", "--json", path)[1])
        assert again | {"file": ""} == facts | {"file": ""}
    status, _, err = run("convert", instance, str(tmp_path / "copy.csv"))
    assert status == 1 and "does not hold lifted pairs: expected one of json, multicut, npz" in err


def test_solve_evaluate_verify(run, instance, tmp_path):
    labels, proof = str(tmp_path / "grid.labels"), str(tmp_path / "grid.json")
    status, out, err = run("solve", instance, "--json", "-o", labels, "--certificate", proof)
    assert status == 0, err
    solved = json.loads(out)
    assert solved["status"] == "optimal"
    assert json.loads(run("evaluate", instance, labels, "--json")[1])["cost"] == solved["cost"]
    status, out, err = run("verify", instance, labels, proof, "--exact", "--json")
    assert status == 0, err
    assert json.loads(out)["message"] == "verified"
    (tmp_path / "bad").write_text("0\n" + "1\n" * 62 + "0\n")
    status, _, err = run("evaluate", instance, str(tmp_path / "bad"))
    assert status == 1 and "the cluster of 0 is not connected: no path of base pairs within it links 0 and 63" in err


def test_pairs_that_do_not_connect_are_a_table(run, tmp_path):
    """A path whose ends belong together; a second table has a text in place of a cost, a third a name too many."""
    for name, text in {
        "path.csv": "left,right,cost\na,b,-1\nb,c,0.5\n", "far.csv": "left,right,cost\na,c,-2\n",
        "bad.csv": "left,right,cost\na,c,x\n", "new.csv": "left,right,cost\na,d,1\n",
        "empty.csv": "left,right,cost\na,c,\n", "two.csv": "left,right\na,c\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    path = str(tmp_path / "path.csv")
    for options, cost in ((("--lifted", "far.csv"), -2.5), (("--connected",), -1.0), ((), -1.0)):
        options = [str(tmp_path / x) if x.endswith(".csv") else x for x in options]
        status, out, err = run("solve", path, "--cost", "cost", "--json", *options)
        assert status == 0 and json.loads(out)["cost"] == cost, err
    status, out, err = run(
        "solve", path, "--cost", "cost", "--json", "--lifted", str(tmp_path / "far.csv"), "--max-size", "2"
    )
    assert json.loads(out)["cost"] == -1.0, err
    for name, message in {
        "bad.csv": "has the cost 'x': expected a number", "new.csv": "'d' is no element of",
        "empty.csv": "has the cost '': expected a number",
        "two.csv": "found the columns left, right: expected two columns of identifiers and one of costs",
    }.items():  # fmt: skip
        status, _, err = run("solve", path, "--cost", "cost", "--lifted", str(tmp_path / name))
        assert status == 1 and message in err and len(err.splitlines()) == 1


def test_methods_and_limits_that_do_not_go_together(run, instance):
    status, _, err = run("solve", instance, "--method", "mutex-watershed")
    assert status == 1 and "cannot keep clusters connected" in err and len(err.splitlines()) == 1
    for options in (("--max-size", "5", "--clusters", "14:"), ("--missing", "0.5")):
        status, out, err = run("solve", instance, "--method", "greedy-joining", "--json", *options)
        assert status == 0 and json.loads(out)["clusters"] > 3, err


def test_bench_leaves_out_methods_that_refuse_lifted_pairs(run, instance):
    status, out, err = run("bench", instance, "--verbose")
    assert status == 0 and "cannot" not in err
    assert "greedy-joining" in out and "mutex-watershed" not in out
    status, _, err = run("bench", instance, "--method", "mutex-watershed")  # asked for: an error that says why
    assert status == 1 and "cannot keep clusters connected" in err
