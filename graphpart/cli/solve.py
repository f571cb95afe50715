"""Solve instances: print a table, or JSON, and write the labels with -o.

A FILE may be a folder: its files with the suffix of a format are solved. With one FILE, --initial and --checkpoint
name a labels file, and -o, too, if FILE is no folder. Otherwise they name folders, in which the labels of FILE have its
name with .labels added. Limits apply to each FILE. Ctrl-C ends the method, and its best result so far is printed and
written; files not yet begun are left out, and the exit status is then 130. SIGTERM, which schedulers send, does the
same.

A file that cannot be read is one line of the table, and the others are solved all the same. The folder of -o also gets
results.jsonl. When the command is repeated, files are skipped whose results are there: the content of the file is the
same, and the result is proven optimal, or the options are the same, too, and nothing interrupted it. Other files are
solved again, and labels are replaced by better ones only. --no-resume solves and replaces all. --jobs 2 solves two
files at the same time.

With --time-limit, auto uses all of the time for search and proof, unless it proves its result optimal before. Without
it, auto ends by itself.

--elements names a table of the elements. With --group source, a cluster has at most one element of each source; with
--group-cost 2.5 in addition, each pair of one source in a cluster costs 2.5. --max-size limits the elements of a
cluster, --clusters the number of clusters. --together and --apart name tables of pairs, such as rows of --doubts that a
person has checked; with --initial, the old labels are repaired where they contradict these pairs. --answers names a
table of answers, as graphpart review and graphpart questions lead to: with --error 0.05, they are evidence of people
who err in one of twenty. Give the same options to evaluate and verify.

To read a CSV table with other columns than u,v,cost, name the columns: with --probability score --threshold 0.5, pairs
with a score above 0.5 attract. What a pair that is not in the table costs is derived from the table; for columns of
costs it is 0. With --missing 0.5, each of these pairs costs 0.5 instead, for any format, and with --missing 0 joining
it is free; give the same option to evaluate and verify.

--extend OLD takes a labels file, with names, of an old partition. New elements are added to it, and the clusters near
them may change; with --freeze, old clusters and their labels stay exactly the same. --doubts writes a CSV table of the
least certain decisions, with the amount by which the cost would rise if each were changed, exactly or at most: the
columns are those of gp.partition.doubts(...).to_frame(). For a factor graph, it has the variables. Into a folder, it
also writes pairs, elements and clusters, or labels.

The gap is the difference between the cost and the proven lower bound, relative to the cost. --certificate writes a
proof, which graphpart verify checks: that the result is optimal, if it is and the name ends in .json or .json.gz; else
that of a lower bound. The proof is made after the solution, in as much time as --time-limit allows. While a method
runs, the file already has the proof of a lower bound, which is replaced when branch and cut has proven a higher one.

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
import os
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphpart.cli import arguments, demands, distributed
from graphpart.cli.bench import write_table
from graphpart.cli.console import INTERRUPTED, Batch, emit_json, say, say_warning
from graphpart.cli.display import Progress, Table, percent
from graphpart.cli.files import (
    check_reports,
    is_folder,
    labels_files,
    read_evidence,
    read_old,
    read_problem,
    read_start,
    write_doubts,
    write_labels,
    write_report,
)
from graphpart.cli.interrupt import Interrupt
from graphpart.cli.kinds import CALLED, columns, size
from graphpart.cli.manifest import Manifests
from graphpart.cli.proofs import ProofFile
from graphpart.errors import GraphPartWarning, InvalidOption
from graphpart.files.certificates import check_name
from graphpart.files.source import check_writable
from graphpart.folders import BROKEN, Records, broken_record, digest_of, in_processes, instances_in, record_of
from graphpart.io.formats import may_have_columns
from graphpart.machine import give_back
from graphpart.plotting.figures import check_picture
from graphpart.plotting.histories import save_history
from graphpart.result import Result, Status
from graphpart.solve import solve as solved

MIN_MARGINALS = "min_marginals"
SOLVING = ("method", "time_limit", "seed", "max_iterations", "target")  # do not matter once a result is proven
NEITHER = {  # change neither the problem nor its result, or are for what leaves no records (see `earlier`)
    "files", "output", "initial", "checkpoint", "resume", "jobs", "csv", "plot", "doubts", "certificate", "report",
    "options", "json", "quiet", "run", "evidence", "sample", "extend", "freeze",
}  # fmt: skip
NAME = "solve"
HELP = "solve instances and write their labels"
COLUMNS = [
    "elements",
    "pairs",
    "method:",
    "cost.",
    "objective.",
    "objective_bound.",
    "lower_bound.",
    "gap",
    "status:",
    "clusters",
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
    parser.add_argument(
        "--resume",
        action=argparse.BooleanOptionalAction,
        help="skip files whose results are in the folder -o: proven, or with the same options; default: skip them",
    )
    parser.add_argument(
        "--jobs",
        type=arguments.positive_integer,
        default=1,
        metavar="INTEGER",
        help="files solved at the same time; default: 1",
    )
    parser.add_argument("--csv", metavar="FILE", help="write the table to this file as well")
    parser.add_argument("--plot", metavar="PATH", help="draw cost and lower bound against time; one FILE only")
    parser.add_argument("--doubts", metavar="PATH", help="what is least sure: CSV file or folder; one FILE only")
    parser.add_argument(
        "--certificate", metavar="PATH", help="write a proof of the result, .json or .npz; one FILE only"
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
        return distributed.run(args)
    if args.output not in (None, "-") and any(os.path.isdir(path) for path in args.files):
        if os.path.isfile(args.output):
            raise InvalidOption(f"-o {args.output} is a file: expected a folder, since FILE is one")
        args.output = os.path.join(args.output, "")  # a folder, also if there is one instance in the given one
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
    if args.csv is not None:
        check_writable(args.csv)
    records, known = earlier(args, outputs, options)
    shown = table_columns(Manifests(), args.files)
    batch = Batch()
    rows: list[dict[str, Any]] = []
    tasks = [
        (Task(file, initial, checkpoint, args, columns_given, demanded, options),)
        for file, initial, checkpoint, old in zip(args.files, initials, checkpoints, known, strict=True)
        if old is None
    ]
    results = in_processes(remote if args.jobs > 1 else one, tasks, args.jobs)
    begun = 0
    try:
        with Table(args.files, shown, aside="-" in outputs) as table, Progress(len(args.files)) as progress, results:
            for done, (file, output, old) in enumerate(zip(args.files, outputs, known, strict=True), 1):
                if old is not None:
                    put(table, rows, args.json, *as_printed(old, shown))
                    progress.advance()
                    continue
                with Interrupt(progress.start(f"{file}  {args.method}"), results.end) as interrupt:
                    if results.begun(begun):
                        found = results.next(None if args.jobs > 1 else interrupt)
                    else:
                        say(f"interrupted: {len(args.files) - done + 1} of the files are not begun")
                        return INTERRUPTED
                begun += 1
                batch.status = max(batch.status, found.status)
                better = None
                if found.result is not None and records is not None and args.resume is not False:
                    better = records.better(file, output, found.facts)
                if better is not None:
                    say(f"{file}: the earlier result is better and is kept")
                    put(table, rows, args.json, *as_printed(better, shown))
                else:
                    if found.result is not None:
                        finished(found, output, args, batch)
                        if records is not None:
                            records.add(file, {"status": found.facts["status"], **found.parts()})
                    put(table, rows, args.json, found.facts, found.row, found.columns, len(args.files) > 1)
                progress.advance()
                stopped = found.result is not None and found.result.status is Status.INTERRUPTED
                if args.jobs == 1 and (stopped or interrupt.asked):  # a run may end as it is asked to
                    left = len(args.files) - done
                    say(f"interrupted: the best so far is kept{f', {left} of the files are not begun' if left else ''}")
                    return INTERRUPTED if left else batch.status
        return batch.status
    finally:
        if args.csv is not None:
            write_table(args.csv, rows, [*COLUMNS, "message:"])


@dataclass(frozen=True)
class Task:
    """A file to solve, with its start and its checkpoint, and what the arguments say about all files."""

    file: str
    initial: str | None
    checkpoint: str | None
    args: argparse.Namespace
    columns: Any
    demanded: dict[str, Any]
    options: dict[str, Any]


@dataclass
class Found:
    """The outcome of a file, and its row of the table; the problem stays in the process that read it."""

    file: str
    status: int
    facts: dict[str, Any]
    row: dict[str, Any]
    columns: list[str]
    problem: Any = None
    result: Any = None
    proof: ProofFile | None = None

    def parts(self) -> dict[str, Any]:
        """What a later run prints of it."""
        return {"facts": self.facts, "row": self.row, "columns": self.columns}


def one(callback: Any, task: Task) -> Found:
    """Read and solve one file; an error is reported and becomes its row."""
    batch, file, args, options = Batch(), task.file, task.args, task.options
    with batch.guard(file):
        named = task.columns if len(args.files) == 1 or may_have_columns(file, args.format) else None
        problem = read_problem(file, args.format, named, args.missing, task.demanded)
        if named and args.doubts is None and args.report is None:  # only these show rows of the table
            problem._origin = replace(problem._origin, table=None)
        give_back()
        read = read_start if args.extend is None else read_old
        start = None if task.initial is None else read(task.initial, problem)
        evidence = None if args.evidence is None else read_evidence(args.evidence, problem, args.sample)
        if task.checkpoint is not None:
            options = {**options, "checkpoint": task.checkpoint}
        proof = None if args.certificate is None else ProofFile(problem, args.certificate, args.time_limit)
        with nullcontext() if proof is None else proof.kept():
            result = solve(problem, evidence, start, args, options, callback)
        if result.cost == math.inf:
            batch.fail(file, result.message)
        return described(Found(file, batch.status, {}, {}, [], problem, result, proof), options)
    facts = broken_record(file, batch.error)
    row = dict.fromkeys((name.rstrip(":.") for name in COLUMNS), None) | facts | {"best known": None}
    return Found(file, batch.status, facts, row, table_columns(Manifests(), []))


def remote(callback: Any, task: Task) -> Found:
    """:func:`one` in another process."""
    with warnings.catch_warnings():
        warnings.showwarning = say_warning
        warnings.simplefilter("ignore" if task.args.quiet else "always", GraphPartWarning)
        found = one(callback, task)
    found.problem = found.proof = None
    return found


def described(found: Found, options: dict[str, Any]) -> Found:
    """With the row of its result."""
    manifests, problem, result = Manifests(), found.problem, found.result
    facts = record_of(found.file, result)
    found.facts = facts | ({MIN_MARGINALS: vectors(result)} if options.get(MIN_MARGINALS) else {})
    best = manifests.compare(found.file, problem, result.cost)[0]
    row = facts | size(problem) | {"best known": best, "gap": result._gap()}
    found.row = row | {"seconds": f"{result.seconds:.3f}"}
    found.columns = columns(problem, table_columns(manifests, [found.file], result.objective != result.cost))
    return found


def as_printed(record: dict[str, Any], shown: list[str]) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The facts, the row and the columns of a record; these are `shown` if Python wrote it, which keeps no row."""
    if "facts" in record:
        now = {"file": record["file"]}
        return record["facts"] | now, record["row"] | now, record["columns"]
    facts = {name: value for name, value in record.items() if name not in ("elements", "pairs")}
    told = {"best known": None, "gap": percent(record["gap"]), "seconds": f"{record['seconds']:.3f}"}
    return facts, record | told, shown


