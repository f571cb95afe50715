"""The measurements of other scripts: contestants on the same instances, in rounds, each in a process of its own.

Every measurement is a child process, so that its peak of memory is measured by itself. Rounds are interleaved, so that
slow changes of the machine affect all contestants equally. Seconds are those of the algorithm alone; reading arrays,
importing, and building the data structure of the contestant are reported separately ("build"). "Extra" memory is the
peak during the algorithm less the memory in use just before it. Costs of all contestants are recomputed from the arrays
by the same code; bounds are reported by the contestant. Ratios are medians over rounds of the ratio within a round.

A contestant takes the arrays of an instance, builds what it needs and returns the function to be measured, which
returns labels, `Found`, None, or a function that returns one of them and is called when the clock has stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

import graphpart as gp

Arrays = dict[str, np.ndarray]
Run = Callable[[], Any]
Contestant = tuple[str, Callable[[Arrays], Run], int]
Cost = Callable[[Arrays, np.ndarray], float]
CLOCK = {"name": "perf_counter"}


@dataclass(frozen=True)
class Found:
    """What a contestant found: labels and lower bound, where it has them, and other numbers by name."""

    labels: np.ndarray | None = None
    bound: float | None = None
    more: dict[str, float] = field(default_factory=dict)


def limited(seconds: float) -> dict[str, Any]:
    """Options that end a method of graphpart after so many seconds of the clock in use."""
    if CLOCK["name"] == "perf_counter":
        return {"time_limit": seconds}
    began = time.process_time()
    return {"time_limit": 50 * seconds, "callback": lambda *_: time.process_time() - began >= seconds}


def in_pieces(
    paths: dict[str, Path], measure: Callable[[Path], dict[str, Any]], columns: list[str], file: Path | None,
    at_most: float,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """A row for each file by its name, which is in the first column: those in the CSV file, and new ones, added to it.

    No file is begun after so many seconds.
    """
    rows: dict[str, dict[str, Any]] = {}
    if file is not None and file.exists():
        with file.open(newline="", encoding="utf-8") as stream:
            rows = {row[columns[0]]: dict(row) for row in csv.DictReader(stream)}
    begin = time.perf_counter()
    for name in [name for name in paths if name not in rows]:
        if time.perf_counter() - begin > at_most:
            break
        rows[name] = measure(paths[name])
        print(*rows[name].values(), sep="\t", flush=True)
        if file is not None:
            with file.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows[name] for name in sorted(rows))
    return rows


# -------------------------------------------------------------------------------------------------------------- figures


class Measured(dict[str, list[float]]):
    """The rounds of one contestant on one instance: lists by "seconds", "build", "extra" (bytes), "cost", "bound"..."""

    def median(self, key: str) -> float:
        return statistics.median(self[key])


class Measurements(dict[tuple[str, str], Measured]):
    """By (size, contestant); without a size, the last one counts."""

    sizes: list[str]
    costs: dict[str, int]  #: of each size, bytes of all arrays of numbers with a fraction

    def of(self, who: str, size: int = -1) -> Measured:
        return self[self.sizes[size], who]

    def median(self, who: str, key: str = "seconds") -> float:
        return self.of(who).median(key)

    def ratio(self, who: str, whose: str) -> float:
        """Time of one contestant over that of another: the median over rounds."""
        pairs = zip(self.of(who)["seconds"], self.of(whose)["seconds"], strict=True)
        return statistics.median(a / b for a, b in pairs)

    def extra(self, who: str) -> float:
        return self.median(who, "extra")

    def extra_in_tables(self, who: str) -> float:
        """Extra memory in units of the costs of the instance."""
        return self.extra(who) / self.costs[self.sizes[-1]]

    def cost(self, who: str) -> float:
        return self.median(who, "cost")

    def excess(self, who: str, whose: str, key: str = "cost") -> float:
        """How much higher the cost of one contestant is than that of another, relatively."""
        a, b = self.median(who, key), self.median(whose, key)
        return (a - b) / abs(b)

    def gap(self, who: str) -> float:
        """How far the lower bound is below the cost, relatively."""
        return gap(self.cost(who), self.median(who, "bound"))

    def exponent(self, who: str) -> float:
        """The slope of log(seconds) over log(n), by least squares; sizes are written n=..."""
        n = [int(size.removeprefix("n=")) for size in self.sizes]
        seconds = [self[size, who].median("seconds") for size in self.sizes]
        return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def gap(cost: float, bound: float) -> float:
    """How far a lower bound is below a cost, relatively; infinite where there is no cost, or it is 0."""
    if cost == bound:
        return 0.0
    return (cost - bound) / abs(cost) if cost and np.isfinite(cost) else float("inf")


@dataclass(frozen=True)
class Figure:
    """A figure of a row, and its target, if there is one."""

    text: str
    value: Callable[[Measurements], float]
    relation: str = ""  # "<=", ">=" or "<"
    target: float = 0.0

    def met(self, value: float) -> bool:
        return {"<=": value <= self.target, ">=": value >= self.target, "<": value < self.target}[self.relation]

    def judge(self, r: Measurements, judged: bool) -> dict[str, Any]:
        """The figure for the report; without a value if a contestant that it needs is missing."""
        out: dict[str, Any] = {"figure": self.text, "value": None, "target": None, "verdict": "not measured"}
        if self.relation:
            out["target"] = f"{self.relation} {self.target:g}"
        with contextlib.suppress(KeyError, statistics.StatisticsError, ValueError, ZeroDivisionError):
            out["value"] = self.value(r)
            out["ratio"] = out["value"] / self.target if self.relation and self.target else None
            out["verdict"] = ("met" if self.met(out["value"]) else "MISSED") if self.relation else ""
            if self.relation and not judged:
                out["verdict"] = "(sizes of --quick: not judged)"
        return out


@dataclass(frozen=True)
class Row:
    """One benchmark: instances of one kind in one or more sizes, contestants, figures."""

    name: str
    about: str
    make: Callable[..., Arrays]
    sizes: dict[str, dict[str, Any]]
    quick: dict[str, dict[str, Any]]
    contestants: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    cost: Cost | None = None  #: default: that of the script
    most_rounds: int = 10**6  #: for contestants that take long
    wide: bool = False  #: a line for each instance in the report, contestants side by side


# ------------------------------------------------------------------------------------------------------------ measuring


def resident(what: str) -> int:
    """VmRSS (memory in use) or VmHWM (its peak) in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {what}: memory is measured on Linux only")


