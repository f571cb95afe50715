"""Every command through `main`: what it prints, what it writes, and its exit status."""

import csv
import json
import re
from importlib import import_module

import numpy as np
import pytest

import graphpart as gp
from graphpart.cli import COMMANDS
from graphpart.cli.summary import family_of
from graphpart.generate import FAMILIES
from graphpart.io import FORMATS
from graphpart.methods import METHODS

KEYS = ["file", "n", "method", "cost", "objective", "objective_bound", "lower_bound", "gap", "status"]
KEYS += ["clusters", "subsets", "seconds", "message"]
METHOD = "kernighan-lin"

# Two triangles of similar elements, joined by one dissimilar pair.
TRIANGLES = "u,v,cost\na,b,-2\nb,c,-1\na,c,-1\nd,e,-1\ne,f,-1\nd,f,-2\nc,d,3\n"


@pytest.fixture
def triangles(tmp_path):
    path = tmp_path / "triangles.csv"
    path.write_text(TRIANGLES)
    return str(path)


def cells(table):
    """The cells of a plain table, with the last column, seconds, replaced where it is a number."""
    rows = [re.split(r"\s{2,}", line) for line in table.splitlines()]
    return [[*row[:-1], re.sub(r"^\d+\.\d{3}$", "#", row[-1])] for row in rows]


# ------------------------------------------------------------------------------------------------------- the commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_a_module_with_help(name, run):
    command = import_module(f"graphpart.cli.{name}")
    assert name == command.NAME
    status, out, err = run(name, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: graphpart {name}")
    assert command.HELP in " ".join(run("--help")[1].split())


def test_version(run):
    assert run("--version") == (0, f"graphpart {gp.__version__}\n", "")


def test_help_of_solve_lists_all_methods_and_formats(run):
    out = run("solve", "--help")[1]
    for method in METHODS:
        assert re.search(rf"^  {method.name} +{re.escape(method.summary)}$", out, re.MULTILINE)
    assert re.search(r"^  kernighan-lin-pairs +klj, kernighan-lin-joins$", out, re.MULTILINE)
    assert re.search(r"^  exact +branch-and-cut, branch-and-bound$", out, re.MULTILINE)
    assert all(known.name in out for known in FORMATS)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["slove", "x.csv"], "did you mean 'solve'?"),
        (["solve"], "the following arguments are required: FILE"),
        (["solve", "x.csv", "--method", "magic"], "argument --method: invalid choice: 'magic'"),
        (["solve", "x.csv", "--method", "gaek"], "did you mean 'gaec'?"),
        (["solve", "x.csv", "--method", "qpbo"], "gp.crf.roof_duality(f)"),
        (["bench", "--method", "magic"], "argument --method: invalid choice: 'magic'"),
        (
            ["solve", "x.csv", "--time-limit", "-1"],
            "argument --time-limit: '-1': expected a number of seconds, 0 or more",
        ),
        (
            ["solve", "x.csv", "--time-limit", "nan"],
            "argument --time-limit: 'nan': expected a number of seconds, 0 or more",
        ),
        (["solve", "x.csv", "--seed", "1.5"], "argument --seed: invalid whole value: '1.5'"),
        (["solve", "x.csv", "--max-iterations", "-3"], "argument --max-iterations: invalid whole value: '-3'"),
        (["solve", "x.csv", "--option", "solver"], "argument --option: 'solver': expected NAME=VALUE"),
        (["solve", "x.csv", "--option", "seed=1"], "argument --option: 'seed=1': seed is not set in this way"),
        (["solve", "x.csv", "--format", "doc"], "argument --format: invalid choice: 'doc'"),
        (["generate", "sand", "-o", "x.npz"], "invalid choice: 'sand'"),
        (["generate", "planted-partition", "--n", "x", "--subsets", "2", "-o", "x.npz"], "expected an integer"),
        (["convert", "x.csv"], "the following arguments are required: OUT"),
    ],
)
def test_wrong_calls_exit_2_with_one_line(run, argv, expected):
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert expected in err
    assert err.startswith("graphpart") and err.endswith(" --help)\n") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["solve", "{0}", "{0}", "--method", "brute-force", "--target", "1"], "method brute-force takes no target"),
        (["solve", "{0}", "--method", "ilp", "--option", "solver=abacus"], "abacus"),
        (["solve", "{0}", "--method", "ilp", "--option", "colour=red"], "method ilp takes no colour"),
        (["solve", "{0}", "--json", "-o", "-"], "--json and -o - both write to standard output"),
        (["solve", "{0}", "{0}", "-o", "-"], "-o - holds the labels of one instance"),
        (["solve", "{0}", "{0}", "-o", "{1}/out"], "two instances have their labels in triangles.csv.labels"),
        (["solve", "-", "--initial", "-"], "standard input '-' is given twice"),
        (["evaluate", "-", "-"], "standard input '-' is given twice"),
        (["convert", "{0}", "{1}/x.docx"], "tells no format"),
        (["convert", "{0}", "-"], "tells no format"),
        (["generate", "uniform-integers", "--n", "-4", "--largest", "1", "-o", "{1}/x.npz"], "n is -4"),
        (
            ["generate", "uniform-integers", "--n", "4", "--largest", "1", "-o", "{1}/x.npz", "--truth", "{1}/x"],
            "plants no labels",
        ),
        (["bench", "{1}/empty"], "expected files with the suffixes .npz,"),
    ],
)
def test_contradictory_calls_exit_2_with_one_line(run, triangles, tmp_path, argv, expected):
    (tmp_path / "empty").mkdir()
    status, out, err = run(*(arg.format(triangles, tmp_path) for arg in argv))
    assert (status, out) == (2, "")
    assert expected in err
    assert err.startswith("graphpart: ") and err.count("\n") == 1


