"""Run methods on folders of instances, and compare the costs with the best known.

The instances of a folder are its files with the suffix of a format; its file manifest.csv has the best known values.
The gap is (cost - best known) / |best known|: 0% if the best known value is reached. By default each instance is solved
by all methods that end by themselves. A method is left out if an instance is too large for it or of another kind.

One line for each family and method, and one for each method over all families, says how often the best known value was
reached, the mean gap, and how many costs were proven optimal. With -v, --json and --csv, there is also a line for each
run. Ctrl-C ends the benchmark after the running method. In the file of --csv, elements and pairs of a factor graph are
its variables and factors.
"""

from __future__ import annotations

import argparse
import csv
import io
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
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
from graphpart.errors import GraphPartWarning, InvalidOption
from graphpart.files.source import check_writable
from graphpart.folders import instances_in, record_of
from graphpart.methods import methods_for
from graphpart.result import Status
from graphpart.solve import problem_kind, solve

NAME = "bench"
HELP = "run methods on a folder of instances and compare the costs with the best known"
COLUMNS = ["elements", "pairs", "method:", "cost.", "best known.", "gap", "clusters", "seconds"]
KINDS = ("set partition", "factor graphs")


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
            write_table(args.csv, rows)
        if args.report is not None:
            write_benchmark(rows, args.report, args.time_limit)


def run_all(args: argparse.Namespace, files: Sequence[str], rows: list[dict[str, Any]]) -> int:
    """Run, print, and collect the rows."""
    manifests = Manifests()
    families = {file: manifests.family(file) or family_of(file) for file in files}
    files = sorted(files, key=lambda file: list(families.values()).index(families[file]))  # as they first appear
    batch = Batch()
    warnings.simplefilter("ignore", GraphPartWarning)  # instances have the costs that they mean
    with ExitStack() as stack:
        table = stack.enter_context(Table(files, COLUMNS)) if args.verbose and not args.json else None
        summary = None
        if not args.json:
            say(f"{len(files)} instances, each run at most {args.time_limit:g} s: one line for each family and method")
            summary = stack.enter_context(Summary([families[file] for file in files], wait=args.verbose))
        progress = stack.enter_context(Progress(len(files)))
        for file in files:
            with batch.guard(file):
                problem = read_problem(file, args.format)
                methods = suitable(problem, args.methods)
                if not methods:
                    say(f"{file}: left out, it is too large or of another kind for {', '.join(args.methods)}")
                for method in methods:
                    with batch.guard(file):
                        with Interrupt(progress.start(f"{file}  {method}")) as interrupt:
                            result = solve(
                                problem, method, time_limit=args.time_limit, seed=args.seed, callback=interrupt
                            )
                        facts = record_of(file, result)
                        best, gap = manifests.compare(file, problem, result.cost)
                        row = facts | {"elements": problem.n, "pairs": problem.m, "method": method}
                        row |= {"instance": file, "best known": best, "gap": gap, "family": families[file]}
                        kind = "labelled partitions" if is_labeled(problem) else KINDS[is_factor_graph(problem)]
                        row |= {"kind": kind, "history": result.history}
                        rows.append(row)
                        if args.json:
                            emit_json(facts)
                        if summary is not None:
                            summary.add(families[file], row)
                        if table is not None:
                            row = row | size(problem) | {"gap": percent(gap), "seconds": f"{result.seconds:.3f}"}
                            table.add(file, row, columns(problem, COLUMNS))
                        if result.status is Status.INTERRUPTED:
                            say("interrupted: the remaining runs are left out")
                            return INTERRUPTED
            progress.advance()
    return batch.status


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


def write_table(path: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> None:
    """Write the rows as CSV with all digits; unknown values are empty."""
    out = io.StringIO()
    writer = csv.DictWriter(
        out, ["instance", *(name.rstrip(":.") for name in columns)], extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    write_text(out.getvalue(), path)
