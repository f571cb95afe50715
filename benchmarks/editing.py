"""Cluster editing of graphs of 300 to 80,000 nodes: the search, beside another program in the same time.

    python benchmarks/editing.py --seconds 10
    python benchmarks/editing.py actions genes --seeds 2 3 --seconds 10 30 --csv editing.csv
    python benchmarks/editing.py --peer 'kapoce {graph} {seconds} {seed} {labels}'

Time is processor time, so that other work on the machine matters little; the search has one thread. The graphs are of
eight kinds, two of them in two sizes, each made anew from a seed:

* action sequences: sequences of 30 actions, copies of some originals in which actions were exchanged; an edge if two
  agree in at least 22 places;
* genes: profiles over 40 samples, noisy copies of some originals; an edge if they correlate by at least 0.65;
* cliques without 3 of 10 of their edges, with random other edges; near points; random edges; communities; degrees that
  follow a power law (`graphpart.generate.networks`); half of all pairs (`graphpart.generate.cluster_editing`).

The command of the peer gets the file of a graph (format of PACE 2021), the seconds of processor time that it has, a
seed, and a file to which it writes the cluster of each node, a number in each line. The edits of both are counted by
graphpart.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measuring import CLOCK, limited
from networks import keep

import graphpart as gp
from graphpart.generate.networks import clustered_network, community_network

Edges = np.ndarray
COLUMNS = ["graph", "nodes", "edges", "seed", "seconds", "edits", "edits of the peer", "difference"]


def actions(n: int, seed: int) -> Edges:
    rng = np.random.default_rng(seed)
    originals = rng.integers(0, 6, (n // 12, 30))
    sequences = originals[(len(originals) * rng.random(n) ** 1.5).astype(int)]
    changed = rng.random(sequences.shape) < rng.uniform(0.05, 0.35, (n, 1))
    sequences = np.where(changed, rng.integers(0, 6, sequences.shape), sequences)
    return np.concatenate(
        [
            np.stack([np.full(n - 1 - a, a), np.arange(a + 1, n)], 1)[(sequences[a] == sequences[a + 1 :]).sum(1) >= 22]
            for a in range(n - 1)
        ]
    )


def genes(n: int, seed: int) -> Edges:
    rng = np.random.default_rng(seed)
    originals = rng.standard_normal((n // 25, 40))
    profiles = originals[(len(originals) * rng.random(n) ** 2).astype(int)]
    profiles = profiles + rng.uniform(0.4, 1.2, (n, 1)) * rng.standard_normal(profiles.shape)
    return np.argwhere(np.triu(np.corrcoef(profiles) >= 0.65, 1))


def dense(n: int, seed: int) -> Edges:
    return np.argwhere(np.triu(gp.generate.cluster_editing(n, 0.5, seed).problem.matrix, 1) < 0)


GRAPHS: dict[str, tuple[int, Callable[[int, int], Edges]]] = {
    "dense": (300, dense),
    "random, small": (400, lambda n, seed: clustered_network(n, 10 * n, "random", seed).edges),
    "actions": (1500, actions),
    "genes": (3000, genes),
    "power law, small": (3000, lambda n, seed: community_network(n, 7 * n, 1.0, seed).edges),
    "random": (10_000, lambda n, seed: clustered_network(n, 4 * n, "random", seed).edges),
    "cliques": (10_000, lambda n, seed: clustered_network(n, 5 * n, "cliques", seed).edges),
    "geometric": (20_000, lambda n, seed: clustered_network(n, 5 * n, "geometric", seed).edges),
    "communities": (40_000, lambda n, seed: community_network(n, 4 * n, 0.3, seed).edges),
    "power law": (80_000, lambda n, seed: community_network(n, 3 * n, 1.0, seed).edges),
}


def of_peer(command: str, p: gp.SetPartition, edges: Edges, seconds: float, seed: int) -> float:
    """The edits of the peer's clusters."""
    with tempfile.TemporaryDirectory() as folder:
        graph, labels = Path(folder) / "graph.gr", Path(folder) / "labels.txt"
        np.savetxt(graph, edges + 1, "%d", header=f"p cep {p.n} {len(edges)}", comments="")
        words = {"graph": graph, "labels": labels, "seconds": f"{seconds:g}", "seed": seed}
        subprocess.run([word.format(**words) for word in shlex.split(command)], check=True, stdout=subprocess.DEVNULL)
        return p.objective(p.evaluate(np.loadtxt(labels, dtype=int)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help=f"of {'; '.join(GRAPHS)} (default: all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--seconds", nargs="+", type=float, default=[10.0], help="of processor time")
    parser.add_argument("--peer", metavar="COMMAND", help="with {graph}, {seconds}, {seed} and {labels}; default: none")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    if unknown := set(options.graphs) - set(GRAPHS):
        parser.error(f"unknown graph {min(unknown)!r}: expected {'; '.join(GRAPHS)}")
    CLOCK["name"] = "process_time"
    for seed in options.seeds:
        for name in options.graphs or GRAPHS:
            n, make = GRAPHS[name]
            edges = make(n, seed)
            p = gp.SetPartition.from_pairs(n, edges, np.full(len(edges), -1.0), missing=1.0, offset=float(len(edges)))
            for seconds in options.seconds:
                began = time.process_time()
                mine = gp.partition.search(p, seed=seed, threads=1, **limited(seconds)).objective
                took = time.process_time() - began
                row = [name, n, len(edges), seed, f"{seconds:g}", f"{mine:.0f}", "-", "-"]
                if options.peer:
                    theirs = of_peer(options.peer, p, edges, seconds, seed)
                    row[-2:] = [f"{theirs:.0f}", f"{100 * (mine / theirs - 1):+.3f}%"]
                print(" | ".join(map(str, row)) + f" | {took:.1f} s", flush=True)
                if options.csv is not None:
                    keep(options.csv, list(map(str, row)), COLUMNS, 5)


if __name__ == "__main__":
    main()
