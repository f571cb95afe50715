"""Problems larger than memory: seeded pairs as Parquet files, solved in parts by workers, beside one machine.

    python benchmarks/in_parts.py make planted FOLDER --pairs 1e8
    python benchmarks/in_parts.py solve FOLDER --workers 2 --memory-limit 4GB [--kill-every 60] [--csv FILE]
    python benchmarks/in_parts.py whole FOLDER
    python benchmarks/in_parts.py components FOLDER

`make` writes pairs in chunks of a few megabytes, each with a seed of its own:

- random: pairs of m / 10 elements, costs from a normal distribution.
- planted: m / 10 elements in clusters of 20 on average, named in random order. Half of the pairs lie within clusters,
  costs around -1. Most others, with costs around +1, as candidates of entity resolution have them: at most 100 elements
  apart in true order, so that all clusters are connected. A tenth of these are anywhere, with costs around +3. Noise is
  normal with deviation 1, so 16% of all but the last have the wrong sign.
- grid: a cube of 0.3 m elements in cells with wavy borders of about 12 a side; all pairs of neighbours and as many
  others, 4 elements apart, as are missing in m. Costs as for planted.

`solve` measures a run in parts: seconds, bytes and the largest memory of a worker for each stage; the memory of the
coordinating process; cost, bound and gap; and the variation of information from the truth, if there is one. With
`--kill-every`, a worker is killed every so many seconds. `whole` runs joining and Kernighan-Lin on one machine, with
all pairs in memory. `components` computes the components of attractive rows in parts, with the rows as pairs on disk,
as `solve` does first. It compares this with one pass of union-find over the rows of the same files in one process. Each
command prints one JSON object; `--csv` adds a line to a file.
"""

import argparse
import csv
import itertools
import json
import math
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np

