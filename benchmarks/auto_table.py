"""What `auto` says on jobs of users: cost, bound, status, time and memory, beside the method that does best on each.

python benchmarks/auto_table.py                       # all jobs, some ten minutes on an idle machine
python benchmarks/auto_table.py shifts groups         # those whose names begin with one of these words

One line for each job and time limit. Each run has a process of its own: "MB" is by how much its largest memory exceeds
that of making the problem. "above" is by how much the cost of `auto` is above that of the other method in half of the
time (in a second, if `auto` has no limit), as a share of it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import auto
import auto_factor_graphs
import auto_jobs as jobs
import numpy as np

import graphpart as gp

Row = tuple[str, Callable[[], Any], float | None, str]  # name, problem, time limit, the other method


def hub(n: int = 100_000, m: int = 400_000, seed: int = 0) -> gp.SetPartition:
    """Random pairs, of which n join one element with all others."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, (m, 2))
    pairs[:n] = np.stack([np.full(n, n), np.arange(n)], 1)
    kept = pairs[:, 0] != pairs[:, 1]
    return gp.SetPartition.from_pairs(n + 1, pairs[kept], rng.standard_normal(m)[kept])


def rows() -> list[Row]:
    """All jobs."""
    many: list[Row] = []
    for seed in range(10):
        many += [
            (f"keypoints, seed {seed}", partial(jobs.keypoints, seed=seed), 5.0, "exact"),
            (f"maximum cut, heavy tails, seed {seed}", partial(jobs.heavy_cut, seed=seed), 5.0, "search"),
        ]
    for n in (150, 500, 1500):
        many.append((f"assignment {n}", partial(jobs.assignment, n), 5.0, "kernighan-lin-pairs"))
    for n, count in ((50, 6), (100, 10)):
        for cuts in (False, True):
            name = f"groups {count} of {n}{', as cuts' * cuts}"
            many.append((name, partial(jobs.assignment, n, count, as_cuts=cuts), 5.0, "search"))
    for mixing in (0.3, 0.4, 0.5):
        name = f"constant Potts, mixing {mixing}"
        many.append((name, partial(jobs.constant_potts, mixing=mixing), None, "multilevel"))
    disparities = auto_factor_graphs.kinds()["disparities 200 x 300, 16 labels"]
    return [
        ("shifts", jobs.shifts, 5.0, "exact"),
        ("shifts, one decimal", lambda: jobs.shifts(decimals=1), 5.0, "exact"),
        ("disparities", disparities, 90.0, "message-passing"),
        ("disparities", disparities, None, "message-passing"),
        ("cliques", jobs.cliques, 5.0, "ilp"),
        ("cliques", jobs.cliques, 20.0, "exact"),
        ("seating", jobs.seating, 20.0, "ilp"),
        ("tracking", jobs.tracking, 5.0, "kernighan-lin-pairs"),
        ("signed network", jobs.signed, 5.0, "exact"),
        ("random pairs, 10^6", lambda: auto.random_pairs(100_000, 10**6), 6.0, "kernighan-lin-pairs"),
        ("hub", hub, None, "kernighan-lin-pairs"),
        ("no hub", lambda: auto.random_pairs(100_000, 400_000), None, "kernighan-lin-pairs"),
        ("cluster editing, 77,351 elements", lambda: jobs.editing(77_351, 327_429), 10.0, "kernighan-lin-pairs"),
        ("cluster editing, hubs", jobs.hubs, 10.0, "kernighan-lin-pairs"),
        ("cluster editing, matrix", lambda: jobs.editing(2939, 40_000, dense=True), 20.0, "search"),
        ("points, 12 clusters of 50", jobs.points, 5.0, "search"),
        ("integers 500", lambda: gp.generate.uniform_integers(500, 100).problem, 20.0, "search"),
        ("integers 1000", lambda: gp.generate.uniform_integers(1000, 100).problem, 20.0, "search"),
        *many,
    ]


def measured(make: Callable[[], Any], method: str, limit: float | None, sender: Any) -> None:
    """Send cost, bound, status, seconds, processor seconds and megabytes of one run."""
    problem = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, worked = time.perf_counter(), time.process_time()
    r = gp.solve(problem, method, time_limit=limit)
    took, worked = time.perf_counter() - began, time.process_time() - worked
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    sender.send((r.cost, r.lower_bound, str(r.status), took, worked, memory))


def in_a_process(make: Callable[[], Any], method: str, limit: float | None) -> Any:
    """The same in a process of its own."""
    receiver, sender = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=measured, args=(make, method, limit, sender))
    process.start()
    sender.close()
    found = receiver.recv()
    process.join()
    return found


def main() -> None:
    """All jobs, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="beginnings of names of jobs")
    words = tuple(parser.parse_args().words)
    for name, make, limit, other in rows():
        if words and not name.startswith(words):
            continue
        cost, bound, status, took, worked, memory = in_a_process(make, "auto", limit)
        theirs = in_a_process(make, other, 1.0 if limit is None else limit / 2)[0]
        above = (cost - theirs) / max(abs(theirs), 1e-12)
        print(
            f"{name:36} {'none' if limit is None else f'{limit:g} s':>5} {cost:14.9g} {bound:14.9g} {status:13} "
            f"{took:6.2f} s {worked:6.2f} cpu {memory:5.0f} MB  above {other} {above:+.3%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