def child(contestant: Contestant, folder: Path, cost: Cost) -> None:
    """Measure one contestant once and print the figures as JSON."""
    clock = getattr(time, CLOCK["name"])
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    _, function, times = contestant
    began = clock()
    run = function(arrays)
    build = clock() - began
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # what the build has freed must not serve the run unseen
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = resident("VmRSS")
    seconds = []
    for _ in range(times):
        began = clock()
        found = run()
        seconds.append(clock() - began)
    extra = max(0, resident("VmHWM") - before)
    if callable(found):
        found = found()
    if not isinstance(found, Found):
        found = Found(found)
    figures = {"seconds": statistics.median(seconds), "build": build, "extra": extra, **found.more}
    if found.labels is not None:
        figures["cost"] = cost(arrays, found.labels.astype(np.int64))
    if found.bound is not None:
        figures["bound"] = found.bound
    print(json.dumps(figures))


def measure(
    row: Row,
    sizes: dict[str, dict[str, Any]],
    rounds: int,
    limit: float,
    contestants: dict[str, Contestant],
    script: str,
) -> tuple[Measurements, list[str]]:
    """Run all contestants of a row `rounds` times, and say who was left out."""
    measurements = Measurements()
    measurements.sizes = list(sizes)
    measurements.costs = {}
    notes: dict[str, str] = {}
    for who in row.contestants:
        try:
            import_module(contestants[who][0])
        except ImportError:
            notes[who] = f"{who}: not installed"
    for size, options in sizes.items():
        skipped = set(notes)
        with tempfile.TemporaryDirectory() as name:
            arrays = row.make(**options)
            measurements.costs[size] = sum(array.nbytes for array in arrays.values() if array.dtype.kind == "f")
            for key, array in arrays.items():
                np.save(Path(name, f"{key}.npy"), array)
            del arrays
            for _ in range(min(rounds, row.most_rounds)):
                for who in row.contestants:
                    if who in skipped:
                        continue
                    command = [sys.executable, script, "--child", row.name, who, name, CLOCK["name"]]
                    try:
                        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
                    except subprocess.TimeoutExpired:
                        problem = f"stopped after {limit:g} s on {size}"
                    except subprocess.CalledProcessError as error:
                        last = (error.stderr.strip().splitlines() or [f"exit {error.returncode}"])[-1]
                        problem = f"failed on {size}: {last}"
                    else:
                        found = measurements.setdefault((size, who), Measured())
                        for key, value in json.loads(done.stdout.splitlines()[-1]).items():
                            found.setdefault(key, []).append(value)
                        continue
                    skipped.add(who)
                    # Instances of a wide row have nothing to do with each other: the next one may go well.
                    notes[(size, who) if row.wide else who] = f"{who}: {problem}"
    return measurements, list(notes.values())


# ------------------------------------------------------------------------------------------------------------ reporting


def summary(row: Row, r: Measurements, notes: list[str], judged: bool) -> dict[str, Any]:
    """A row as it is reported: medians of each contestant on each instance, None where there are none; figures."""
    measured = []
    for size in r.sizes:
        for who in row.contestants:
            found = r.get((size, who))
            medians = {key: found.median(key) for key in found} if found else {}
            plain = {key: medians.get(key) for key in ("cost", "bound", "seconds", "build", "extra")}
            rounds = len(found["seconds"]) if found else 0
            measured.append({"instance": size, "contestant": who, **plain, **medians, "rounds": rounds})
    return {
        "row": row.name,
        "about": row.about,
        "measured": measured,
        "figures": [figure.judge(r, judged) for figure in row.figures],
        "notes": notes,
    }


def show(value: float | None, width: int, form: str) -> str:
    """A number, or - where there is none."""
    return f"{'-' if value is None else format(value, form):>{width}}"


