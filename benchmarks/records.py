"""Records with known entities: F1 of pairs of `gp.records.match`, beside connected components of its own scores.

Generated people, and real records of the folder `records` of the real instances: places of four sources, products of
two shops, citations.

    python benchmarks/records.py [--seeds 10]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from real import INSTANCES
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import graphpart as gp

PEOPLE = ["given", "surname", "birth", "street", "phone"]
Labels = NDArray[Any]
Case = tuple[str, pd.DataFrame, list[str], str | None, Labels]  # name, table, columns, column of sources, entities


def connected(n: int, u: Labels, v: Labels) -> Labels:
    """The connected components of pairs."""
    found: Labels = connected_components(coo_array((np.ones(len(u)), (u, v)), shape=(n, n)), directed=False)[1]
    return found


def cases(seeds: int) -> Iterator[Case]:
    """All tables."""
    for seed in range(seeds):
        columns, person = gp.generate.person_records(2000, seed=seed)
        yield f"people {seed}", pd.DataFrame(columns), PEOPLE, None, person
    folder = INSTANCES / "records"
    if folder.is_dir():
        yield from real(folder)


def real(folder: Path) -> Iterator[Case]:
    """The tables of files."""
    frame = pd.read_csv(folder / "geographical.csv")
    for source in ("source", None):
        yield "places", frame, ["label", "lon", "lat"], source, frame.entity.to_numpy()
    shops = [pd.read_csv(folder / f"{shop}.csv", sep="|").assign(shop=shop) for shop in ("abt", "buy")]
    first, second = (pd.Series(range(len(shop)), index=shop.id) for shop in shops)
    truth = pd.read_csv(folder / "abt_buy_truth.csv", sep="|")
    frame = pd.concat(shops, ignore_index=True)
    u, v = first[truth.D1].to_numpy(), second[truth.D2].to_numpy() + len(first)
    for source in ("shop", None):
        yield "products", frame, ["name", "description", "price"], source, connected(len(frame), u, v)
    frame = pd.read_csv(folder / "cora.csv", sep="|")
    place = pd.Series(range(len(frame)), index=frame["Entity Id"])
    truth = pd.read_csv(folder / "cora_truth.csv", sep="|")
    u, v = (place[truth.iloc[:, side]].to_numpy() for side in (0, 1))
    yield "citations", frame, ["author", "title", "venue", "year", "pages"], None, connected(len(frame), u, v)


def measure(case: Case) -> dict[str, str]:
    """F1 of pairs of one table."""
    name, frame, on, source, truth = case
    frame = frame.reset_index(drop=True)
    begin = time.process_time()
    r = gp.records.match(frame, on, source=source)
    seconds = time.process_time() - begin
    row = {"records": name + (", one per source" if source else ""), "seconds": f"{seconds:.1f}"}
    u, v, p = (r.scores.column(of).to_numpy() for of in ("left", "right", "match_probability"))
    found = {"match": r.labels} | {
        f"components at {limit}": connected(len(frame), u[p >= limit], v[p >= limit]) for limit in (0.5, 0.95)
    }
    return row | {how: f"{gp.metrics.compare(truth, labels).joins_f1:.4f}" for how, labels in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="tables of generated people")
    for case in cases(parser.parse_args().seeds):
        print(", ".join(f"{key} {value}" for key, value in measure(case).items()), flush=True)


if __name__ == "__main__":
    main()
