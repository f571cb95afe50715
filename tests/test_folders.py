"""Folders of instances: solved, resumed, by several processes, interrupted; from Python and from the shell."""

import csv
import json
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from children import child

import graphpart as gp
from graphpart.cli import main
from graphpart.cli.interrupt import Interrupt
from graphpart.generate import planted_partition


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "in"
    made.mkdir()
    for k in range(3):
        gp.write(planted_partition(12, 3, 1.0, seed=k).problem, made / f"p{k}.json")
    (made / "broken.csv").write_text("no header\n")
    return made


def statuses(solved):
    return {os.path.basename(one.path): (one.record["status"], one.skipped) for one in solved}


def test_files_without_a_known_suffix_are_named(folder, capsys):
    for name in ("a.graphml", "b.graphml", "c.tsb", "p0.json.labels", "results.jsonl", "make.py", ".hidden"):
        (folder / name).write_text("x")
    with pytest.warns(gp.GraphPartWarning, match="3 files left out, since no format has the suffix: .graphml, .tsb$"):
        gp.solve_files(folder)
    main(["info", str(folder)])
    assert "3 files left out" in capsys.readouterr().err


def test_tables_of_scores_in_a_folder(tmp_path, capsys):
    pairs = [("ann", "anne", 0.9), ("ann", "bob", 0.2), ("bob", "rob", 0.8), ("bob", "anne", 0.4)]
    for k, shift in enumerate((0.0, 0.05)):
        rows = "".join(f"{a},{b},{p + shift}\n" for a, b, p in pairs)
        (tmp_path / f"t{k}.csv").write_text("id1,id2,score\n" + rows)
    out = tmp_path / "out"
    solved = list(gp.solve_files(tmp_path, probability="score", left="id1", right="id2", output=out))
    assert [sorted(map(sorted, one.result.clusters)) for one in solved] == [[["ann", "anne"], ["bob", "rob"]]] * 2
    assert main(["solve", str(tmp_path), "--probability", "score", "--json"]) == 0
    costs = [json.loads(line)["cost"] for line in capsys.readouterr().out.splitlines()]
    assert [one.record["cost"] for one in solved] == costs
    columns = {"probability": "score", "output": out}
    assert all(one.skipped for one in gp.solve_files(tmp_path, left="id1", right="id2", **columns))
    # what is required changes the problem, so proven results of another one are not taken
    alone = list(gp.solve_files(tmp_path, max_size=1, **columns))
    assert [one.record["clusters"] for one in alone] == [4, 4] and not any(one.skipped for one in alone)
    people = {"id": ["ann", "anne", "bob", "rob", "eve"], "source": ["x", "x", "x", "y", "z"]}
    grouped = list(gp.solve_files(tmp_path, elements=people, id="id", groups="source", **columns))
    assert [one.record["clusters"] for one in grouped] == [4, 4]
    people = people | {"source": ["x", "y", "x", "y", "z"]}
    grouped = list(gp.solve_files(tmp_path, elements=people, id="id", groups="source", **columns))
    assert [one.record["clusters"] for one in grouped] == [3, 3]
    one = next(gp.solve_files(tmp_path / "t0.csv", probability="chance"))
    assert "chance" in one.record["message"] and "id1" in one.record["message"]
    with pytest.raises(gp.InvalidOption, match="expected one of cost, weight"):
        list(gp.solve_files(tmp_path, left="id1"))


