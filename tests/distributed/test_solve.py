"""Problems solved in parts: against the whole, in any division, on any number of workers, after any loss."""

import gc
import json
import os
import signal
import sys
import tempfile
import threading
import warnings

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.cli import main
from graphpart.machine import can_limit

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
engine, folder = (pytest.importorskip(f"graphpart.distributed.{name}") for name in ("engine", "folder"))
solve = gp.distributed.solve
MODULE = sys.modules["graphpart.distributed.run"]


def rows_of(rng, n=14, m=40, kind=0):
    u, v = rng.integers(0, max(n, 1), m), rng.integers(0, max(n, 1), m)
    u, v = u[u != v], v[u != v]
    names = [np.arange(20) - 7, (np.arange(20) - 3) * 10**12, np.array([f"é{i}" for i in range(20)])][kind % 3]
    return pd.DataFrame({"u": names[u], "v": names[v], "cost": rng.integers(-5, 6, len(u)).astype(float)})


def labels_of(result):
    frame = result.to_frame()
    assert list(frame.columns) == ["id", "label"] and frame["id"].is_unique
    return dict(zip(frame["id"], frame["label"], strict=True))


def cost_of(rows, labels):
    return sum(c for a, b, c in rows[["u", "v", "cost"]].itertuples(index=False) if labels[a] == labels[b])


@pytest.fixture
def small(monkeypatch):
    """Parts of a few pairs, so that everything is divided."""
    monkeypatch.setattr(MODULE, "PROCESS", 0)
    monkeypatch.setattr(MODULE, "BYTES_OF_ELEMENT", 0)
    monkeypatch.setattr(MODULE, "BYTES_OF_PAIR", 10**7 // 12)
    monkeypatch.setattr(MODULE, "BYTES_OF_ROW", 10**7 // 16)


@pytest.fixture
def tiny(small, monkeypatch):
    """The same for problems of a hundred pairs."""
    monkeypatch.setattr(MODULE, "LEAST", 1)


@pytest.mark.parametrize("seed", range(trials(45)))
def test_exact_in_parts_is_exact(seed):
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, int(rng.integers(0, 15)), int(rng.integers(0, 40)), seed)
    result = solve(rows, workers=0, method="exact")
    labels = labels_of(result)
    assert set(labels) == {*rows["u"], *rows["v"]} and len({*labels.values()}) == result.n_clusters
    assert cost_of(rows, labels) == result.cost
    best = (
        gp.partition.exact(gp.SetPartition.from_frame(rows, "u", "v", cost="cost", duplicates="sum")).cost
        if len(rows)
        else 0.0
    )
    assert result.status == "optimal" and result.cost == result.lower_bound == best


@pytest.mark.parametrize("seed", range(trials(14)))
def test_divided_problems_keep_what_they_promise(seed, tiny):
    rng = np.random.default_rng(100 + seed)
    rows = rows_of(rng, 18, int(rng.integers(20, 120)), seed)
    result = solve(rows, workers=0, memory_limit=1e7, refine=3)
    labels = labels_of(result)
    assert set(labels) == {*rows["u"], *rows["v"]} and len({*labels.values()}) == result.n_clusters
    assert cost_of(rows, labels) == result.cost
    best = gp.partition.exact(gp.SetPartition.from_frame(rows, "u", "v", cost="cost", duplicates="sum")).cost
    assert result.lower_bound <= best <= result.cost
    assert (result.status == "optimal") <= (result.cost == best)
    assert any(level.get("divided") for level in result.levels) or len(rows) < 60
    gains = [level["gain"] for level in result.levels if "gain" in level]
    assert all(gain <= 1e-12 for gain in gains)


@pytest.mark.parametrize(("seed", "waves"), [(0, 1), (1, 2)])
def test_gains_of_refinement_add_up(seed, waves, tiny, monkeypatch):
    monkeypatch.setattr(MODULE.refinement, "WAVES", waves)
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, 16, 70)
    source = rng.integers(-1, 9, 20)
    options = {"workers": 0, "memory_limit": 1e7}
    if seed % 2:
        at = np.flatnonzero(source >= 0)
        options |= {"groups": pd.DataFrame({"id": np.arange(20)[at] - 7, "group": source[at]}), "group_cost": 0.5}
    before = solve(rows, refine=0, bound=None, **options)
    after = solve(rows, refine=2, **options)
    rounds = [level for level in after.levels if "gain" in level]
    assert rounds and max(level["tasks"] for level in rounds) > waves
    assert any("within" not in level for level in rounds)  # one of groups of whole subsets
    assert after.cost == pytest.approx(before.cost + sum(level["gain"] for level in rounds), abs=1e-9)
    labels = labels_of(after)
    assert set(labels) == {*rows["u"], *rows["v"]} and len({*labels.values()}) == after.n_clusters
    if not seed % 2:
        assert cost_of(rows, labels) == after.cost


