"""Data within an HTML file: JSON that is safe in a script element, and packed arrays.

A JSON block in HTML ends at ``</script``, also within a name. So `<`, `>`, `&` and all characters other than ASCII are
written as escapes. Arrays are little-endian, compressed by gzip without a time, in base64; the page unpacks them.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import shortened

__all__ = [
    "LEAST_SURE",
    "NAMED",
    "ROWS",
    "SEARCHED",
    "json_block",
    "packed",
    "packed_costs",
    "packed_names",
    "rounded",
    "short",
]

ROWS = 2000  # most rows of a table, lines of a graph, steps of a curve; the rest is left out
LEAST_SURE = 200  # rows of a table of doubts
NAMED = 5  # members of a cluster, or variables of a factor, that a table names
SEARCHED = 400_000  # elements or variables that can be searched for, at most
ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def json_block(data: Any) -> str:
    """JSON that may stand in a script element of HTML.

    Examples
    --------
    >>> json_block({"name": "</script>", "cost": float("inf")})
    '{"name":"\\\\u003c/script\\\\u003e","cost":"inf"}'
    """
    text = json.dumps(_valid(data), separators=(",", ":"), allow_nan=False)
    return text.translate(ESCAPES)


def _valid(value: Any) -> Any:
    """The same data with texts for numbers that JSON does not have, and with numbers of Python instead of NumPy."""
    if isinstance(value, dict):
        return {key: _valid(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_valid(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def packed(array: NDArray[Any], dtype: str) -> dict[str, str]:
    """An array as the page unpacks it; `dtype` is float32, float64, int32 or uint8."""
    raw = np.ascontiguousarray(array, np.dtype(dtype).newbyteorder("<")).tobytes()
    return {"dtype": dtype, "gzip": base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode()}


def packed_costs(array: NDArray[np.float64]) -> dict[str, str]:
    """Costs in single precision, of which six digits are shown; in double precision where they do not fit."""
    size = np.abs(array[np.isfinite(array) & (array != 0)])
    fits = not len(size) or (size.min() > 1e-30 and size.max() < 1e30)
    return packed(array, "float32" if fits else "float64")


def rounded(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Costs to twelve binary digits, between three and four decimal ones: they take half of the room when packed."""
    mantissa, exponent = np.frexp(costs)
    return np.asarray(np.ldexp(np.round(mantissa * 4096), exponent - 12), np.float64)


def packed_names(nodes: Sequence[Any]) -> dict[str, str] | None:
    """The names of elements as lines of text, long ones shortened; None if all are called 0, 1, ..."""
    if isinstance(nodes, range) and nodes == range(len(nodes)):
        return None
    text = "\n".join(map(short, nodes)).encode()
    return {"dtype": "text", "gzip": base64.b64encode(gzip.compress(text, 6, mtime=0)).decode()}


def short(name: Any, longest: int = 100) -> str:
    """A name in one line of at most `longest` letters, without halves of letters, which no browser shows."""
    text = " ".join(str(name).split())
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return shortened(text, longest)
