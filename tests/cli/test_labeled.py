"""The shell on files of labelled partitions."""

import json

import pytest
from labeled import planted

import graphpart as gp
from graphpart.cli import main


@pytest.fixture
def file(tmp_path):
    q, _, _ = planted(5, 2, seed=0)
    path = tmp_path / "q.npz"
    gp.write(q, path)
    return path, q


def test_solve(file, tmp_path, capsys):
    path, q = file
    assert main(["solve", str(path), "--json", "-o", str(tmp_path / "out.csv")]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n"] == 25 and facts["cost"] == gp.solve(q).cost
    assert (tmp_path / "out.csv").read_text().startswith("element,cluster,size,class\n")
    assert main(["solve", str(path), "--method", "gaec", "--initial", str(tmp_path / "out.csv")]) == 0
    assert "greedy-joining" in capsys.readouterr().out


def test_requirements(file, tmp_path, capsys):
    path, q = file
    (tmp_path / "apart.csv").write_text("left,right\n0,1\n")
    assert main(["solve", str(path), "--apart", str(tmp_path / "apart.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"] == gp.solve(q, apart=[(0, 1)]).cost
    assert main(["solve", str(path), "--max-size", "3"]) == 1
    assert "max_size is given: a labelled partition can only require" in capsys.readouterr().err


def test_info_and_convert(file, tmp_path, capsys):
    path, q = file
    assert main(["info", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["classes"] == 2 and facts["pairs"] == q.m and facts["forbidden"] == 2 * q.m
    assert main(["info", str(path)]) == 0
    assert "classes" in capsys.readouterr().out
    assert main(["convert", str(path), str(tmp_path / "q.json")]) == 0
    assert gp.read(tmp_path / "q.json").m == q.m


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "FILE", "LABELS"], "is a labelled partition: expected a set partition problem or a factor graph"),
        (["solve", "FILE", "--evidence", "LABELS"], "--evidence is for factor graphs"),
        (["solve", "FILE", "--certificate", "c.json"], "no certificates are written for labelled partitions"),
        (["solve", "FILE", "--report", "r.html"], "reports are of set partition problems and factor graphs"),
        (["solve", "FILE", "--doubts", "d.csv"], "got LabeledPartition"),
        (["solve", "FILE", "--method", "mutex-watershed"], "method is 'mutex-watershed': expected one of auto"),
    ],
)
def test_what_is_not_possible(file, tmp_path, monkeypatch, capsys, arguments, message):
    pytest.importorskip("bokeh")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels").write_text("0\n" * 25)
    given = [{"FILE": str(file[0]), "LABELS": "labels"}.get(one, one) for one in arguments]
    assert main(given) == (1 if "--doubts" in given else 2)
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
