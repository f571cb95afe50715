"""From a table of pairs to a compared partition on the command line: learn, cost, solve, compare."""

import itertools
import json

import numpy as np
import pytest

import graphpart as gp
from graphpart.learn import LogisticRegression, pairs


def write_pairs(path, X, names, y=None):
    """A table of all pairs of elements with absolute differences as attributes."""
    every = np.array(list(itertools.combinations(range(len(X)), 2)))
    attributes = pairs.pair_attributes(X, every)
    header = ["u", "v", "width", "high, wide"] + ["same"] * (y is not None)
    lines = [",".join(f'"{name}"' if "," in name else name for name in header)]
    for (a, b), x in zip(every.tolist(), attributes.tolist(), strict=True):
        label = [] if y is None else [str(int(y[a] == y[b]))]
        lines.append(",".join([f'"{names[a]}"', f'"{names[b]}"', *map(repr, x), *label]))
    path.write_text("\n".join(lines) + "\n")
    return attributes, None if y is None else np.array([y[a] == y[b] for a, b in every])


def elements(seed, classes):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), 8)
    centers = 5.0 * np.array([(k // 4, k % 4) for k in range(classes)])
    return centers[y] + rng.normal(size=(len(y), 2)) / 2, y


@pytest.fixture
def tables(tmp_path):
    X, y = elements(0, 12)
    attributes, same = write_pairs(tmp_path / "train.csv", X, [f"t{i}" for i in range(len(X))], y)
    new, truth = elements(1, 5)
    names = [f"new, {i}" for i in range(len(new))]
    write_pairs(tmp_path / "new.csv", new, names)
    rows = [f'"{name}",class {label}' for name, label in zip(names, truth, strict=True)]
    (tmp_path / "truth.csv").write_text("\n".join(["node,label", *rows[3:]]) + "\n")
    return tmp_path, attributes, same, new


def test_from_labelled_pairs_to_a_compared_partition(tables, run):
    folder, attributes, same, new = tables
    status, out, err = run("learn", folder / "train.csv", "--label", "same", "-o", folder / "model.json")
    assert (status, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["training", "held-out", "all"]
    model = LogisticRegression.load(folder / "model.json")
    expected = LogisticRegression(intercept=True).fit(attributes, same)
    assert model.theta_ == pytest.approx(expected.theta_, abs=1e-9)
    assert model.attributes_ == ("width", "high, wide")

    assert run("cost", folder / "model.json", folder / "new.csv", "-o", folder / "new_costs.csv") == (0, "", "")
    problem = gp.read(folder / "new_costs.csv")
    assert problem.n == len(new)
    C = pairs.cost_matrix(new, expected)
    labels = np.arange(len(new)) % 3
    assert problem.evaluate(labels) == pytest.approx(gp.SetPartition.from_matrix(C).evaluate(labels))

    assert run("solve", folder / "new_costs.csv", "-o", folder / "labels.csv")[0] == 0
    status, out, err = run("compare", folder / "labels.csv", folder / "truth.csv", "--json")
    facts = json.loads(out)
    assert (status, err, facts["elements"]) == (0, "", len(new) - 3)
    assert facts["adjusted_rand_index"] > 0.9 and 0.9 < facts["joins_f1"] <= 1
    status, out, _ = run("compare", folder / "labels.csv", folder / "truth.csv")
    assert status == 0 and f"adjusted rand index       {facts['adjusted_rand_index']:.6f}\n" in out


def test_scores_are_those_of_their_definitions(tables, run):
    folder, attributes, same, _ = tables
    options = ["--label", "same", "--sigma", "0.01", "--no-intercept", "--held-out", "0.5", "--seed", "3", "--json"]
    status, out, err = run("learn", folder / "train.csv", "-o", folder / "model.json", *options)
    assert (status, err) == (0, "")
    facts = json.loads(out)
    out_of_fit = np.random.default_rng(3).random(len(same)) < 0.5
    model = LogisticRegression(0.01).fit(attributes[~out_of_fit], same[~out_of_fit])
    for name, part in (("training", ~out_of_fit), ("held-out", out_of_fit)):
        score, y = facts["scores"][name], same[part]
        p = model.predict_proba(attributes[part])
        decisions = p[:, 1] > 0.5
        assert (score["pairs"], score["joins"]) == (len(y), y.sum())
        assert score["accuracy"] == pytest.approx((decisions == y).mean())
        assert score["precision"] == (pytest.approx(y[decisions].mean()) if decisions.any() else None)
        assert score["recall"] == pytest.approx(decisions[y].mean())
        assert score["bits"] == pytest.approx(-np.log2(p[np.arange(len(y)), y.astype(int)]).mean())
    assert facts["theta"] == pytest.approx(LogisticRegression(0.01).fit(attributes, same).theta_)
    assert (facts["sigma"], facts["intercept"], facts["status"]) == (0.01, False, "optimal")


def test_columns_are_chosen_by_name(tables, run):
    folder, attributes, same, _ = tables
    for options in (["--ignore", "width"], ["--attribute", "high, wide"]):
        assert run("learn", folder / "train.csv", "--label", "same", "-o", folder / "m.json", *options)[0] == 0
        model = LogisticRegression.load(folder / "m.json")
        assert model.attributes_ == ("high, wide",)
        assert model.theta_ == pytest.approx(LogisticRegression(intercept=True).fit(attributes[:, 1:], same).theta_)
    text = (folder / "new.csv").read_text().replace("u,v,", "left,right,", 1)
    (folder / "other.csv").write_text(text)
    argv = ["cost", folder / "m.json", folder / "other.csv", "-o", "-", "--u", "right", "--v", "left"]
    status, out, _ = run(*argv)
    assert status == 0 and out.splitlines()[0] == "u,v,cost" and out.splitlines()[1].startswith('"new, 1","new, 0",')


def test_standard_streams(tables, run, monkeypatch):
    folder, *_ = tables
    with open(folder / "train.csv") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        status, out, err = run("learn", "-", "--label", "same", "-o", "-", "--held-out", "0")
    assert status == 0 and json.loads(out)["attributes"] == ["width", "high, wide"]
    assert err.splitlines()[1].split()[0] == "all"  # the scores make way


def test_many_blocks(tmp_path, run):
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_001).round(3)
    y = (rng.random(len(x)) < 1 / (1 + 2 ** -(2 * x))).astype(int)
    rows = [f"{a},{b}" for a, b in zip(x, y, strict=True)]
    (tmp_path / "p.csv").write_text("x,y\n" + "\n".join(rows))
    assert run("learn", tmp_path / "p.csv", "--label", "y", "-o", tmp_path / "m.json")[0] == 0
    model = LogisticRegression.load(tmp_path / "m.json")
    assert model.n_samples_ == 20_001
    assert model.theta_ == pytest.approx(LogisticRegression(intercept=True).fit(x[:, None], y).theta_, abs=1e-8)
    rows[15_000] = "0.5,2"
    (tmp_path / "p.csv").write_text("x,y\n" + "\n".join(rows))
    assert "p.csv:15002: column 'y' has 2: expected 0 or 1" in run(
        "learn", tmp_path / "p.csv", "--label", "y", "-o", tmp_path / "m.json"
    )[2]  # fmt: skip


LEARN = ["learn", "p.csv", "--label", "y", "-o", "m.json"]
COST = ["cost", "model.json", "p.csv", "-o", "c.csv"]


@pytest.mark.parametrize(
    ("argv", "content", "message"),
    [
        (LEARN, "", "p.csv:1: the file is empty"),
        (LEARN, "\n\n", "p.csv:1: the file is empty"),
        (LEARN, "x,y\n", "p.csv:2: no row follows the header"),
        (LEARN, "x,z\n1,1\n", "p.csv:1: no column 'y': expected one of 'x', 'z'"),
        (LEARN, "x,x,y\n1,1,1\n", "p.csv:1: column 'x' occurs twice"),
        (LEARN, "x,,y\n1,1,1\n", "p.csv:1: column 2 has no name"),
        (LEARN, "u,v,y\n1,1,1\n", "p.csv:1: no column is left to learn from"),
        (LEARN, "x,y\n1,1\n\nnear,0\n", "p.csv:4: column 'x' has 'near': expected a finite number"),
        (LEARN, "x,y\n1,1\n,0\n", "p.csv:3: column 'x' has nothing: expected a finite number"),
        (LEARN, "x,y\nnan,1\n", "p.csv:2: column 'x' has 'nan'"),
        (LEARN, "x,y\n1e999,1\n", "p.csv:2: column 'x' has '1e999'"),
        (LEARN, 'x,n,y\n1,"a\nb",1\n2,c,0.5\n', "p.csv:2: column 'n' has 'a\\nb'"),
        ([*LEARN, "--ignore", "n"], 'x,n,y\n1,"a\nb",1\n2,c,0.5\n', "p.csv:4: column 'y' has 0.5: expected 0 or 1"),
        (LEARN, "x,y\n1,1\n1\n", "p.csv:3: found 1 field: expected 2, and this is the last line"),
        (LEARN, "x,y\n1,1,1\n", "p.csv:2: found 3 fields: expected 2"),
        (LEARN, 'x,y\n1,"1\n', "p.csv:2: unexpected end of data"),
        (LEARN, "x,y\n1,\x001\n", "p.csv:2: "),
        (LEARN, b"x,y\n1,\xff\n", "p.csv:2: column 'y' has '\\udcff': expected a finite number"),
        (LEARN, b"x\xff,y\n1,1\n", "p.csv:1: found 'x\\udcff': expected UTF-8 text"),
        (COST, b"u,v,x\na,\xffb,1\n", "p.csv:2: found '\\udcffb': expected UTF-8 text"),
        (LEARN, b"\x1f\x8b\x08garbage", "p.csv: the gzip data are damaged"),
        ([*LEARN, "--attribute", "w"], "x,y\n1,1\n", "p.csv:1: no column 'w'"),
        ([*LEARN, "--ignore", "w"], "x,y\n1,1\n", "p.csv:1: no column 'w'"),
        ([*LEARN, "--attribute", "y"], "x,y\n1,1\n", "is the label"),
        ([*LEARN, "--sigma", "0"], "x,y\n1,1\n", "invalid positive value: '0'"),
        ([*LEARN, "--held-out", "1"], "x,y\n1,1\n", "invalid share value: '1'"),
        (["learn", "p.csv", "--label", "y", "-o", "nowhere/m.json"], "x,y\n1,1\n", "nowhere: No such file"),
        (["learn", "q.csv", "--label", "y", "-o", "m.json"], "x,y\n1,1\n", "q.csv: No such file"),
        (COST, "u,v,y\na,b,1\n", "p.csv:1: no column 'x'"),
        (COST, "u,x\na,1\n", "p.csv:1: no column 'v'"),
        (COST, "u,v,x\na,b,1\nc,c,1\n", "p.csv:3: found the pair 'c', 'c'"),
        (COST, "u,v,x\na,,1\n", "p.csv:2: column 'v' is empty"),
        (COST, "u,v,x\na,b,?\n", "p.csv:2: column 'x' has '?'"),
        (COST, "u,v,x\n", "p.csv:2: no row follows the header"),
        (
            ["cost", "p.csv", "p.csv", "-o", "c.csv"],
            "u,v,x\n",
            "p.csv:1: expected a model in JSON; at column 1: no value",
        ),
        (["cost", "model.json", "p.csv", "-o", "c.npz"], "u,v,x\n", "expected a name that ends in .csv"),
        (["cost", "unnamed.json", "p.csv", "-o", "c.csv"], "u,v,x\n", "does not name its attributes"),
        (["cost", "-", "-", "-o", "c.csv"], "u,v,x\n", "standard input '-' is given twice"),
        (["compare", "p.csv", "labels"], "node,label\na,1\n", "expected both or neither"),
        (["compare", "p.csv", "labels"], "", "p.csv:1: the file is empty: expected labels"),
        (["compare", "labels", "p.csv"], "node,label\n", "p.csv:1: the file is empty: expected labels"),
        (["compare", "labels", "p.csv"], "1\n", "the truth has 1 label, the partition 2: expected one for each"),
        (["compare", "labels", "p.csv"], "one\n", "p.csv:1: found 'one': expected a label"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path, monkeypatch, run, argv, content, message):
    monkeypatch.chdir(tmp_path)
    LogisticRegression(intercept=True).fit([[1.0]], [1], attributes=["x"]).save("model.json")
    LogisticRegression(intercept=True).fit([[1.0]], [1]).save("unnamed.json")
    (tmp_path / "labels").write_text("0\n1\n")
    (tmp_path / "p.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(tmp_path.iterdir())
    status, out, err = run(*argv)
    assert status in (1, 2) and out == ""
    assert message in err.splitlines()[-1]
    assert err.startswith("usage") or len(err.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before  # nothing half-written


@pytest.mark.parametrize("problem", [False, True])
def test_costs_from_whole_partitions(tables, run, problem):
    folder, _, same, _ = tables
    options = ["--label", "same", "--loss", "max-margin", "--json"]
    table = folder / "train.csv"
    if problem:  # two partitions in one table
        lines = table.read_text().splitlines()
        rows = [f"{line},{p}" for p in "ab" for line in lines[1:]]
        table.write_text("\n".join([lines[0] + ",part", *rows]) + "\n")
        options += ["--problem", "part", "--held-out", "0.5", "--seed", "0"]
    status, out, err = run("learn", table, "-o", folder / "model.json", *options)
    assert (status, err) == (0, "")
    facts = json.loads(out)
    assert facts["loss"] == "max-margin" and facts["attributes"] == ["width", "high, wide"]
    assert facts["scores"]["all"]["pairs"] == len(same) * (1 + problem)
    assert set(facts["scores"]) == ({"training", "held-out", "all"} if problem else {"all"})
    model = gp.learn.load_model(folder / "model.json")
    assert isinstance(model, gp.learn.MaxMarginPartition) and model.theta_.tolist() == facts["theta"]
    assert run("cost", folder / "model.json", folder / "new.csv", "-o", folder / "new_costs.csv") == (0, "", "")
    run("solve", folder / "new_costs.csv", "-o", folder / "labels.csv")
    status, out, err = run("compare", folder / "labels.csv", folder / "truth.csv", "--json")
    assert json.loads(out)["adjusted_rand_index"] > 0.9


def test_partitions_need_decisions_of_partitions(tables, run):
    folder, *_ = tables
    (folder / "wrong.csv").write_text("u,v,x,same\na,b,1,1\nb,c,2,1\na,c,3,0\n")
    status, _, err = run(
        "learn", folder / "wrong.csv", "--label", "same", "--loss", "max-margin", "-o", folder / "model.json"
    )
    assert status == 1 and "decisions of a partition" in err
    status, _, err = run("learn", folder / "wrong.csv", "--label", "same", "--problem", "x", "-o", folder / "m.json")
    assert status != 0 and "--loss max-margin" in err
