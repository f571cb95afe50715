"""Solve instances: print a table, or JSON, and write the labels with -o.

A FILE may be a folder: its files with the suffix of a format are solved. With one FILE, -o, --initial and --checkpoint
name a labels file. With several, they name folders, in which the labels of FILE have its name with .labels added.
Limits apply to each FILE. Ctrl-C ends the method, and its best result so far is printed and written; files not yet
begun are left out, and the exit status is then 130.

With --time-limit, auto uses all of the time for search and proof, unless it proves its result optimal before. Without
it, auto ends by itself.

--elements names a table of the elements. With --group source, a cluster has at most one element of each source; with
--group-cost 2.5 in addition, each pair of one source in a cluster costs 2.5. --max-size limits the elements of a
cluster, --clusters the number of clusters. --together and --apart name tables of pairs, such as those of --doubts that
somebody has looked at; with --initial, the old labels are repaired where they contradict these pairs. Give the same
options to evaluate and verify.

To read a CSV table with other columns than u,v,cost, name the columns: with --probability score --threshold 0.5, pairs
with a score above 0.5 attract. A pair that is not in the table costs 0, so joining it is free. With --missing 0.5, each
of these pairs costs 0.5 instead, for any format; give the same option to evaluate and verify.

--extend OLD takes a labels file, with names, of an old partition. New elements are added to it, and the clusters near
them may change; with --freeze, old clusters and their labels stay exactly the same. --doubts writes a CSV table of the
least certain decisions, with the amount by which the cost would rise if each were changed: pairs, or variables of a
factor graph; into a folder, also elements and clusters, or labels.

The gap is the difference between the cost and the proven lower bound, relative to the cost. --certificate writes a
lower bound with its proof, which graphpart verify checks. This bound is computed after the solution, in as much time as
--time-limit allows.

With --workers or --distributed, FILEs are Parquet files with columns u, v, cost (or as --left, --right and --cost name
them). All of them make one problem, which is solved in parts by processes of limited memory; -o names a folder for its
labels, which are Parquet files, too. With --work-folder, a run that ended early is continued.

For a factor graph, --evidence FILE gives the labels of some variables, in the format .evid of UAI. The labels of the
others are chosen such that the energy is least, and all labels are written. A labels file with the suffix .mpe or .map
is in the format of UAI, too; --initial and graphpart evaluate also take it. If a method finds no labeling that all
factors allow, a line on standard error says so, and the exit status is 1; -o then has the forbidden labels.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from graphpart.cli import arguments, demands, distributed
from graphpart.cli.console import INTERRUPTED, Batch, emit_json, say
from graphpart.cli.display import Progress, Table, percent
from graphpart.cli.files import (
    check_reports,
    check_writable,
    is_folder,
    labels_files,
    read_evidence,
    read_old,
    read_problem,
    read_start,
    write_certificate,
    write_doubts,
    write_labels,
    write_report,
)
from graphpart.cli.interrupt import Interrupt
from graphpart.cli.kinds import columns, record, size
from graphpart.cli.manifest import Manifests, instances_in
from graphpart.errors import InvalidOption
from graphpart.files.certificates import check_name
from graphpart.plotting import check_picture, save_history
from graphpart.result import Result, Status
from graphpart.solve import solve as solved

MIN_MARGINALS = "min_marginals"
NAME = "solve"
HELP = "solve instances and write their labels"
COLUMNS = [
    "elements",
    "pairs",
    "method:",
    "cost.",
    "objective.",
    "lower bound.",
    "gap",
    "status:",
    "subsets",
    "seconds",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    arguments.add_files(parser)
    parser.add_argument("-o", "--output", metavar="PATH", help="labels file or folder, '-' for standard output")
    arguments.add_method(parser)
    parser.add_argument("--initial", metavar="PATH", help="labels to start from: file or folder")
    parser.add_argument("--extend", metavar="OLD", help="labels of an old partition to extend: file or folder")
    parser.add_argument("--freeze", action="store_true", help="with --extend: old clusters stay as they are")
    parser.add_argument("--evidence", metavar="FILE", help="given labels of variables of a factor graph, .evid of UAI")
    parser.add_argument(
        "--sample", type=arguments.whole, default=0, metavar="INTEGER", help="of the evidence, from 0; default: 0"
    )
    arguments.add_limits(parser)
    parser.add_argument("--max-iterations", type=arguments.whole, metavar="INTEGER", help="as the method counts them")
    parser.add_argument("--target", type=float, metavar="COST", help="end as soon as the cost is at most this")
    parser.add_argument(
        "--checkpoint",
        metavar="PATH",
        help="labels file or folder that auto and search keep up to date and resume from",
    )
    parser.add_argument("--plot", metavar="PATH", help="draw cost and lower bound against time; one FILE only")
    parser.add_argument("--doubts", metavar="PATH", help="what is least sure: CSV file or folder; one FILE only")
    parser.add_argument(
        "--certificate", metavar="PATH", help="write a lower bound with its proof, .json or .npz; one FILE only"
    )
    parser.add_argument("--report", metavar="PATH", help="write a report, .html, for any browser; one FILE only")
    arguments.add_options(parser)
    arguments.add_json(parser)
    arguments.add_missing(parser)
    demands.add_arguments(parser)
    arguments.add_columns(parser)
    distributed.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Solve each file; if one fails, the others are solved all the same."""
    if distributed.wanted(args):
        if given := demands.wanted(args):
            raise InvalidOption(f"--workers does not take {demands.flag(given)}: expected it without --workers")
        return distributed.run(args)
    args.files = instances_in(args.files)
    columns_given, demanded = arguments.columns_of(args), demands.wanted(args)
    options = dict(args.options)
    check_shown(options, args.json)
    arguments.check_one_input(*args.files, *(path for path in (args.initial, args.evidence, args.extend) if path))
    check_extend(args)
    if args.evidence is not None and len(args.files) > 1:
        raise InvalidOption("--evidence is that of one instance: expected one FILE")
    outputs = labels_files("-o", args.output, args.files, to_write=True)
    flag, path = ("--extend", args.extend) if args.extend is not None else ("--initial", args.initial)
    initials = labels_files(flag, path, args.files)
    checkpoints = labels_files("--checkpoint", args.checkpoint, args.files, to_write=True)
    if args.json and "-" in outputs:
        raise InvalidOption("--json and -o - both write to standard output: expected one of them")
    if args.doubts == "-" and (args.json or "-" in outputs):
        other = "--json" if args.json else "-o -"
        raise InvalidOption(f"{other} and --doubts - both write to standard output: expected one of them")
    if args.report == "-" and (args.json or args.doubts == "-" or "-" in outputs):
        other = "--json" if args.json else "--doubts -" if args.doubts == "-" else "-o -"
        raise InvalidOption(f"{other} and --report - both write to standard output: expected one of them")
    one_only = {
        "--plot": args.plot,
        "--certificate": args.certificate,
        "--doubts": args.doubts,
        "--report": args.report,
    }
    for flag, path in one_only.items():
        if path is not None:
            if len(args.files) > 1:
                raise InvalidOption(f"{flag} takes one FILE: expected not {len(args.files)}")
            if flag != "--doubts" or not is_folder(path):
                check_writable(path)
    if args.plot is not None:
        check_picture(args.plot)
    if args.certificate is not None:
        check_name(args.certificate)
    if args.report is not None:
        check_reports()
    manifests = Manifests()
    shown = COLUMNS.copy()
    if any(manifests.value(file) is not None for file in args.files):
        shown.insert(shown.index("lower bound."), "best known.")
    batch = Batch()
    with Table(args.files, shown, aside="-" in outputs) as table, Progress(len(args.files)) as progress:
        paths = zip(args.files, outputs, initials, checkpoints, strict=True)
        for done, (file, output, initial, checkpoint) in enumerate(paths, 1):
            with batch.guard(file):
                problem = read_problem(file, args.format, columns_given, args.missing, demanded)
                read = read_start if args.extend is None else read_old
                start = None if initial is None else read(initial, problem)
                evidence = None if args.evidence is None else read_evidence(args.evidence, problem, args.sample)
                with Interrupt(progress.start(f"{file}  {args.method}")) as interrupt:
                    if checkpoint is not None:
                        options["checkpoint"] = checkpoint
                    result = solve(problem, evidence, start, args, options, interrupt)
                if output is not None:
                    with batch.guard(output):  # labels that cannot be written do not lose the row
                        write_labels(result, output)
                if args.plot is not None:
                    with batch.guard(args.plot):
                        save_history(result, args.plot)
                if args.doubts is not None:
                    with batch.guard(args.doubts):
                        write_doubts(problem, result, args.doubts, args.time_limit)
                if args.certificate is not None:
                    with batch.guard(args.certificate):
                        result = write_certificate(problem, result, args.certificate, args.time_limit)
                if args.report is not None:
                    with batch.guard(args.report):
                        write_report(problem, result, args.report, Path(file).name, args.time_limit)
                if result.cost == math.inf:
                    batch.fail(file, result.message)
                facts = record(file, result)
                if args.json:
                    emit_json(facts | ({MIN_MARGINALS: vectors(result)} if options.get(MIN_MARGINALS) else {}))
                else:
                    best = manifests.compare(file, problem, result.cost)[0]
                    row = facts | size(problem) | {"best known": best, "gap": percent(result.gap)}
                    row |= {"lower bound": result.lower_bound, "seconds": f"{result.seconds:.3f}"}
                    table.add(file, row, columns(problem, shown))
                if result.status is Status.INTERRUPTED:
                    left = len(args.files) - done
                    say(f"interrupted: the best so far is kept{f', {left} of the files are not begun' if left else ''}")
                    return INTERRUPTED if left else batch.status
            progress.advance()
    return batch.status


