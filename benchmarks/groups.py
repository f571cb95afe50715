"""Groups, sizes and numbers of clusters, beside what others offer for them.

    python benchmarks/groups.py --csv docs/benchmarks/groups.csv     everything (pip install -e '.[bench]' first)
    python benchmarks/groups.py places assignment                    some of it
    python benchmarks/groups.py --quick                              small sizes: does everything run?

* places: records of places in four sources, with at most one record of each source in a cluster; F1 of pairs. Peers:
  splink's single best links; greedy linking by falling similarity. Then the same with 5% duplicates in sources: of as
  many places, one record gets the source of another. Three prices: none, inf, and that of the documentation.
* assignment: two groups, pairs of negative cost between them. The optimum is by SciPy's
  `min_weight_full_bipartite_matching`, with one more column for each row, in which it stays alone.
* cuts: the same groups stated as one required cut for each pair, and no groups at all.
* communities: modularity with a largest size of communities, beside leidenalg's `max_comm_size` in equal time. Version
  0.12 of leidenalg does not obey it, so that an earlier one is needed.
* balanced: 12 clusters of at most so many points, beside k-means-constrained; the cost is the sum of distances within.
* entities: ten groups, a million elements, planted entities.
* cut: binary quadratic programs as maximum cuts by `n_clusters=(1, 2)`, beside their factor graphs.

Seconds are of the call alone. Rows of `--csv` take the place of rows of the same work.
"""

from __future__ import annotations

import argparse
import csv
import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from real import INSTANCES

import graphpart as gp

Row = tuple[str, str, str, str, str]  #: work, method, quality, seconds, lower bound
HEADER = ("work", "method", "quality", "seconds", "proven")
SLOW = 5.0  # seconds of a run that is not repeated
PRICE = {"similarity": 0.2, "bits": math.log2(0.95 / 0.05)}  # by docs/how-to/one-of-each-source.md


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def proven(r: gp.Result) -> str:
    return "optimal" if r.status == "optimal" else f"gap {round(100 * r.gap, 1):g}%" if math.isfinite(r.gap) else ""


# --------------------------------------------------------------------------------------------------------------- places


