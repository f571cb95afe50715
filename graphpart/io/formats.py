"""The one table of file formats, behind `read`, `write`, the command line and the tests.

A new format is one file with three functions, and one line here:

* ``sniff(head)``: whether a file that starts with these bytes (up to 4096) has this format;
* ``read(source)``: the problem in a :class:`~graphpart.files.source.Source`; raises FormatError through
  ``source.error``;
* ``write(problem, stream)``: writes to a binary stream; raises InvalidProblem, before it writes, if the format cannot
  hold the problem. A format without this function is only read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, BinaryIO

from graphpart.errors import InfeasibleProblem, InvalidOption, InvalidProblem, known_arguments, unknown
from graphpart.files.source import PathOrStream, Source, bare_name, opened, replacing
from graphpart.files.text import no_header
from graphpart.io.automata import for_format
from graphpart.io.columns import read_pairs
from graphpart.io.parquet import COLUMNS, MAGIC, NAME_COLUMNS
from graphpart.methods import SIZES, check_obeyed
from graphpart.partition.problem import as_problem
from graphpart.partition.problem.forms import with_matrix

__all__ = ["FORMATS", "Format", "find_format", "read", "write"]


@dataclass(frozen=True)
class Format:
    """One line of the table."""

    name: str
    suffixes: tuple[str, ...]
    problem: str  #: "partition", "crf" or "either"; a format of LABELED also holds labelled partitions
    module: str
    summary: str

    def holds(self, problem: str) -> bool:
        """Whether a "partition", "crf" or "labeled" problem can be in such a file."""
        return self.name in LABELED if problem == "labeled" else self.problem in (problem, "either")

    @property
    def sniff(self) -> Callable[[bytes], bool]:
        """Whether a file that starts with these bytes has this format."""
        function: Callable[[bytes], bool] = import_module(self.module).sniff
        return function

    @property
    def read(self) -> Callable[[Source], Any]:
        """The reader."""
        function: Callable[[Source], Any] = import_module(self.module).read
        return function

    @property
    def write(self) -> Callable[[Any, BinaryIO], None] | None:
        """The writer, or None."""
        return getattr(import_module(self.module), "write", None)


# In the order in which contents are tried: what has a signature first, bare numbers last.
FORMATS: tuple[Format, ...] = (
    Format("npz", (".npz",), "partition", "graphpart.io.npz", "NumPy arrays n, u, v, cost or a matrix, compressed"),
    Format("npy", (".npy",), "partition", "graphpart.io.npy", "NumPy symmetric matrix of costs"),
    Format("cfn", (".cfn",), "crf", "graphpart.io.cfn",
           "toulbar2's cost function networks: names, decimal costs, tables"),
    Format("json", (".json",), "either", "graphpart.io.json",
           "networkx node-link: edge attribute cost, or a bipartite factor graph"),
    Format("pace", (".gr",), "partition", "graphpart.io.pace", "PACE 2021 cluster editing, unweighted graph"),
    Format("multicut", (".multicut", ".mc"), "partition", "graphpart.io.multicut",
           "lines i j w after MULTICUT, weight of cut edges; lifted ones after LIFTED"),
    Format("uai", (".uai",), "crf", "graphpart.io.uai", "MARKOV or BAYES: product of tables, maximised"),
    Format("lg", (".lg",), "crf", "graphpart.io.lg", "MARKOV or BAYES: sum of tables of logarithms, maximised"),
    Format("wcsp", (".wcsp",), "crf", "graphpart.io.wcsp", "cost functions listed by tuples"),
    Format("csv", (".csv",), "partition", "graphpart.io.csv", "edge list u,v,cost or u,v,weight or u,v,sign"),
    Format("qubo", (".qubo", ".sparse"), "crf", "graphpart.io.qubo",
           "n m, then lines i j q of a binary quadratic program"),
    Format("maxcut", (".maxcut", ".rud"), "crf", "graphpart.io.max_cut",
           "n m, then lines i j w of a graph whose heaviest cut is sought"),
    Format("metis", (".metis", ".graph"), "partition", "graphpart.io.metis", "rows of neighbours with signed weights"),
    Format("cplib", (".cplib", ".cp"), "partition", "graphpart.io.cplib",
           "clique partitioning: n, then the upper triangle of weights"),
)  # fmt: skip


def find_format(name: str) -> Format:
    """The format of this name.

    Raises
    ------
    InvalidOption
        If there is none; the message lists those that there are.
    """
    for known in FORMATS:
        if known.name == name:
            return known
    raise unknown("format", name, (known.name for known in FORMATS))


def _by_suffix(path: PathOrStream) -> tuple[Format, ...]:
    name = bare_name(path)
    return tuple(known for known in FORMATS if name.endswith(known.suffixes))


def format_of_source(source: Source) -> Format:
    """The format of a file by its suffix or, if the suffix is unknown or ambiguous, by its first bytes."""
    candidates = _by_suffix(source.name)
    if len(candidates) == 1:
        return candidates[0]
    if source.name.endswith((".xlsx", ".xls", ".ods")):
        text = "workbooks are not read: expected a table as CSV or Parquet, or pandas.read_excel and then from_frame"
        raise source.error(None, text)
    head = source.head()
    for known in candidates or FORMATS:
        if known.sniff(head):
            return known
    if not head.strip():
        raise source.error(None, "the file is empty: expected a problem")
    if head.startswith(MAGIC):
        raise source.error(None, COLUMNS)
    names = ", ".join(known.name for known in candidates or FORMATS)
    text = f"neither suffix nor content tell the format: expected one of {names}"
    if b"\0" not in head:
        more = f"; of a table of pairs, {NAME_COLUMNS}; networkx.read_edgelist reads lists of edges"
        text += no_header(head.partition(b"\n")[0].decode("utf-8", "replace")) or more
    raise source.error(None, text)


def may_have_columns(path: PathOrStream, format: str | None = None) -> bool:
    """Whether a file may be a table whose columns are named: its format is csv, or its suffix tells none."""
    names = [known.name for known in _by_suffix(path)] if format is None else [format]
    return not names or "csv" in names


def format_of_target(path: PathOrStream, problem: str) -> Format:
    """The format to write a "partition", "crf" or "labeled" problem in, by the suffix."""
    candidates = [known for known in _by_suffix(path) if known.holds(problem)]
    if candidates:
        return candidates[0]
    suffixes = ", ".join(suffix for known in FORMATS if known.holds(problem) for suffix in known.suffixes)
    found = f"the suffix of {path} tells no format for this problem"
    raise InvalidOption(f"{found}: expected {suffixes}, or the name of a format")


LABELED = ("json", "npz")  # formats of labelled partitions
HOLDS_LIFTED = ("json", "multicut", "npz")  # formats of problems whose clusters have to be connected
LISTS_PAIRS = ("csv", "json", "metis", "multicut", "npz")  # formats of problems that need not list all pairs


def read(path: PathOrStream, format: str | None = None, *, missing: float | None = None, **columns: Any) -> Any:
    """Read a problem from a file.

    Parameters
    ----------
    path : str, path-like or binary stream
        ``"-"`` is standard input. Data compressed by gzip or xz are recognised.
    format : str, optional
        The name of a format; by default it is recognised by the suffix or else by the content.
    missing : float, optional
        The cost of a pair that the file does not list, for formats that need not list all pairs. Default: 0, or the
        background in the file.
    **columns
        For a CSV or Parquet table with a row for each pair: the name of its column with values as `probability`,
        `similarity`, `weight` or `cost`, and what else :func:`graphpart.io.read_pairs` takes.

    Returns
    -------
    SetPartition, FactorGraph or LabeledPartition
        The kind of problem depends on the format. The method ``objective`` gives values in the convention of the file.

    Raises
    ------
    FormatError
        If the file does not have its format; the message names the line, what was found and what was expected.
    InfeasibleProblem
        If the file requires a pair together and apart.
    InvalidOption
        If there is no such format, or `missing` is given for a file that lists all pairs, or has a background.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import io
    >>> p = read(io.BytesIO(b"MULTICUT\\n0 1 2.5\\n1 2 -1\\n"))
    >>> p.n, p.objective(p.evaluate([0, 0, 1]))
    (3, -1.0)
    """
    if columns:
        if not may_have_columns(path, format):
            named = _by_suffix(path)[0].name if format is None else format
            raise InvalidOption(
                f"format {named} has no columns: expected a table, CSV or Parquet, or no {next(iter(columns))}, for a "
                "file that holds a problem"
            )
        if missing is not None:
            columns["missing"] = missing
        return read_pairs(path, **columns)
    known = None if format is None else find_format(format)
    with opened(path) as source:
        known = known or format_of_source(source)
        try:
            problem = known.read(source)
        except InfeasibleProblem as error:
            raise InfeasibleProblem(f"{source.name}: {error}") from error
        except InvalidProblem as error:
            raise source.error(None, str(error)) from error
        except MemoryError:
            raise source.error(None, "the problem does not fit into memory: expected a smaller one") from None
    return problem if missing is None else _with_missing(problem, known, missing)


def _with_missing(problem: Any, known: Format, missing: float) -> Any:
    from graphpart.partition.problem.forms import with_missing
    from graphpart.partition.problem.set_partition import SetPartition

    if not isinstance(problem, SetPartition):
        held = "labelled partition" if hasattr(problem, "label_costs") else "factor graph"
        raise InvalidOption(f"missing is a cost of pairs: the file holds a {held}")
    if known.name not in LISTS_PAIRS:
        raise InvalidOption(f"missing is for files that need not list all pairs: format {known.name} has all of them")
    if problem.matrix is not None and known.name == "npz":
        raise InvalidOption("missing is for files that need not list all pairs: this one holds a matrix")
    try:
        return with_missing(problem, missing)
    except InvalidProblem as error:
        raise InvalidOption(f"missing does not fit: {error}") from None


@known_arguments
def write(problem: Any, path: PathOrStream, format: str | None = None) -> None:
    """Write a problem to a file.

    Parameters
    ----------
    problem : SetPartition, networkx graph, FactorGraph or LabeledPartition
    path : str, path-like or binary stream
        ``"-"`` is standard output. A file whose name ends in ``.gz`` or ``.xz`` is compressed.
    format : str, optional
        The name of a format; by default it is recognised by the suffix.

    Raises
    ------
    InvalidProblem
        If the format cannot hold the problem; the message says why.
    InvalidOption
        If there is no such format, or neither `format` nor the suffix names one.
    OSError
        If the file cannot be written. The file is then as it was before.

    Notes
    -----
    Numbers are written such that reading gives exactly the same numbers. Formats that number their elements keep the
    order of ``problem.nodes`` but not the names.

    Examples
    --------
    >>> import io, graphpart
    >>> stream = io.BytesIO()
    >>> write(graphpart.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.5, 1]), stream, "multicut")
    >>> stream.getvalue().decode().split()
    ['MULTICUT', '0', '1', '2.5', '1', '2', '-1']
    """
    from graphpart.crf.problem import FactorGraph

    kind = "labeled" if hasattr(problem, "label_costs") else "crf" if isinstance(problem, FactorGraph) else "partition"
    if kind == "partition":
        problem = as_problem(problem)
    known = format_of_target(path, kind) if format is None else find_format(format)
    if kind == "partition" and known.name not in ("csv", "json", "npz", "pace"):
        check_obeyed(problem, SIZES, f"format {known.name}", "one of the formats json, npz, csv")
        problem = with_matrix(problem)
    if not known.holds(kind):
        names = ", ".join(other.name for other in FORMATS if other.holds(kind))
        raise InvalidProblem(f"format {known.name} does not hold a {type(problem).__name__}: expected one of {names}")
    if kind == "partition" and problem._connected and known.name not in HOLDS_LIFTED:
        raise InvalidProblem(
            f"format {known.name} does not hold lifted pairs: expected one of {', '.join(HOLDS_LIFTED)}"
        )
    writer = known.write
    if writer is None:
        raise InvalidOption(f"format {known.name} is only read, not written")
    if kind == "crf" and problem.functions and known.name not in ("cfn", "json", "wcsp"):
        problem = for_format(problem, known.name)
    with replacing(path) as stream:
        writer(problem, stream)
