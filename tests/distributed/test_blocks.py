"""Given blocks, bounds of overlapping blocks, and what runs say about themselves."""

import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.partition.certificates.certificate import reduced_costs
from graphpart.stopping import Stopping

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
solve = gp.distributed.solve
MODULE = sys.modules["graphpart.distributed.run"]
SIDE = 40


@pytest.fixture
def divided(monkeypatch):
    """Parts of a thousand pairs, with which a square of 40 * 40 elements is divided."""
    monkeypatch.setattr(MODULE, "PROCESS", 0)
    monkeypatch.setattr(MODULE, "BYTES_OF_PAIR", 10**7 // 1000)
    monkeypatch.setattr(MODULE, "BYTES_OF_ROW", 10**7 // 1000)


def grid(names, seed=None):
    """Pairs of neighbours in a square, and the tile of each element: a quarter of the square."""
    at = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    u = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()])
    v = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    cost = -1.0 - np.arange(len(u)) % 3
    if seed is not None:
        cost = np.random.default_rng(seed).integers(-4, 4, len(u)) + 0.5
    tiles = 2 * (np.arange(SIDE * SIDE) // SIDE * 2 // SIDE) + np.arange(SIDE * SIDE) % SIDE * 2 // SIDE
    return pd.DataFrame({"u": names[u], "v": names[v], "cost": cost}), pd.DataFrame({"id": names, "block": tiles})


def by_id(tiles):
    return dict(zip(tiles["id"], tiles["block"], strict=True))


@pytest.mark.parametrize("kind", ["table", "files", "function", "strings", "sparse", "names"])
def test_given_blocks_are_the_first_division(kind, tmp_path, divided):
    names = np.arange(SIDE * SIDE)
    if kind == "sparse":
        names = names * 10**12 - 3
    if kind == "names":
        names = np.array([f"element {k:04}" for k in names])
    rows, tiles = grid(names)
    given, source = by_id(tiles), tiles.sample(frac=1, random_state=1)
    if kind == "files":
        for k in range(2):
            pq.write_table(pa.Table.from_pandas(source.iloc[k::2], preserve_index=False), tmp_path / f"{k}.parquet")
        source = f"{tmp_path}/*.parquet"
    elif kind == "function":
        source = lambda ids: np.array([given[x] for x in ids.tolist()])  # noqa: E731
    elif kind == "names":
        source = lambda ids: np.array([f"tile {given[x]}" for x in ids.tolist()])  # noqa: E731
    elif kind == "strings":
        source = pd.DataFrame({"id": source["id"], "block": source["block"].map("tile {}".format)})
    elif kind == "sparse":
        source = pd.concat([pd.DataFrame({"id": [7, 10**15], "block": [0, 1]}), source])  # of no pair
    work = tmp_path / "work"
    result = solve(rows, workers=0, memory_limit=1e7, blocks=source, work_folder=work, method="greedy-joining")
    assert result.cost == rows["cost"].sum() == result.lower_bound and result.n_clusters == 1
    assert result.levels[0]["blocks"] == 4 and result.levels[0]["tasks"] >= 3
    # Each block of the first division is one tile: as many elements of the one as of the other, and no more pairs.
    blocks = np.load(work / "divide-0" / "block.npy")
    sizes = pd.Series(np.load(work / "given" / "blocks.npy")).groupby(blocks).agg(["size", "nunique"])
    assert sizes.to_numpy().tolist() == [[SIDE * SIDE // 4, 1]] * 4


def test_blocks_that_are_too_large_are_divided_and_some_elements_have_none(divided):
    rows, tiles = grid(np.arange(SIDE * SIDE), seed=1)
    for source in (tiles.iloc[:100], lambda ids: np.zeros(len(ids), int)):
        result = solve(rows, workers=0, memory_limit=1e7, blocks=source)
        labels = by_id(result.to_frame().rename(columns={"label": "block"}))
        assert result.levels[0]["divided"] and len(labels) == SIDE * SIDE
        cost = sum(c for a, b, c in rows.itertuples(index=False) if labels[a] == labels[b])
        assert result.cost == cost and result.lower_bound <= cost


@pytest.mark.parametrize(
    ("blocks", "error", "problem"),
    [
        (3, gp.InvalidProblem, "blocks are a int: expected Parquet files"),
        (pd.DataFrame({"id": [1]}), gp.FormatError, "has no column 'block': it has 'id'"),
        (pd.DataFrame({"id": ["x"], "block": [1]}), gp.FormatError, "expected integers, as pairs have"),
        (pd.DataFrame({"id": [1], "block": [1.5]}), gp.FormatError, "holds double"),
        (lambda ids: ids[:-1], gp.InvalidOption, "expected an integer or a string for each"),
        (lambda ids: ids / 2, gp.InvalidOption, "expected an integer or a string for each"),
    ],
)
def test_blocks_that_are_none(blocks, error, problem):
    with pytest.raises(error, match=problem):
        solve(grid(np.arange(SIDE * SIDE))[0], workers=0, blocks=blocks)


# --------------------------------------------------------------------------------------------------------------- bounds


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < 0.8
    cost = rng.normal(size=kept.sum()) * 10.0 ** rng.integers(-300, 300) * 3.0 ** rng.integers(-20, 20, kept.sum())
    cost[rng.random(len(cost)) < 0.1] = np.inf
    return gp.SetPartition.from_pairs(n, (u[kept], v[kept]), cost, dense=False)


@pytest.mark.parametrize("method", ["negative-sum", "cycle-packing", "message-passing"])
def test_reduced_costs_never_cost_more(method):
    from fractions import Fraction

    for seed in range(trials(60)):
        p = random_problem(seed)
        u, v, cost = p.pairs()
        proof = gp.partition.lower_bound(p, method)
        low, constant = reduced_costs(p, proof.inequalities, proof.multipliers)
        negative = Fraction(constant) + sum(Fraction(x) for x in low[low < 0].tolist())
        assert negative >= Fraction(proof.bound) or np.isclose(float(negative), proof.bound, rtol=1e-12, atol=0)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            labels = rng.integers(0, 3, p.n)
            joined = labels[u] == labels[v]
            if np.isinf(cost[joined]).any():
                continue
            true = sum((Fraction(x) for x in cost[joined].tolist()), Fraction())
            assert Fraction(constant) + sum(Fraction(x) for x in low[joined].tolist()) <= true, seed


def test_overlapping_blocks_raise_the_bound(divided):
    rows, tiles = grid(np.arange(SIDE * SIDE), seed=3)
    diagonal = pd.DataFrame(
        {"u": np.arange(SIDE * SIDE - SIDE - 1), "v": np.arange(SIDE + 1, SIDE * SIDE), "cost": 1.5}
    )
    rows = pd.concat([rows, diagonal])
    whole = gp.SetPartition.from_frame(rows, "u", "v", cost="cost", duplicates="sum")
    best = gp.solve(whole, "kernighan-lin").cost
    bounds = [
        solve(rows, workers=0, memory_limit=1e7, blocks=tiles, refine=rounds, method="greedy-joining").lower_bound
        for rounds in (0, 1, 3)
    ]
    assert all(a <= b + 1e-9 * abs(b) for a, b in pairwise(bounds)) and bounds[-1] <= best
    alone, together = bounds[0], gp.partition.lower_bound(whole, "cycle-packing").bound
    assert bounds[-1] > alone + 0.3 * (together - alone)


# ----------------------------------------------------------------------------------------------------- what is reported


@pytest.mark.parametrize(("seed", "stages"), [(None, {"level-0", "divide-0"}), (2, set())])
def test_stages_say_what_they_took(seed, stages, divided):
    rows, _ = grid(np.arange(SIDE * SIDE), seed)
    result = solve(rows, workers=0, memory_limit=1e7)
    assert {"range", "pairs", "components", "solve-0"} | stages <= {*result.stages}
    assert result.levels[0]["divided"] == bool(stages)
    assert all(facts["tasks"] > 0 and facts["seconds"] >= 0 for facts in result.stages.values())
    assert result.stages["level-0" if stages else "pairs"]["bytes"] >= 16 * result.pairs
    assert "memory of a worker" in result.summary()


# -------------------------------------------------------------------------------------------------------- DaskPartition


@pytest.mark.parametrize("kind", ["pandas", "arrow", "dict", "dask", "files"])
def test_a_problem_with_its_columns(kind, tmp_path):
    rows, tiles = grid(np.arange(SIDE * SIDE), seed=2)
    rows = rows.rename(columns={"u": "a", "v": "b", "cost": "w"})
    expected = solve(rows, columns=("a", "b", "w"), workers=0).cost
    if kind == "files":
        rows.iloc[:1000].to_parquet(tmp_path / "x.parquet")
        rows.iloc[1000:].to_parquet(tmp_path / "y.parquet")
    source = {
        "pandas": lambda: rows,
        "arrow": lambda: pa.Table.from_pandas(rows, preserve_index=False),
        "dict": lambda: {name: rows[name].tolist() for name in rows},
        "dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=2),
        "files": lambda: tmp_path,
    }[kind]()
    p = gp.distributed.DaskPartition(source, columns=("a", "b", "w"), blocks=tiles)
    assert p.rows == (None if kind == "dask" else len(rows)) and ("2 files" in repr(p)) == (kind == "files")
    assert solve(p, workers=0).cost == expected


def test_a_problem_without_its_columns(tmp_path):
    with pytest.raises(gp.FormatError, match="has no column 'cost': it has 'u', 'v'"):
        gp.distributed.DaskPartition(pd.DataFrame({"u": [1], "v": [2]}))
    with pytest.raises(gp.InvalidProblem, match="pairs are a int"):
        gp.distributed.DaskPartition(3)
    with pytest.raises(gp.InvalidProblem, match="no Parquet file there"):
        gp.distributed.DaskPartition(tmp_path)
    with pytest.raises(gp.InvalidOption, match="columns are"):
        gp.distributed.DaskPartition(pd.DataFrame({"u": [1]}), columns=("u", "v"))


# ----------------------------------------------------------------------------------------------------------- the engine


def at_once(work):
    return work.number


def test_a_cluster_that_has_lost_all_workers_is_made_anew(tmp_path, monkeypatch):
    engine, folder = (pytest.importorskip(f"graphpart.distributed.{name}") for name in ("engine", "folder"))
    pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "DESERTED", 0.0)
    with engine.Engine(folder.Folder(str(tmp_path)), None, 1, 10**9, Stopping(), lambda *_: None) as mine:
        assert mine.cluster is None and mine.map("first", at_once, [()]) == [0]
        first = mine.cluster
        first.scale(0)
        while first.scheduler.workers:
            time.sleep(0.01)
        assert mine.map("second", at_once, [(), ()]) == [0, 1]
        assert mine.cluster is not first


def test_small_components_beside_a_divided_one_are_solved_at_once(divided):
    # A square that is divided, and small components with a best partition that only whole solutions find.
    rows, _ = grid(np.arange(SIDE * SIDE), seed=5)
    small = [pd.DataFrame({"u": [k, k + 1, k], "v": [k + 1, k + 2, k + 2], "cost": -1.0}) for k in range(5000, 6500, 3)]
    both = solve(pd.concat([rows, *small]), workers=0, memory_limit=1e7, refine=0)
    alone = solve(rows, workers=0, memory_limit=1e7, refine=0)
    assert alone.levels[0]["divided"] and both.levels[0]["divided"]
    labels = by_id(both.to_frame().rename(columns={"label": "block"}))
    assert all(labels[k] == labels[k + 1] == labels[k + 2] for k in range(5000, 6500, 3))


def test_a_cluster_of_the_user_that_has_lost_all_workers_is_an_error(tmp_path, monkeypatch):
    engine, folder = (pytest.importorskip(f"graphpart.distributed.{name}") for name in ("engine", "folder"))
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "DESERTED", 0.2)
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, **options) as made, distributed.Client(made) as client:
        made.scale(0)
        while made.scheduler.workers:
            time.sleep(0.01)
        with (
            engine.Engine(folder.Folder(str(tmp_path)), client, 0, 10**9, Stopping(), lambda *_: None) as mine,
            pytest.raises(gp.SolverError, match="no worker has been there"),
        ):
            mine.map("never", at_once, [()])