def table_columns(manifests: Manifests, files: Sequence[str], converted: bool = False) -> list[str]:
    """The columns of the table: best known costs only where some file has one, and a bound on the objective only where
    this is not the cost."""
    shown = [name for name in COLUMNS if converted or name != "objective_bound."]
    if any(manifests.value(file) is not None for file in files):
        shown.insert(shown.index("lower_bound."), "best known.")
    return shown


def finished(found: Found, output: str | None, args: argparse.Namespace, batch: Batch) -> None:
    """Write the requested files beside the table."""
    problem, result = found.problem, found.result
    if output is not None:
        with batch.guard(output):  # labels that cannot be written do not lose the row
            write_labels(result, output)
    if args.plot is not None:
        with batch.guard(args.plot):
            save_history(result, args.plot)
    if args.doubts is not None:
        with batch.guard(args.doubts):
            write_doubts(problem, result, args.doubts, args.time_limit)
    if found.proof is not None:
        with batch.guard(args.certificate):
            found.result = result = found.proof.finish(result, args.evidence is None)
            described(found, dict(args.options))
    if args.report is not None:
        with batch.guard(args.report):
            write_report(problem, result, args.report, Path(found.file).name, args.time_limit)


def put(
    table: Table, rows: list[dict[str, Any]], json: bool, facts: dict[str, Any], row: dict[str, Any], shown: list[str],
    several: bool = True,
) -> None:  # fmt: skip
    """Print a row, and keep it for the file of --csv; a broken file has a row where there are others."""
    broken = facts["status"] == BROKEN
    if json and not broken:
        emit_json(facts)
    elif not json and (several or not broken):
        table.add(row["file"], row, shown)
    sizes = {name: row[other] for name, other in CALLED.items() if other in row}
    rows.append(row | sizes | facts | {"instance": row["file"]})