def test_requirements_change_what_is_known_of_a_file(folder, tmp_path):
    out = tmp_path / "out"
    free = list(gp.solve_files(folder / "p0.json", output=out))
    small = list(gp.solve_files(folder / "p0.json", output=out, max_size=2))
    assert free[0].record["status"] == "optimal" and not small[0].skipped and small[0].record["clusters"] >= 6


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_is_solved_and_resumed(folder, tmp_path, jobs):
    out = tmp_path / "out"
    files = gp.solve_files(folder, output=out, jobs=jobs)
    assert "for solved in" in repr(files)
    first = list(files)
    table = files.to_frame()
    assert repr(files) == "<SolvedFiles: 4 of 4 files>" and table["file"].tolist() == [one.path for one in first]
    assert len({tuple(solved.record) for solved in first}) == 1  # a broken file is a row of the same table
    assert statuses(first) == {"broken.csv": ("broken", False)} | {f"p{k}.json": ("optimal", False) for k in range(3)}
    for solved in first:
        if solved.result is None:
            assert isinstance(solved.error, gp.GraphPartError) and "broken.csv:1: " in solved.record["message"]
        else:
            problem = gp.read(solved.path)
            labels = gp.read_labels(out / (os.path.basename(solved.path) + ".labels"), problem)
            assert problem.evaluate(labels) == solved.record["cost"] == gp.solve(problem).cost
    names = sorted(os.listdir(out))
    assert names == ["p0.json.labels", "p1.json.labels", "p2.json.labels", "results.jsonl"]
    # proven ones are skipped, whatever the options; what has changed or lost its labels is not
    gp.write(planted_partition(13, 3, 1.0, seed=9).problem, folder / "p1.json")
    os.remove(out / "p2.json.labels")
    with open(out / "results.jsonl", "ab") as stream:
        stream.write(b'{"digest": "a line that was cut')
    again = list(gp.solve_files(folder, output=out, jobs=jobs, time_limit=3))
    assert statuses(again) == {
        "broken.csv": ("broken", False), "p0.json": ("optimal", True), "p1.json": ("optimal", False),
        "p2.json": ("optimal", False),
    }  # fmt: skip
    costs = {one.path: one.record["cost"] for one in first}
    assert again[1].record["cost"] == costs[again[1].path] and again[1].record["file"] == again[1].path
    assert not any(one.skipped for one in gp.solve_files(folder, output=out, resume=False))


def test_what_is_not_proven_is_solved_again_with_other_options(folder, tmp_path):
    out = tmp_path / "out"
    files = sorted(folder.glob("p*.json"))
    assert not any(one.skipped for one in gp.solve_files(files, "greedy-joining", output=out))
    assert all(one.skipped for one in gp.solve_files(files, "greedy-joining", output=out))
    assert not any(one.skipped for one in gp.solve_files(files, "greedy-moving", output=out))


def test_options_that_change_the_problem_count(folder, tmp_path, capsys):
    out, cuts = str(tmp_path / "out") + os.sep, tmp_path / "apart.csv"
    call = ["solve", *map(str, sorted(folder.glob("p*.json"))), "-o", out]
    for options, skipped in (([], False), (["--seed", "3"], True), (["--max-size", "2"], False), ([], False)):
        assert main([*call, *options]) == 0
        assert ("skipped" in capsys.readouterr().err) == skipped
    for pair, skipped in (("0,1", False), ("0,1", True), ("0,2", False)):
        cuts.write_text(f"left,right\n{pair}\n")
        assert main([*call, "--apart", str(cuts)]) == 0
        assert ("skipped" in capsys.readouterr().err) == skipped


def test_wrong_calls(folder, tmp_path):
    with pytest.raises(gp.InvalidOption, match="jobs is 0"):
        gp.solve_files(folder, jobs=0)
    with pytest.raises(gp.InvalidOption, match="no instances there"):
        gp.solve_files(tmp_path)
    with pytest.raises(gp.InvalidOption, match="two files have the same name"):
        list(gp.solve_files([folder / "p0.json", folder / "p0.json"], output=tmp_path / "out"))
    with pytest.raises(gp.InvalidOption, match="takes no nonsense"):
        list(gp.solve_files(folder, nonsense=1))


def test_the_command_line_does_the_same(folder, tmp_path, capsys):
    out, table = tmp_path / "out", tmp_path / "table.csv"
    assert main(["solve", str(folder), "-o", str(out) + os.sep, "--csv", str(table)]) == 1
    printed = capsys.readouterr()
    assert "broken.csv:1: " in printed.err and re.search(r"broken.csv .* broken", printed.out)
    with open(table, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["status"] for row in rows] == ["broken", "optimal", "optimal", "optimal"]
    costs = [float(row["cost"]) for row in rows[1:]]
    assert np.allclose(costs, [gp.solve(gp.read(folder / f"p{k}.json")).cost for k in range(3)])
    assert main(["solve", str(folder), "-o", str(out), "--csv", str(table), "--json"]) == 1
    printed = capsys.readouterr()
    assert "3 files have results" in printed.err
    records = [json.loads(line) for line in printed.out.splitlines()]
    assert [record["cost"] for record in records] == costs
    assert main(["solve", str(folder), "-o", str(out), "--no-resume", "--jobs", "2"]) == 1
    assert "skipped" not in capsys.readouterr().err
    assert main(["solve", str(folder / "p0.json"), "--resume"]) == 2
    assert "--resume is without -o FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGTERM, 1), (signal.SIGTERM, 2), (signal.SIGINT, 2)])