GROUP = 2**20  # rows of a row group
GROUPS = 8  # of a file
NEAR = 100  # in true order, most pairs between clusters
SPREAD = 4  # elements between the ends of longer pairs of a grid
CELL = 12
FIELDS = (
    "command", "family", "pairs", "elements", "workers", "memory_limit", "refine", "seconds", "processor", "bytes",
    "worker_memory", "own_memory", "cost", "bound", "gap", "subsets", "variation", "killed", "load",
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------- pairs


class Family:
    """Seeded pairs, in chunks, and the true cluster of each element, if there is one."""

    name = "random"

    def __init__(self, pairs: int, seed: int) -> None:
        self.pairs, self.seed = pairs, seed
        self.n = max(300, pairs // 10)

    def chunks(self):
        for k, begin in enumerate(range(0, self.pairs, GROUP)):
            yield self.chunk(np.random.default_rng([self.seed, k]), min(GROUP, self.pairs - begin))

    def chunk(self, rng, m):
        u = rng.integers(0, self.n, m)
        v = (u + 1 + rng.integers(0, self.n - 1, m)) % self.n
        return u, v, rng.standard_normal(m, np.float32)


class Planted(Family):
    """Clusters of 20 on average, in random order."""

    name = "planted"

    def __init__(self, pairs: int, seed: int) -> None:
        super().__init__(pairs, seed)
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 40, self.n // 10 + 10)
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.starts = self.starts[: np.searchsorted(self.starts, self.n)].astype(np.int64)
        self.ends = np.append(self.starts[1:], self.n)
        self.step = next(a for a in range(int(0.618 * self.n), 2 * self.n) if math.gcd(a, self.n) == 1)

    def chunk(self, rng, m):
        u = rng.integers(0, self.n, m)
        mine = np.searchsorted(self.starts, u, "right") - 1
        first, last = self.starts[mine], self.ends[mine]
        kind = rng.random(m)
        within, far = (kind < 0.5) & (last - first > 1), kind > 0.95
        first = np.where(within, first, np.where(far, 0, u - NEAR))
        size = np.where(within, last - first, np.where(far, self.n, 2 * NEAR + 1))
        v = (first + (u - first + 1 + (rng.random(m) * (size - 1)).astype(np.int64)) % size) % self.n
        within = mine == np.searchsorted(self.starts, v, "right") - 1
        cost = np.where(within, -1, np.where(far, 3, 1)).astype(np.float32) + rng.standard_normal(m, np.float32)
        return u * self.step % self.n, v * self.step % self.n, cost

    def truth(self, ids):
        return np.searchsorted(self.starts, ids * pow(self.step, -1, self.n) % self.n, "right") - 1


class Grid(Family):
    """A cube: neighbours, and some pairs further apart."""

    name = "grid"

    def __init__(self, pairs: int, seed: int) -> None:
        super().__init__(pairs, seed)
        self.side = max(SPREAD + 1, round((0.3 * pairs) ** (1 / 3)))
        self.n = self.side**3

    def chunks(self):
        s, n = self.side, self.n
        longer = max(0, self.pairs - 3 * s * s * (s - 1)) / (3 * n)
        layers = max(1, GROUP // (3 * s * s))
        for k, begin in enumerate(range(0, s, layers)):
            rng = np.random.default_rng([self.seed, k])
            u = np.arange(begin * s * s, min(s, begin + layers) * s * s)
            place = [u // (s * s), u // s % s, u % s]
            us, vs = [], []
            for axis, step in enumerate((s * s, s, 1)):
                for far, share in ((1, 1.0), (SPREAD, longer)):
                    taken = place[axis] < s - far
                    if share < 1:
                        taken &= rng.random(len(u)) < share
                    us.append(u[taken])
                    vs.append(u[taken] + far * step)
            u, v = np.concatenate(us), np.concatenate(vs)
            within = self.truth(u) == self.truth(v)
            yield u, v, np.where(within, -1, 1).astype(np.float32) + rng.standard_normal(len(u), np.float32)

    def truth(self, ids):
        s = self.side
        x, y, z = (a.astype(np.float64) for a in (ids // (s * s), ids // s % s, ids % s))
        wavy = x + 3 * np.sin(y / 7) + 2 * np.sin(z / 5), y + 3 * np.sin(z / 8), z + 2 * np.sin(x / 6)
        i, j, k = (np.floor(a / CELL).astype(np.int64) + 1 for a in wavy)
        cells = s // CELL + 4
        return (i * cells + j) * cells + k

    def tile(self, ids, side=64):
        """The number of the tile in which an element lies."""
        s, tiles = self.side, -(-self.side // side)
        return (ids // (s * s) // side * tiles + ids // s % s // side) * tiles + ids % s // side


FAMILIES = {family.name: family for family in (Family, Planted, Grid)}


def make(options) -> None:
    """Write the files, and what they hold."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    family = FAMILIES[options.family](int(options.pairs), options.seed)
    folder = Path(options.folder)
    folder.mkdir(parents=True)
    began, count = time.perf_counter(), 0
    chunks = family.chunks()
    for k in itertools.count():
        some = list(itertools.islice(chunks, GROUPS))
        if not some:
            break
        schema = pa.schema([("u", pa.int32()), ("v", pa.int32()), ("cost", pa.float32())])
        with pq.ParquetWriter(folder / f"{k:04}.parquet", schema, compression="NONE", use_dictionary=False) as writer:
            for u, v, cost in some:
                writer.write_table(pa.table([u.astype(np.int32), v.astype(np.int32), cost], schema=schema))
                count += len(u)
    about = {
        "family": family.name,
        "pairs": int(options.pairs),
        "seed": options.seed,
        "rows": count,
        "elements": family.n,
    }
    (folder / "about.json").write_text(json.dumps(about))
    print(json.dumps(about | {"seconds": time.perf_counter() - began}))


def about(folder: str) -> tuple[dict, Family]:
    """What the files hold."""
    said = json.loads(Path(folder, "about.json").read_text())
    return said, FAMILIES[said["family"]](said["pairs"], said["seed"])


def variation(parts, truth) -> float:
    """Variation of information, in nats, from arrays of identifiers and labels."""
    keys, counts, n = [], [], 0
    for ids, labels in parts:
        key, count = np.unique(truth(ids) << 32 | labels, return_counts=True)
        keys.append(key)
        counts.append(count)
        n += len(ids)
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    both = np.bincount(place, np.concatenate(counts))
    entropies = []
    for one in (key >> 32, key & 0xFFFFFFFF):
        size = np.bincount(np.unique(one, return_inverse=True)[1], both)
        entropies.append(-math.fsum((size / n * np.log(size / n)).tolist()))
    return 2 * -math.fsum((both / n * np.log(both / n)).tolist()) - sum(entropies)


# ------------------------------------------------------------------------------------------------------------ measuring


def peak() -> int:
    """The largest memory of this process so far, as Linux tells it."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) << 10


class Killer(threading.Thread):
    """Kills one worker of this process after the other."""

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self.seconds, self.killed, self.ended = seconds, 0, threading.Event()

    def run(self) -> None:
        import psutil

        while not self.ended.wait(self.seconds):
            found = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
            if found:
                found[self.killed % len(found)].kill()
                self.killed += 1


def solve(options) -> dict:
    """Pairs solved in parts."""
    import pyarrow.parquet as pq

    import graphpart as gp

    said, family = about(options.folder)
    keywords = {"blocks": family.tile} if options.tiles else {}
    if options.method:
        keywords["method"] = options.method
    killer = Killer(options.kill_every) if options.kill_every else None
    if killer:
        killer.start()
    result = gp.distributed.solve(
        f"{options.folder}/*.parquet",
        workers=options.workers,
        memory_limit=options.memory_limit,
        refine=options.refine,
        bound=None if options.no_bound else "cycle-packing",
        output=options.output,
        work_folder=options.work_folder,
        time_limit=options.time_limit,
        **keywords,
    )
    if killer:
        killer.ended.set()
    row = {
        "elements": result.elements, "pairs": result.pairs, "seconds": result.seconds, "cost": result.cost,
        "bound": result.lower_bound, "gap": result.gap, "subsets": result.n_clusters, "status": str(result.status),
        "workers": options.workers, "memory_limit": options.memory_limit, "refine": options.refine,
        "own_memory": peak(), "worker_memory": max(s["memory"] for s in result.stages.values()),
        "bytes": sum(s["bytes"] for s in result.stages.values()),
        "processor": sum(s["processor"] for s in result.stages.values()), "killed": killer.killed if killer else 0,
        "stages": result.stages, "levels": result.levels, "labels": result.labels,
    }  # fmt: skip
    if hasattr(family, "truth"):
        files = sorted(Path(result.labels).glob("*.parquet"))
        tables = (pq.read_table(file) for file in files)
        row["variation"] = variation(((t["id"].to_numpy(), t["label"].to_numpy()) for t in tables), family.truth)
    return said | row


def read(folder: str):
    """All rows, as arrays."""
    import pyarrow.parquet as pq

    table = pq.read_table(sorted(Path(folder).glob("*.parquet")))
    return [table[name].to_numpy() for name in ("u", "v", "cost")]


def whole(options) -> dict:
    """All pairs in memory, one process."""
    import graphpart as gp

    said, family = about(options.folder)
    began = time.perf_counter()
    u, v, cost = read(options.folder)
    p = gp.SetPartition.from_pairs(said["elements"], (u, v), cost.astype(np.float64))
    del u, v, cost
    reading = time.perf_counter() - began
    result = gp.solve(p, options.method or "kernighan-lin")
    row = {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time(),
        "reading": reading,
        "cost": result.cost,
        "own_memory": peak(),
    }
    if hasattr(family, "truth"):
        row["variation"] = variation([(np.arange(p.n), result.labels)], family.truth)
    return said | row | {"subsets": result.n_clusters, "bound": result.lower_bound}


def components(options) -> dict:
    """Components of attractive pairs: in parts, and by one pass of union-find in this process."""
    import tempfile

    import pyarrow.parquet as pq

    from graphpart.distributed import inputs
    from graphpart.distributed._streaming import numbered, unite_below
    from graphpart.distributed.engine import Engine, memory_of
    from graphpart.distributed.folder import Folder
    from graphpart.distributed.run import Run, Settings
    from graphpart.stopping import Stopping

    said, _ = about(options.folder)
    began, used = time.perf_counter(), time.process_time()
    parent = np.arange(said["elements"], dtype=np.int32)
    for file in sorted(Path(options.folder).glob("*.parquet")):
        with pq.ParquetFile(file) as opened:
            for group in range(opened.metadata.num_row_groups):
                u, v, cost = (column.to_numpy() for column in opened.read_row_group(group).columns)
                unite_below(parent, u, v, cost.astype(np.float64), 0.0)
    count = numbered(parent)
    row = {"single": time.perf_counter() - began, "single_processor": time.process_time() - used}
    memory, stopping = memory_of(options.memory_limit), Stopping()
    with tempfile.TemporaryDirectory(dir=options.work_folder) as at:
        folder = Folder(at)
        with Engine(folder, None, options.workers, memory, stopping, lambda *_: None) as engine:
            began = time.perf_counter()
            settings = Settings(
                columns=inputs.Columns(), method="", options={}, bound=None, blocks=None, groups=None,
                group_cost=math.inf, memory=memory, refine=0, target=None,
            )  # fmt: skip
            run = Run(engine, folder, settings, stopping)
            run.input(inputs.files_of(options.folder, folder))
            run.most = 2**62
            _, _, found = run.divide(0, run.level)
            seconds = time.perf_counter() - began
    assert found["components"] - run.n == count - said["elements"]
    processor = {name: round(stage["processor"], 2) for name, stage in engine.stages.items()}
    row |= {"seconds": seconds, "ratio": seconds / row["single"], "processor": sum(processor.values())}
    return said | row | {"subsets": count, "stages": processor, "workers": options.workers}


COMMANDS = {"make": make, "solve": solve, "whole": whole, "components": components}


def main() -> None:
    """One command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in COMMANDS.items():
        command = commands.add_parser(name, help=function.__doc__)
        if name == "make":
            command.add_argument("family", choices=FAMILIES)
            command.add_argument("--pairs", type=float, default=1e7)
            command.add_argument("--seed", type=int, default=1)
        command.add_argument("folder")
        command.add_argument("--csv", type=Path)
        command.add_argument("--method")
        if name in ("solve", "components"):
            command.add_argument("--work-folder")
            command.add_argument("--workers", type=int, default=2)
            command.add_argument("--memory-limit", default="4GB")
        if name == "solve":
            command.add_argument("--refine", type=int, default=3)
            command.add_argument("--no-bound", action="store_true")
            command.add_argument("--tiles", action="store_true", help="blocks of a grid are tiles")
            command.add_argument("--output")
            command.add_argument("--time-limit", type=float)
            command.add_argument("--kill-every", type=float, metavar="SECONDS")
    options = parser.parse_args()
    row = COMMANDS[options.command](options)
    if row is None:
        return
    row |= {"command": options.command, "load": os.getloadavg()[1]}
    print(json.dumps(row, indent=1))
    if options.csv:
        new = not options.csv.exists()
        with options.csv.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, extrasaction="ignore")
            if new:
                writer.writeheader()
            writer.writerow(row)


if __name__ == "__main__":
    sys.exit(main())