def print_row(row: Row, said: dict[str, Any]) -> None:
    print(f"\n== {row.name}: {row.about}")
    if row.wide:
        print_wide(row, said["measured"])
    else:
        print(
            f"{'instance':22} {'contestant':28} {'cost':>20} {'seconds':>10} {'build':>8} {'extra MB':>9} {'bound':>20}"
        )
        for m in said["measured"]:
            megabytes = None if m["extra"] is None else m["extra"] / 1e6
            print(
                f"{m['instance']:22} {m['contestant']:28} {show(m['cost'], 20, '.6f')} {show(m['seconds'], 10, '.4f')} "
                f"{show(m['build'], 8, '.3f')} {show(megabytes, 9, '.1f')} {show(m['bound'], 20, '.6f')}"
            )
    for note in said["notes"]:
        print(f"   {note}")
    for f in said["figures"]:
        target, ratio = f["target"] or "", f.get("ratio")
        shown = "not measured" if f["value"] is None else f"{f['value']:.4g}"
        verdict = "" if f["value"] is None else f["verdict"]
        print(f"   {f['figure']:60} {shown:>12}   {target:10} {'ratio' if ratio is not None else '     '} "
              f"{show(ratio, 8, '.3g') if ratio is not None else ' ' * 8}   {verdict}".rstrip())  # fmt: skip
    sys.stdout.flush()


def print_wide(row: Row, measured: list[dict[str, Any]]) -> None:
    """A table in Markdown: a line for each instance."""
    columns = ("cost", "bound", "gap", "seconds")
    print("| instance | best known |", " | ".join(f"{who}: {c}" for who in row.contestants for c in columns), "|")
    print("|---|" + "---:|" * (1 + len(columns) * len(row.contestants)))
    lines: dict[str, list[str]] = {}
    for m in measured:
        best = {**row.sizes, **row.quick}[m["instance"]].get("best")
        line = lines.setdefault(m["instance"], [m["instance"], show(best, 0, ".10g")])
        known = m["cost"] is not None and m["bound"] is not None
        line += [show(m["cost"], 0, ".10g"), show(m["bound"], 0, ".10g")]
        line += [show(gap(m["cost"], m["bound"]) if known else None, 0, ".2%"), show(m["seconds"], 0, ".2f")]
    for line in lines.values():
        print("| " + " | ".join(line) + " |")


def write_csv(path: Path, said: list[dict[str, Any]]) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "size", "contestant or figure", "cost or value", "seconds or target",
                         "build or verdict", "extra bytes", "rounds", "bound"])  # fmt: skip
        for row in said:
            for m in row["measured"]:
                if m["rounds"]:
                    keys = ("instance", "contestant", "cost", "seconds", "build", "extra", "rounds", "bound")
                    writer.writerow([row["row"], *(m[key] for key in keys)])
            for f in row["figures"]:
                if f["value"] is not None:
                    line = [f["figure"], f["value"], f["target"], f["verdict"]]
                    writer.writerow([row["row"], "figure", *line, "", "", ""])


def main(
    all_rows: tuple[Row, ...],
    contestants: dict[str, Contestant],
    packages: tuple[str, ...],
    about: str | None,
    script: str,
    cost: Cost,
    add_options: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
    prepare: Callable[[Row, argparse.Namespace], Row] = lambda row, options: row,
) -> None:
    """Measure and report. A script calls this with its rows and contestants, and options of its own, if it has any."""
    names = [row.name for row in all_rows]
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rows", "--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names)
    )
    parser.add_argument("--without", nargs="+", default=[], choices=contestants, metavar="NAME", help="leave out")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each contestant (default 5)")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a run is stopped (default 600)")
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds: for a machine that others use as well")
    parser.add_argument("--csv", type=Path, help="also write all figures here")
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of tables")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    add_options(parser)
    options = parser.parse_args()
    rows = {row.name: row for row in all_rows}
    if options.child:
        name, contestant, folder, CLOCK["name"] = options.child
        child(contestants[contestant], Path(folder), rows[name].cost or cost)
        return
    CLOCK["name"] = "process_time" if options.cpu else "perf_counter"
    versions = {"Python": sys.version.split()[0], "graphpart": gp.__version__}
    for package in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    clock = "CPU seconds" if options.cpu else "wall-clock seconds"
    if not options.json:
        print(", ".join(f"{k} {v}" for k, v in versions.items()) + f"; {options.rounds} rounds, {clock}")
    said = []
    for name in options.rows:
        row = prepare(rows[name], options)
        row = replace(row, contestants=tuple(who for who in row.contestants if who not in options.without))
        sizes = row.quick if options.quick else row.sizes
        measurements, notes = measure(row, sizes, options.rounds, options.limit, contestants, script)
        said.append(summary(row, measurements, notes, judged=not options.quick))
        if not options.json:
            print_row(row, said[-1])
    if options.json:
        print(json.dumps({"versions": versions, "rounds": options.rounds, "clock": clock, "rows": said}, indent=1))
    if options.csv:
        write_csv(options.csv, said)
