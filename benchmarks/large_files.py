"""Read and write large files: seconds, and peak memory against that of the arrays a file holds.

    python benchmarks/large_files.py [FORMAT ...] [--pairs M] [--digits K]

A file of M random pairs (default 10 million, of M / 10 elements; a complete graph for formats that are one) is written
to a temporary folder, then each operation runs in a process of its own. "Arrays" are u, v, cost as int32, int32,
float64, or the matrix; the peak is that of the process, with Python, NumPy and graphpart itself, as Linux tells it.
Processor seconds (user and system) suffer less from other work on the machine. The floor is a pass that reads the same
bytes and does nothing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUFFIX = {"multicut": ".multicut", "csv": ".csv", "metis": ".metis", "cplib": ".cplib", "npz": ".npz", "npy": ".npy"}
COMPLETE = ("cplib", "npy")


def measured(operation: str, path: str) -> None:
    """What the child process does: one operation, then its figures on standard output."""
    import graphpart as gp

    started, before = time.perf_counter(), os.times()
    if operation == "floor":
        with open(path, "rb") as stream:
            while stream.read(1 << 20):
                pass
        stored = 0
    else:
        p = gp.read(path)
        stored = 8 * p.n * p.n if p.is_dense else 16 * p.m
        if operation == "write":
            started, before = time.perf_counter(), os.times()
            gp.write(p, path + ".again" + Path(path).suffix)
    after = os.times()
    seconds, processor = time.perf_counter() - started, after[0] + after[1] - before[0] - before[1]
    # Not ru_maxrss: that starts at the memory of the parent process.
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) << 10
    print(seconds, processor, peak, stored)


def make(path: Path, format: str, pairs: int, digits: int) -> None:
    """Write the file to read, pair by pair in random order where the format allows it."""
    import numpy as np

    import graphpart as gp

    rng = np.random.default_rng(1)
    if format in COMPLETE or format == "metis" or format == "npz":
        if format in COMPLETE:
            n = int((2 * pairs) ** 0.5)
            u, v = (x.astype(np.int32) for x in np.triu_indices(n, 1))
        else:
            n = max(2, pairs // 10)
            u, v = ends(rng, n, pairs)
        gp.write(gp.SetPartition.from_pairs(n, (u, v), rng.normal(size=len(u)).round(digits)), path, format)
        return
    n = max(2, pairs // 10)
    with open(path, "w") as stream:
        stream.write({"multicut": "MULTICUT\n", "csv": "u,v,cost\n"}[format])
        row = {"multicut": "%d %d %r\n", "csv": "%d,%d,%r\n"}[format]
        for start in range(0, pairs, 1 << 17):
            u, v = ends(rng, n, min(1 << 17, pairs - start))
            w = rng.normal(size=len(u)).round(digits)
            stream.write("".join([row % x for x in zip(u.tolist(), v.tolist(), w.tolist(), strict=True)]))


def ends(rng, n: int, m: int):  # type: ignore[no-untyped-def]
    """Random pairs of different elements."""
    u = rng.integers(0, n, m)
    return u, (u + 1 + rng.integers(0, n - 1, m)) % n


def main() -> None:
    """Measure and print a table."""
    if sys.argv[1:2] == ["--child"]:
        measured(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", default=["multicut"], metavar="FORMAT", help=", ".join(SUFFIX))
    parser.add_argument("--pairs", type=int, default=10**7)
    parser.add_argument("--digits", type=int, default=20, help="decimals of the costs; 20 leaves all 16 or 17 digits")
    arguments = parser.parse_args()
    print("format    what    MB file  seconds processor  peak MB arrays MB  ratio")
    for format in arguments.formats:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"x{SUFFIX[format]}"
            make(path, format, arguments.pairs, arguments.digits)
            for operation in ("floor", "read", "write"):
                command = [sys.executable, __file__, "--child", operation, str(path)]
                out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                seconds, processor, peak, stored = map(float, out.split())
                ratio = f"{peak / stored:6.2f}" if stored else ""
                size = path.stat().st_size / 1e6
                print(
                    f"{format:9} {operation:6} {size:8.1f} {seconds:8.2f} {processor:9.2f} {peak / 1e6:8.1f} "
                    f"{stored / 1e6:9.1f} {ratio:>6}"
                )


if __name__ == "__main__":
    main()