def test_tasks_that_do_not_attract_each_other_share_waves():
    ends = np.arange(3, dtype=np.int32)
    chain = [(ends, ends + np.int32(1), -np.ones(3))]
    one = np.arange(4, dtype=np.int32)
    assert MODULE.refinement._waves(chain, one, one, 4) == [[0, 2], [1, 3]]
    assert MODULE.refinement._waves(chain, np.arange(5), np.array([0, 1, 2, 3, 0]), 5) == [[0, 2], [1, 3], [4]]
    assert MODULE.refinement._waves([], np.zeros(0, np.int32), np.zeros(0, np.int32), 0) == []


def test_random_pairs_in_parts_end_near_one_machine():
    rng = np.random.default_rng(7)
    u = rng.integers(0, 2000, 20000)
    v = (u + 1 + rng.integers(0, 1999, 20000)) % 2000
    rows = pd.DataFrame({"u": u, "v": v, "cost": rng.standard_normal(20000)})
    whole = gp.solve(gp.SetPartition.from_frame(rows, "u", "v", cost="cost", duplicates="sum"), "kernighan-lin").cost
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "PROCESS", 0)
        patch.setattr(MODULE, "BYTES_OF_PAIR", 2000)  # parts of 5000 pairs
        divided = solve(rows, workers=0, memory_limit=1e7, bound=None)
    assert (
        divided.levels[0]["divided"] and divided.cost <= 0.995 * whole
    )  # costs are negative; without refinement: 0.95


@pytest.mark.parametrize("stage", ["solve-0", "bound-0", "solve-refine-0-1"])
def test_parts_that_do_not_fit_are_divided_further(stage, small, monkeypatch):
    rows = planted(300, 9000)
    performed, failed = engine.performed, []

    def fails(folder, at, number, task, arguments):
        if at == stage and not failed:
            failed.append(at)
            raise engine.OutOfMemory(f"stage {at}: out of memory")
        return performed(folder, at, number, task, arguments)

    monkeypatch.setattr(engine, "performed", fails)
    for name in ("BYTES_OF_PAIR", "BYTES_OF_ROW"):
        monkeypatch.setattr(MODULE, name, 10**7 // 4000)
    with pytest.warns(gp.GraphPartWarning, match=f"stage {stage}: a part did not fit into memory: .* have 2000 pairs"):
        result = solve(rows, workers=0, memory_limit=1e7, refine=2)
    assert failed and result.status == "feasible"
    assert cost_of(rows, labels_of(result)) == pytest.approx(result.cost) and result.lower_bound <= result.cost


@pytest.mark.parametrize("stage", ["group-regroup-0-1", "solve-regroup-0-1"])
def test_groups_of_whole_subsets_that_do_not_fit_are_divided_further(stage, monkeypatch):
    for name in ("BYTES_OF_PAIR", "BYTES_OF_ROW"):
        monkeypatch.setattr(MODULE, name, 5 * 10**6 // 3000)
    rng = np.random.default_rng(1)
    u = rng.integers(0, 300, 6000)
    rows = pd.DataFrame({"u": u, "v": (u + rng.integers(1, 300, 6000)) % 300, "cost": rng.standard_normal(6000)})
    performed, failed = engine.performed, []

    def fails(work, at, *arguments):
        if at == stage and not failed:
            failed.append(at)
            raise engine.OutOfMemory(f"stage {at}: out of memory")
        return performed(work, at, *arguments)

    monkeypatch.setattr(engine, "performed", fails)
    with pytest.warns(gp.GraphPartWarning, match=f"stage {stage}: a part did not fit into memory"):
        result = solve(rows, workers=0, memory_limit=1e7, refine=1)  # the last bound is done, its costs are not kept
    assert failed and cost_of(rows, labels_of(result)) == pytest.approx(result.cost)
    assert result.lower_bound <= result.cost


def test_row_groups_larger_than_memory_are_read_in_pieces(tmp_path, small):
    rows = planted(300, 3000)
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "one.parquet")
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "many.parquet", row_group_size=300)
    found = [solve(tmp_path / name, workers=0, memory_limit=1e7) for name in ("one.parquet", "many.parquet")]
    assert found[0].stages["pairs"]["tasks"] >= 3 and labels_of(found[0]) == labels_of(found[1])