def test_an_end_keeps_the_best_and_whole_files_only(tmp_path, number, jobs):
    folder, out, marks = (tmp_path / name for name in ("in", "out", "marks"))
    folder.mkdir()
    for k in range(3):
        gp.write(planted_partition(300, 20, 3.0, seed=k).problem, folder / f"p{k}.npz")
    argv = [sys.executable, "-m", "graphpart", "solve", folder, "-o", out, "--jobs", jobs, "--checkpoint", marks]
    argv += ["--method", "search", "--seed", 1, "--time-limit", 300]
    with child(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 120
        while not marks.exists() or len([name for name in os.listdir(marks) if name.endswith(".labels")]) < jobs:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        printed, said = process.communicate(timeout=100)
    assert process.returncode == 130 and "Traceback" not in said and "not begun" in said, said
    made = sorted(name for name in os.listdir(out) if name.endswith(".labels"))
    assert made == [f"p{k}.npz.labels" for k in range(jobs)] and printed.count("interrupted") == jobs
    assert not any(name.endswith(".tmp") for name in (*os.listdir(out), *os.listdir(marks)))
    for name in made:
        problem = gp.read(folder / name.removesuffix(".labels"))
        assert problem.evaluate(gp.read_labels(out / name, problem)) < 0


def test_a_path_that_does_not_exist(tmp_path):
    missing = f"{tmp_path}/nofolder"
    for call in (gp.solve_files, gp.read):
        with pytest.raises(gp.FormatError, match=r"nofolder: No such file or directory$") as caught:
            call(missing)
        assert isinstance(caught.value, FileNotFoundError)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_path_in_place_of_a_problem(tmp_path):
    with pytest.raises(gp.InvalidProblem, match=r"got str: .*; gp.read\(path\) reads one from a file"):
        gp.solve("p.json")
    for folder in (str(tmp_path), tmp_path, "inst/"):
        with pytest.raises(gp.InvalidProblem, match=r"; gp.solve_files\(folder\) solves the files of a folder"):
            gp.solve(folder)


@pytest.mark.parametrize("progress", [False, True])
def test_a_callback_of_one_argument_is_refused_before_the_run(progress):
    p = gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0])
    with pytest.raises(gp.InvalidOption, match=r"callback takes \(c\): expected a callable taking"):
        gp.solve(p, callback=lambda c: None, progress=progress)


@pytest.mark.parametrize("shell", [False, True])
def test_a_shorter_run_does_not_replace_a_better_result(tmp_path, shell, capsys):
    costs = np.random.default_rng(0).normal(size=(40, 40))
    made, out = tmp_path / "in", tmp_path / "out"
    made.mkdir()
    gp.write(gp.SetPartition.from_matrix(costs + costs.T), made / "p.json")

    def run(method, **more):
        if not shell:
            return next(iter([one.record["cost"] for one in gp.solve_files(made, method, output=out, **more)]))
        options = ["--no-resume"] if more else []
        assert main(["solve", str(made), "-o", f"{out}/", "--json", "--method", method, *options]) == 0
        captured = capsys.readouterr()
        kept.append("the earlier result is better" in captured.err)
        return json.loads(captured.out)["cost"]

    kept = []
    best = run("kernighan-lin")
    labels = (out / "p.json.labels").read_bytes()
    assert run("mutex-watershed") == best  # costs more
    assert (out / "p.json.labels").read_bytes() == labels
    assert run("mutex-watershed", resume=False) > best
    assert (out / "p.json.labels").read_bytes() != labels
    assert run("kernighan-lin") == best
    assert not shell or kept == [False, True, False, False]


def test_ctrl_c_ends_the_iteration(folder, tmp_path):
    costs = np.random.default_rng(0).normal(size=(60, 60))
    gp.write(gp.SetPartition.from_matrix(costs + costs.T), folder / "a.npy")  # the first one, not proven in its time

    def stop(seconds, cost):
        signal.raise_signal(signal.SIGINT)

    solved = list(gp.solve_files(folder, callback=stop, output=tmp_path / "out"))
    assert [os.path.basename(one.path) for one in solved] == ["a.npy"] and solved[0].interrupted
    assert solved[0].record["status"] == "interrupted" and (tmp_path / "out" / "a.npy.labels").exists()
    with pytest.warns(gp.GraphPartWarning, match=r"has 1 of 5 files, since Ctrl-C ended the run"):
        assert len(gp.solve_files(folder, callback=stop).to_frame()) == 1
    ended = list(gp.solve_files(folder, callback=lambda seconds, cost: True))  # each file, by the callback
    assert len(ended) == 5 and not any(one.interrupted for one in ended)


