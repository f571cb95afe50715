"""Run methods on folders of instances, and compare the costs with the best known.

The instances of a folder are its files with the suffix of a format; its file manifest.csv has the best known values.
The gap is (cost - best known) / |best known|: 0% if the best known value is reached. By default each instance is solved
by all methods that end by themselves. A method is left out if an instance is too large for it or of another kind.

One line for each family and method, and one for each method over all families, says how often the best known value was
reached, the mean gap, and how many costs were proven optimal. With -v, --json and --csv, there is also a line for each
run. Ctrl-C ends the benchmark with the best results of the running methods. In the file of --csv, elements and pairs of
a factor graph are its variables and factors.

As many instances are run at the same time as there are processors, a processor each, if there are enough of them. With
GRAPHPART_THREADS=1 in the environment they are run one after the other.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from typing import Any

import numpy as np

from graphpart.cli import arguments
from graphpart.cli.console import INTERRUPTED, Batch, emit_json, say
from graphpart.cli.display import Progress, Table, percent
from graphpart.cli.files import check_reports, read_problem, write_benchmark, write_text
from graphpart.cli.interrupt import Interrupt
from graphpart.cli.kinds import columns, is_factor_graph, is_labeled, size
from graphpart.cli.manifest import Manifests
from graphpart.cli.summary import Summary, family_of
from graphpart.errors import GraphPartWarning, InvalidOption, SolverError
from graphpart.files.source import check_writable
from graphpart.folders import in_processes, instances_in, record_of
from graphpart.machine import processors
from graphpart.methods import methods_for
from graphpart.result import Status
from graphpart.solve import problem_kind, solve

NAME = "bench"
HELP = "run methods on a folder of instances and compare the costs with the best known"
COLUMNS = ["elements", "pairs", "method:", "cost.", "best known.", "gap", "clusters", "seconds"]
KINDS = ("set partition", "factor graphs")
WORTH = 8  # seconds that runs may take from which on processes, which take half a second to start, are worth it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "paths", nargs="*", default=["instances"], metavar="PATH", help="folders or instances; default: instances"
    )
    arguments.add_format(parser, "--format", "of the instances")
    arguments.add_method(parser, several=True)
    arguments.add_limits(parser, time_limit=1)
    parser.add_argument("-v", "--verbose", action="store_true", help="print a line for each run as well")
    parser.add_argument("--csv", metavar="FILE", help="write the table to this file as well")
    parser.add_argument("--report", metavar="PATH", help="write a report, .html, for any browser")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run each method on each instance; if one fails, the others are run all the same."""
    if args.csv is not None:
        check_writable(args.csv)
    if args.report is not None:
        if args.report == "-":
            raise InvalidOption("--report -: standard output has the table: expected a file")
        check_reports()
        check_writable(args.report)
    files = instances_in(args.paths)
    rows: list[dict[str, Any]] = []
    try:
        return run_all(args, files, rows)
    finally:
        if args.csv is not None:
            write_table(args.csv, rows, [*COLUMNS, "lower_bound", "status"])
        if args.report is not None:
            write_benchmark(rows, args.report, args.time_limit)


def run_all(args: argparse.Namespace, files: Sequence[str], rows: list[dict[str, Any]]) -> int:
    """Run, print, and collect the rows."""
    manifests = Manifests()
    families = {file: manifests.family(file) or family_of(file) for file in files}
    files = sorted(files, key=lambda file: list(families.values()).index(families[file]))  # as they first appear
    batch = Batch()
    many = len(files) > 1 and len(files) * args.time_limit >= WORTH
    jobs = processors() if many and "-" not in files else 1  # others have no standard input
    with ExitStack() as stack:
        table = stack.enter_context(Table(files, COLUMNS)) if args.verbose and not args.json else None
        summary = None
        if not args.json:
            say(f"{len(files)} instances, each run at most {args.time_limit:g} s: one line for each family and method")
            summary = stack.enter_context(Summary([families[file] for file in files], wait=args.verbose))
        progress = stack.enter_context(Progress(len(files)))
        results = stack.enter_context(in_processes(in_worker, [(file, args) for file in files], jobs))
        interrupt = stack.enter_context(Interrupt(None, results.end)) if jobs > 1 else None
        for k, file in enumerate(files):
            if interrupt is None:
                found: Iterable[dict[str, Any]] = runs(
                    file, args, manifests, batch, lambda what: Interrupt(progress.start(what))
                )
            else:
                progress.start(file)
                found = from_worker(results, k, batch)
            ended = False
            for row in found:
                row["family"] = families[file]
                rows.append(row)
                if args.json:
                    emit_json(row["facts"])
                if summary is not None:
                    summary.add(families[file], row)
                if table is not None:
                    shown = row["size"] | {"gap": percent(row["gap"]), "seconds": f"{row['seconds']:.3f}"}
                    table.add(file, row | shown, row["columns"])
                ended = row["asked"]
            if ended if interrupt is None else interrupt.asked and not results.begun(k + 1):
                say("interrupted: the remaining runs are left out")
                return INTERRUPTED
            progress.advance()
    return batch.status