def planted(n=3000, m=24000, seed=1):
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, m), rng.integers(0, n, m)
    v[: m // 2] = u[: m // 2] // 30 * 30 + rng.integers(0, 30, m // 2)
    u, v = u[u != v], v[u != v]
    cost = np.where(u // 30 == v // 30, -1.0, 1.0) + 0.25 * rng.integers(-5, 6, len(u))
    return pd.DataFrame({"u": u, "v": v, "cost": cost})


def test_a_divided_problem_ends_near_the_whole():
    rows = planted(20000, 200000)
    whole = solve(rows, workers=0, bound=None)
    divided = solve(rows, workers=0, memory_limit="10MB", bound=None)
    assert len(whole.levels) == 1 and len(divided.levels) > 3
    assert divided.cost <= 0.99 * whole.cost  # costs are negative


def test_huge_and_forbidden_costs():
    rows = pd.DataFrame({"u": [0, 1, 0], "v": [1, 2, 2], "cost": [-1e300, -1.0, np.inf]})
    result = solve(rows, workers=0)
    assert labels_of(result) == {0: 0, 1: 0, 2: 1} and result.cost == -1e300


def test_duplicates_add_up_and_zeros_go():
    rows = pd.DataFrame({"u": [0, 1, 2, 3], "v": [1, 0, 3, 2], "cost": [-3.0, 1.0, 1.0, -1.0]})
    result = solve(rows, workers=0)
    assert (result.cost, result.pairs, result.elements, result.n_clusters) == (-2.0, 1, 4, 3)


@pytest.mark.parametrize("kind", ["pandas", "arrow", "polars", "dask", "dict", "file", "folder", "pattern", "list"])
def test_every_input(kind, tmp_path):
    rows = rows_of(np.random.default_rng(3))
    table = pa.Table.from_pandas(rows, preserve_index=False)
    if kind == "polars":
        pytest.importorskip("polars")
    source = {
        "pandas": lambda: rows,
        "arrow": lambda: table,
        "polars": lambda: __import__("polars").from_pandas(rows),
        "dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=3),
        "dict": lambda: {name: rows[name].tolist() for name in rows},
    }.get(kind)
    if source is None:
        pq.write_table(table.slice(0, 20), tmp_path / "a.parquet", row_group_size=7)
        pq.write_table(table.slice(20), tmp_path / "b.parquet")
        both = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
        pq.write_table(table, tmp_path / "c.pq")
        source = {"file": lambda: tmp_path / "c.pq", "folder": lambda: tmp_path, "list": lambda: both}.get(
            kind, lambda: f"{tmp_path}/*.parquet"
        )
    result = solve(source(), workers=0, method="exact")
    assert (
        result.cost
        == gp.partition.exact(gp.SetPartition.from_frame(rows, "u", "v", cost="cost", duplicates="sum")).cost
    )


# ------------------------------------------------------------------------------------------------------- what is wrong


def test_wrong_rows_are_counted_and_named(tmp_path):
    table = pa.table({"u": [0, 1, None, 3, 4], "v": [1, 1, 2, 4, 5], "cost": [-1.0, 2.0, 3.0, float("nan"), None]})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.warns(gp.GraphPartWarning, match=r"4 of 5 rows are left out.*x.parquet, row 2: both elements are 1"):
        result = solve(tmp_path, workers=0)
    assert result.wrong_rows == 4 and result.pairs == 1 and len(result.warnings) == 4
    assert "row 3: an identifier is missing" in result.warnings[1] and "cost is nan" in result.warnings[2]


@pytest.mark.parametrize("cost", [[], [float("nan")]])
def test_files_without_a_row_that_is_right(cost, tmp_path):
    ends = pa.array([0] * len(cost), pa.int64()), pa.array([1] * len(cost), pa.int64())
    pq.write_table(pa.table([*ends, pa.array(cost, pa.float64())], ["u", "v", "cost"]), tmp_path / "a.parquet")
    pq.write_table(pa.table({"u": [3], "v": [5], "cost": [-1.0]}), tmp_path / "b.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", gp.GraphPartWarning)
        result = solve(tmp_path, workers=0)
    labels = labels_of(result)
    assert set(labels) == {3, 5} and labels[3] == labels[5] and result.wrong_rows == len(cost)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no Parquet file that can be read"),
        (b"PAR1 garbage PAR1", "no Parquet file that can be read"),
        ({"u": [1], "v": [2]}, "has no column 'cost': it has 'u', 'v'"),
        ({"u": [1.5], "v": [2.5], "cost": [1.0]}, "holds double: expected integers or strings"),
        ({"u": [1], "v": ["a"], "cost": [1.0]}, "expected one type"),
        ({"u": [1], "v": [2], "cost": ["x"]}, "cannot be read as Parquet"),
    ],
)
def test_wrong_files_are_named(content, problem, tmp_path):
    file = tmp_path / "x.parquet"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        pq.write_table(pa.table(content), file)
    with pytest.raises(gp.FormatError, match=problem) as caught:
        solve(file, workers=0)
    assert str(caught.value).startswith(str(file))