# -------------------------------------------------------------------------------------------------------------- solve


def test_solve_prints_a_table(run, triangles):
    status, out, err = run("solve", triangles, "--method", METHOD)
    assert (status, err) == (0, "")
    assert cells(out) == [
        [
            "instance",
            "elements",
            "pairs",
            "method",
            "cost",
            "objective",
            "lower_bound",
            "gap",
            "status",
            "clusters",
            "seconds",
        ],
        ["triangles.csv", "6", "15", METHOD, "-8", "-8", "-", "-", "local_optimum", "2", "#"],
    ]


def test_solve_prints_json(run, triangles):
    status, out, err = run("solve", triangles, triangles, "--method", METHOD, "--json")
    assert (status, err) == (0, "")
    first, second = map(json.loads, out.splitlines())
    assert list(first) == KEYS
    assert {**first, "seconds": 0} == {
        "file": triangles,
        "n": 6,
        "method": METHOD,
        "cost": -8.0,
        "objective": -8.0,
        "objective_bound": None,
        "lower_bound": None,  # minus infinity has no word in JSON
        "gap": None,
        "status": "local_optimum",
        "clusters": 2,
        "subsets": 2,
        "seconds": 0,
        "message": "no further transformation lowers the cost",
    }
    assert first["seconds"] >= 0
    assert {**second, "seconds": 0} == {**first, "seconds": 0}


def test_solve_proves_with_an_exact_method(run, triangles):
    record = json.loads(run("solve", triangles, "--method", "brute-force", "--json")[1])
    assert (record["status"], record["gap"], record["lower_bound"]) == ("optimal", 0.0, -8.0)
    assert "  0%  optimal" in run("solve", triangles, "--method", "brute-force")[1]


def test_solve_chooses_by_itself(run, triangles):
    record = json.loads(run("solve", triangles, "--json")[1])
    assert (record["method"], record["cost"], record["gap"]) == ("auto", -8.0, 0.0)


@pytest.mark.parametrize("formulation", ["full", "cutting-plane"])
def test_solve_passes_options_on(run, triangles, formulation):
    call = ("solve", triangles, "--method", "ilp", "--option", f"formulation={formulation}", "--json")
    status, out, _ = run(*call, "--seed", 3)  # deterministic methods ignore a seed
    assert (status, json.loads(out)["status"]) == (0, "optimal")


def test_solve_writes_labels(run, triangles, tmp_path):
    labels = tmp_path / "labels"
    status, out, _ = run("solve", triangles, "--method", METHOD, "-o", labels)
    assert status == 0 and out
    assert labels.read_text() == "0\n0\n0\n1\n1\n1\n"
    table = tmp_path / "labels.csv"
    run("solve", triangles, "--method", METHOD, "-o", table)
    assert table.read_text() == "element,cluster,size\na,0,3\nb,0,3\nc,0,3\nd,1,3\ne,1,3\nf,1,3\n"