def earlier(
    args: argparse.Namespace, outputs: Sequence[str | None], options: dict[str, Any]
) -> tuple[Records | None, list[dict[str, Any] | None]]:
    """The records of the folder of -o, and for each file what an earlier run printed of it, if it is skipped."""
    none: list[dict[str, Any] | None] = [None] * len(args.files)
    in_folder = args.output is not None and is_folder(args.output) and "-" not in args.files
    if args.resume and not in_folder:
        raise InvalidOption("--resume is without -o FOLDER: expected the folder with the results of an earlier run")
    if not in_folder or args.extend is not None or args.evidence is not None:
        return None, none
    values = {name: _content(value) for name, value in vars(args).items() if name not in NEITHER}
    solving = {name: values.pop(name) for name in SOLVING}
    records = Records(args.output, solving | options, values)
    others = (args.initial, args.doubts, args.certificate, args.report, args.plot)
    if any(path is not None for path in others) or args.resume is False:
        return records, none
    known = [records.find(file, output) for file, output in zip(args.files, outputs, strict=True)]
    count = sum(old is not None for old in known)
    if count:
        what = "1 file has a result" if count == 1 else f"{count} files have results"
        say(f"{what} in {args.output} already, skipped; --no-resume solves all again")
    return records, known


def _content(value: Any) -> Any:
    """The digest of a file that an argument names, or of each of several; else the argument itself."""
    if isinstance(value, list):
        return [_content(one) for one in value]
    return digest_of(value) if isinstance(value, str) and Path(value).is_file() else value


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