def test_a_file_with_a_damaged_middle(tmp_path):
    file = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_pandas(planted(), preserve_index=False), file, write_page_checksum=True)
    data = bytearray(file.read_bytes())
    data[1000:5000] = bytes(4000)  # the end, which says what is where, is whole
    file.write_bytes(bytes(data))
    with pytest.raises(gp.FormatError, match="cannot be read as Parquet"):
        solve(file, workers=0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"columns": ("a", "b")}, "columns are"),
        ({"memory_limit": "many"}, "memory_limit is 'many'"),
        ({"memory_limit": 1000}, "at least 10 MB"),
        ({"refine": -1}, "refine is -1"),
        ({"bound": "best"}, "bound is 'best'"),
        ({"method": "best"}, "method"),
        ({"workers": -1}, "workers is -1: expected a whole number of processes"),
        ({"workers": 1.5}, "workers is 1.5"),
        ({"initial": {}}, "initial is for problems in memory"),
        ({"max_size": 3}, "max_size is for problems in memory"),
        ({"memory_limt": 1}, "memory_limt.*memory_limit"),
    ],
)
def test_wrong_options(options, problem):
    with pytest.raises(gp.InvalidOption, match=problem):
        solve(rows_of(np.random.default_rng(0)), **({"workers": 0} | options))


def test_options_of_the_method_are_those_of_solve():
    rows = planted(40, 300)
    assert labels_of(solve(rows, method="multilevel", seed=3, workers=0)) == labels_of(
        solve(rows, "louvain", seed=3, workers=0)
    )
    unjoined = solve(rows, "greedy-joining", max_iterations=0, workers=0)
    assert unjoined.n_clusters == unjoined.elements
    with pytest.warns(DeprecationWarning, match="use the options themselves"):
        assert solve(rows, "greedy-joining", options={"max_iterations": 0}, workers=0).cost == 0


