"""A million records: which are of the same person? From records to clusters, through files, within 4 GB.

`graphpart.generate.person_records` makes records of known persons from a seed, with typing errors, nicknames, moves,
missing fields, and families and twins at one address. The following steps are the same for real records:

 1. candidates: neighbours in several sorted orders of the records, among those with the same key (record_pairs.py);
 2. attributes of candidates, some 100,000 pairs at a time, and a logistic model learned from pairs of known persons;
 3. the cost of each candidate, written to a Parquet file;
 4. for each way of clustering a threshold on costs, chosen by other known persons;
 5. clusters from the same costs: by partition in memory, by partition through files and workers
    (`graphpart.distributed`), by connected components, and by Splink's clustering;
 6. scores by the persons that were used neither for 2. nor for 4.;
 7. records that come later, placed by `graphpart.partition.extend`.

    pip install 'graphpart[records]'
    python examples/records_large.py --records 10000              # seconds
    python examples/records_large.py --figure records_large.png   # 10^6 records, minutes
    python examples/records_large.py --dupehell                   # records made by the package dupehell instead
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from record_pairs import FIELDS, Floats, Ints, Records, Tell, attributes, candidates, encode  # beside this file
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import graphpart as gp

BATCH = 200_000  # pairs whose attributes are in memory
KNOWN = 10_000  # persons at most, and a quarter of all: a fifth to learn costs, the others to choose thresholds
SIGMA = 3.0  # of the prior of the model's parameters
THRESHOLDS = np.arange(-7.5, 1.6, 0.75)  # in bits, subtracted from costs
SHOWN = 30  # of the largest clusters, in the picture


# ---------------------------------------------------------------------------------------------------------- progress


class Stages(dict[str, float]):
    """Seconds by stage, told on standard error."""

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[Tell]:
        """Time what is within; the function given tells how far it is."""
        begin = time.perf_counter()

        def tell(done: int, of: int) -> None:
            if sys.stderr.isatty():
                print(f"\r{name}: {done:,} of {of:,}\033[K", end="\r", file=sys.stderr, flush=True)

        yield tell
        self[name] = time.perf_counter() - begin
        print(f"{name}: {self[name]:.1f} s, {memory():.2f} GB at most so far", file=sys.stderr, flush=True)


def memory() -> float:
    """Gigabytes that this process has held at most; NaN on Windows."""
    try:
        import resource
    except ImportError:
        return math.nan
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def check_packages() -> None:
    """One clear line if something is not installed."""
    for package in ("pyarrow", "rapidfuzz", "dask", "distributed", "splink"):
        try:
            importlib.import_module(package)
        except ImportError:
            raise gp.MissingDependency(package, "records", "this study") from None


# -------------------------------------------------------------------------------------------------------------- costs


def learn(records: Records, u: Ints, v: Ints, person: Ints, known: NDArray[np.bool_]) -> Any:
    """A model of whether a candidate is of one person, from the persons of the records that are `known`.

    All candidates with at least one known record are learned from, as all records of its person are known. A pair of
    two persons has two chances to be among these, a pair of one person one, so pairs with one known record count half.
    """
    at = np.flatnonzero(known[u] | known[v])
    u, v = u[at], v[at]
    weight = np.where(known[u] & known[v], 1.0, 0.5)
    X = attributes(records, u, v)
    return gp.learn.LogisticRegression(SIGMA, intercept=True).fit(X, person[u] == person[v], weight)


def write_costs(records: Records, model: Any, u: Ints, v: Ints, folder: Path, tell: Tell) -> None:
    """The cost of each candidate, in a Parquet file with the columns u, v and cost."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("u", pa.int32()), ("v", pa.int32()), ("cost", pa.float32())])
    with pq.ParquetWriter(folder / "scored.parquet", schema) as writer:
        for first in range(0, len(u), BATCH):
            part = slice(first, first + BATCH)
            cost = model.costs(attributes(records, u[part], v[part]))
            writer.write_table(pa.table([u[part], v[part], cost.astype(np.float32)], schema=schema))
            tell(first, len(u))


def read_costs(folder: Path) -> Floats:
    """The costs of all candidates, in the order in which they were written."""
    import pyarrow.parquet as pq

    return pq.read_table(folder / "scored.parquet", columns=["cost"])["cost"].to_numpy().astype(np.float64)


# ----------------------------------------------------------------------------------------------------------- clusters


def inside(n: int, u: Ints, v: Ints, cost: Floats) -> Ints:
    """The pairs within components of attractive pairs; no partition of least cost joins others."""
    part = components(n, u, v, cost)
    return np.flatnonzero(part[u] == part[v])


