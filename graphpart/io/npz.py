"""NumPy arrays in a zip archive: ``matrix``, or ``n, u, v, cost``; ``offset, sense, nodes, must_join`` if needed.

A background has the arrays ``beta`` (k), ``x`` and ``y`` (k, n). Each of its k terms adds to the cost of every pair
``beta x[a] x[b]`` if x and y are equal, else ``beta (x[a] y[b] + y[a] x[b])``. Groups have the arrays ``group_starts``
(n + 1) and ``group`` (the groups of element a are ``group[group_starts[a]:group_starts[a + 1]]``), ``group_price``, and
``group_names`` if they are all integers or all text. Limits are the array ``limits``: the largest size, the least and
the most clusters, 0 where there is no limit. If subsets have to be connected, the array ``lifted`` (bool) tells which
pairs are lifted; all others are base pairs. The format stores every part of a problem whose nodes are all integers or
all text: pairs of indices from 0 with ``cost`` (``inf``: must be cut, ``-inf``: must be joined), `offset` and `sense`
of ``objective``, and `must_join`, pairs that must be joined and have a cost besides. An archive with the array
``label_costs`` is a labelled partition instead, see :mod:`graphpart.io.npz_labeled`. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError, InvalidProblem
from graphpart.files.arrays import DAMAGED, read_data, read_header
from graphpart.io.npz_labeled import arrays_of, read_archive
from graphpart.kernels import LARGEST_INDEX
from graphpart.partition.inputs.arrays import names_of
from graphpart.partition.problem import SetPartition, check_matrix_fits
from graphpart.partition.problem.background import background_of
from graphpart.partition.problem.derived import with_rules
from graphpart.partition.problem.forms import with_groups_apart
from graphpart.partition.problem.groups import Groups
from graphpart.partition.problem.limits import Limits, limits_of
from graphpart.partition.problem.rules import Rules

if TYPE_CHECKING:
    from graphpart.files.source import Source
    from graphpart.labeled.labeled_partition import LabeledPartition

GROUPS = ("group_starts", "group", "group_price")
KEYS = (
    "matrix", "n", "u", "v", "cost", "offset", "sense", "nodes", "must_join", "beta", "x", "y",
    *GROUPS, "group_names", "limits", "lifted",
)  # fmt: skip


def sniff(head: bytes) -> bool:
    """Whether the file starts with the signature of a zip archive."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def read(source: Source) -> SetPartition | LabeledPartition:
    """Read a problem."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.read())) as archive:
            if "label_costs.npy" in archive.namelist():
                return read_archive(source, archive)
            return _problem(source, _arrays(source, archive))
    except (FormatError, InvalidProblem):
        raise
    except DAMAGED as error:
        raise source.error(None, f"the archive is damaged ({error}): expected a zip file of NumPy arrays") from None


def _arrays(source: Source, archive: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    for name in names:
        if name not in KEYS:
            raise source.error(None, f"found the array {name[:40]!a}: expected some of {', '.join(KEYS)}")
        if names.count(name) > 1:
            raise source.error(None, f"found the array {name} twice: expected it once")
    if not ("matrix" in names or {"n", "u", "v", "cost"} <= set(names)):
        raise source.error(None, f"found the arrays {', '.join(names) or 'none'}: expected matrix, or n, u, v, cost")
    if {"beta", "x", "y"} & set(names) and not ({"beta", "x", "y"} <= set(names) and "matrix" not in names):
        raise source.error(None, f"found the arrays {', '.join(names)}: expected beta, x, y together, and no matrix")
    given = set(GROUPS) & set(names)
    if given and (len(given) < len(GROUPS) or "matrix" in names):
        raise source.error(
            None, f"found the arrays {', '.join(names)}: expected {', '.join(GROUPS)} together, and no matrix"
        )
    headers = {}
    for name, entry in zip(names, archive.infolist(), strict=True):
        with archive.open(entry) as stream:
            shape, dtype, _ = read_header(stream, source.name, name)
        _check(source, name, shape, dtype)
        headers[name] = shape
    if "matrix" in headers:
        check_matrix_fits(headers["matrix"][0])
    elif not headers["u"] == headers["v"] == headers["cost"]:
        sizes = ", ".join(f"{len_}" for len_ in (headers["u"][0], headers["v"][0], headers["cost"][0]))
        raise source.error(None, f"u, v, cost have {sizes} entries: expected equal numbers")
    if "lifted" in headers and headers["lifted"] != headers.get("u"):
        found = f"{headers['u'][0]} pairs" if "u" in headers else "a matrix"
        raise source.error(
            None, f"lifted has {headers['lifted'][0]} entries beside {found}: expected one for each pair u, v, cost"
        )
    arrays = {}
    for name, entry in zip(names, archive.infolist(), strict=True):
        with archive.open(entry) as stream:
            shape, dtype, fortran = read_header(stream, source.name, name)
            arrays[name] = read_data(stream, source.name, name, shape, dtype, fortran)
            if stream.read(1):
                raise source.error(None, f"found bytes after the array {name}: expected its end")
    return arrays


def _check(source: Source, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    kinds = {
        "matrix": "fiub",
        "cost": "fiub",
        "beta": "fiub",
        "x": "fiub",
        "y": "fiub",
        "offset": "fiu",
        "nodes": "iuU",
        "group_price": "fiub",
        "group_names": "iuU",
        "lifted": "b",
    }.get(name, "iu")
    if dtype.kind not in kinds:
        expected = {
            "fiub": "real numbers", "fiu": "a real number", "iuU": "integers or text", "iu": "integers",
            "b": "true or false",
        }[kinds]  # fmt: skip
        raise source.error(None, f"{name} has dtype {dtype}: expected {expected}")
    one = ("u", "v", "cost", "nodes", "beta", *GROUPS, "group_names", "limits", "lifted")
    dimensions = dict.fromkeys(one, 1) | {"matrix": 2, "must_join": 2, "x": 2, "y": 2}
    fits = len(shape) == dimensions.get(name, 0)
    if fits and name == "matrix":
        fits = shape[0] == shape[1]
    if fits and name == "must_join":
        fits = shape[1] == 2
    if not fits:
        expected = {"matrix": "(n, n)", "must_join": "(k, 2)", "x": "(k, n)", "y": "(k, n)"}.get(
            name, ("()", "(k,)")[min(1, dimensions.get(name, 0))]
        )
        raise source.error(None, f"{name} has shape {shape}: expected {expected}")


def _problem(source: Source, arrays: dict[str, NDArray[Any]]) -> SetPartition:
    n = int(arrays["n"]) if "n" in arrays else len(arrays["matrix"])
    if "matrix" in arrays and n != len(arrays["matrix"]):
        raise source.error(None, f"n is {n} but the matrix has {len(arrays['matrix'])} rows: expected equal numbers")
    if not 0 <= n <= LARGEST_INDEX:
        raise source.error(None, f"n is {n}: expected 0 to {LARGEST_INDEX} elements")
    nodes = arrays["nodes"].tolist() if "nodes" in arrays else None
    if nodes is not None and len(nodes) != n:
        raise source.error(None, f"{len(nodes)} nodes for {n} elements: expected one name for each")
    joins = arrays.get("must_join", np.zeros((0, 2), np.int64))
    if joins.size and not (joins.min() >= 0 and joins.max() < n):
        raise source.error(None, f"must_join names elements {joins.min()} to {joins.max()}: expected 0 to {n - 1}")
    limits = _limits(source, arrays) if "limits" in arrays else None
    rules = Rules(np.sort(joins, axis=1).astype(np.int32), limits=limits, lifted=arrays.get("lifted"))
    offset, sense = float(arrays.get("offset", 0.0)), int(arrays.get("sense", 1))
    if "matrix" in arrays:
        matrix = np.ascontiguousarray(arrays["matrix"], np.float64)
        q = SetPartition.from_matrix(matrix, nodes, copy=False, offset=offset, sense=sense)
        return with_rules(q, rules)
    terms = None
    if "beta" in arrays:
        beta, x, y = (arrays[key].astype(np.float64, copy=False) for key in ("beta", "x", "y"))
        if not x.shape == y.shape == (len(beta), n):
            raise source.error(None, f"x and y have shapes {x.shape} and {y.shape}: expected ({len(beta)}, {n})")
        rows = zip(beta.tolist(), x, y, strict=True)
        terms = [(b, p) if (p == q).all() else (b, p, q) for b, p, q in rows]
    names = names_of(nodes, n)
    background = background_of(names, 0.0, terms, _groups(source, arrays, n) if "group" in arrays else None)
    dense = False if "beta" in arrays or "group" in arrays else None
    cost = arrays["cost"].astype(np.float64, copy=False)
    u, v = arrays["u"], arrays["v"]
    return SetPartition._of_pairs(names, u, v, cost, background, rules, dense=dense)._in_units(offset, sense)


def _groups(source: Source, arrays: dict[str, NDArray[Any]], n: int) -> Groups:
    starts, group = (arrays[name].astype(np.int64) for name in GROUPS[:2])
    price = arrays["group_price"].astype(np.float64)
    if len(starts) != n + 1 or starts[0] != 0 or starts[-1] != len(group) or (np.diff(starts) < 0).any():
        raise source.error(
            None, f"group_starts does not fit: expected {n + 1} ascending numbers from 0 to {len(group)}"
        )
    if len(group) and not 0 <= group.min() <= group.max() < len(price):
        raise source.error(None, f"group has numbers {group.min()} to {group.max()}: expected 0 to {len(price) - 1}")
    if not (price > 0).all():
        raise source.error(None, "group_price has a number that is not positive: expected prices above 0, or inf")
    names = arrays["group_names"].tolist() if "group_names" in arrays else None
    if names is not None and len(names) != len(price):
        raise source.error(None, f"{len(names)} group_names for {len(price)} groups: expected one for each")
    element = np.repeat(np.arange(n), np.diff(starts))
    if len(np.unique(element * max(1, len(price)) + group)) < len(group):
        raise source.error(None, "group has a group twice for an element: expected it once")
    return Groups(n, element, group, np.ones(len(group), np.int64), price, names)


def _limits(source: Source, arrays: dict[str, NDArray[Any]]) -> Limits | None:
    given = arrays["limits"].tolist()
    if len(given) != 3 or min(given) < 0:
        raise source.error(None, f"limits is {given}: expected the largest size, the least and the most clusters, or 0")
    size, least, most = (one or None for one in given)
    return limits_of(size, (least, most))


def write(problem: SetPartition | LabeledPartition, stream: BinaryIO) -> None:
    """Write a problem."""
    arrays: dict[str, Any] = {} if isinstance(problem.nodes, range) else {"nodes": _named(problem.nodes)}
    arrays |= _arrays_of(with_groups_apart(problem)) if isinstance(problem, SetPartition) else arrays_of(problem)
    with zipfile.ZipFile(_Appended(stream), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), version=(1, 0), allow_pickle=False)


def _arrays_of(problem: SetPartition) -> dict[str, Any]:
    """The arrays of a problem, without names."""
    arrays: dict[str, Any] = {}
    if problem.matrix is not None:
        arrays["matrix"] = problem.matrix
    else:
        arrays |= {"n": np.int64(problem.n), "u": problem.u, "v": problem.v, "cost": problem.cost}
    if problem.lifted is not None:
        arrays["lifted"] = problem.lifted
    if problem._limits is not None:
        limits = problem._limits
        arrays["limits"] = np.array([limits.max_size or 0, limits.least, limits.most or 0], np.int64)
    if (groups := problem.groups) is not None:
        arrays |= {"group_starts": groups.starts, "group": groups.group, "group_price": groups.price}
        if groups.names is not None and {type(name) for name in groups.names} in ({int}, {str}):
            arrays["group_names"] = _named(groups.names)
    if problem.background is not None and len(problem.background.beta):
        arrays["beta"] = problem.background.beta
        arrays["x"], arrays["y"] = (np.stack([pair[k] for pair in problem.background.vectors]) for k in (0, 1))
    if problem.offset or problem.sense != 1:
        arrays |= {"offset": np.float64(problem.offset), "sense": np.int64(problem.sense)}
    if len(problem.must_join):
        arrays["must_join"] = problem.must_join
    return arrays


class _Appended(io.RawIOBase):
    """A stream that zipfile treats as not seekable, since standard output and gzip are not."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        return memoryview(data).nbytes


def _named(nodes: Sequence[Hashable]) -> NDArray[Any]:
    kinds = {type(node) for node in nodes}
    if kinds <= {int}:
        try:
            return np.array(list(nodes), np.int64)
        except OverflowError:
            pass
    # NumPy drops NUL at the end of a text.
    elif kinds <= {str} and not any(str(node).endswith("\0") for node in nodes):
        return np.array(list(nodes), np.str_)
    raise InvalidProblem("format npz holds nodes that are all integers of 64 bits or all text: expected format json")
