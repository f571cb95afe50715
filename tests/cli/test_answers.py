"""Questions and answers on the command line."""

import json
import math

import pytest

from graphpart.io.elements import read_answers

SCORE = ("--probability", "score")


@pytest.fixture
def folder(tmp_path):
    """A table of scored pairs, and one of their elements."""
    rows = ["ann,anne,0.9", "ann,anna,0.8", "anne,anna,0.7", "anna,bob,0.4", "bob,rob,0.9"]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b,score", *rows, ""]))
    (tmp_path / "people.csv").write_text("id,name\nrob,Rob\nann,Ann A\nanne,Anne A\nanna,Anna\nbob,Bob\n")
    return tmp_path


def test_questions_are_written_answered_and_read(run, folder):
    pairs, asked = folder / "pairs.csv", folder / "asked.csv"
    status, out, err = run("questions", pairs, *SCORE, "--records", folder / "people.csv", "-n", "2", "-o", asked)
    assert (status, out) == (0, "") and "2 questions" in err
    head, first, _ = asked.read_text().splitlines()
    assert head == "left,right,name_left,name_right,decision,chance,gain,answer"
    assert first.startswith("anna,bob,Anna,Bob,apart,") and first.endswith(",")
    asked.write_text(f"{head}\n{first}together\n")
    status, out, err = run("solve", pairs, *SCORE, "--answers", asked, "--json", "-o", folder / "out.csv")
    assert (status, err) == (0, "") and json.loads(out)["clusters"] == 1
    status, out, err = run("questions", pairs, *SCORE, "--answers", asked, "--labels", folder / "out.csv", "--json")
    assert status == 0
    asked_again = [{json.loads(line)["left"], json.loads(line)["right"]} for line in out.splitlines()]
    assert asked_again and {"anna", "bob"} not in asked_again


def test_names_of_records_are_in_the_column_that_id_names(run, folder):
    (folder / "turned.csv").write_text("name,key\nBob,bob\nAnna,anna\nAnn A,ann\nRob,rob\nAnne A,anne\n")
    records = ("--records", folder / "turned.csv", "--id", "key")
    status, out, err = run("questions", folder / "pairs.csv", *SCORE, *records, "-n", "1")
    assert (status, err) == (0, "") and out.splitlines()[1].startswith("anna,bob,Anna,Bob,apart,")


def test_evidence_of_several_people(run, folder):
    pairs = folder / "pairs.csv"
    for name, word in (("one", "together"), ("two", "together"), ("three", "apart")):
        (folder / f"{name}.csv").write_text(f"left,right,answer\nbob,anna,{word}\n")
    files = [part for name in ("one", "two", "three") for part in ("--answers", folder / f"{name}.csv")]
    status, out, _ = run("solve", pairs, *SCORE, *files, "--error", "0.05", "--json")
    assert status == 0 and json.loads(out)["clusters"] == 1
    status, _, err = run("solve", pairs, *SCORE, *files)
    assert (
        status == 1 and "answers contradict each other or the problem: without 1 answer, 'anna' and 'bob' apart" in err
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "answers.csv:1: the file is empty: expected a header with the names of the columns"),
        ("left,right\nann,bob\n", "answers.csv:1: no column 'answer': expected one of 'left', 'right'"),
        ("left,right,answer\nann,bob,maybe\n", "answers.csv:2: found the answer 'maybe': expected together"),
        ("left,right,answer\nx,y,apart\n", "answers.csv: 1 answer, none of them about elements of the problem"),
        ("left,right,answer\nann,,apart\n", "answers.csv:2: column 'right' is empty: expected a name"),
    ],
)
def test_wrong_files_of_answers(run, folder, text, says):
    (folder / "answers.csv").write_text(text)
    status, _out, err = run("solve", folder / "pairs.csv", *SCORE, "--answers", folder / "answers.csv")
    assert status == 1 and says in err and len(err.splitlines()) == 1


def test_a_page(run, folder):
    page = folder / "page.html"
    status, out, err = run("review", folder / "pairs.csv", *SCORE, "-o", page, "--title", "People")
    assert (status, out) == (0, "") and "4 questions" in err and "<h1>People</h1>" in page.read_text()


def test_wrong_calls(run, folder):
    pairs = folder / "pairs.csv"
    assert run("solve", pairs, *SCORE, "--error", "0.1")[::2] == (
        2,
        "graphpart: --error is without --answers: expected both\n",
    )
    status, _, err = run("questions", pairs, pairs, *SCORE)
    assert status == 2 and "2 FILEs without --on: expected one instance" in err
    status, _, err = run("review", pairs, "--on", "a", "--labels", "x", "-o", folder / "x.html")
    assert status == 2 and "--on is given with --labels or --records" in err


def test_what_questions_were_about_is_read_from_both_kinds_of_tables(tmp_path):
    """Without it, weights would be learned from answers about clusters, and F1 be estimated from chosen pairs."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    csv = tmp_path / "answers.csv"
    csv.write_text("left,right,answer,decision,chance,about\n0,1,apart,together,0.25,clusters\n1,2,,apart,,pair\n")
    rows = {"left": [0, 1], "right": [1, 2], "answer": ["apart", None], "decision": ["together", "apart"]}
    parquet.write_table(pyarrow.table(rows | {"chance": [0.25, None], "about": ["clusters", "pair"]}), tmp_path / "p")
    a, b = read_answers(csv), read_answers(tmp_path / "p")
    assert list(a) == list(b) and a["chance"][0] == b["chance"][0] and math.isnan(b["chance"][1])
    assert a["about"] == b["about"] == ["clusters", "pair"] and a["decision"] == b["decision"]
