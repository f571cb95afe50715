"""Real factor graphs: methods of graphpart and peers at equal wall-clock time, each run in a process of its own.

    python benchmarks/map.py                  # uai, wcsp, qubo in $GRAPHPART_INSTANCES, auto and all peers, 5 s each
    python benchmarks/map.py FOLDER --methods auto,message-passing --seconds 1,5,20
    python benchmarks/map.py FOLDER --smallest 5 --only grid --peers toulbar2 --csv runs.csv --plot gaps.png

Every method and every peer runs on every instance for each number of seconds. Reading, evidence, and building the model
of a peer are not included. A process that takes more than --kill times its seconds, plus 2, is killed, and has no
labels. Methods and peers that do not take a problem are left out for it. Peers are pytoulbar2 (virtual arc consistency
in preprocessing; its limit is in whole CPU seconds) and, if all variables are binary, factors have at most two
variables and nothing is forbidden, tabu search and simulated annealing of D-Wave. A peer that is not installed is
reported in a line. graphpart evaluates the labels of all.

Best known values come from best_known.csv, in the folder or the one above. Values in a column `energy` are rounded: an
energy within 0.12 counts as the best known. If nothing is known, the least cost of all runs is used. The gap is (cost -
best known) / max(1, |best known|), the bound gap (cost - lower bound) / |cost|; "over" counts runs that took more than
1.1 times their seconds plus 0.2, including killed ones.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from crf_instances import Known, arrays_of, best_known, given, real_instances
from measuring import gap
from real import INSTANCES

import graphpart as gp
from graphpart.methods import methods_for

PEERS = {"toulbar2": "toulbar2", "tabu": "D-Wave tabu", "annealing": "D-Wave annealing"}  #: names in crf_contestants
MODULES = {"toulbar2": "pytoulbar2", "tabu": "dwave", "annealing": "dwave"}
ROUNDED = 0.12  #: how far above a rounded value is still as good
EQUAL = 1e-7  #: relative difference of equal costs; pytoulbar2 calculates with six decimals
BUILDING = 600.0  #: seconds after which a process is killed that is still reading or building


@dataclass
class Outcome:
    """What one process did."""

    instance: str
    who: str
    limit: float
    known: Known | None
    cost: float = np.inf
    bound: float = -np.inf
    proven: bool = False
    seconds: float = np.inf  #: of the run, as the process measures it; those until it was killed
    killed: bool = False
    note: str = ""  #: why there are no labels
    refused: bool = False  #: a problem of a kind that it does not take
    history: list[tuple[float, float]] = field(default_factory=list)
    best: float = np.inf  #: the best known cost
    sense: float = 1.0
    offset: float = 0.0

    @property
    def folder(self) -> str:
        return self.instance.split("/")[0]

    @property
    def above(self) -> float:
        """The gap to the best known cost."""
        return relative(self.cost, self.best)

    @property
    def reached(self) -> bool:
        slack = ROUNDED if self.known is not None and self.known.energy else 0.0
        return self.cost <= self.best + slack + 1e-9 * abs(self.best)

    @property
    def over(self) -> bool:
        return self.killed or (self.cost < np.inf and self.seconds > 1.1 * self.limit + 0.2)

    @property
    def bound_gap(self) -> float:
        return gap(self.cost, self.bound)


def relative(cost: float, best: float) -> float:
    return (cost - best) / max(1.0, abs(best)) if cost < np.inf else np.inf


# ------------------------------------------------------------------------------------------------------ one process


def child(instance: str, evidence: str, who: str, seconds: float) -> None:
    """Read and build, say so in a line, run, and print the figures as JSON."""
    f = given(Path(instance), Path(evidence) if evidence else None)
    try:
        run = contestant(who, f, seconds)
        print("ready", flush=True)
        began = time.perf_counter()
        found = run()
    except (ValueError, gp.InvalidProblem) as error:
        print(json.dumps({"refused": True, "note": str(error)}))
        return
    took = time.perf_counter() - began
    cost = f.evaluate(found["labels"])
    print(json.dumps(found | {"labels": None, "cost": cost, "seconds": took, "sense": f.sense, "offset": f.offset}))


def contestant(who: str, f: gp.FactorGraph, seconds: float) -> Callable[[], dict[str, Any]]:
    if who not in PEERS:
        tiny = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]])])
        gp.solve(tiny, who, time_limit=0.1)  # what is imported at the first call does not count

        def run() -> dict[str, Any]:
            r = gp.solve(f, who, time_limit=seconds)
            return {
                "labels": r.labels,
                "bound": r.lower_bound,
                "proven": r.status == gp.Status.OPTIMAL,
                "history": [(t, cost) for t, cost in r.history if np.isfinite(cost)],
            }

        return run
    from crf_contestants import CONTESTANTS
    from measuring import Found

    peer = CONTESTANTS[PEERS[who]][1]({**arrays_of(f), "seconds": np.array(seconds)})

    def run_peer() -> dict[str, Any]:
        found = peer()
        if not isinstance(found, Found):
            found = Found(found)
        bound = -np.inf if found.bound is None else found.bound
        return {"labels": found.labels, "bound": bound, "proven": found.more.get("proven") == 1, "history": []}

    return run_peer


def measure(outcome: Outcome, file: Path, evidence: Path | None, kill: float) -> None:
    """Run one process and note what it says, or that it was killed."""
    command = [sys.executable, __file__, "--child", str(file), str(evidence or ""), outcome.who, str(outcome.limit)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            line, killed = line_from(process, BUILDING, "ready", "{")
            if line == "ready\n":
                began = time.perf_counter()
                line, killed = line_from(process, kill * outcome.limit + 2, "{")
                outcome.seconds = time.perf_counter() - began
        finally:
            process.kill()
            process.wait()
        outcome.killed = killed
        if line:
            for name, value in json.loads(line).items():
                if name != "labels":
                    setattr(outcome, name, value)
            outcome.cost = float(outcome.cost)
            if outcome.cost == np.inf and not outcome.refused:
                outcome.note = "its labels are forbidden"
            return
        errors.seek(0)
        last = (errors.read().strip().splitlines() or [f"exit {process.returncode}"])[-1]
        outcome.note = f"killed after {outcome.seconds:.1f} s" if killed else last.rpartition(": ")[2][:100]


def line_from(process: subprocess.Popen[str], seconds: float, *starts: str) -> tuple[str, bool]:
    """The next line that starts so, whatever a peer prints before, or "" at the end; was the process killed for it?"""
    killed = threading.Event()

    def end() -> None:
        killed.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        while line and not line.startswith(starts):
            line = process.stdout.readline()
    finally:
        timer.cancel()
    return line, killed.is_set() and not line


# ------------------------------------------------------------------------------------------------------------- reports


def fill_best(outcomes: list[Outcome]) -> None:
    """The best known cost of each instance, or else the least of all runs."""
    for instance in dict.fromkeys(o.instance for o in outcomes):
        runs = [o for o in outcomes if o.instance == instance]
        signs = next(((o.sense, o.offset) for o in runs if o.cost < np.inf), (1.0, 0.0))
        known = runs[0].known
        best = min(o.cost for o in runs) if known is None else known.cost(*signs)
        for o in runs:
            o.best = best


def shown(value: float, form: str) -> str:
    return format(value, form) if np.isfinite(value) else "-"


def table(outcomes: list[Outcome]) -> Iterator[str]:
    yield "| instance | best known | s | by | cost | reached | proven | gap | bound gap | seconds | |"
    yield "|---|---:|---:|---|---:|---|---|---:|---:|---:|---|"
    for o in outcomes:
        best = shown(o.best, ".10g") if o.known is not None else f"({shown(o.best, '.10g')})"
        yield (
            f"| {o.instance} | {best} | {o.limit:g} | {o.who} | {shown(o.cost, '.10g')} | {'yes' if o.reached else ''} "
            f"| {'yes' if o.proven else ''} | {shown(o.above, '.4%')} | {shown(o.bound_gap, '.3%')} "
            f"| {shown(o.seconds, '.2f')} | {o.note} |"
        )


def groups(outcomes: list[Outcome]) -> Iterator[tuple[tuple[str, float, str], list[Outcome]]]:
    """By folder, seconds and who; the last folder is all of them together, if there are several."""
    folders = list(dict.fromkeys(o.folder for o in outcomes))
    for folder in [*folders, *(["all"] if len(folders) > 1 else [])]:
        mine = [o for o in outcomes if folder in (o.folder, "all")]
        for limit in dict.fromkeys(o.limit for o in mine):
            for who in dict.fromkeys(o.who for o in mine):
                runs = [o for o in mine if (o.limit, o.who) == (limit, who)]
                yield (folder, limit, who), runs


def summary(outcomes: list[Outcome]) -> Iterator[str]:
    yield "| folder | s | by | runs | labels | reached | proven | mean gap | median gap | bound gap | over | seconds |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for (folder, limit, who), runs in groups(outcomes):
        labelled = [o for o in runs if o.cost < np.inf]
        bounds = [o.bound_gap for o in labelled if np.isfinite(o.bound_gap)]
        times = [o.seconds for o in runs if np.isfinite(o.seconds)]
        gaps = [o.above for o in labelled] or [np.inf]
        yield (
            f"| {folder} | {limit:g} | {who} | {len(runs)} | {len(labelled)} | {sum(o.reached for o in runs)} "
            f"| {sum(o.proven for o in runs)} | {shown(mean(gaps), '.4%')} | {shown(median(gaps), '.4%')} "
            f"| {shown(mean(bounds), '.3%') if bounds else '-'} | {sum(o.over for o in runs)} "
            f"| {shown(mean(times), '.2f') if times else '-'} |"
        )


def duels(outcomes: list[Outcome], methods: list[str], peers: list[str]) -> Iterator[str]:
    """Method against peer in equal time; no labels are worse than any, and two that have none are left out."""
    yield "| folder | s | method | peer | instances | better | equal | worse | worse on |"
    yield "|---|---:|---|---|---:|---:|---:|---:|---|"
    by = {key: {o.instance: o for o in runs} for key, runs in groups(outcomes)}
    for (folder, limit, method), ours in by.items():
        for peer in peers if method in methods else []:
            theirs = by.get((folder, limit, peer), {})
            better, equal, worse = [], [], []
            for instance in ours.keys() & theirs.keys():
                a, b = ours[instance].cost, theirs[instance].cost
                if min(a, b) == np.inf:
                    continue
                close = max(a, b) < np.inf and abs(a - b) <= EQUAL * max(1.0, abs(b))
                (equal if close else better if a < b else worse).append(instance)
            count = len(better) + len(equal) + len(worse)
            names = ", ".join(sorted(name.split("/")[1] for name in worse))
            yield (
                f"| {folder} | {limit:g} | {method} | {peer} | {count} | {len(better)} | {len(equal)} | {len(worse)} "
                f"| {names or 'never'} |"
            )


def write_csv(outcomes: list[Outcome], path: Path) -> None:
    names = ("instance", "best", "limit", "who", "cost", "bound", "reached", "proven", "above", "bound_gap",
             "seconds", "over", "killed", "note")  # fmt: skip
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for o in outcomes:
            values = (getattr(o, name) for name in names)
            writer.writerow(
                int(x) if isinstance(x, bool) else "" if isinstance(x, float) and not np.isfinite(x) else x
                for x in values
            )


def plot(outcomes: list[Outcome], path: str) -> None:
    """The mean gap to the best known cost against time: curves of methods, points of peers."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    longest = max(o.limit for o in outcomes)
    times = np.geomspace(min(0.01, longest / 100), longest, 80)
    for who in dict.fromkeys(o.who for o in outcomes):
        mine = [o for o in outcomes if o.who == who]
        if who in PEERS:
            limits = list(dict.fromkeys(o.limit for o in mine))
            gaps = [mean([min(1.0, o.above) for o in mine if o.limit == limit]) for limit in limits]
            axes.plot(limits, [1e-7 + max(0.0, g) for g in gaps], "o--", label=who)
        else:
            mine = [o for o in mine if o.limit == longest]
            axes.plot(times, [1e-7 + max(0.0, mean([gap_at(o, t) for o in mine])) for t in times], label=who)
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="mean gap to the best known (at most 1) + 1e-7")
    axes.legend(fontsize="small")
    figure.savefig(path)
    plt.close(figure)


