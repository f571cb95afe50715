"""Tables of the command line on narrow terminals, and files that labels are not written to."""

import sys

import pytest

import graphpart as gp
from graphpart.cli import display, main


def test_numbers_are_whole_at_80_columns(monkeypatch, capsys):
    monkeypatch.setattr(display, "on_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "80")
    columns = ["method:", "n", "pairs", "cost.", "lower_bound.", "gap", "status:", "clusters", "seconds."]
    row = {
        "method": "kernighan-lin-pairs", "n": 1_234_567, "pairs": 2891392, "cost": -1234567.891,
        "lower_bound": -1234568.912, "gap": "0.0001%", "status": "local_optimum", "clusters": 345678,
        "seconds": "1234.567",
    }  # fmt: skip
    with display.Table(["a-file-with-a-long-name.json"], columns) as table:
        table.add("a-file-with-a-long-name.json", row)
    text = capsys.readouterr().out
    for value in ("1234567", "2891392", "-1234567.891", "-1234568.912", "0.0001%", "345678", "1234.567"):
        assert value in text.split()
    assert "".join(line.split()[0] for line in text.splitlines()[3:] if line.strip()).startswith("a-file-w")


@pytest.mark.parametrize(("objective", "shown"), [(-1234567.5, False), (1234567.5, True)])
def test_what_equals_the_cost_is_left_out_at_80_columns(monkeypatch, capsys, objective, shown):
    monkeypatch.setattr(display, "on_terminal", lambda stream: True)
    row = {"n": 12345, "cost": -1234567.5, "objective": objective, "bound": -1234568.5, "status": "local_optimum"}
    for width, there in (("80", shown), ("200", True)):
        monkeypatch.setenv("COLUMNS", width)
        with display.Table(
            ["name-of-a-file-of-44-letters.json"], ["n", "cost.", "objective.", "bound.", "status:"]
        ) as t:
            t.add("name-of-a-file-of-44-letters.json", row)
        head, *lines = capsys.readouterr().out.splitlines()[1:]
        assert ("objective" in head) == there and "-1234568.5" in " ".join(lines).split()


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet", ".npy"])
def test_labels_are_refused_where_the_suffix_is_of_another_table(tmp_path, capsys, suffix):
    file, out = tmp_path / "p.csv", tmp_path / f"out{suffix}"
    file.write_text("u,v,cost\n1,2,-0.5\n2,3,0.25\n")
    assert main(["solve", str(file), "-o", str(out)]) == 2
    captured = capsys.readouterr()
    assert f"labels are not written as {suffix}: expected .csv" in captured.err and captured.err.count("\n") == 1
    assert not out.exists() and captured.out == ""
    with pytest.raises(gp.InvalidOption, match=r"expected .csv, .labels, .json, .npz"):
        gp.write_labels(gp.solve(gp.read(file)), out)
    assert main(["solve", str(file), "-o", str(tmp_path / "out.csv")]) == 0
    assert (tmp_path / "out.csv").exists() and sys.stdout


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("--time-limt", "; did you mean '--time-limit'?"),
        ("--time_limit=5", "; did you mean '--time-limit'?"),
        ("--zzz", ""),
        ("--source=origin", "; the column is named by --group"),
    ],
)
def test_misspelt_options_are_told_apart(capsys, given, hint):
    assert main(["solve", "p.csv", given]) == 2
    expected = f"graphpart solve: error: unrecognized arguments: {given}{hint} (see graphpart solve --help)\n"
    assert capsys.readouterr().err == expected


def test_columns_without_commas_and_groups_of_records_are_told(capsys):
    for rest, hint in (
        (["last", "birth"], "; commas between columns: --on first,last,birth"),
        (["last", "birth", "-o", "out.csv"], "; commas between columns: --on first,last,birth"),
        (["--group", "list"], "; the column is named by --source"),
    ):
        assert main(["match", "people.csv", "--on", "first", *rest]) == 2
        assert f"{hint} (see graphpart match --help)" in capsys.readouterr().err
