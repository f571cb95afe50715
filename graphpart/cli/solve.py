"""Solve instances: print a table, or JSON, and write the labels with -o.

With one FILE, -o and --initial name a labels file. With several they name folders, in which the labels of FILE stand
under its name with .labels added. Limits hold for each FILE. Ctrl-C ends the method, and its best result so far is
printed and written; files not yet begun are left out, and the exit status is then 130.

The gap is that between the cost and the proven lower bound, relative to the cost. --certificate writes a lower bound
with its proof, found for that alone in as much time as --time-limit allows; graphpart verify checks it.

In a factor graph the labels of some variables can be given by --evidence FILE, in the format .evid of UAI; the others
are then chosen such that the energy is least, and all labels are written. A labels file with the suffix .mpe or .map
is in the format of UAI, too; --initial and graphpart evaluate take it as well. Where a method finds no labeling that
all factors allow, a line on standard error says so, and the exit status is 1; -o then has its forbidden labels.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import graphpart
from graphpart.cli import arguments
from graphpart.cli.console import INTERRUPTED, Batch, emit_json, say
from graphpart.cli.display import Progress, Table, percent
from graphpart.cli.files import (
    check_writable,
    labels_files,
    read_evidence,
    read_problem,
    read_start,
    write_certificate,
    write_labels,
)
from graphpart.cli.interrupt import Interrupt
from graphpart.cli.kinds import columns, record, size
from graphpart.cli.manifest import Manifests
from graphpart.crf import solve_given
from graphpart.errors import InvalidOption
from graphpart.files.certificates import check_name
from graphpart.plotting import check_picture, save_history
from graphpart.result import Status

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
        help="labels file that auto and search keep up to date and resume from; one FILE",
    )
    parser.add_argument("--plot", metavar="PATH", help="draw cost and lower bound against time; one FILE only")
    parser.add_argument(
        "--certificate", metavar="PATH", help="write a lower bound with its proof, .json or .npz; one FILE only"
    )
    arguments.add_options(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Solve each file; one that fails does not lose the others."""
    arguments.check_one_input(*args.files, *(path for path in (args.initial, args.evidence) if path))
    if args.evidence is not None and len(args.files) > 1:
        raise InvalidOption("--evidence is that of one instance: expected one FILE")
    outputs = labels_files("-o", args.output, args.files, to_write=True)
    initials = labels_files("--initial", args.initial, args.files)
    if args.json and "-" in outputs:
        raise InvalidOption("--json and -o - both write to standard output: expected one of them")
    for flag, path in (("--plot", args.plot), ("--certificate", args.certificate), ("--checkpoint", args.checkpoint)):
        if path is not None:
            if len(args.files) > 1:
                raise InvalidOption(f"{flag} takes one FILE: expected not {len(args.files)}")
            check_writable(path)
    if args.plot is not None:
        check_picture(args.plot)
    if args.certificate is not None:
        check_name(args.certificate)
    manifests = Manifests()
    shown = COLUMNS.copy()
    if any(manifests.value(file) is not None for file in args.files):
        shown.insert(shown.index("lower bound."), "best known.")
    batch = Batch()
    with Table(args.files, shown, aside="-" in outputs) as table, Progress(len(args.files)) as progress:
        for done, (file, output, initial) in enumerate(zip(args.files, outputs, initials, strict=True), 1):
            with batch.guard(file):
                problem = read_problem(file, args.format)
                start = None if initial is None else read_start(initial, problem)
                evidence = None if args.evidence is None else read_evidence(args.evidence, problem, args.sample)
                with Interrupt(progress.start(f"{file}  {args.method}")) as interrupt:
                    result = solve(
                        problem,
                        evidence,
                        args.method,
                        time_limit=args.time_limit,
                        initial=start,
                        seed=args.seed,
                        max_iterations=args.max_iterations,
                        target=args.target,
                        callback=interrupt.callback,
                        **({} if args.checkpoint is None else {"checkpoint": args.checkpoint}),
                        **dict(args.options),
                    )
                if output is not None:
                    with batch.guard(output):  # labels that cannot be written do not lose the row
                        write_labels(result, output)
                if args.plot is not None:
                    with batch.guard(args.plot):
                        save_history(result, args.plot)
                if args.certificate is not None:
                    with batch.guard(args.certificate):
                        result = write_certificate(problem, result, args.certificate, args.time_limit)
                if result.cost == math.inf:
                    batch.fail(file, result.message)
                facts = record(file, result)
                if args.json:
                    emit_json(facts)
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


def solve(problem: Any, evidence: dict[Any, int] | None, method: str, **options: Any) -> graphpart.Result:
    """`graphpart.solve`, with the labels of some variables given."""
    if evidence is None:
        return graphpart.solve(problem, method, **options)
    return solve_given(problem, evidence, method, **options)
