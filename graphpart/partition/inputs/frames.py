"""Data frames of pairs as arrays: two columns of identifiers become indices, one column becomes numbers.

pandas, polars and Arrow factorise their own columns in compiled code, each by its own means, so their frames are
recognised by the name of the module that their class comes from; none of these packages is imported unless the user
passed an object of it. Frames of any other library come in through the Arrow protocol (``__arrow_c_stream__``) by
pyarrow. Mappings from names to arrays and structured arrays of NumPy need nothing.

No step is a Python loop over rows. Integers are ranked by counting or sorting; other identifiers are numbered by a hash
table. Only the list of distinct identifiers consists of Python objects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import count
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import InvalidProblem, MissingDependency, no_column, warn
from graphpart.kernels import _pairs
from graphpart.machine import side_by_side
from graphpart.partition.inputs.arrays import names_of

__all__ = [
    "Codes", "Table", "elements_of", "is_frame", "numbered", "numbers_of", "pairs_of_table", "ranked", "rows_of_two",
    "table_of",
]  # fmt: skip

DIGITS = re.compile(r"^0+(?=\d)|\.0+$")  # what a text of a number may have beside another one
MANY = 0.05  # share of identifiers that are others but for such digits, from which on they are probably the same
Indices = NDArray[np.int64]
Codes = tuple[Indices, Indices, Sequence[Hashable]]  # of both columns, -1 where null, and the names that they stand for


@dataclass(frozen=True)
class Table:
    """A data frame of any library: the names of its columns, and the two operations on columns that are needed."""

    columns: list[Hashable]
    rows: int
    encode: Callable[[Hashable, Hashable], Codes]
    numbers: Callable[[Hashable], Any]  #: NaN where null; None if the column does not hold numbers
    values: Callable[[Hashable], Any]  #: an array of integers, or a list of Python objects, None or NaN where null
    own: bool = False  #: whether arrays of numbers are used nowhere else

    def objects(self, name: Hashable) -> list[Any]:
        """The values of a column as objects of Python."""
        values = self.values(name)
        return list(values.tolist() if isinstance(values, np.ndarray) else values)


def library(thing: Any) -> str:
    """The package that the class of an object comes from."""
    return type(thing).__module__.partition(".")[0]


def is_frame(thing: Any) -> bool:
    """Whether it is a table with named columns."""
    if isinstance(thing, np.ndarray):
        return bool(thing.dtype.names)
    if library(thing) == "polars":  # of a LazyFrame, even a look at its columns may take long
        return type(thing).__name__ in ("DataFrame", "LazyFrame")
    return hasattr(thing, "columns") and (library(thing) == "pandas" or hasattr(thing, "__arrow_c_stream__"))


def table_of(frame: Any) -> Table:
    """A data frame of any library, a mapping from names to arrays, or a structured array, as a Table.

    Raises
    ------
    InvalidProblem
        If it is none of these.
    MissingDependency
        If it is a frame of another library and pyarrow is not installed.
    """
    if isinstance(frame, Table):
        return frame
    kind = library(frame)
    if kind == "pandas" and hasattr(frame, "columns"):
        return _of_pandas(frame)
    if kind == "polars" and is_frame(frame):
        return _of_polars(frame.collect() if hasattr(frame, "collect") else frame)
    if isinstance(frame, np.ndarray) and frame.dtype.names:
        return _of_arrays({name: frame[name] for name in frame.dtype.names})
    if isinstance(frame, Mapping):
        return _of_arrays(frame)
    if kind == "pyarrow" and hasattr(frame, "column_names"):
        return _of_arrow(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            raise MissingDependency("pyarrow", "frames", f"a data frame of {kind}") from None
        return _of_arrow(pyarrow.table(frame))
    raise InvalidProblem(
        f"got {type(frame).__name__}: expected a data frame of pandas, polars or Arrow, or a mapping from names to "
        "arrays"
    )


def pairs_of_table(
    table: Table, left: Hashable, right: Hashable, value: Hashable, nodes: Iterable[Hashable] | None
) -> tuple[Sequence[Hashable], NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """(names, u, v, values): distinct identifiers, and for each row two indices into them and a number.

    Integers are in ascending order, other identifiers in the order of their first appearance in the rows. `nodes` can
    give another order, and elements that are in no row.

    Raises
    ------
    InvalidProblem
        If there is no such column, both identifiers are from one, an identifier or number is missing, an identifier is
        an empty text, or a row pairs an element with itself; the message names the row.
    """
    for name in (left, right, value):
        check_column(table, name)
    if left == right:
        raise InvalidProblem(f"both elements of a pair are from column {left!r}: expected two columns")
    numbers = table.numbers(value)
    if numbers is None:
        numbers = _of_objects(table, value)
    numbers = np.ascontiguousarray(numbers, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        suspicious = np.isnan(np.add.reduce(numbers))  # which a sum of inf and -inf is, too
    if suspicious and np.isnan(numbers).any():
        raise InvalidProblem(f"column {value!r} is null or NaN in row {_first(np.isnan(numbers))}: expected a number")
    u, v, names = table.encode(left, right)
    u, v = np.ascontiguousarray(u), np.ascontiguousarray(v)
    if _pairs.first_bad_pair(len(names), u, v, numbers)[0] >= 0:
        for name, codes in ((left, u), (right, v)):
            if codes.min() < 0:
                raise InvalidProblem(f"column {name!r} is null in row {_first(codes < 0)}: expected an identifier")
        row = _first(u == v)
        raise InvalidProblem(f"row {row} pairs {names[int(u[row])]!r} with itself: expected two different elements")
    kinds = {int} if isinstance(names, range) else set(map(type, names))
    if str in kinds:
        for name, codes in ((left, u), (right, v)):
            if "" in names and (empty := codes == names.index("")).any():
                raise InvalidProblem(f"column {name!r} is empty in row {_first(empty)}: expected an identifier")
        if len(kinds) == 1:
            _check_spelling(cast("Sequence[str]", names), (left, u), (right, v))
        else:
            _check_kinds(names, (left, u), (right, v))
    numbers_only: Any = names  # floats if one column had nulls
    if kinds == {int, float} and all(type(name) is int or name.is_integer() for name in numbers_only):
        names, kinds = list(map(int, numbers_only)), {int}
    if nodes is None:
        if isinstance(names, list) and kinds == {int}:  # of a column of objects, for instance
            nodes = sorted(names)  # type: ignore[type-var]
        if nodes is None or nodes == names:
            return names, u, v, numbers
    order = list(nodes)
    order = list(names_of(order, len(order)))
    place = {name: i for i, name in enumerate(order)}
    if unknown := [name for name in names if name not in place]:
        raise InvalidProblem(f"{unknown[0]!r} is in column {left!r} or {right!r} but not among nodes or elements")
    renamed = np.fromiter(map(place.__getitem__, names), np.int64, len(names))
    return order, renamed[u], renamed[v], numbers


def _of_objects(table: Table, value: Hashable) -> NDArray[np.float64]:
    """The numbers of a column of Python objects, NaN where null; InvalidProblem names the first that is no number."""
    found = table.values(value)
    numbers = np.full(len(found), np.nan)
    for row, x in enumerate(found):
        if x is None:
            continue
        try:
            if isinstance(x, bool) or not isinstance(x, Real | Decimal):
                raise TypeError
            numbers[row] = float(x)
        except (TypeError, ValueError, OverflowError):
            hint = ""
            if isinstance(x, str) and x.strip().endswith("%"):
                hint = f"; frame[{value!r}].str.rstrip('%').astype(float) / 100 makes numbers of percentages"
            elif isinstance(x, str):
                hint = f"; pandas.to_numeric(frame[{value!r}]) makes numbers of texts"
            raise InvalidProblem(
                f"column {value!r} does not hold numbers, row {row} has {x!r}: expected a number in each row{hint}"
            ) from None
    return numbers


def check_column(table: Table, name: Hashable, where: str = "") -> None:
    """Raise InvalidProblem, which lists the columns, unless a table has one of this name."""
    if name not in table.columns:
        raise InvalidProblem(no_column(name, table.columns, where))


def rows_of_two(pairs: Iterable[Any], what: str) -> Iterable[Any]:
    """The rows of a frame of two columns as pairs; anything else as it is.

    Raises
    ------
    InvalidProblem
        If a frame has another number of columns.
    """
    if not is_frame(pairs):
        return pairs
    table = table_of(pairs)
    if len(table.columns) != 2:
        raise InvalidProblem(
            f"{what} is a table of {plural(len(table.columns), 'column')}: expected two, the elements of pairs"
        )
    return zip(*(table.objects(name) for name in table.columns), strict=True)


def elements_of(frame: Any, name: Hashable | None) -> tuple[list[Hashable], Callable[[str], Any]]:
    """The identifiers of elements in a column of a table, and what returns the values of another column.

    Raises
    ------
    InvalidProblem
        If there is no such column, or an identifier is null or occurs twice.
    """
    if frame is None:
        raise InvalidProblem(f"id is {name!r} without elements: expected the table of elements that has this column")
    table = table_of(frame)
    if name is None:
        raise InvalidProblem(f"elements without id: expected the column of identifiers, one of {table.columns[:20]!r}")
    check_column(table, name, " in elements")
    names: list[Hashable] = table.objects(name)
    for row, one in enumerate(names):
        if one is None or one != one or one == "":
            found = "empty" if one == "" else "null"
            raise InvalidProblem(f"column {name!r} of elements is {found} in row {row}: expected an identifier")
    if len(set(names)) != len(names):
        seen: dict[Hashable, int] = {}
        for row, one in enumerate(names):
            if (before := seen.setdefault(one, row)) != row:
                raise InvalidProblem(
                    f"{one!r} is in rows {before} and {row} of elements: expected different identifiers in {name!r}"
                )

    def values_of(column: str) -> Any:
        check_column(table, column, " in elements")
        return table.values(column)

    return names, values_of


def _check_kinds(names: Sequence[Hashable], left: tuple[Hashable, Indices], right: tuple[Hashable, Indices]) -> None:
    """Warn if a number and the text of this number are two identifiers, or texts write numbers in two ways."""
    texts = [name for name in names if isinstance(name, str)]
    numbers = [name for name in names if isinstance(name, int | float | np.number)]
    known, written = set(texts), {str(name) if type(name) is int else f"{name:.17g}": name for name in numbers}
    if (text := next((text for text in written if text in known), None)) is not None:
        warn(
            f"columns {left[0]!r} and {right[0]!r} have both the number {written[text]!r} and the text {text!r}, which "
            "are two elements: if they mean one, make both columns text, such as frame.astype({...: str})"
        )
        return
    _check_digits(names, texts, written, left, right)


def _check_digits(
    names: Sequence[Hashable],
    texts: Sequence[str],
    written: Mapping[str, Hashable],
    left: tuple[Hashable, Indices],
    right: tuple[Hashable, Indices],
) -> None:
    """Warn if many texts are another one, or a number, but for zeros in front or ".0" at the end, as "007" beside 7.

    Texts with spaces beside a number count, too. `written` has numbers by their texts.
    """

    def plain(some: Sequence[str]) -> list[tuple[str, str]]:
        both = ((DIGITS.sub("", bare := text.strip()), bare, text) for text in some)
        return [(one, text) for one, bare, text in both if one != bare or (bare != text and one in written)]

    few = {one for one, _ in plain(texts[:: max(1, len(texts) // 2000)])}  # mostly decided by these
    if few.isdisjoint(texts) and few.isdisjoint(written):
        return
    known: dict[str, Hashable] = {**dict(zip(texts, texts, strict=True)), **written}
    found = [(known[one], text) for one, text in plain(texts) if one in known]
    if len(found) < max(2, MANY * len(known)):
        return
    some, first = " and ".join(f"{one!r} beside {text!r}" for one, text in found[:2]), found[0][1]
    column = left[0] if (left[1] == names.index(first)).any() else right[0]
    zeros = ".str.lstrip('0')" if first[:1] == "0" else ".str.removesuffix('.0')"
    warn(
        f"columns {left[0]!r} and {right[0]!r} have {some}: {len(found)} of {len(known)} identifiers differ from "
        f"others in how a number is written, and are elements of their own; write them alike if they are the same, "
        f"such as by frame[{column!r}].astype(str){zeros if first == first.strip() else '.str.strip()'}"
    )


def _check_spelling(names: Sequence[str], left: tuple[Hashable, Indices], right: tuple[Hashable, Indices]) -> None:
    """Warn if two texts differ in spaces at their ends or in capitals only, or write numbers in two ways."""
    whole = "\n".join(["", *names, ""])
    if "\n0" in whole or ".0\n" in whole:
        _check_digits(names, names, {}, left, right)
    if " " not in whole and whole == whole.casefold():  # mostly decided without a look at each name
        return
    alike = list(map(str.strip, map(str.casefold, names)))
    if len(set(alike)) == len(names):
        return
    seen: dict[str, str] = {}
    one, other = next((seen[a], b) for a, b in zip(alike, names, strict=True) if seen.setdefault(a, b) != b)
    spaces, capitals = one != one.strip() or other != other.strip(), one.strip() != other.strip()
    how = " and ".join(["capitals"] * capitals + ["spaces"] * spaces)
    made = "".join([".str.casefold()"] * capitals + [".str.strip()"] * spaces)
    warn(
        f"columns {left[0]!r} and {right[0]!r} have {one!r} and {other!r}, which differ in {how} only and are two "
        f"elements: if they mean one, make them equal, such as by "
        f"frame[{[left[0], right[0]]!r}].apply(lambda column: column{made})"
    )


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.argmax(mask))


# -------------------------------------------------------------------------------------------------------- numbering


def ranked(
    u: NDArray[Any], v: NDArray[Any], factorize: Callable[[Any], tuple[Any, Any]] | None = None
) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """The distinct integers in two arrays in ascending order, and the arrays as positions among them.

    If they are too far apart for counting, ``factorize(array)`` returns codes and the integers that they stand for;
    without it, they are sorted.
    """
    if not len(u):
        return range(0), u, v
    both = partial(side_by_side, worth=len(u) >= 2**18)
    least, most = zip(*both(*(lambda x=column: (int(x.min()), int(x.max())) for column in (u, v))), strict=True)
    low, high = min(least), max(most)
    if high - low < 4 * len(u) + 1000:
        columns = [np.ascontiguousarray(x, x.dtype if x.dtype == np.int32 else np.int64) for x in (u, v)]
        seen = np.zeros(high - low + 1, np.uint8)
        both(*(partial(_pairs.mark, column, low, seen) for column in columns))
        if low == 0 and seen.all():
            u, v = both(*(partial(column.astype, np.int32) for column in columns))
            return range(high + 1), u, v
        distinct = np.flatnonzero(seen) + low
        rank = np.cumsum(seen, dtype=np.int32) - np.int32(1)
        u, v = both(*(partial(_pairs.entries_at, column, low, rank) for column in columns))
    else:
        whole = np.concatenate([u, v])
        if factorize is None:
            distinct, place = np.unique(whole, return_inverse=True)
        else:
            codes, distinct = factorize(whole)
            order = np.argsort(distinct)
            distinct, rank = distinct[order], np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            place = rank[codes]
        u, v = place[: len(u)], place[len(u) :]
    return range(high + 1) if low == 0 and high == len(distinct) - 1 else distinct.tolist(), u, v


def _integers(a: NDArray[Any], b: NDArray[Any], factorize: Any = None) -> Codes | None:
    """Codes of two arrays of integers that fit into 64 bits with a sign; else None."""
    if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        return None
    for array in (a, b):
        if array.dtype == np.uint64 and array.max(initial=0) >= 2**63:
            return None
    if a.dtype != np.int32 or b.dtype != np.int32:
        a, b = a.astype(np.int64, copy=False), b.astype(np.int64, copy=False)
    names, u, v = ranked(a, b, factorize)
    return u, v, names


def numbered(rows: NDArray[Any], take: Callable[[Indices], Sequence[Hashable]]) -> Codes:
    """Codes, both of the first row, both of the second and so on, renumbered by first appearance.

    ``take(positions)`` returns the identifiers at positions of that array.
    """
    renamed, count = _pairs.canonical_labels(rows)
    if renamed is None:  # codes are not small: rank them
        codes = np.empty_like(rows, np.int64)
        _, codes[0::2], codes[1::2] = ranked(rows[0::2].astype(np.int64), rows[1::2].astype(np.int64))
        renamed, count = _pairs.canonical_labels(codes)
    first = np.searchsorted(np.maximum.accumulate(renamed), np.arange(count, dtype=np.int32))
    return renamed[0::2], renamed[1::2], take(first)


def _numbered(codes: NDArray[Any], take: Callable[[Indices], Sequence[Hashable]]) -> Codes:
    """The same for codes with one column after the other, and -1 where an identifier is null."""
    m = len(codes) // 2
    if codes.min(initial=0) < 0:
        return codes[:m].astype(np.int64), codes[m:].astype(np.int64), []  # that is an error, which needs no names
    rows = np.empty_like(codes)
    rows[0::2], rows[1::2] = codes[:m], codes[m:]
    return numbered(rows, lambda at: take(at // 2 + at % 2 * m))


def _hashed(a: Sequence[Any], b: Sequence[Any], left: Hashable, right: Hashable) -> Codes:
    """Codes of two lists of any hashable objects; None and NaN are null."""
    index: dict[Any, int] = defaultdict(count().__next__)  # the next number for a new identifier
    codes = np.empty(2 * len(a), np.int64)
    for name, values, part in ((left, a, codes[: len(a)]), (right, b, codes[len(a) :])):
        try:
            part[:] = np.fromiter(map(index.__getitem__, values), np.int64, len(values))
        except TypeError:
            raise InvalidProblem(f"column {name!r} has an identifier that cannot be hashed: expected names") from None
    names = list(index)
    null = np.array([name is None or bool(name != name) for name in names], bool)
    if null.any():
        codes = np.where(null[codes], -1, codes)
    return _numbered(codes, lambda at: [names[k] for k in codes[at].tolist()])


# -------------------------------------------------------------------------------------------------------- libraries


def _of_arrays(columns: Mapping[Hashable, Any]) -> Table:
    arrays = {name: values if isinstance(values, np.ndarray) else _array(values) for name, values in columns.items()}
    rows = {len(values) for values in arrays.values()}
    if len(rows) > 1 or any(values.ndim != 1 for values in arrays.values()):
        shapes = ", ".join(f"{name!r} {values.shape}" for name, values in arrays.items())
        raise InvalidProblem(f"columns of shapes {shapes}: expected one value for each row in each")

    def encode(left: Hashable, right: Hashable) -> Codes:
        a, b = arrays[left], arrays[right]
        return _integers(a, b) or _hashed(a.tolist(), b.tolist(), left, right)

    def numbers(name: Hashable) -> Any:
        return arrays[name] if arrays[name].dtype.kind in "fiub" else None

    def values(name: Hashable) -> Any:
        array = arrays[name]
        return array if array.dtype.kind in "iu" else array.tolist()

    return Table(list(arrays), rows.pop() if rows else 0, encode, numbers, values)


def _array(values: Any) -> NDArray[Any]:
    """A sequence as an array that keeps texts and numbers apart."""
    values = list(values)
    array = np.asarray(values) if all(isinstance(x, int | float | np.number) for x in values) else None
    if array is None or array.dtype.kind not in "fiub":
        array = np.empty(len(values), object)
        array[:] = values
    return array


def _of_pandas(frame: Any) -> Table:
    import pandas

    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InvalidProblem(f"column {twice!r} occurs twice: expected different names")

    def encode(left: Hashable, right: Hashable) -> Codes:
        a, b = frame[left], frame[right]
        if all(pandas.api.types.is_integer_dtype(x.dtype) and not x.hasnans for x in (a, b)):
            u, v = (x.to_numpy(np.uint64 if str(x.dtype).lower() == "uint64" else np.int64) for x in (a, b))
            if found := _integers(u, v, pandas.factorize):
                return found
        if a.dtype != b.dtype and all(isinstance(x.dtype, np.dtype) for x in (a, b)):
            a, b = a.astype(object), b.astype(object)  # else 64-bit integers would be rounded to floats, for instance
        both = pandas.concat([a, b], ignore_index=True)
        try:
            codes, names = pandas.factorize(both)
        except TypeError:
            return _hashed(a.tolist(), b.tolist(), left, right)
        del names
        return _numbered(codes, lambda at: both.iloc[at].tolist())

    def numbers(name: Hashable) -> Any:
        column = frame[name]
        if not pandas.api.types.is_numeric_dtype(column.dtype) or pandas.api.types.is_complex_dtype(column.dtype):
            return None
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def values(name: Hashable) -> Any:
        column = frame[name]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
            return column.to_numpy()
        return column.astype(object).where(column.notna(), None).tolist()

    return Table(list(frame.columns), len(frame), encode, numbers, values)


def _of_polars(frame: Any) -> Table:
    import polars

    text = (polars.Categorical, polars.Enum, polars.String)

    def encode(left: Hashable, right: Hashable) -> Codes:
        a, b = frame[left], frame[right]
        if a.dtype != b.dtype:
            if all(isinstance(x.dtype, text) for x in (a, b)):
                a, b = a.cast(polars.String), b.cast(polars.String)
            elif not all(x.dtype.is_integer() and x.dtype != polars.UInt64 for x in (a, b)):
                return _hashed(a.to_list(), b.to_list(), left, right)
            else:
                a, b = a.cast(polars.Int64), b.cast(polars.Int64)
        both = polars.concat([a, b])
        if both.null_count():
            return _numbered(-both.is_null().to_numpy().astype(np.int64), lambda _: [])
        if both.dtype.is_integer() and (found := _integers(a.to_numpy(), b.to_numpy())):
            return found
        if isinstance(both.dtype, polars.String):
            codes = both.cast(polars.Categorical).to_physical()
        elif isinstance(both.dtype, text) or both.dtype.is_temporal():
            codes = both.to_physical()
        else:
            return _hashed(a.to_list(), b.to_list(), left, right)
        array = codes.to_numpy().astype(np.int64)
        return _numbered(array - array.min(initial=0), lambda at: both.gather(at).to_list())

    def numbers(name: Hashable) -> Any:
        column = frame[name]
        if not frame.height:  # of which polars does not know the kind
            return np.zeros(0)
        if not (column.dtype.is_numeric() or column.dtype == polars.Boolean):
            return None
        return column.cast(polars.Float64).to_numpy()

    def values(name: Hashable) -> Any:
        column = frame[name]
        if column.dtype.is_integer() and not column.null_count():
            return column.to_numpy()
        return column.to_list()

    return Table(list(frame.columns), frame.height, encode, numbers, values)


def numbers_of(column: Any) -> NDArray[Any]:
    """The numbers of a column of Arrow, NaN where null. Its own ``to_numpy`` imports pandas, which takes long."""
    if column.null_count:
        return np.asarray(column.to_numpy())
    kind = {"double": "float64"}.get(str(column.type), str(column.type))
    parts = [np.zeros(0, kind)]
    for chunk in column.chunks:
        if len(chunk):
            parts.append(np.frombuffer(chunk.buffers()[1], kind, len(chunk), chunk.offset * np.dtype(kind).itemsize))
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def _of_arrow(table: Any) -> Table:
    import pyarrow
    from pyarrow import types

    is_view = getattr(types, "is_string_view", lambda kind: False)  # since 16

    def chunked(name: Hashable) -> Any:
        column = table.column(name)
        return column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column])  # of a batch

    def plain(column: Any) -> Any:
        """A column without dictionary, and with wide offsets, of which there are no more kinds than necessary."""
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_string(column.type) or is_view(column.type):
            column = column.cast(pyarrow.large_string())
        return column

    def encode(left: Hashable, right: Hashable) -> Codes:
        a, b = chunked(left), chunked(right)
        if a.type != b.type or not types.is_dictionary(a.type) or not types.is_string(a.type.value_type):
            a, b = plain(a), plain(b)
        nulls = a.null_count + b.null_count
        if not nulls and types.is_integer(a.type) and types.is_integer(b.type):
            if found := _integers(numbers_of(a), numbers_of(b)):
                return found
        elif a.type == b.type:
            both = pyarrow.chunked_array([*a.chunks, *b.chunks], a.type)
            if nulls:
                return _numbered(-both.is_null().to_numpy().astype(np.int64), lambda _: [])
            try:
                if types.is_dictionary(both.type):
                    both = both.unify_dictionaries()
                coded = both.combine_chunks().dictionary_encode()
            except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowInvalid):  # or too many texts for short codes
                pass
            else:
                codes, texts = numbers_of(pyarrow.chunked_array([coded.indices])), coded.dictionary.to_pylist()
                if codes.dtype not in (np.int32, np.int64):  # as of categories of pandas
                    codes = codes.astype(np.int64)
                return _numbered(codes, lambda at: [texts[k] for k in codes[at].tolist()])
        return _hashed(a.to_pylist(), b.to_pylist(), left, right)

    def numbers(name: Hashable) -> Any:
        column = chunked(name)
        if not any(
            test(column.type) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        ):
            return None
        if not types.is_float64(column.type):  # a cast imports pyarrow.compute, which takes time and memory
            column = column.cast(pyarrow.float64(), safe=False)  # whole numbers above 2**53 are rounded
        return numbers_of(column)

    def values(name: Hashable) -> Any:
        column = chunked(name)
        if types.is_integer(column.type) and not column.null_count:
            return numbers_of(column)
        return column.to_pylist()

    return Table(list(table.column_names), table.num_rows, encode, numbers, values)
