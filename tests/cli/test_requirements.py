"""Groups, sizes, numbers and corrections on the command line."""

import json

import pytest

import graphpart as gp


@pytest.fixture
def people(tmp_path):
    """Two tables: people of two sources, one of them in no pair and without a source; scored pairs."""
    (tmp_path / "people.csv").write_text("id,source\nann,crm\nanne,shop\nanna,shop\nbob,crm\neve,\n")
    (tmp_path / "pairs.csv").write_text("a,b,score\nann,anne,0.9\nann,anna,0.8\nanne,anna,0.7\nanna,bob,0.2\n")
    (tmp_path / "yes.csv").write_text("left,right,doubt\nann,bob,0.3\n")
    (tmp_path / "no.csv").write_text("left,right\nann,anne\n")
    return tmp_path


SCORE = ("--probability", "score")


def clusters(run, folder, *options):
    """The clusters with more than one element, and what is printed."""
    status, out, err = run("solve", folder / "pairs.csv", *SCORE, *options, "-o", folder / "out.csv", "--json")
    assert (status, err) == (0, ""), err
    rows = [line.split(",")[:2] for line in (folder / "out.csv").read_text().split()[1:]]
    found = [{name for name, k in rows if k == label} for label in sorted({k for _, k in rows})]
    return [one for one in found if len(one) > 1], json.loads(out)


def test_at_most_one_of_each_group(run, people):
    elements = ("--elements", people / "people.csv", "--id", "id", "--group", "source")
    assert clusters(run, people, "--elements", people / "people.csv")[1]["n"] == 5
    found, facts = clusters(run, people, *elements)
    assert found == [{"ann", "anne"}] and facts["n"] == 5
    for command in ("evaluate", "info", "convert"):
        more = {"evaluate": [people / "out.csv"], "convert": [people / "p.npz"]}.get(command, [])
        if command == "convert":
            gp.write(gp.read(people / "pairs.csv", probability="score"), people / "costs.csv")
            assert run("convert", people / "costs.csv", *more, *elements)[0] == 0
            assert len(gp.read(people / "p.npz").groups) == 2
        else:
            assert run(command, people / "pairs.csv", *more, *SCORE, *elements)[0] == 0
    assert clusters(run, people, *elements, "--group-cost", "0.5")[0] == [{"ann", "anne", "anna"}]


def test_sizes_and_numbers(run, people):
    found, facts = clusters(run, people, "--max-size", "2")
    assert max(map(len, found)) == 2 and facts["status"] == "optimal"
    assert clusters(run, people, "--clusters", "1")[1]["subsets"] == 1
    assert clusters(run, people, "--clusters", "3:")[1]["subsets"] == 3
    assert clusters(run, people, "--clusters", ":2")[1]["subsets"] == 2


def test_corrections(run, people):
    found, _ = clusters(run, people)
    assert found == [{"ann", "anne", "anna"}]
    old = people / "old.csv"
    (people / "out.csv").rename(old)
    options = ("--together", people / "yes.csv", "--apart", people / "no.csv", "--initial", old)
    found, facts = clusters(run, people, *options)
    assert found == [{"ann", "bob"}, {"anne", "anna"}] or found == [{"ann", "anna", "bob"}]
    assert "the start violated what is required and was repaired" in facts["message"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--group", "source"], "--group is a column of --elements, which is not given: expected both"),
        (["--group-cost", "2"], "--group-cost is without --group: expected both"),
        (["--elements", "people.csv", "--group", "sorce"], "no column 'sorce'"),
        (["--elements", "yes.csv"], "'anne' is in column 'a' or 'b' but not among the elements of yes.csv"),
        (["--apart", "nobody.csv"], "nobody.csv: 'zoe' is no element of pairs.csv"),
        (["--clusters", "9"], "n_clusters is 9, but there are 4 elements"),
        (
            ["--together", "no.csv", "--apart", "no.csv"],
            "'ann' and 'anne' must be cut, but required joins connect them",
        ),
        (["--together", "one.csv"], "found the column id: expected two columns of identifiers"),
    ],
)
def test_wrong_options_are_one_line(run, people, monkeypatch, options, says):
    monkeypatch.chdir(people)
    (people / "one.csv").write_text("id\nann\n")
    (people / "nobody.csv").write_text("a,b\nann,zoe\n")
    status, out, err = run("solve", "pairs.csv", *SCORE, *options)
    assert status in (1, 2) and out == "" and says in err and err.count("\n") == 1


def test_wrong_numbers_of_clusters(run, people):
    status, _, err = run("solve", people / "pairs.csv", *SCORE, "--clusters", "few")
    assert status == 2 and "'few': expected a number such as 12, or limits such as 5:12" in err


def test_groups_of_problems_larger_than_memory(run, people):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = {"u": ["ann", "ann", "anne"], "v": ["anne", "anna", "anna"], "cost": [-3.0, -2.0, -1.0]}
    parquet.write_table(pyarrow.table(rows), people / "pairs.parquet")
    options = ("--workers", "0", "-o", people / "labels", "--json")
    elements = ("--elements", people / "people.csv", "--group", "source")
    costs = []
    for more in ((), elements, (*elements, "--group-cost", "0.5")):
        status, out, err = run("solve", people / "pairs.parquet", *options, *more)
        assert status == 0, err
        costs.append(json.loads(out)["cost"])
    assert costs == [-6.0, -3.0, -5.5]
    status, _, err = run("solve", people / "pairs.parquet", *options, "--max-size", "3")
    assert status == 2 and "--workers does not take --max-size" in err
