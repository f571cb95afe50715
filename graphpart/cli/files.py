"""Files as the commands use them: instances, and labels beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphpart.cli import demands
from graphpart.cli.console import OutputError, check_input, emit, say, shown
from graphpart.display import plural
from graphpart.errors import FormatError, InvalidOption
from graphpart.files.labels import check_layout
from graphpart.files.source import check_writable
from graphpart.solve import problem_kind

__all__ = [
    "check_reports",
    "labels_files",
    "read_certificate",
    "read_evidence",
    "read_labels",
    "read_model",
    "read_old",
    "read_problem",
    "read_start",
    "write_benchmark",
    "write_doubts",
    "write_labels",
    "write_model",
    "write_problem",
    "write_report",
    "write_text",
    "writing",
]


def read_problem(
    file: str,
    format: str | None,
    columns: Mapping[str, Any] | None = None,
    missing: float | None = None,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """The problem in a file; `columns` are those of a table, if they are named, `given` what `cli.demands` takes."""
    from graphpart.io import read
    from graphpart.io.parquet import SHELL

    check_input(file)
    elements = demands.elements_in(given or {})
    if columns and elements is not None:  # so that a derived cost counts them, as in from_frame
        columns = {**columns, "nodes": elements[0]}
    try:
        problem = read(file, format, missing=missing, **(columns or {}))
    except FormatError as error:
        text = error.problem
        for python, shell in {**SHELL, "nodes or elements": f"the elements of {(given or {}).get('elements')}"}.items():
            text = text.replace(python, shell)
        raise FormatError(error.path, error.line, text) from error
    return demands.obeying(problem, given or {}, file, elements)


def write_problem(problem: Any, file: str, format: str | None) -> None:
    """Write a problem to a file."""
    from graphpart.io import write

    with writing(file):
        write(problem, file, format)


def read_labels(file: str, problem: Any = None, partial: bool = False) -> Any:
    """Labels from a file, checked against a problem if one is given; if `partial`, -1 where the file has none."""
    from graphpart.io import read_labels

    check_input(file)
    return read_labels(file, problem, partial=partial)


def read_start(file: str, problem: Any) -> Any:
    """Labels to start from, -1 where the file has none; labels of a partition must be feasible."""
    from graphpart.errors import InvalidPartition
    from graphpart.partition.results.starts import start_of

    labels = read_labels(file, problem, partial=True)
    if problem_kind(problem) == "partition":
        try:
            start_of(problem, labels)
        except InvalidPartition as error:
            raise FormatError(file, None, str(error)) from None
    missing = int((labels < 0).sum())
    if missing:
        say(f"{shown(file)}: {missing} of {problem.n} elements have no label there")
    return labels


def read_old(file: str, problem: Any) -> Any:
    """The labels of an old partition as they are, by the names of the problem; other elements are left out."""
    if problem_kind(problem) != "partition":
        raise InvalidOption("--extend is for set partition problems: the instance is of another kind")
    labels = read_labels(file)
    if isinstance(labels, dict):
        by_text = {str(node): node for node in problem.nodes}
        known = {by_text[str(node)]: label for node, label in labels.items() if str(node) in by_text}
        if labels and not known:
            message = (
                f"none of its {plural(len(labels), 'element')}, {next(iter(labels))!r} the first, is in the problem"
            )
            raise FormatError(file, None, f"{message}: expected the same names")
        return known
    if len(labels) > problem.n or not (len(labels) == problem.n or isinstance(problem.nodes, range)):
        message = f"{plural(len(labels), 'label')} without names for {problem.n} elements: expected names"
        raise FormatError(file, None, f"{message}, which -o writes to a file .csv or .json")
    return dict(zip(problem.nodes, labels.tolist(), strict=False))


def read_evidence(file: str, problem: Any, sample: int) -> dict[Any, int]:
    """Given labels of variables of a factor graph."""
    from graphpart.io import read_evidence

    if problem_kind(problem) != "crf":
        raise InvalidOption("--evidence is for factor graphs: the instance is a set partition problem")
    check_input(file)
    return read_evidence(file, problem, sample)


def write_labels(labels: Any, file: str) -> None:
    """Write labels to a file."""
    from graphpart.io import write_labels

    with writing(file):
        write_labels(labels, file)


def write_doubts(problem: Any, result: Any, path: str, time_limit: float | None) -> None:
    """Compute doubts and write them: one table to a file, all of them into a folder."""
    from graphpart import crf, partition
    from graphpart.files.tables import write_table

    of_labels = problem_kind(problem) == "crf"
    found: Any = (crf if of_labels else partition).doubts(problem, result, time_limit=time_limit)
    tables: tuple[str, ...] = ("variables", "labels") if of_labels else ("decisions", "pairs", "elements", "clusters")
    if not is_folder(path):
        tables, names = tables[:1], [path]
    else:
        os.makedirs(path, exist_ok=True)
        names = [os.path.join(path, f"{table}.csv") for table in tables]
    for table, name in zip(tables, names, strict=True):
        with writing(name):
            write_table(getattr(found, table) if of_labels else found.to_frame(table, "dict"), name)
    say(repr(found).replace("\n ", ";"))


def check_reports() -> None:
    """Raise MissingDependency before any work is done, if reports cannot be made here."""
    from graphpart.reporting import check_report

    check_report()


def write_report(problem: Any, result: Any, path: str, title: str, time_limit: float | None) -> None:
    """Write a report on a result, called like the file of its instance."""
    from graphpart.reporting import report

    with writing(path):
        report(problem, result, path, title="standard input" if title == "-" else title, time_limit=time_limit)


def write_benchmark(runs: Sequence[Mapping[str, Any]], path: str, time_limit: float) -> None:
    """Write a report on a benchmark."""
    from graphpart.reporting import report_benchmark

    with writing(path):
        report_benchmark(runs, path, time_limit=time_limit)


def is_folder(path: str) -> bool:
    """Whether a path names a folder, which need not be there yet."""
    return path.endswith(os.sep) or os.path.isdir(path)


def find_certificate(problem: Any, time_limit: float | None, quickly: bool = False) -> Any:
    """A lower bound with its proof, by the best method for this kind of problem, or by a quick one."""
    from graphpart import crf, partition

    if problem_kind(problem) == "labeled":
        raise InvalidOption("no certificates are written for labelled partitions; in Python, gp.labeled.lower_bound(q)")
    if problem_kind(problem) == "crf":
        return crf.lower_bound(problem, time_limit=time_limit)
    return partition.lower_bound(problem, "cycle-packing" if quickly else "auto", time_limit=time_limit)


def read_certificate(file: str, problem: Any) -> Any:
    """The certificate of an optimal solution or of a lower bound, for this kind of problem."""
    from graphpart import crf, partition
    from graphpart.check import FORMAT
    from graphpart.crf.proof_trees import LabelingProof
    from graphpart.files.source import opened
    from graphpart.partition.proof_trees import PartitionProof

    check_input(file)
    is_crf = problem_kind(problem) == "crf"
    with opened(file) as source:
        if f'"format": "{FORMAT}"'.encode() in source.head(200):
            return (LabelingProof if is_crf else PartitionProof).load(source)
        return (crf if is_crf else partition).Certificate.load(source)


def write_text(text: str, file: str) -> None:
    """Write a text file."""
    from graphpart.files.source import replacing

    with writing(file), replacing(file) as stream:
        stream.write(text.encode())


def read_model(file: str) -> Any:
    """A learned model."""
    from graphpart.learn import load_model

    check_input(file)
    return load_model(file)


def write_model(model: Any, file: str) -> None:
    """Write a learned model."""
    with writing(file):
        model.save(file)


@contextmanager
def writing(file: str) -> Iterator[None]:
    """Report a standard output that fails as such."""
    if file == "-":
        emit("")  # fails where standard output is closed
    check_writable(file)  # else the error is that of a temporary file beside it
    try:
        yield
    except OSError as error:
        if file == "-":
            raise OutputError(error.errno, error.strerror, "<stdout>") from None
        raise


def labels_files(flag: str, path: str | None, files: Sequence[str], to_write: bool = False) -> Sequence[str | None]:
    """The labels file that belongs to each instance; None for each if there is no path.

    For one instance `path` is the file. For several instances, or if `path` is a folder, the folder has a file for
    each. Whether files can be written is checked before any work is done; a folder to write to is made.
    """
    if path is None:
        return [None] * len(files)
    if len(files) == 1 and not is_folder(path):
        if to_write:
            check_layout(path)
            check_writable(path)
        return [path]
    if path == "-":
        raise InvalidOption(f"{flag} - holds the labels of one instance: expected a folder for those of {len(files)}")
    names = [("stdin" if file == "-" else Path(file).name) + ".labels" for file in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidOption(
            f"{flag}: two instances have their labels in {twice}: expected instances of different names"
        )
    if to_write:
        os.makedirs(path, exist_ok=True)
        check_writable(os.path.join(path, names[0]))
    return [os.path.join(path, name) for name in names]