def test_solve_writes_labels_to_standard_output(run, triangles):
    status, out, err = run("solve", triangles, "--method", METHOD, "-o", "-")
    assert (status, out) == (0, "0\n0\n0\n1\n1\n1\n")
    assert "triangles.csv" in err  # the table stands aside


def test_solve_writes_a_folder_for_several_instances(run, triangles, tmp_path):
    other = tmp_path / "pair.multicut"
    other.write_text("MULTICUT\n0 1 1\n")
    folder = tmp_path / "out"
    assert run("solve", triangles, other, "--method", METHOD, "-o", folder)[0] == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "pair.multicut.labels",
        "results.jsonl",
        "triangles.csv.labels",
    ]
    assert (folder / "pair.multicut.labels").read_text() == "0\n0\n"
    # such a folder is also where to start from; greedy joining has nothing to do there
    lines = run("solve", triangles, other, "--method", "greedy-joining", "--initial", folder, "--json")[1].splitlines()
    assert [json.loads(line)["cost"] for line in lines] == [-8.0, -1.0]
    assert run("solve", triangles, "--method", METHOD, "-o", f"{tmp_path}/new/")[0] == 0
    assert (tmp_path / "new" / "triangles.csv.labels").exists()


def test_solve_starts_from_labels(run, triangles, tmp_path):
    start = tmp_path / "start"
    start.write_text("0\n0\n0\n0\n0\n0\n")
    record = json.loads(run("solve", triangles, "--method", "greedy-joining", "--initial", start, "--json")[1])
    assert (record["cost"], record["subsets"]) == (-5.0, 1)  # joining cannot split


def test_a_start_that_violates_requirements_is_repaired(run, tmp_path):
    problem, start = tmp_path / "p.csv", tmp_path / "start"
    problem.write_text("u,v,cost\na,b,-inf\nb,c,1\n")
    start.write_text("node,label\na,0\nb,1\nc,1\n")
    status, out, err = run("solve", problem, "--initial", start, "--json")
    assert (status, err) == (0, "") and "repaired: 1 element moved" in json.loads(out)["message"]


def test_solve_obeys_limits(run, triangles, tmp_path):
    singletons = tmp_path / "start"
    singletons.write_text("\n".join("012345"))
    call = ("solve", triangles, "--json", "--method", "greedy-joining", "--initial", singletons)
    assert json.loads(run(*call, "--max-iterations", 1)[1])["status"] == "iteration_limit"
    assert json.loads(run(*call, "--time-limit", 0)[1])["status"] == "time_limit"
    assert json.loads(run(*call, "--target", -2)[1])["status"] == "target"


def test_solve_shows_the_best_known_value(run, triangles, tmp_path):
    (tmp_path / "manifest.csv").write_text("file,best\ntriangles.csv,-8.5\n")
    header, row = run("solve", triangles, "--method", METHOD)[1].splitlines()
    assert header.split()[5:8] == ["objective", "best", "known"]
    assert row.split()[6] == "-8.5"


