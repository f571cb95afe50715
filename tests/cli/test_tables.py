"""The command line on tables with columns of any names, on folders, and with checkpoints for several files."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

import graphpart as gp
from graphpart.io import read_pairs

TABLE = "id1,id2,jaccard,note\nann,anne,0.9,x\nann,bob,0.25,\nanne,bob,0.3,y\nbob,bert,0.75,z\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(TABLE)
    return path


class TestColumns:
    def test_by_name(self, run, table, tmp_path):
        for extra in ((), ("--left", "id2"), ("--left", "id1", "--right", "id2")):
            status, out, err = run(
                "solve",
                table,
                "--similarity",
                "jaccard",
                "--threshold",
                0.5,
                *extra,
                "--json",
                "-o",
                tmp_path / "l.csv",
            )
            assert (status, err) == (0, "") and json.loads(out)["cost"] == pytest.approx(-0.65)
            labels = gp.read_labels(tmp_path / "l.csv")
            assert labels["ann"] == labels["anne"] != labels["bob"] == labels["bert"]
        status, out, err = run("solve", table, "--probability", "jaccard", "--threshold", "0.5", "--json")
        assert (status, err) == (0, "") and json.loads(out)["subsets"] == 2
        status, out, err = run("info", table, "--weight", "jaccard", "--json")
        assert (status, err) == (0, "") and json.loads(out)["attractive"] == 4
        status, out, err = run(
            "evaluate", table, tmp_path / "l.csv", "--similarity", "jaccard", "--threshold", 0.5, "--json"
        )
        assert (status, err) == (0, "") and json.loads(out)["cost"] == pytest.approx(-0.65)

    def test_standard_input_and_compression(self, run, monkeypatch, table):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TABLE.encode()))))
        status, out, _ = run("solve", "-", "--similarity", "jaccard", "--threshold", 0.5, "--json")
        assert status == 0 and json.loads(out)["cost"] == pytest.approx(-0.65)

    def test_a_weight_read_as_a_cost_is_warned_of(self, run, table, tmp_path):
        path = tmp_path / "s.csv"
        path.write_text(TABLE.replace("jaccard", "score"))
        status, _, err = run("solve", path, "--cost", "score")
        lines = err.splitlines()
        assert (
            status == 0 and len(lines) == 2 and all(line.startswith(f"graphpart: warning: {path}: ") for line in lines)
        )
        assert "column 'score' is read as a cost" in lines[0] and "lie in [0, 1]" in lines[1]
        assert run("solve", path, "--cost", "score", "--quiet")[2] == ""

    @pytest.mark.parametrize(
        ("text", "args", "message"),
        [
            (TABLE, ["--similarity", "sim"], ":1: no column 'sim': expected one of 'id1', 'id2', 'jaccard', 'note'"),
            (TABLE, ["--similarity", "jaccard", "--left", "x"], ":1: no column 'x'"),
            (TABLE, ["--cost", "note"], ":2: column 'note' has 'x': expected a number"),
            (TABLE + "cid,cid,0.5,\n", ["--cost", "jaccard"], ":6: 'cid' is paired with itself"),
            (TABLE + "cid,,0.5,\n", ["--cost", "jaccard"], ":6: column 'id2' is empty"),
            (TABLE + "cid,dan,1.5,\n", ["--probability", "jaccard"], ":6: column 'jaccard' has 1.5: expected a probab"),
            (TABLE + "cid,dan,nan,\n", ["--cost", "jaccard"], ":6: column 'jaccard' has nan: expected a number"),
            (TABLE + "cid,dan,,\n", ["--cost", "jaccard"], ":6: column 'jaccard' has nothing: expected a number"),
            ("a,b,c\n", ["--cost", "c"], ":2: no row follows the header: expected pairs"),
            ("", ["--cost", "c"], ":1: the file is empty"),
            ("c\n1\n", ["--cost", "c"], ":1: no column is left beside 'c'"),
        ],
    )
    def test_mistakes_in_the_table(self, run, tmp_path, text, args, message):
        path = tmp_path / "t.csv"
        path.write_text(text)
        status, _, err = (
            run("solve", path, *args, "--threshold", "0.5") if "--cost" not in args else run("solve", path, *args)
        )
        assert status == 1 and err.startswith(f"graphpart: {path}{message}") and err.count("\n") == 1

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["--threshold", "0.5"], "--threshold without values: expected --cost, --weight"),
            (["--left", "id1"], "--left without values"),
            (["--similarity", "jaccard"], "similarity without threshold"),
            (["--cost", "jaccard", "--threshold", "1"], "threshold is for similarities"),
            (["--cost", "jaccard", "--format", "uai"], "--format uai has no columns"),
            (["--cost", "jaccard", "--weight", "jaccard"], "not allowed with argument"),
        ],
    )
    def test_mistakes_in_the_call(self, run, table, args, message):
        status, _, err = run("solve", table, *args)
        assert status == 2 and message in err

    def test_parquet(self, run, table, tmp_path):
        """The same problem as in CSV, by the same options; labels and proofs too."""
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = {"id1": ["ann", "ann", "anne", "bob"], "id2": ["anne", "bob", "bob", "bert"]}
        path = tmp_path / "pairs.parquet"
        pq.write_table(pa.table({"note": [None] * 4, **columns, "jaccard": [0.9, 0.25, 0.3, 0.75]}), path)
        named = ("--left", "id1", "--right", "id2", "--similarity", "jaccard", "--threshold", "0.5")
        for name in (path, table):
            status, _, err = run("solve", name, *named, "-o", tmp_path / f"{name.suffix}.csv")
            assert (status, err) == (0, "")
        assert (tmp_path / ".parquet.csv").read_bytes() == (tmp_path / ".csv.csv").read_bytes()
        proof = ("--certificate", tmp_path / "proof.json", "-o", tmp_path / "labels.csv", "--quiet")
        assert run("solve", path, *named, *proof)[0] == 0
        status, out, _ = run("verify", path, tmp_path / "labels.csv", tmp_path / "proof.json", *named, "--exact")
        assert status == 0 and out.split()[-1] == "yes"
        p, q = (read_pairs(name, "id1", "id2", probability="jaccard") for name in (path, table))
        assert p.nodes == q.nodes and all((a == b).all() for a, b in zip(p.pairs(), q.pairs(), strict=True))
        with gzip.open(tmp_path / "pairs.parquet.gz", "wb") as stream:
            stream.write(path.read_bytes())
        assert read_pairs(tmp_path / "pairs.parquet.gz", "id1", "id2", weight="jaccard").evaluate([0] * 4) == -2.2

    def test_mistakes_with_parquet(self, run, tmp_path, monkeypatch):
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "pairs.parquet"

        def fails(*args, columns=None, status=1):
            if columns is not None:
                pq.write_table(pa.table(columns), path)
            found, _, err = run("solve", path, *args)
            assert found == status and err.startswith(f"graphpart: {path}: ") and err.count("\n") == 1
            return err

        good = {"u": [1, 2], "v": [2, 3], "cost": [1.0, -2.0]}
        assert "no column 'w': expected one of 'u', 'v', 'cost'" in fails("--weight", "w", columns=good)
        assert "a Parquet file: name its columns: --left" in fails()
        assert "has 1.0 in row" not in fails("--probability", "cost")  # -2 is the first that is none
        assert "column 'cost' has -2.0 in row 1: expected a probability" in fails("--probability", "cost")
        assert "row 1 pairs 3 with itself" in fails("--cost", "cost", columns=good | {"u": [1, 3]})
        assert "is null in row 0" in fails("--cost", "cost", columns=good | {"u": [None, 3]})
        assert "is null or NaN in row 1" in fails("--cost", "cost", columns=good | {"cost": [1.0, None]})
        assert "does not hold numbers" in fails("--cost", "cost", columns=good | {"cost": ["a", "b"]})
        empty = {"u": pa.array([], pa.int64()), "v": pa.array([], pa.int64()), "cost": pa.array([], pa.float64())}
        assert "the table has no rows" in fails("--cost", "cost", columns=empty)
        assert "no column is left beside 'cost'" in fails("--cost", "cost", columns={"cost": [1.0]})
        pq.write_table(pa.table(good), path)
        path.write_bytes(path.read_bytes()[:-20])
        assert "the Parquet file is damaged" in fails("--cost", "cost")
        found, _, err = run("solve", tmp_path, "--cost", "cost")
        assert found == 2 and "a folder of Parquet files is solved in parts: expected --workers" in err
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(gp.MissingDependency, match="reading Parquet files needs the package pyarrow"):
            read_pairs(path, cost="cost")

    def test_infinite_costs_and_integers(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("w,a,b\n-inf,10,2\ninf,2,3\n1.5,3,10\n")
        p = read_pairs(path, cost="w")
        assert list(p.nodes) == [2, 3, 10] and p.must_join.tolist() == [[0, 2]] and p._must_cut.tolist() == [[0, 1]]
        path.write_text('w,a,b\n1,7,"x, y"\n2,007,7\n')
        assert list(read_pairs(path, weight="w").nodes) == [7, "x, y", "007"]

    def test_random_tables_are_the_same_problem_as_their_columns(self):
        rng = np.random.default_rng(0)
        for seed in range(20):
            m = int(rng.integers(1, 60))
            u = rng.integers(0, 12, m)
            v, w = (u + rng.integers(1, 12, m)) % 12, rng.normal(size=m)
            for name in ("n{}".format, str):
                rows = [(name(a), name(b), c) for a, b, c in zip(u.tolist(), v.tolist(), w.tolist(), strict=True)]
                text = "a,b,w\n" + "".join(f"{a},{b},{c!r}\n" for a, b, c in rows)
                p = read_pairs(io.BytesIO(text.encode()), cost="w", duplicates="sum")
                kind = int if name is str else str
                columns = {"a": [kind(r[0]) for r in rows], "b": [kind(r[1]) for r in rows], "w": w}
                q = gp.SetPartition.from_frame(columns, "a", "b", cost="w", duplicates="sum")
                assert list(p.nodes) == list(q.nodes), seed
                assert all((x == y).all() for x, y in zip(p.pairs(), q.pairs(), strict=True)), seed


class TestFoldersAndCheckpoints:
    @pytest.fixture
    def folder(self, tmp_path):
        path = tmp_path / "instances"
        path.mkdir()
        for k in range(3):
            gp.write(gp.generate.planted_partition(12 + k, 3, sigma=0.5, seed=k).problem, path / f"p{k}.npz")
        (path / "notes.txt").write_text("not an instance")
        return path

    def test_solve_takes_folders(self, run, folder, tmp_path):
        status, out, _ = run("solve", folder, "--json", "-o", tmp_path / "out")
        assert status == 0 and [json.loads(line)["n"] for line in out.splitlines()] == [12, 13, 14]
        written = [*(f"p{k}.npz.labels" for k in range(3)), "results.jsonl"]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == written
        status, out, _ = run("info", folder, "--json")
        assert status == 0 and len(out.splitlines()) == 3
        (tmp_path / "empty").mkdir()
        status, _, err = run("solve", tmp_path / "empty")
        assert status == 2 and "no instances there" in err

    def test_checkpoints_of_several_files(self, run, folder, tmp_path):
        points = tmp_path / "points"
        status, out, _ = run("solve", folder, "--json", "--checkpoint", points)
        assert status == 0
        costs = [json.loads(line)["cost"] for line in out.splitlines()]
        for k, cost in enumerate(costs):
            p = gp.read(folder / f"p{k}.npz")
            assert p.evaluate(gp.read_labels(points / f"p{k}.npz.labels", p)) == cost
        status, out, _ = run("solve", folder, "--json", "--checkpoint", points, "--time-limit", 0)
        assert status == 0 and [json.loads(line)["cost"] for line in out.splitlines()] == costs

    def test_a_checkpoint_keeps_the_bound(self, tmp_path):
        p = gp.generate.planted_partition(40, 4, sigma=1.0, seed=1).problem
        file = tmp_path / "point.labels"
        first = gp.solve(p, checkpoint=file)
        assert first.status == gp.Status.OPTIMAL
        again = gp.solve(p, checkpoint=file, time_limit=0)
        assert again.status == gp.Status.OPTIMAL and again.lower_bound == again.cost == first.cost
        assert "bound of the checkpoint" in again.message
        assert gp.solve(p, "search", max_iterations=0, checkpoint=file).status == gp.Status.OPTIMAL
        # of another problem over the same elements, the bound says nothing
        q = gp.generate.planted_partition(40, 4, sigma=1.0, seed=2).problem
        other = gp.solve(q, checkpoint=file, time_limit=0)
        assert other.lower_bound < first.lower_bound or other.cost != first.cost
        assert other.status != gp.Status.OPTIMAL
        file.with_name("point.labels.bound").write_text("[]")
        with pytest.raises(gp.FormatError, match="not the bound of a checkpoint"):
            gp.solve(p, checkpoint=file)


class TestOptions:
    def test_min_marginals_are_printed_or_refused(self, run, tmp_path):
        f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 3.0], [np.inf, 1.0]]])])
        gp.write(f, tmp_path / "f.json")
        call = ["solve", tmp_path / "f.json", "--method", "min-sum", "--option", "min_marginals=true"]
        status, out, _ = run(*call, "--json")
        assert status == 0 and json.loads(out)["min_marginals"] == {"0": [0.0, 1.0], "1": [0.0, 1.0]}
        status, out, err = run(*call)
        assert (status, out) == (2, "") and "they are printed with --json only" in err
        status, _, err = run("solve", tmp_path / "f.json", "--method", "min-sum", "--option", "messages=true")
        assert status == 2 and "does not print messages" in err

    def test_infinite_min_marginals_are_null(self, run, tmp_path):
        f = gp.FactorGraph.from_arrays([2], [([[0]], [[0.0, np.inf]])])
        gp.write(f, tmp_path / "f.json")
        _, out, _ = run("solve", tmp_path / "f.json", "--method", "min-sum", "--option", "min_marginals=true", "--json")
        assert json.loads(out)["min_marginals"] == {"0": [0.0, None]}