def f1(labels: Any, truth: Any) -> str:
    def pairs(keys: Any) -> int:
        return sum(k * (k - 1) // 2 for k in Counter(keys).values())

    both = pairs(zip(labels, truth, strict=True))
    found, true = pairs(labels), pairs(truth)
    return f"F1 {2 * both / (found + true):.3f}, precision {both / max(1, found):.3f}, recall {both / true:.3f}"


def greedy(n: int, u: Any, v: Any, similarity: Any, source: Any) -> list[int]:
    """Links by falling similarity, unless they would put two records of one source into a cluster."""
    cluster = list(range(n))
    members = [[a] for a in range(n)]
    sources = [{s} for s in source.tolist()]
    for k in np.argsort(-similarity, kind="stable").tolist():
        a, b = cluster[u[k]], cluster[v[k]]
        if a != b and not sources[a] & sources[b]:
            a, b = (a, b) if len(members[a]) >= len(members[b]) else (b, a)
            for x in members[b]:
                cluster[x] = a
            members[a] += members[b]
            sources[a] |= sources[b]
    return cluster


def best_links(n: int, u: Any, v: Any, similarity: Any, source: Any) -> list[int]:
    """splink's clusters by single best links; its own time includes DuckDB."""
    import pandas as pd
    import splink

    names = np.array([f"s{k}" for k in range(source.max() + 1)])[source]
    records = pd.DataFrame({"unique_id": np.arange(n), "source_dataset": names})
    api = splink.DuckDBAPI()
    frames = [api.register(records[records.source_dataset == s]) for s in np.unique(names)]
    linker = splink.Linker(frames, splink.SettingsCreator(link_type="link_and_dedupe"))
    predicted = linker.table_management.register_table_predict(
        api.register(pd.DataFrame({
            "unique_id_l": u, "unique_id_r": v, "source_dataset_l": names[u], "source_dataset_r": names[v],
            "match_probability": similarity, "match_weight": similarity,
        }))
    )  # fmt: skip
    found = linker.clustering.cluster_using_single_best_links(
        predicted, duplicate_free_datasets=np.unique(names).tolist(), threshold_match_probability=0.0
    ).as_pandas_dataframe()
    where = dict(zip(found.unique_id.tolist(), found.cluster_id.tolist(), strict=True))
    return [where[a] for a in range(n)]


def places(options: argparse.Namespace) -> Iterator[Row]:
    import logging

    import pandas as pd
    import splink  # not on the clock

    assert splink
    logging.getLogger("splink").setLevel(logging.WARNING)
    folder = INSTANCES / "records"
    if not folder.is_dir():
        return
    records = pd.read_csv(folder / "geographical.csv")
    pairs = pd.read_csv(folder / "geographical_pairs.csv")
    place = dict(zip(records.id, range(len(records)), strict=True))
    u, v = (pairs[side].map(place).to_numpy() for side in ("left", "right"))
    n, similarity, entity = len(records), pairs.similarity.to_numpy(), records.entity.to_numpy()
    source = pd.factorize(records.source)[0]
    ends, cost = np.stack([u, v], 1), 0.8 - similarity

    def solved(costs: Any, **demands: Any) -> tuple[str, str, str]:
        def call() -> gp.Result:
            return gp.solve(gp.SetPartition.from_pairs(n, ends, costs, dense=False, **demands), time_limit=60)

        r, seconds = timed(call)
        return f1(r.labels.tolist(), entity.tolist()), f"{seconds:.2f}", proven(r)

    components = gp.SetPartition.from_pairs(n, ends, -np.ones(len(u)), dense=False)._components()
    yield "places", "connected components", f1(components.tolist(), entity.tolist()), "", ""
    yield "places", "graphpart, no groups", *solved(cost)
    for name, call in (("greedy by falling similarity", greedy), ("splink, single best links", best_links)):
        labels, seconds = timed(lambda call=call: call(n, u, v, similarity, source))
        yield "places", name, f1(labels, entity.tolist()), f"{seconds:.2f}", ""
    near = [np.flatnonzero(components == k) for k in np.flatnonzero(np.bincount(components) > 1)]
    cuts = [(a, b) for c in near for i, a in enumerate(c) for b in c[:i] if source[a] == source[b]]
    yield "places", f"graphpart, {len(cuts)} explicit cuts", *solved(cost, must_cut=cuts)
    yield "places", "graphpart, groups", *solved(cost, groups=source)

    model = gp.learn.LogisticRegression(sigma=30.0, intercept=True)
    model.fit(similarity[:, None], entity[u] == entity[v])
    bits = model.costs(similarity[:, None])
    rng = np.random.default_rng(options.seed)
    several = [x for x in records.groupby("entity").indices.values() if len(x) > 1]
    mixed = source.copy()
    for k in rng.permutation(len(several))[: round(0.05 * n)].tolist():
        a, b = rng.permutation(several[k])[:2]
        mixed[b] = mixed[a]
    work = "places, 5% duplicates"
    for name, call in (("greedy by falling similarity", greedy), ("splink, single best links", best_links)):
        labels, seconds = timed(lambda call=call: call(n, u, v, similarity, mixed))
        yield work, name, f1(labels, entity.tolist()), f"{seconds:.2f}", ""
    for unit, costs in (("similarity", cost), ("bits", bits)):
        for price, words in ((0.0, "no price"), (math.inf, "price inf"), (PRICE[unit], f"price {PRICE[unit]:.3g}")):
            demands = {"groups": mixed, "group_cost": price} if price else {}
            yield work, f"graphpart, costs in {unit}, {words}", *solved(costs, **demands)


# ----------------------------------------------------------------------------------------------------------- assignment


def bipartite(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Different pairs of one of n and one of n others, and costs of which most are negative."""
    rng = np.random.default_rng(seed)
    keys = np.unique(rng.integers(0, n, m) * np.int64(n) + rng.integers(0, n, m))
    return np.stack([keys // n, n + keys % n], 1), rng.normal(-1.0, 1.0, len(keys))


def assignment(options: argparse.Namespace) -> Iterator[Row]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n, m = (2000, 20_000) if options.quick else (100_000, 1_000_000)
    pairs, costs = bipartite(n, m, options.seed)
    kept = costs < 0
    rows, columns = (
        np.concatenate([pairs[kept, 0], np.arange(n)]),
        np.concatenate([pairs[kept, 1] - n, n + np.arange(n)]),
    )
    alone = 1.0 - costs.min()
    weights = np.concatenate([costs[kept] + alone, np.full(n, alone)])  # which are positive, for zeros are no edges
    matrix = coo_array((weights, (rows, columns)), shape=(n, 2 * n)).tocsr()
    found, seconds = timed(lambda: min_weight_full_bipartite_matching(matrix))
    best = float(matrix[found[0], found[1]].sum()) - n * alone
    work = f"assignment, 2 groups of {n}, {len(pairs)} pairs"
    yield work, "SciPy, full bipartite matching", f"cost {best:.6g}", f"{seconds:.2f}", "optimal"
    p = gp.SetPartition.from_pairs(2 * n, pairs, costs, groups=np.arange(2 * n) // n, dense=False)
    start, seconds = timed(lambda: gp.partition.greedy_joining(p))
    r, more = timed(lambda: gp.partition.kernighan_lin_pairs(p, initial=start))
    yield work, "graphpart, joining and pairwise Kernighan-Lin", above(r.cost, best), f"{seconds + more:.2f}", ""
    for method, limit in (("auto", 10), ("exact", 60)):
        r, seconds = timed(lambda method=method, limit=limit: gp.solve(p, method, time_limit=limit))
        yield work, f"graphpart, {method}, {limit} s", above(r.cost, best), f"{seconds:.2f}", proven(r)


def above(cost: float, best: float) -> str:
    difference = (cost - best) / abs(best)
    return f"cost {cost:.6g}, {100 * difference:.2g}% above the optimum" if difference > 1e-9 else f"cost {cost:.6g}"


def entities(options: argparse.Namespace) -> Iterator[Row]:
    """Ten sources, planted entities: half of the pairs are near each other, costs are -2 or 2 with noise."""
    n, m = (10_000, 50_000) if options.quick else (1_000_000, 5_000_000)
    rng = np.random.default_rng(options.seed)
    source, entity = rng.integers(0, 10, n), rng.integers(0, n // 4, n)
    order = np.argsort(entity, kind="stable")
    gap = rng.integers(1, 4, m // 2)
    at = rng.integers(0, n - 4, m // 2)
    near = np.stack([order[at], order[at + gap]], 1)
    pairs = np.concatenate([near, rng.integers(0, n, (m - m // 2, 2))])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    same = (entity[pairs[:, 0]] == entity[pairs[:, 1]]) & (source[pairs[:, 0]] != source[pairs[:, 1]])
    costs = np.where(same, -2.0, 2.0) + rng.normal(size=len(pairs))
    p = gp.SetPartition.from_pairs(n, pairs, costs, groups=source, dense=False)
    limit = 5 if options.quick else 60
    r, seconds = timed(lambda: gp.solve(p, time_limit=limit))
    work = f"ten groups, {n} elements, {len(pairs)} pairs"
    yield work, f"graphpart, auto, {limit} s", f"cost {r.cost:.6g}", f"{seconds:.1f}", proven(r)


def cuts(options: argparse.Namespace) -> Iterator[Row]:
    """The same groups as explicit cuts, and not at all; each method thrice, the fastest run counts; 60 s at most."""
    n = 300 if options.quick else 3000
    rng = np.random.default_rng(options.seed)
    pairs = np.unique(np.sort(rng.integers(0, n, (10 * n, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    costs, group = rng.normal(-0.3, 1.0, len(pairs)), rng.integers(0, 10, n)
    apart = [
        (a, b)
        for g in range(10)
        for i, a in enumerate(np.flatnonzero(group == g))
        for b in np.flatnonzero(group == g)[:i]
    ]
    forms = {
        "no groups": gp.SetPartition.from_pairs(n, pairs, costs, dense=False),
        "groups": gp.SetPartition.from_pairs(n, pairs, costs, dense=False, groups=group),
        "explicit cuts": gp.SetPartition.from_pairs(n, pairs, costs, dense=False, must_cut=apart),
    }
    for method in (gp.partition.greedy_joining, gp.partition.kernighan_lin, gp.partition.kernighan_lin_pairs):
        seconds, cost = dict.fromkeys(forms, math.inf), {}
        for _ in range(3):
            for name, p in forms.items():
                if SLOW < seconds[name] < math.inf:
                    continue
                r, took = timed(lambda p=p, method=method: method(p, time_limit=60))
                seconds[name], cost[name] = min(seconds[name], took), r.cost
        for name in forms:
            ratio = seconds[name] / seconds["no groups"]
            work = f"groups and cuts, {n} elements: {method.__name__}"
            yield work, name, f"cost {cost[name]:.6g}", f"{seconds[name]:.3f} ({ratio:.2f} times)", ""


# ------------------------------------------------------------------------------------------------------ sizes, numbers


def communities(options: argparse.Namespace) -> Iterator[Row]:
    import igraph
    import leidenalg
    from scipy.sparse import coo_array

    from graphpart.generate.networks import community_network

    n, m, size = (500, 2500, 30) if options.quick else (10_000, 100_000, 100)
    gains, shares = [], []
    for seed in range(2 if options.quick else 10):
        edges, _ = community_network(n, m, 0.4, seed)
        graph = igraph.Graph(n, edges)
        options_of_peer = {"n_iterations": 2, "max_comm_size": size, "seed": seed}
        found, seconds = timed(
            lambda graph=graph, more=options_of_peer: leidenalg.find_partition(
                graph, leidenalg.ModularityVertexPartition, **more
            )
        )
        matrix = coo_array((np.ones(len(edges)), edges.T), shape=(n, n)).tocsr()
        p = gp.SetPartition.from_modularity(matrix + matrix.T, dense=False).require(max_size=size)
        r, took = timed(lambda p=p, seconds=seconds: gp.partition.search(p, time_limit=seconds, threads=1))
        assert np.bincount(r.labels).max() <= size >= max(found.sizes())
        gains.append(graph.modularity(r.labels.tolist()) - graph.modularity(found.membership))
        shares.append(took / seconds)
        print(
            f"  seed {seed}: leidenalg {graph.modularity(found.membership):.5f}, {seconds:.2f} s; {gains[-1]:+.5f}",
            flush=True,
        )
    work = f"modularity, {n} nodes, at most {size} in a community"
    higher = sum(gain > 1e-9 for gain in gains)
    quality = f"higher than leidenalg on {higher} of {len(gains)} seeds, by {min(gains):+.5f} to {max(gains):+.5f}"
    yield work, "graphpart, search, equal time", quality, f"{np.mean(shares):.2f} of its time", ""


def balanced(options: argparse.Namespace) -> Iterator[Row]:
    from scipy.spatial.distance import pdist, squareform

    n, k = (120 if options.quick else 600), 12
    rng = np.random.default_rng(options.seed)
    points = rng.normal(size=(n, 2)) + rng.normal(size=(8, 2))[rng.integers(0, 8, n)] * 4
    squares = squareform(pdist(points, "sqeuclidean"))
    for size in (n // k, 6 * n // (5 * k)):
        labels, seconds = balanced_by_peer(points, k, size)
        p = gp.SetPartition.from_matrix(squares / (n // k), n_clusters=k, max_size=size)
        work = f"{n} points, {k} clusters, at most {size} points in each"
        yield work, "k-means-constrained", f"sum of squares {p.evaluate(labels):.6g}", f"{seconds:.2f}", ""
        limit = seconds
        r, seconds = timed(lambda p=p, limit=limit: gp.partition.search(p, time_limit=limit, threads=1))
        yield work, "graphpart, search, equal time", f"sum of squares {r.cost:.6g}", f"{seconds:.2f}", ""


def balanced_by_peer(points: np.ndarray, k: int, size: int) -> tuple[np.ndarray, float]:
    """By k-means-constrained in another process, since OR-Tools and highspy do not go into one."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "points.npy")
        np.save(file, points)
        code = (
            "import time, numpy as np\nfrom k_means_constrained import KMeansConstrained\n"
            f"points, begin = np.load({file!r}), time.perf_counter()\n"
            f"found = KMeansConstrained({k}, size_max={size}, random_state=0, n_init=10).fit(points).labels_\n"
            "print(time.perf_counter() - begin, *found.tolist())"
        )
        line = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return np.array(line[1:], int), float(line[0])


def two_clusters(file: Path) -> gp.SetPartition:
    """A binary quadratic program as a maximum cut with one more element: x[i] = 1 says that i is with that element.

    With two clusters, x[i] x[j] = (x[i] + x[j] + y[i, j] - 1) / 2, where y[i, j] = 1 says that i and j are together.
    """
    n = int(file.read_text().split(maxsplit=1)[0])
    i, j, q = np.loadtxt(file, skiprows=1).T
    i, j = i.astype(int), j.astype(int)
    alone = i == j
    i, j, twice = i[~alone], j[~alone], q[~alone]  # an off-diagonal line counts twice, and each product half
    single = np.bincount(np.concatenate([i, j]), np.concatenate([twice, twice]), n + 1)
    np.add.at(single, np.loadtxt(file, skiprows=1)[alone][:, 0].astype(int), q[alone])
    pairs = np.concatenate([np.stack([i, j], 1), np.stack([np.zeros(n, int), np.arange(1, n + 1)], 1)])
    costs, offset = np.concatenate([twice, single[1:]]), -float(twice.sum())
    return gp.SetPartition.from_pairs(n + 1, pairs, costs, n_clusters=(1, 2), offset=offset)


def cut(options: argparse.Namespace) -> Iterator[Row]:
    folder = INSTANCES / "qubo"
    for file in sorted(folder.glob("*.sparse")) if folder.is_dir() else ():
        p = two_clusters(file)
        r, seconds = timed(lambda p=p: gp.solve(p, time_limit=2 if options.quick else 10))
        exact = gp.solve(gp.read(file), time_limit=10)
        assert math.isclose(r.objective, exact.objective) or exact.status != "optimal", (r.objective, exact.objective)
        quality = f"x'Qx {r.objective:.6g}; the factor graph: {exact.objective:.6g}"
        yield f"maximum cut, {file.stem}", "graphpart, auto, n_clusters=(1, 2)", quality, f"{seconds:.2f}", proven(r)


WORKS = {
    "places": places, "assignment": assignment, "entities": entities, "cuts": cuts, "communities": communities,
    "balanced": balanced, "cut": cut,
}  # fmt: skip


def write(path: Path, rows: list[Row]) -> None:
    old: list[tuple[str, ...]] = []
    if path.exists():
        with path.open(newline="") as stream:
            old = [tuple(row) for row in list(csv.reader(stream))[1:]]
    works = {row[0] for row in rows}
    with path.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, *(row for row in old if row[0] not in works), *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", choices=[*WORKS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", type=Path, help="file of figures to write to")
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.works or WORKS:
        for row in WORKS[name](options):
            print("  ".join(row), flush=True)
            rows.append(row)
    if options.csv is not None:
        write(options.csv, rows)


if __name__ == "__main__":
    main()