def test_messages_name_the_file_of_the_user_once(run, triangles, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("u,v,cost\na,b,inf\nb,a,-inf\n")
    expected = f"graphpart: {bad}: 'a' and 'b' must be cut, but required joins connect them\n"
    assert run("info", bad) == (1, "", expected)
    assert run("solve", bad) == (1, "", expected)
    target = tmp_path / "none" / "out.multicut"
    with pytest.raises(FileNotFoundError) as caught:
        gp.write(gp.read(triangles), target)
    assert caught.value.filename == str(target)


def test_a_bad_file_does_not_lose_the_others(run, triangles, tmp_path):
    bad = tmp_path / "bad.multicut"
    bad.write_text("MULTICUT\n0 1 x\n")
    missing = tmp_path / "missing.csv"
    status, out, err = run("solve", bad, triangles, missing, "--method", METHOD, "--json")
    assert status == 1
    assert json.loads(out)["cost"] == -8.0
    lines = err.splitlines()
    assert lines[0].startswith(f"graphpart: {bad}:2: ")
    assert lines[1] == f"graphpart: {missing}: No such file or directory"
    assert len(lines) == 2


def test_labels_that_cannot_be_written_do_not_lose_the_row(run, triangles, tmp_path):
    folder = tmp_path / "out"
    (folder / "triangles.csv.labels").mkdir(parents=True)
    other = tmp_path / "pair.multicut"
    other.write_text("MULTICUT\n0 1 1\n")
    status, out, err = run("solve", other, triangles, "--method", METHOD, "-o", folder)
    assert status == 1
    assert [line.split()[0] for line in out.splitlines()] == ["instance", "pair.multicut", "triangles.csv"]
    assert err == f"graphpart: {folder}/triangles.csv.labels: Is a directory\n"


@pytest.mark.parametrize(
    ("output", "expected"),
    [("none/labels", "none: No such file or directory"), ("file/labels", "file: Not a directory")],
)
def test_outputs_are_tried_before_the_work(run, tmp_path, output, expected):
    (tmp_path / "file").touch()
    status, out, err = run("solve", tmp_path / "never-read.csv", "-o", tmp_path / output)
    assert (status, out, err) == (1, "", f"graphpart: {tmp_path}/{expected}\n")


def test_names_that_are_not_unique_show_as_paths(run, triangles, tmp_path):
    (tmp_path / "deeper").mkdir()
    same = tmp_path / "deeper" / "triangles.csv"
    same.write_text(TRIANGLES)
    rows = run("solve", triangles, same, "--method", METHOD)[1].splitlines()[1:]
    assert [row.split()[0] for row in rows] == [triangles, str(same)]


# ----------------------------------------------------------------------------------------------------------- evaluate


def test_evaluate(run, triangles, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("node,label\nf,1\ne,1\nd,1\nc,7\nb,7\na,7\n")
    status, out, err = run("evaluate", triangles, labels)
    assert (status, err) == (0, "")
    assert out == (
        "instance       elements     pairs           cost      objective  clusters\n"
        "triangles.csv         6        15             -8             -8         2\n"
    )
    record = json.loads(run("evaluate", triangles, labels, "--json")[1])
    assert list(record) == KEYS
    assert (record["cost"], record["subsets"], record["status"], record["method"]) == (-8.0, 2, "feasible", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0\n0\n", "labels: labels have shape (2,): expected (6,)"),
        ("0\nx\n0\n0\n0\n0\n", "labels:2: found 'x': expected a label, an integer of 64 bits"),
        ("", "labels: labels have shape (0,): expected (6,)"),
        ("node,label\na,1\na,2\n", "labels:3: found node 'a' again: expected each node once"),
    ],
)
def test_evaluate_refuses_labels_that_do_not_fit(run, triangles, tmp_path, text, expected):
    labels = tmp_path / "labels"
    labels.write_text(text)
    status, out, err = run("evaluate", triangles, labels)
    assert (status, out) == (1, "")
    assert err.startswith("graphpart: ") and expected in err and err.count("\n") == 1


def test_evaluate_refuses_labels_that_violate_a_requirement(run, tmp_path):
    instance, labels = tmp_path / "x.csv", tmp_path / "labels"
    instance.write_text("u,v,cost\na,b,inf\nb,c,-1\n")
    labels.write_text("0\n0\n0\n")
    status, out, err = run("evaluate", instance, labels)
    assert (status, out, err) == (1, "", f"graphpart: {labels}: 'a' and 'b' must be cut but are joined\n")


# --------------------------------------------------------------------------------------------------------------- info


def test_info(run, triangles, tmp_path):
    other = tmp_path / "pair.csv"
    other.write_text("u,v,cost\na,b,inf\nb,c,-inf\nd,e,0\n")
    status, out, err = run("info", triangles, other)
    assert (status, err) == (0, "")
    table = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    assert table == [
        ["instance", "elements", "pairs", "density", "storage", "lowest cost", "highest cost", "attractive",
         "repulsive", "must join", "must cut", "components", "largest"],
        ["triangles.csv", "6", "15", "46.7%", "matrix", "-2", "3", "6", "1", "0", "0", "1", "6"],
        ["pair.csv", "5", "2", "10%", "pairs", "0", "0", "0", "0", "1", "1", "3", "3"],
    ]  # fmt: skip


def test_info_prints_json(run, triangles):
    record = json.loads(run("info", triangles, "--json")[1])
    assert record == {
        "file": triangles,
        "n": 6,
        "pairs": 15,
        "density": 7 / 15,
        "storage": "matrix",
        "lowest_cost": -2.0,
        "highest_cost": 3.0,
        "attractive": 6,
        "repulsive": 1,
        "must_join": 0,
        "must_cut": 0,
        "components": 1,
        "largest_component": 6,
    }


@pytest.mark.parametrize("n", [0, 1, 2])
def test_info_of_tiny_problems(run, tmp_path, n):
    path = tmp_path / "tiny.npy"
    np.save(path, np.zeros((n, n)))
    record = json.loads(run("info", path, "--json")[1])
    assert (record["n"], record["components"], record["largest_component"]) == (n, n, min(n, 1))


# ------------------------------------------------------------------------------------------------------------ convert


@pytest.mark.parametrize("source", [known.name for known in FORMATS if known.problem == "partition"])
@pytest.mark.parametrize("target", [known.name for known in FORMATS if known.problem == "partition"])
def test_convert_between_all_formats(run, tmp_path, source, target):
    rng = np.random.default_rng(7)
    costs = np.triu(rng.choice([-1.0, 1.0], (7, 7)), 1)
    p = gp.SetPartition.from_matrix(costs + costs.T)
    gp.write(p, tmp_path / "in", source)
    status, out, err = run("convert", tmp_path / "in", tmp_path / "out", "--from", source, "--to", target)
    assert (status, out, err) == (0, "", "")
    q = gp.read(tmp_path / "out", target)
    assert q.n == 7
    for labels in rng.integers(0, 3, (5, 7)):
        assert q.evaluate(labels) == p.evaluate(labels)


def test_convert_refuses_what_a_format_cannot_hold(run, triangles, tmp_path):
    out = tmp_path / "out.gr"
    out.write_text("what was there")
    status, _, err = run("convert", triangles, out)
    assert status == 1
    assert err.startswith("graphpart: format pace cannot hold this problem") and err.count("\n") == 1
    assert out.read_text() == "what was there"


def test_convert_names_the_folder_that_is_missing(run, triangles, tmp_path):
    status, out, err = run("convert", triangles, tmp_path / "none" / "x.npz")
    assert (status, out, err) == (1, "", f"graphpart: {tmp_path}/none: No such file or directory\n")


def test_convert_to_standard_output(run, triangles):
    status, out, _ = run("convert", triangles, "-", "--to", "multicut")
    assert status == 0
    assert out.startswith("MULTICUT\n0 1 2\n")


# ----------------------------------------------------------------------------------------------------------- generate

SMALL = {"n": 12, "m": 20, "subsets": 3, "height": 4, "width": 5, "largest": 5, "p": 0.5, "rows": 6, "columns": 8}
SMALL |= {"length": 4, "machines": 6, "parts": 9, "links": 4}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_generate_every_family_with_what_is_required(run, tmp_path, family):
    if family.name == "digits":
        pytest.importorskip("sklearn")
    options = []
    for parameter in family.parameters:
        if parameter.required:
            options += [f"--{parameter.name.replace('_', '-')}", SMALL.get(parameter.name, parameter.default)]
    if family.name == "modularity":
        options = ["--graph", "karate-club"]
    suffix = "json" if family.function.__annotations__["return"] == "FactorInstance" else "npz"
    paths = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for path in paths:
        assert run("generate", family.name, *options, "-o", path) == (0, "", "")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert gp.read(paths[0]).n > 1


def test_generate_writes_the_planted_labels(run, tmp_path):
    instance, truth = tmp_path / "x.npz", tmp_path / "truth"
    options = ("--n", 30, "--subsets", 4, "--sigma", 0)
    assert run("generate", "planted-partition", *options, "-o", instance, "--truth", truth)[0] == 0
    assert json.loads(run("evaluate", instance, truth, "--json")[1])["subsets"] == 4
    assert (
        json.loads(run("evaluate", instance, truth, "--json")[1])["cost"]
        == json.loads(run("solve", instance, "--method", METHOD, "--json")[1])["cost"]
    )


# -------------------------------------------------------------------------------------------------------------- bench


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "instances"
    folder.mkdir()
    (folder / "a.csv").write_text(TRIANGLES)
    (folder / "b.gr").write_text("p cep 4 3\n1 2\n2 3\n1 3\n")
    (folder / "b.gr.labels").write_text("0\n")
    (folder / "README.txt").write_text("not an instance")
    (folder / "manifest.csv").write_text("file,best,family\na.csv,-10,triangles\nb.gr,0,\n")
    return folder


def test_bench_compares_with_the_best_known(run, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    status, out, err = run("bench", "--method", METHOD, "--method", "brute-force", "--verbose")
    assert status == 0 and err.count("\n") == 1 and "2 instances, each run at most 1 s" in err
    assert cells(out)[:5] == [
        ["instance", "elements", "pairs", "method", "cost", "best known", "gap", "clusters", "seconds"],
        ["a.csv", "6", "15", METHOD, "-8", "-10", "20%", "2", "#"],
        ["a.csv", "6", "15", "brute-force", "-8", "-10", "20%", "2", "#"],
        ["b.gr", "4", "6", METHOD, "-3", "-3", "0%", "2", "#"],
        ["b.gr", "4", "6", "brute-force", "-3", "-3", "0%", "2", "#"],
    ]


def test_bench_sums_up_by_family_and_method(run, folder):
    status, out, _ = run("bench", folder, "--method", METHOD, "--method", "brute-force")
    assert status == 0
    rows = [re.split(r"  +", line.strip()) for line in out.splitlines()]
    assert [row[:6] for row in rows] == [
        ["family", "method", "instances", "best reached", "mean gap", "proven"],
        ["triangles", METHOD, "1", "0 of 1", "20%", "0 of 1"],
        ["triangles", "brute-force", "1", "0 of 1", "20%", "1 of 1"],
        ["b", METHOD, "1", "1 of 1", "0%", "0 of 1"],
        ["b", "brute-force", "1", "1 of 1", "0%", "1 of 1"],
        ["all families", METHOD, "2", "1 of 2", "10%", "0 of 2"],
        ["all families", "brute-force", "2", "1 of 2", "10%", "2 of 2"],
    ]
    verbose, short = (run("bench", folder, "--method", METHOD, *more)[1] for more in (["-v"], []))
    without_seconds = [re.sub(r" +\d+\.\d+$", "", text, flags=re.MULTILINE) for text in (verbose, short)]
    assert without_seconds[0].endswith(without_seconds[1])


def test_columns_fit_the_longest_method(run, folder):
    lines = run("bench", folder / "a.csv", "-v")[1].splitlines()
    lines = lines[: next(i for i, line in enumerate(lines) if line.startswith("family"))]
    assert len({line.index(line.split()[4], 30) + len(line.split()[4]) for line in lines[1:]}) == 1


def test_family_of_a_name_without_a_manifest():
    names = ["grid-100.csv", "x/sparse_0300.csv.gz", "a.csv", "404.wcsp"]
    assert [family_of(name) for name in names] == ["grid", "sparse", "a", "404.wcsp"]


def test_bench_writes_csv(run, folder, tmp_path):
    table = tmp_path / "table.csv"
    status, out, _ = run("bench", folder, "--method", METHOD, "--csv", table, "--json")
    assert status == 0
    assert [list(json.loads(line)) for line in out.splitlines()] == [KEYS, KEYS]
    with open(table) as file:
        rows = list(csv.DictReader(file))
    columns = ["instance", "elements", "pairs", "method", "cost", "best known", "gap", "clusters", "seconds"]
    assert list(rows[0]) == [*columns, "lower_bound", "status"]
    assert [row["status"] for row in rows] == ["local_optimum", "local_optimum"]
    assert [row["gap"] for row in rows] == ["0.2", "0.0"]


def test_bench_runs_all_methods_that_end_by_themselves(run, folder):
    rows = run("bench", folder / "a.csv", "-v")[1].split("family")[0].splitlines()[1:]
    expected = [m.name for m in METHODS if m.problem == "partition" and not m.exact and not m.anytime]
    assert [row.split()[3] for row in rows] == expected
    assert "auto" in expected and "search" not in expected


def test_bench_leaves_out_methods_for_which_an_instance_is_too_large(run, tmp_path):
    gp.write(gp.SetPartition.from_matrix(np.ones((15, 15))), tmp_path / "x.npy")
    out = run("bench", tmp_path, "--method", "brute-force", "--method", METHOD)[1]
    assert [line.split()[1] for line in out.splitlines()[:2]] == ["method", METHOD] and "brute" not in out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,best\n", "manifest.csv:1: there is no column file"),
        ("file,best\na.csv,high\n", "manifest.csv:2: best is 'high': expected a number"),
    ],
)
def test_bench_refuses_a_wrong_manifest(run, folder, text, expected):
    (folder / "manifest.csv").write_text(text)
    status, _, err = run("bench", folder, "--method", METHOD)
    assert status == 1
    assert expected in err