@pytest.mark.parametrize("shell", [False, True])
def test_interrupted_results_are_replaced_by_better_ones_only(tmp_path, shell, capsys, monkeypatch):
    costs = np.random.default_rng(0).normal(size=(150, 150))
    made, out = tmp_path / "in", tmp_path / "out"
    made.mkdir()
    for name in ("a", "b"):
        gp.write(gp.SetPartition.from_matrix(costs + costs.T), made / f"{name}.npy")

    def run(method, below):
        """Ctrl-C as soon as the cost is below a number; the costs of the files that were begun."""
        signals = [signal.SIGINT]

        def stop(seconds, cost):
            if signals and cost < below:
                signal.raise_signal(signals.pop())

        if not shell:
            return [one.record["cost"] for one in gp.solve_files(made, method, output=out, callback=stop)]
        with monkeypatch.context() as patch:
            patch.setattr(Interrupt, "__call__", lambda self, seconds, cost: stop(seconds, cost) or self.asked)
            assert main(["solve", str(made), "-o", str(out), "--json", "--method", method]) == 130
        return [json.loads(line)["cost"] for line in capsys.readouterr().out.splitlines()]

    (first,) = run("search", -500.0)
    labels = (out / "a.npy.labels").read_bytes()
    assert first < -500 and run("kernighan-lin", math.inf) == [first]  # which ended at once, and not with the next file
    assert (out / "a.npy.labels").read_bytes() == labels
    (better,) = run("search", first)  # the same options: an interrupted run is repeated
    assert better < first


def test_a_script_without_a_guard_is_told_so(folder, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import graphpart as gp\nprint(list(gp.solve_files({str(folder)!r}, jobs=2)))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.count("Traceback") == 1 and "below if __name__" in done.stderr.splitlines()[-1], done.stderr


def test_a_folder_with_one_instance_has_a_folder_of_results(tmp_path, capsys):
    made, out = tmp_path / "in", tmp_path / "out"
    made.mkdir()
    for k in range(2):
        gp.write(planted_partition(6, 2, 0.1, seed=k).problem, made / f"{k}.npy")
        assert main(["solve", str(made), "-o", str(out), "--quiet"]) == 0
        assert sorted(os.listdir(out)) == [*(f"{j}.npy.labels" for j in range(k + 1)), "results.jsonl"]
    assert main(["solve", str(made), "-o", str(made / "0.npy")]) == 2
    assert "0.npy is a file: expected a folder, since FILE is one" in capsys.readouterr().err


def test_columns_are_those_of_tables_only(folder, capsys):
    (folder / "t.csv").write_text("x,y,s\na,b,0.9\nb,c,0.2\n")
    (folder / "broken.csv").unlink()
    found = statuses(gp.solve_files(folder, left="x", right="y", probability="s"))
    assert set(found) == {"p0.json", "p1.json", "p2.json", "t.csv"} and set(found.values()) == {("optimal", False)}
    assert main(["solve", str(folder), "--left", "x", "--right", "y", "--probability", "s", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    with pytest.raises(
        gp.InvalidOption, match="format json has no columns: expected a table, CSV or Parquet, or no left"
    ):
        gp.read(folder / "p0.json", left="x", cost="s")


@pytest.mark.parametrize("shell_first", [True, False])
def test_the_shell_and_python_know_each_others_results(tmp_path, shell_first, capsys):
    """A better one of the other is kept, and with the same options nothing is solved again."""
    rng = np.random.default_rng(0)
    lines = [f"{i},{j},{rng.normal()}" for i in range(40) for j in range(i)]
    (tmp_path / "a.csv").write_text("from,to,cost\n" + "\n".join(lines))
    out, short = tmp_path / "out", {"method": "greedy-joining", "max_iterations": 3}

    def by_shell():
        arguments = ["--left", "from", "--right", "to", "--cost", "cost", "--method", "greedy-joining"]
        arguments += ["--max-iterations", "3"]
        assert main(["solve", str(tmp_path / "a.csv"), "-o", str(out) + os.sep, *arguments]) == 0
        return "1 file has a result" in capsys.readouterr().err

    def by_python():
        (one,) = gp.solve_files(tmp_path / "a.csv", output=out, left="from", right="to", cost="cost", **short)
        assert one.record["elements"] == 40 and one.record["cost"] < 0 and one.record["file"] == one.path
        return one.skipped

    one, other = (by_shell, by_python) if shell_first else (by_python, by_shell)
    assert not one() and other() and one()