def check_extend(args: argparse.Namespace) -> None:
    """Raise InvalidOption for options that cannot be combined with --extend."""
    if args.extend is None:
        if args.freeze:
            raise InvalidOption("--freeze is without --extend: expected both")
        return
    for flag in ("initial", "evidence", "max_iterations", "target", "checkpoint"):
        if getattr(args, flag) is not None:
            raise InvalidOption(f"--extend and --{flag.replace('_', '-')} are both given: expected one of them")


def solve(
    problem: Any, evidence: dict[Any, int] | None, start: Any, args: argparse.Namespace, options: Any, callback: Any
) -> Any:
    """`graphpart.solve`, with the labels of some variables given; or `graphpart.partition.extend`."""
    options = {"time_limit": args.time_limit, "seed": args.seed, "callback": callback} | options
    if args.extend is not None:
        from graphpart.partition import extend

        return extend(problem, start, freeze=args.freeze, method=args.method, **options)
    options |= {"initial": start, "max_iterations": args.max_iterations, "target": args.target}
    if evidence is None:
        return solved(problem, args.method, **options)
    from graphpart.crf import solve_given

    return solve_given(problem, evidence, args.method, **options)


def check_shown(options: dict[str, Any], json: bool) -> None:
    """Raise InvalidOption if an option requests something that would not be printed."""
    if options.get("messages"):
        raise InvalidOption("--option messages=true: the command line does not print messages, see crf.min_sum")
    if options.get(MIN_MARGINALS) and not json:
        raise InvalidOption(f"--option {MIN_MARGINALS}=true: they are printed with --json only")


def vectors(result: Result) -> dict[str, list[float]]:
    """The min-marginals of a result, by the names of variables."""
    return {str(name): values.tolist() for name, values in result.info[MIN_MARGINALS].items()}