def gap_at(o: Outcome, seconds: float) -> float:
    """The gap after so many seconds, at most 1, which it is where there are no labels yet."""
    costs = [cost for t, cost in o.history if t <= seconds]
    if o.seconds <= seconds:
        costs.append(o.cost)
    return min(1.0, relative(min(costs, default=np.inf), o.best))


# ---------------------------------------------------------------------------------------------------------------- main


def numbers(text: str) -> list[float]:
    values = [float(word) for word in text.split(",")]
    if not all(0 < value < np.inf for value in values):
        raise ValueError
    return values


def one_of(names: tuple[str, ...]) -> Callable[[str], list[str]]:
    def chosen(text: str) -> list[str]:
        words = [word for word in text.split(",") if word and word != "none"]
        for word in words:
            if word not in names:
                raise argparse.ArgumentTypeError(f"{word!r}: expected some of {', '.join(names)}, or none")
        return words

    return chosen


def main() -> None:
    default = [INSTANCES / kind for kind in ("uai", "wcsp", "qubo") if (INSTANCES / kind).is_dir()]
    methods = tuple(dict.fromkeys(method.name for method in methods_for("crf")))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=default, metavar="FOLDER")
    parser.add_argument(
        "--methods", type=one_of(methods), default=["auto"], metavar="NAME,...", help=", ".join(methods)
    )
    parser.add_argument("--peers", type=one_of(tuple(PEERS)), default=list(PEERS), metavar="NAME,...",
                        help=f"{', '.join(PEERS)}, or none; default: all")  # fmt: skip
    parser.add_argument("--seconds", type=numbers, default=[5.0], metavar="S,...", help="of each run; default: 5")
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="TEXT", help="instances whose names have one of these"
    )
    parser.add_argument("--smallest", type=int, metavar="N", help="only the smallest files of each folder")
    parser.add_argument(
        "--kill", type=float, default=2.0, metavar="TIMES", help="of the seconds, and 2 more; default: 2"
    )
    parser.add_argument("--csv", type=Path, help="also write all runs here")
    parser.add_argument("--plot", metavar="FILE", help="draw the gap over time")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        file, evidence, who, seconds = options.child
        child(file, evidence, who, float(seconds))
        return
    folders = [folder.resolve() for folder in options.folders]
    instances = [
        (name, chosen["file"], chosen["evidence"])
        for name, chosen in real_instances(folders, 0.0, options.smallest)
        if any(text in name for text in options.only)
    ]
    if not instances:
        parser.error("no instances: expected folders of factor graphs, and names that --only knows")
    peers = []
    for peer in options.peers:
        if find_spec(MODULES[peer]) is None:
            print(f"{peer}: not installed")
        else:
            peers.append(peer)
    outcomes: list[Outcome] = []
    refused: dict[str, int] = {}
    with contextlib.suppress(KeyboardInterrupt):  # what is measured is reported
        for name, file, evidence in instances:
            known = best_known(file.parent).get(file.name)
            for seconds in options.seconds:
                for who in [*options.methods, *peers]:
                    outcome = Outcome(name, who, seconds, known)
                    measure(outcome, file, evidence, options.kill)
                    if outcome.refused:
                        refused[who] = refused.get(who, 0) + 1
                    else:
                        outcomes.append(outcome)
                    said = f"{shown(outcome.cost, '.10g')} in {shown(outcome.seconds, '.2f')} s {outcome.note}"
                    print(f"  {name}, {seconds:g} s, {who}: {said}".rstrip(), file=sys.stderr, flush=True)
    fill_best(outcomes)
    for who, count in refused.items():
        print(f"{who}: does not take {count} of {len(instances) * len(options.seconds)} problems")
    print("\n".join(["", *table(outcomes), "", *summary(outcomes), "", *duels(outcomes, options.methods, peers)]))
    if options.csv:
        write_csv(outcomes, options.csv)
    if options.plot:
        plot(outcomes, options.plot)


if __name__ == "__main__":
    main()