def runs(
    file: str,
    args: argparse.Namespace,
    manifests: Manifests,
    batch: Batch,
    begin: Callable[[str], AbstractContextManager[Any]],
) -> Iterator[dict[str, Any]]:
    """The rows of an instance, by method; `begin` gives the callback of a run. Ctrl-C leaves out the methods after it.

    Errors are reported to `batch`.
    """
    with batch.guard(file), warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphPartWarning)  # instances have the costs that they mean
        problem = read_problem(file, args.format)
        methods = suitable(problem, args.methods)
        if not methods:
            say(f"{file}: left out, it is too large or of another kind for {', '.join(args.methods)}")
        for method in methods:
            with batch.guard(file):
                with begin(f"{file}  {method}") as callback:
                    result = solve(problem, method, time_limit=args.time_limit, seed=args.seed, callback=callback)
                facts = record_of(file, result)
                best, gap = manifests.compare(file, problem, result.cost)
                row = facts | {"elements": problem.n, "pairs": problem.m, "method": method}
                row |= {"instance": file, "best known": best, "gap": gap, "history": result.history, "facts": facts}
                row["kind"] = "labelled partitions" if is_labeled(problem) else KINDS[is_factor_graph(problem)]
                asked = result.status is Status.INTERRUPTED or getattr(callback, "asked", False)
                yield row | {"size": size(problem), "columns": columns(problem, COLUMNS), "asked": asked}
                if asked:
                    return


def in_worker(stop: Any, file: str, args: argparse.Namespace) -> tuple[list[dict[str, Any]], int]:
    """The rows of an instance and the exit status, in a process that has one processor."""
    os.environ["GRAPHPART_THREADS"] = "1"
    batch = Batch()
    return list(runs(file, args, manifests_here(), batch, lambda what: nullcontext(stop))), batch.status


@cache
def manifests_here() -> Manifests:
    """Those of this process, which reads each once."""
    return Manifests()


def from_worker(results: in_processes, k: int, batch: Batch) -> Sequence[dict[str, Any]]:
    """The rows of an instance, as soon as a process has them; none if it was not begun."""
    if not results.begun(k):
        return []
    rows: list[dict[str, Any]]
    try:
        rows, status = results.next(None)
    except SolverError as error:
        text = (
            "a process ended before its runs, perhaps for lack of memory: GRAPHPART_THREADS=1 runs one after the other"
        )
        raise SolverError(text) from error
    batch.status = max(batch.status, status)
    return rows


def suitable(problem: Any, wanted: Sequence[str] | None) -> list[str]:
    """The methods to run on a problem, of those wanted."""
    methods = {method.name: method for method in methods_for(problem_kind(problem))}
    if wanted is None:
        kept = [m.name for m in methods.values() if not (m.exact or m.anytime or m.restricted) and m.takes(problem)]
        if is_factor_graph(problem):
            if np.diff(problem.scope_start).max(initial=0) <= 2:
                kept.append("expansion")
            if problem.is_acyclic:
                kept.append("min-sum")
        return kept
    return [name for name in wanted if name in methods and problem.n <= (methods[name].largest or problem.n)]


def write_table(path: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write the rows as CSV with all digits; unknown values are empty."""
    out = io.StringIO()
    writer = csv.DictWriter(
        out, ["instance", *(name.rstrip(":.") for name in columns)], extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    write_text(out.getvalue(), path)