def partition(n: int, u: Ints, v: Ints, cost: Floats, missing: float = 0.0) -> Ints:
    """Clusters of least cost; pairs that are no candidates cost `missing`."""
    at = inside(n, u, v, cost)
    problem = gp.SetPartition.from_pairs(n, (u[at], v[at]), cost[at], missing=missing)
    return gp.solve(problem, method="multilevel" if missing else "kernighan-lin").labels


def components(n: int, u: Ints, v: Ints, cost: Floats) -> Ints:
    """What pairs with a negative cost connect."""
    at = np.flatnonzero(cost < 0)
    graph = coo_array((np.ones(len(at), bool), (u[at], v[at])), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def splink(n: int, u: Ints, v: Ints, cost: Floats) -> Ints:
    """Splink's clustering of the pairs whose cost is negative, by DuckDB."""
    import pyarrow as pa
    from splink import DuckDBAPI
    from splink.clustering import cluster_pairwise_predictions_at_threshold

    at = np.flatnonzero(cost < 0)  # for Splink, 1/2 would be a match, too
    edges = pa.table({"id_l": u[at], "id_r": v[at], "match_probability": 1.0 / (1.0 + np.exp2(cost[at]))})
    nodes = pa.table({"id": np.arange(n)})
    found = cluster_pairwise_predictions_at_threshold(
        nodes, edges, DuckDBAPI(), "id", "id_l", "id_r", threshold_match_probability=0.5
    )
    table = found.as_duckdbpyrelation().to_arrow_table()
    labels = np.empty(n, np.int64)
    labels[table["id"].to_numpy()] = table["cluster_id"].to_numpy()
    return labels


def through_files(n: int, folder: Path, threshold: float, workers: int) -> tuple[Ints, float]:
    """Clusters of least cost by workers of Dask that read and write files, and by how much these may be too costly."""
    import pyarrow.parquet as pq

    (folder / "pairs").mkdir(exist_ok=True)
    with (
        pq.ParquetFile(folder / "scored.parquet") as scored,
        pq.ParquetWriter(folder / "pairs" / "pairs.parquet", scored.schema_arrow) as writer,
    ):
        for k in range(scored.num_row_groups):
            table = scored.read_row_group(k)
            writer.write_table(table.set_column(2, "cost", [table["cost"].to_numpy() - np.float32(threshold)]))
    result = gp.distributed.solve(folder / "pairs", workers=workers, memory_limit="1GB", output=folder / "labels")
    found = pq.read_table(result.labels)
    label = found["label"].to_numpy()
    labels = 1 + int(label.max(initial=0)) + np.arange(n)  # records that are in no pair stay alone
    labels[found["id"].to_numpy()] = label
    return labels, result.gap


METHODS: dict[str, Callable[..., Ints]] = {
    "partition": partition,
    **{f"partition, unlisted pairs cost {c:g}": partial(partition, missing=c) for c in (0.05, 0.2)},
    "components": components,
}


# ------------------------------------------------------------------------------------------------------------- scores


def scores(person: Ints, labels: Ints, judged: NDArray[np.bool_]) -> dict[str, float]:
    """How well the judged records are clustered, pair by pair and cluster by cluster, seen from each of them.

    A record counts the pairs that it is in, and 1 / size of its person and of its cluster, so that a sample of persons
    sees errors in the same proportion as all persons do; over all records these are the usual figures. A person is
    found if a cluster has all of its records and no other.
    """
    key = person * (int(labels.max(initial=0)) + 1) + labels
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    size = np.diff(np.append(first, len(key)))
    meeting = np.empty(len(key), np.int64)
    meeting[order] = np.repeat(size, size)  # the records of the same person in the same cluster
    together, true, found = (x[judged] for x in (meeting, np.bincount(person)[person], np.bincount(labels)[labels]))
    right, wanted, joined = (int((x - 1).sum()) for x in (together, true, found))
    whole = (1 / found[(together == true) & (together == found)]).sum()
    persons, clusters = (1 / true).sum(), (1 / found).sum()
    return {
        "precision": right / max(1, joined),
        "recall": right / max(1, wanted),
        "F1": 2 * right / max(1, wanted + joined),
        "cluster F1": float(2 * whole / (persons + clusters)),
        "variation of information": float(np.log2(true / together).mean() + np.log2(found / together).mean()),
    }


def tune(u: Ints, v: Ints, cost: Floats, person: Ints, judged: NDArray[np.bool_]) -> dict[str, list[dict[str, float]]]:
    """Scores of each method for all thresholds on the judged records.

    What no path of attractive pairs connects with them does not matter, so only their components are solved.
    """
    part = components(len(person), u, v, cost - THRESHOLDS[-1])
    members = np.flatnonzero(np.isin(part, part[judged]))
    place = np.full(len(person), -1, np.int32)
    place[members] = np.arange(len(members))
    at = np.flatnonzero((place[u] >= 0) & (place[v] >= 0))
    n, a, b, costs = len(members), place[u[at]], place[v[at]], cost[at]
    found: dict[str, list[dict[str, float]]] = {}
    for name, method in METHODS.items():
        found[name] = [scores(person[members], method(n, a, b, costs - t), judged[members]) for t in THRESHOLDS]
    return found


def total(score: dict[str, float]) -> float:
    """What thresholds are chosen by."""
    return score["F1"] + score["cluster F1"]


def best(row: list[dict[str, float]]) -> int:
    """The place of the best threshold."""
    return int(np.argmax([total(score) for score in row]))


# -------------------------------------------------------------------------------------------------------------- study


def make(n: int, seed: int, dupehell: bool, folder: Path) -> tuple[dict[str, Any], Ints]:
    """Columns of n records, and the person of each."""
    if not dupehell:
        return gp.generate.person_records(n, seed)
    try:
        from dupehell import generate
    except ImportError:
        raise gp.MissingDependency("dupehell", "records", "--dupehell") from None
    import pyarrow.parquet as pq

    made = generate("kyc", n, seed=seed, difficulty="medium", output_dir=str(folder), only_entity="natural_person")
    table, truth = pq.read_table(made.dataset), pq.read_table(made.ground_truth)
    names = ("given_name", "family_name", "birth_date", "residential_address_line1", "residential_city",
             "residential_postal_code", "mobile_phone", "email_address")  # fmt: skip
    chosen = np.random.default_rng(seed).permutation(table.num_rows)[:n]
    person = np.unique(truth["master_id"].to_numpy()[chosen], return_inverse=True)[1]
    return {f: table[name].to_numpy()[chosen] for f, name in zip(FIELDS, names, strict=True)}, person


def study(
    n: int = 1_000_000, seed: int = 0, workers: int = 2, dupehell: bool = False, folder: Path | None = None
) -> dict[str, Any]:
    """All steps: scores by method, of all records and of later ones, thresholds, seconds, and labels."""
    check_packages()
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="records-") as temporary:
            return study(n, seed, workers, dupehell, Path(temporary))
    folder.mkdir(parents=True, exist_ok=True)
    seconds, out = Stages(), {"records": n}
    with seconds.stage("records"):
        columns, person = make(n + n // 100, seed, dupehell, folder)
        everything = encode(columns)
        records, everyone, person = everything.first(n), person, person[:n]
        del columns
    with seconds.stage("candidates") as tell:
        u, v = candidates(records, tell)
    of_one = person[u] == person[v]
    sizes = np.bincount(person)
    out |= {"persons": int((sizes > 0).sum()), "candidates": len(u)}
    out["of them"], out["pairs of one person"] = int(of_one.sum()), int((sizes * (sizes - 1) // 2).sum())

    known = np.random.default_rng(seed).permutation(len(sizes))[: min(KNOWN, len(sizes) // 4)]
    to_learn, to_tune = np.isin(person, known[::5]), np.isin(person, known[np.arange(len(known)) % 5 > 0])
    held_out = ~to_learn & ~to_tune
    with seconds.stage("learning"):
        model = learn(records, u, v, person, to_learn)
    with seconds.stage("costs") as tell:
        write_costs(records, model, u, v, folder, tell)
        cost = read_costs(folder)
    with seconds.stage("thresholds"):
        tuned = tune(u, v, cost, person, to_tune)
        chosen = {name: best(row) for name, row in tuned.items()}
        name = max((name for name in METHODS if name != "components"), key=lambda k: total(tuned[k][chosen[k]]))
    threshold = {key: float(THRESHOLDS[k]) for key, k in chosen.items()}
    out |= {"tuned": tuned, "threshold": threshold, "chosen": name}

    labels = {}
    with seconds.stage("partition"):
        labels["partition"] = METHODS[name](n, u, v, cost - threshold[name])
    with seconds.stage("partition through files"):
        labels["partition through files"], out["gap"] = through_files(n, folder, threshold["partition"], workers)
    with seconds.stage("components"):
        labels["components"] = components(n, u, v, cost - threshold["components"])
    with seconds.stage("Splink's clustering"):
        labels["Splink's clustering"] = splink(n, u, v, cost - threshold["components"])
    with seconds.stage("scores"):
        out["scores"] = {key: scores(person, found, held_out) for key, found in labels.items()}
        path = [scores(person, components(n, u, v, cost - t), held_out) for t in THRESHOLDS]
        for measure in ("F1", "cluster F1"):
            out["scores"][f"components, best {measure} in hindsight"] = max(path, key=lambda x: x[measure])

    fresh = np.arange(len(everyone)) >= n
    with seconds.stage("later: candidates, costs") as tell:
        a, b = candidates(everything, tell, n)
        more = model.costs(attributes(everything, a, b))
    with seconds.stage("later: problem"):
        u, v, cost = np.append(u, a), np.append(v, b), np.append(cost, more) - threshold["partition"]
        at = inside(len(everyone), u, v, cost)
        problem = gp.SetPartition.from_pairs(len(everyone), (u[at], v[at]), cost[at])
    with seconds.stage("later: extend"):
        extended = gp.partition.extend(problem, np.append(labels["partition"], np.full(fresh.sum(), -1))).labels
    with seconds.stage("later: all anew"):
        anew = gp.solve(problem, method="kernighan-lin").labels
    judged = fresh & ~np.isin(everyone, known)
    out["later"] = {"extend": scores(everyone, extended, judged), "all anew": scores(everyone, anew, judged)}
    return out | {"seconds": dict(seconds), "GB": memory(), "labels": labels, "person": person}


def draw(found: dict[str, Any], path: str) -> None:
    """Both F1 by threshold, of the persons that thresholds are chosen by, and what the largest clusters consist of."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, *right) = pyplot.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
    for name, style in ((found["chosen"], "tab:blue"), ("components", "tab:red")):
        for measure, line in (("F1", "o-"), ("cluster F1", "s--")):
            values = [x[measure] for x in found["tuned"][name]]
            left.plot(THRESHOLDS, values, line, color=style, markersize=3, label=f"{name.split(',')[0]}: {measure}")
    left.set(xlabel="threshold, in bits", ylabel="F1", ylim=(0.9, 1.0), title="by threshold")
    left.legend(fontsize="small")
    for axis, name in zip(right, ("partition", "components"), strict=True):
        labels, person = found["labels"][name], found["person"]
        size = np.bincount(labels)
        largest = np.argsort(-size, kind="stable")[:SHOWN]
        main = [np.bincount(person[labels == k]).max() for k in largest]
        axis.bar(range(len(largest)), size[largest], color="tab:red", label="records of others")
        axis.bar(range(len(largest)), main, color="tab:blue", label="records of the most frequent person")
        axis.set(xlabel="the largest clusters", ylabel="records", title=name, ylim=(0, 1.3 * size[largest[0]]))
        axis.legend(fontsize="small")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main(arguments: list[str] | None = None) -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000, metavar="N", help="default: 1000000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="processes for the partition through files; 0: this one")
    parser.add_argument("--dupehell", action="store_true", help="take the records of the package dupehell")
    parser.add_argument("--folder", type=Path, help="keep the files of scored pairs and of labels in this folder")
    parser.add_argument("--figure", metavar="PNG")
    args = parser.parse_args(arguments)
    if args.records < 1000:
        parser.error(f"--records is {args.records}: expected at least 1000")
    try:
        found = study(args.records, args.seed, args.workers, args.dupehell, args.folder)
    except gp.GraphPartError as error:
        parser.exit(1, f"{error}\n")
    if args.figure:
        draw(found, args.figure)
    print(f"{found['records']:,} records of {found['persons']:,} persons; {found['candidates']:,} candidates, with "
          f"{found['of them']:,} of the {found['pairs of one person']:,} pairs of one person\n")  # fmt: skip
    rows = found["scores"] | {f"later records, {name}": row for name, row in found["later"].items()}
    names = list(next(iter(rows.values())))
    print("| clusters by |", " | ".join(names), "| seconds |\n" + "|---" * (len(names) + 2) + "|")
    for name, row in rows.items():
        took = found["seconds"].get(name.replace("later records,", "later:"))
        print(
            f"| {name} |",
            " | ".join(f"{row[key]:.4f}" for key in names),
            f"| {'' if took is None else f'{took:.1f}'} |",
        )
    print(f"\nchosen: {found['chosen']}; thresholds:", ", ".join(f"{k} {t:g}" for k, t in found["threshold"].items()))
    print(f"partition through files: its cost is at most {100 * found['gap']:.2g}% above the least")
    print("seconds:", ", ".join(f"{name} {took:.1f}" for name, took in found["seconds"].items()))
    print(f"{sum(found['seconds'].values()):.0f} s in all, {found['GB']:.2f} GB at most in this process")


if __name__ == "__main__":
    main()