def test_a_target_ends_the_refinement(small):
    rows = planted(300, 9000)
    first = solve(rows, workers=0, memory_limit=1e7, refine=0)
    result = solve(rows, workers=0, memory_limit=1e7, target=first.cost)
    assert result.status == "target" and result.cost == first.cost and len(result.levels) == len(first.levels)


def test_what_is_no_table():
    with pytest.raises(gp.InvalidProblem, match="pairs are a int"):
        solve(3, workers=0)
    with pytest.raises(gp.InvalidProblem, match="no Parquet file there"):
        solve("/nowhere/*.parquet", workers=0)


# ------------------------------------------------------------------------------------------------- stopped and resumed


def test_a_run_is_gone_on_with(tmp_path, small, monkeypatch):
    rows = planted(300, 2000)
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "x.parquet")
    expected = labels_of(solve(tmp_path / "x.parquet", workers=0, memory_limit=1e7))
    performed = engine.performed
    for end in (1, 4, 9, 20, 40, 80, 10**9):  # the process ends after so many tasks
        left = [end]

        def dies(*arguments, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise SystemError("the power is off")
            return performed(*arguments)

        monkeypatch.setattr(engine, "performed", dies)
        try:
            result = solve(tmp_path / "x.parquet", workers=0, memory_limit=1e7, work_folder=tmp_path / "work")
        except SystemError:
            continue
    assert end == 10**9 or left[0] >= 0
    assert labels_of(result) == expected


def test_another_run_does_not_take_the_folder(tmp_path):
    rows = planted(300, 2000)
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "x.parquet")
    solve(tmp_path / "x.parquet", workers=0, work_folder=tmp_path / "work")
    with pytest.raises(gp.InvalidOption, match="holds a run with another method"):
        solve(tmp_path / "x.parquet", workers=0, work_folder=tmp_path / "work", method="greedy-joining")
    with pytest.raises(gp.InvalidOption, match="is not empty"):
        solve(tmp_path / "x.parquet", workers=0, work_folder=tmp_path)


def test_labels_that_have_no_folder_go_with_the_result(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = rows_of(np.random.default_rng(1))
    result = solve(rows, workers=0)
    assert [str(path) for path in tmp_path.iterdir()] == [result.labels] and labels_of(result)
    del result
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(gp.InvalidOption):
        solve(rows, workers=0, method="no such method")
    assert list(tmp_path.iterdir()) == []
    kept = solve(rows, workers=0, output=tmp_path / "labels").labels
    gc.collect()
    assert os.listdir(kept)


def test_parts_that_are_solved_give_labels_although_the_time_is_over(monkeypatch):
    rows, over, performed = planted(200, 1500), [], engine.performed

    def observed(folder, stage, *rest, **options):
        if stage.startswith("solve-"):
            over.append(stage)
        return performed(folder, stage, *rest, **options)

    monkeypatch.setattr(engine, "performed", observed)
    stopped = solve(rows, workers=0, callback=lambda seconds, cost: bool(over))
    assert over == ["solve-0"] and stopped.status == "interrupted"
    assert stopped.cost == pytest.approx(cost_of(rows, labels_of(stopped))) and stopped.lower_bound <= stopped.cost < 0
    assert stopped.cost == solve(rows, workers=0, bound=None).cost


@pytest.mark.parametrize("stage", ["solve-0", "bound-0"])
def test_ctrl_c_in_a_task_of_this_process_ends_the_run(stage, tmp_path, monkeypatch):
    rows = planted()
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "x.parquet")
    performed = engine.performed

    def interrupted(work, at, number, task, arguments):
        if at == stage:
            ended, calls = work.ended, []
            work.ended = lambda *now: ended(*now) if calls else calls.append(os.kill(os.getpid(), signal.SIGINT))
        return performed(work, at, number, task, arguments)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "performed", interrupted)
        result = solve(tmp_path / "x.parquet", work_folder=tmp_path / "work")
    assert result.status == "interrupted" and cost_of(rows, labels_of(result)) == pytest.approx(result.cost)
    assert result.cost < 0
    again = solve(tmp_path / "x.parquet", work_folder=tmp_path / "work")
    assert again.status == "feasible" and labels_of(again) == labels_of(solve(rows, bound=None))


