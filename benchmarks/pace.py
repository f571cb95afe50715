"""Cluster editing to the optimum: how many graphs of PACE 2021 are proven, and in how much time.

    python benchmarks/pace.py                                  the graphs in $GRAPHPART_INSTANCES/pace, 20 s each
    python benchmarks/pace.py FOLDER --seconds 5 --csv pace.csv

The script reads each graph in turn and solves it by `graphpart.solve` with a time limit, as ``graphpart solve FOLDER
--time-limit 20`` does. Seconds are wall-clock, reading included. A long run can be made in pieces: graphs that are
already in the file of ``--csv`` are not solved again, and no graph is begun after the seconds of ``--at-most``. A
summary of all rows comes at the end.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from measuring import in_pieces
from real import INSTANCES

import graphpart as gp

COLUMNS = ["graph", "vertices", "edits", "edits proven necessary", "status", "seconds"]


def solve(path: Path, limit: float) -> dict[str, object]:
    """One row of the table."""
    start = time.perf_counter()
    problem = gp.read(path)
    result = gp.solve(problem, time_limit=limit)
    seconds = time.perf_counter() - start
    bound = problem.objective(result.lower_bound)
    values = [path.stem, problem.n, round(result.objective), round(bound, 3), str(result.status), f"{seconds:.2f}"]
    return dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=INSTANCES / "pace", metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=20, help="limit for each graph; default: 20")
    parser.add_argument("--csv", type=Path, help="rows are kept here, and read from here")
    parser.add_argument("--at-most", type=float, default=float("inf"), metavar="SECONDS", help="begin no graph later")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.gr*"))
    if not paths:
        parser.error("no graphs: name their FOLDER, or set the environment variable GRAPHPART_INSTANCES")
    named = {path.stem: path for path in paths}
    rows = in_pieces(named, lambda path: solve(path, options.seconds), COLUMNS, options.csv, options.at_most)
    proven = sum(row["status"] == "optimal" for row in rows.values())
    seconds = sum(float(str(row["seconds"])) for row in rows.values())
    print(f"{proven} of {len(rows)} graphs proven optimal, {seconds:.0f} s in all; {len(paths) - len(rows)} left to do")


if __name__ == "__main__":
    main()
