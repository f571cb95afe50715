"""Certificates of optimal results: how many can be made and check exactly, in how much time, and how large they are.

    python benchmarks/certificates.py                         the shipped instances, 20 s for each result
    python benchmarks/certificates.py FOLDER --seconds 20 --csv certificates.csv

Each instance is solved by `graphpart.solve` with a time limit. If the result is optimal, its certificate is made (with
the same limit again) from what the solver has kept, written to a compressed file, read, and checked, labels included:
with NumPy ("check seconds"), and in plain Python ("plain seconds"). Seconds are those of the processor. Bytes are those
of the compressed file; an item is an inequality with its elements, or a message. A long run can be made in pieces:
instances that are already in the file of ``--csv`` are not solved again, and none is begun after the seconds of
``--at-most``. A summary of all rows comes at the end.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import in_pieces

import graphpart as gp
from graphpart.partition.certificates.kept import keeping
from graphpart.solve import problem_kind, with_certificate

SHIPPED = Path(__file__).parent.parent / "instances"
COLUMNS = [
    "instance", "status", "solve seconds", "certificate", "make seconds", "check seconds", "plain seconds", "nodes",
    "inequalities", "bytes", "bytes per item",
]  # fmt: skip


def measure(path: Path, limit: float) -> dict[str, Any]:
    """One row of the table."""
    problem = gp.read(path)
    start = time.process_time()
    with keeping() as known:
        result = gp.solve(problem, time_limit=limit)
    solved = time.process_time()
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "") | {"instance": path.name, "status": str(result.status)}
    row["solve seconds"] = f"{solved - start:.2f}"
    if result.status != "optimal":
        return row
    result = with_certificate(problem, result, limit, known)
    made = time.process_time()
    row["make seconds"] = f"{made - solved:.2f}"
    if result.certificate is None:
        return row | {"certificate": result.message.rpartition("no certificate: ")[2]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.json.gz"
        result.certificate.save(file)
        size = file.stat().st_size
        proof = type(result.certificate).load(file)
    made = time.process_time()
    report = proof.report(problem, result.labels.tolist())
    checked = time.process_time()
    is_optimal = report.optimal and proof.report(problem, result.labels.tolist(), exact=True).optimal
    row["check seconds"] = f"{checked - made:.2f}"
    row["plain seconds"] = f"{time.process_time() - checked:.2f}"
    items = sum(len(node[2]) for node in proof.nodes if node[0] in ("inequalities", "messages"))
    row |= {"certificate": "checks" if is_optimal else "wrong", "nodes": len(proof.nodes), "bytes": size}
    row["inequalities"] = proof.inequalities if problem_kind(problem) == "partition" else ""
    return row | {"bytes per item": f"{size / items:.1f}" if items > 100 else ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=SHIPPED, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=20, help="limit of each result and certificate; default: 20")
    parser.add_argument("--csv", type=Path, help="rows are kept here, and read from here")
    parser.add_argument("--at-most", type=float, default=float("inf"), metavar="SECONDS", help="begin none later")
    options = parser.parse_args()
    others = {"make.py", "manifest.csv", "LICENSE", "README.md", "best_known.csv"}
    paths = [path for path in sorted(options.folder.iterdir()) if path.is_file() and path.name not in others]
    named = {path.name: path for path in paths}
    rows = in_pieces(named, lambda path: measure(path, options.seconds), COLUMNS, options.csv, options.at_most)
    optimal = [row for row in rows.values() if row["status"] == "optimal"]
    whole = [row for row in optimal if row["certificate"] == "checks"]
    print(f"{len(optimal)} of {len(rows)} results optimal, {len(whole)} of these have certificates that check exactly")
    for name in ("solve seconds", "make seconds", "check seconds", "plain seconds"):
        print(f"{name}, together, with certificates: {sum(float(row[name]) for row in whole):.1f}")


if __name__ == "__main__":
    main()
