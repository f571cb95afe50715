"""`graphpart solve` with --doubts, --extend and --freeze, and with starts of other elements."""

import csv
import math

import numpy as np
import pytest

import graphpart as gp
from graphpart.cli import main

OLD = "u,v,cost\nann,anna,-2\nanna,bob,1\nbob,rob,-1\n"
NEW = "u,v,cost\nann,anna,-2\nanna,bob,1\nzoe,ann,-1\nzoe,bob,2\n"


@pytest.fixture
def run(capsys):
    def run(*argv):
        status = main([str(arg) for arg in argv])
        _, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, err

    return run


@pytest.fixture
def files(tmp_path):
    (tmp_path / "old.csv").write_text(OLD)
    (tmp_path / "new.csv").write_text(NEW)
    (tmp_path / "labels.csv").write_text("node,label\nann,7\nanna,7\nbob,3\nrob,3\n")
    return tmp_path


def table(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def test_doubts_in_a_file_and_in_a_folder(files, run):
    status, err = run("solve", files / "new.csv", "--doubts", files / "doubts.csv")
    assert status == 0 and "least sure: 'zoe' and 'ann' are together, doubt 1" in err
    assert len(err.splitlines()) == 1
    rows = table(files / "doubts.csv")
    problem = gp.read(files / "new.csv")
    shown = gp.partition.doubts(problem, gp.solve(problem)).to_frame(library="dict")
    assert list(rows[0]) == list(shown) and len(rows) == len(shown["left"])
    found = [(row["left"], row["right"], row["decision"], float(row["doubt"]), row["bound"]) for row in rows]
    assert found[0] == ("zoe", "ann", "together", 1.0, "exact")  # zoe would leave
    status, err = run("solve", files / "new.csv", "--doubts", f"{files / 'folder'}/")
    assert status == 0
    assert table(files / "folder" / "decisions.csv") == rows
    found = [(row["left"], row["right"], row["joined"]) for row in table(files / "folder" / "pairs.csv")]
    assert found[0] == ("ann", "zoe", "True") and len(found) == 4
    assert {row["element"] for row in table(files / "folder" / "elements.csv")} == {"ann", "anna", "bob", "zoe"}
    assert list(table(files / "folder" / "clusters.csv")[0])[:3] == ["cluster", "size", "change"]


def test_doubts_of_a_factor_graph(files, run):
    f = gp.FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, 3.0]]), ([[0, 1]], [[[0.0, 1.0], [math.inf, 0.0]]])])
    gp.write(f, files / "f.uai")
    status, _ = run("solve", files / "f.uai", "--doubts", f"{files / 'f'}/")
    assert status == 0
    assert [float(row["doubt"]) for row in table(files / "f" / "variables.csv")] == pytest.approx([1.0, 3.0], abs=1e-9)
    assert len(table(files / "f" / "labels.csv")) == 2


@pytest.mark.parametrize("freeze", [[], ["--freeze"]])
def test_extend(freeze, files, run):
    labels = files / "out.csv"
    status, err = run("solve", files / "new.csv", "--extend", files / "labels.csv", *freeze, "-o", labels)
    assert (status, err) == (0, "")
    assert gp.read_labels(labels) == {"ann": 7, "anna": 7, "bob": 3, "zoe": 7}
    (files / "more.csv").write_text(NEW + "new,zoe,-3\n")
    status, err = run("solve", files / "more.csv", "--extend", labels, *freeze, "-o", labels)
    assert gp.read_labels(labels) == {"ann": 7, "anna": 7, "bob": 3, "zoe": 7, "new": 7}


def test_extend_labels_of_other_elements(files, run):
    (files / "other.csv").write_text("node,label\nx,0\ny,1\n")
    status, err = run("solve", files / "new.csv", "--extend", files / "other.csv")
    assert status == 1 and "other.csv: none of its 2 elements, 'x' the first, is in the problem" in err


def test_extend_labels_without_names(files, run):
    gp.write(gp.SetPartition.from_pairs(4, [(0, 1), (2, 3)], [-1.0, -1.0]), files / "p.npz")
    np.savetxt(files / "p.labels", [5, 5], "%d")
    status, err = run("solve", files / "p.npz", "--extend", files / "p.labels", "-o", files / "out.csv")
    assert (status, err) == (0, "")
    assert gp.read_labels(files / "out.csv") == {0: 5, 1: 5, 2: 6, 3: 6}
    status, err = run("solve", files / "new.csv", "--extend", files / "p.labels")
    assert status == 1 and "2 labels without names for 4 elements: expected names" in err


def test_a_start_of_other_elements(files, run):
    status, err = run("solve", files / "new.csv", "--initial", files / "labels.csv", "--method", "greedy-moving")
    assert status == 0 and err.endswith("labels.csv: 1 of 4 elements have no label there\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--freeze"], "--freeze is without --extend"),
        (["--json", "--doubts", "-"], "--json and --doubts - both write to standard output"),
        (["--extend", "x", "--initial", "y"], "--extend and --initial are both given"),
        (["--extend", "x", "--target", "1"], "--extend and --target are both given"),
        (["--extend", "x", "--max-iterations", "1"], "--extend and --max-iterations are both given"),
    ],
)
def test_wrong_calls(args, message, files, run):
    status, err = run("solve", files / "new.csv", *args)
    assert status == 2 and message in err and len(err.splitlines()) == 1


def test_wrong_files(files, run):
    status, err = run("solve", files / "new.csv", files / "old.csv", "--doubts", files / "x.csv")
    assert status == 2 and "--doubts takes one FILE" in err
    f = gp.FactorGraph.from_arrays([2], [([[0]], [[0.0, 3.0]])])
    gp.write(f, files / "f.uai")
    status, err = run("solve", files / "f.uai", "--extend", files / "labels.csv")
    assert status == 2 and "--extend is for set partition problems" in err
    status, err = run("solve", files / "new.csv", "--doubts", files / "none" / "x.csv")
    assert status == 1 and "No such file or directory" in err