def test_parts_solved_before_the_end_of_the_first_level_are_used(small, monkeypatch):
    rows = planted(300, 2000)
    performed, stages = engine.performed, []

    def counting(work, at, *arguments):
        done = performed(work, at, *arguments)
        stages.append(at)
        return done

    monkeypatch.setattr(engine, "performed", counting)
    options = {"workers": 0, "memory_limit": 1e7, "bound": None}
    result = solve(rows, callback=lambda *_: stages.count("solve-0") == 1, **options)
    assert result.status == "interrupted" and stages.count("solve-0") == 1
    assert cost_of(rows, labels_of(result)) == pytest.approx(result.cost) and result.cost < 0


def test_labels_are_written_to_every_output(tmp_path):
    rows = planted(300, 2000)
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "x.parquet")
    found = [
        labels_of(solve(tmp_path / "x.parquet", work_folder=tmp_path / "work", output=tmp_path / name))
        for name in ("one", "other")
    ]
    assert found[0] == found[1] and found[0]


def test_time_limit_gives_the_best_so_far():
    rows = planted()
    result = solve(rows, workers=0, time_limit=0.0)
    assert result.status == "time_limit"
    assert cost_of(rows, labels_of(result)) == pytest.approx(result.cost) and result.lower_bound <= result.cost


def test_a_callback_stops(small):
    rows = planted(300, 2000)
    calls = []
    result = solve(rows, workers=0, memory_limit=1e7, callback=lambda *_: calls.append(1) or len(calls) > 30)
    assert result.status == "interrupted" and cost_of(rows, labels_of(result)) == pytest.approx(result.cost)


def test_a_full_disk(tmp_path, monkeypatch):
    real = os.replace
    count = [0]

    def replace(a, b):
        count[0] += 1
        if count[0] == 6:
            raise OSError(28, "No space left on device", b)
        return real(a, b)

    monkeypatch.setattr(os, "replace", replace)
    work = tmp_path / "work"
    with pytest.raises(gp.SolverError, match=r"No space left on device.*make room"):
        solve(planted(), workers=0, work_folder=work)
    assert not [name for _, _, names in os.walk(work) for name in names if name.endswith(".part")]


# --------------------------------------------------------------------------------------------------- a real cluster


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0", silence_logs=50
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs")
    for k in range(4):
        pq.write_table(pa.Table.from_pandas(planted(seed=k), preserve_index=False), path / f"{k}.parquet")
    return path, labels_of(solve(path, workers=0, memory_limit="10MB"))


def test_workers_change_nothing(cluster, problem):
    path, expected = problem
    assert labels_of(solve(path, client=cluster, memory_limit="10MB")) == expected


def test_workers_that_are_killed_change_nothing(cluster, problem):
    path, expected = problem
    killed, ended = [], threading.Event()

    def kill():
        while not ended.wait(0.6) and len(killed) < 2:
            # asked of the processes' parent: workers that have just died would not answer
            pids = sorted(nanny.pid for nanny in cluster.cluster.workers.values() if nanny.pid)
            if pids:
                pid = pids[len(killed) % len(pids)]
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        result = solve(path, client=cluster, memory_limit="10MB")
    finally:
        ended.set()
        thread.join()
    assert killed and labels_of(result) == expected


def test_files_that_workers_cannot_read_are_named(cluster, tmp_path):
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"u": [1], "v": [2], "cost": ["x"]}), file)
    with pytest.raises(gp.FormatError, match="cannot be read as Parquet") as caught:
        solve(file, client=cluster)
    assert str(caught.value).startswith(str(file))


def hungry(work):
    return len(np.ones(3 * 10**8))  # 2.4 GB


def modest(work):
    return len(np.ones(3 * 10**6))


def test_a_worker_without_memory_is_said(cluster, tmp_path, monkeypatch):
    from graphpart.stopping import Stopping

    monkeypatch.setattr(cluster.cluster.scheduler, "allowed_failures", 0)  # the first death is enough
    work = folder.Folder(str(tmp_path))
    with (
        engine.Engine(work, cluster, 0, 10**9, Stopping(), lambda *_: None) as mine,
        pytest.raises(gp.SolverError, match="raise memory_limit"),
    ):
        mine.map("hungry", hungry, [()])


@pytest.mark.skipif(not can_limit(), reason="the system does not limit the memory of processes")
def test_a_task_of_an_own_worker_has_so_much_memory_and_no_more(tmp_path):
    work = folder.Folder(str(tmp_path))
    done = engine.performed(work, "hungry", 0, hungry, (), 10**9)
    assert isinstance(done.answer, engine.OutOfMemory) and work.answer("hungry", 0) is None
    assert engine.performed(work, "modest", 0, modest, (), 10**9).answer == 3 * 10**6


def crowded(work):
    raise ValueError("a thread does not start")  # as libraries say it where memory is scarce


@pytest.mark.skipif(not can_limit(), reason="the system does not limit the memory of processes")
def test_errors_of_a_task_that_has_used_up_its_memory_are_lack_of_memory(tmp_path):
    work = folder.Folder(str(tmp_path))
    done = engine.performed(work, "crowded", 0, crowded, (), 10**7)
    assert isinstance(done.answer, engine.OutOfMemory)
    assert str(done.answer) == "stage crowded, task 0: out of memory of 0.01 GB; raise memory_limit"
    with pytest.raises(ValueError, match="does not start"):
        engine.performed(work, "crowded", 0, crowded, (), 10**12)


def test_labels_before_a_refinement_without_memory_are_kept(tiny, monkeypatch):
    rows = rows_of(np.random.default_rng(3), 18, 100)
    before = solve(rows, workers=0, memory_limit=1e7, refine=0)

    def fails(work, *arguments):
        raise gp.SolverError(f"stage {work.stage}: out of memory")

    monkeypatch.setattr(MODULE.refinement, "improved", fails)
    with pytest.warns(gp.GraphPartWarning, match="labels before it are kept: stage solve-refine-0-0: out of memory"):
        result = solve(rows, workers=0, memory_limit=1e7, refine=2)
    assert any(level["divided"] for level in before.levels)
    assert labels_of(result) == labels_of(before) and result.cost == before.cost


# ----------------------------------------------------------------------------------------------------- the command line


def test_command_line(tmp_path, capsys):
    rows = rows_of(np.random.default_rng(5))
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "x.parquet")
    out = tmp_path / "labels"
    assert main(["solve", str(tmp_path / "x.parquet"), "--workers", "0", "-o", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    frame = pq.read_table(out).to_pandas()
    labels = dict(zip(frame["id"], frame["label"], strict=True))
    assert record["cost"] == cost_of(rows, labels) and record["elements"] == len(labels)


@pytest.mark.parametrize(
    ("arguments", "problem", "status"),
    [
        (["x.parquet", "--workers", "0"], "-o is missing", 2),
        (["x.parquet", "--workers", "0", "-o", "-"], "expected a folder", 2),
        (["x.parquet", "--workers", "0", "-o", "out", "--plot", "a.png"], "--plot is for problems in memory", 2),
        (["x.parquet", "--workers", "0", "-o", "out", "--report", "a.html"], "--report is for problems in memory", 2),
        (["x.parquet", "--workers", "0", "-o", "out", "--freeze"], "--freeze is for problems in memory", 2),
        (["x.parquet", "--workers", "0", "-o", "out", "--probability", "p"], "expected --cost, such as a column", 2),
        (["x.parquet", "--workers", "1", "--distributed", "tcp://h:1", "-o", "out"], "both given", 2),
        (["x.parquet", "--workers", "0", "-o", "out"], "no Parquet file there", 1),
    ],
)
def test_command_line_says_what_is_wrong(arguments, problem, status, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["solve", *arguments]) == status
    error = capsys.readouterr().err
    assert problem in error and "Traceback" not in error and error.count("\n") == 1
