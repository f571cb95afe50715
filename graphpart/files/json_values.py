"""Values in JSON files: names of nodes, numbers that may be infinite, and how messages show values."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from graphpart.errors import InvalidProblem

if TYPE_CHECKING:
    from graphpart.files.source import Source

INFINITE = {"inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}


def load(source: Source, shape: str) -> dict[str, Any]:
    """The object in a JSON file; `shape` describes the expected value."""
    content = source.read()
    try:
        data = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        raise source.error(line, f"found {content[error.start : error.end]!r}: expected UTF-8 text") from None
    except json.JSONDecodeError as error:
        wrong = error.msg.replace("Expecting", "no")
        raise source.error(error.lineno, f"expected JSON; at column {error.colno}: {wrong}") from None
    except (RecursionError, ValueError) as error:
        raise source.error(None, f"{error}: expected JSON of a plausible depth and size") from None
    if not isinstance(data, dict):
        raise source.error(None, f"found {kind_of(data)}: expected {shape}")
    return data


class _None:
    """A type of which no node can be."""


NONE = _None()


def hashable(value: Any) -> Any:
    if isinstance(value, list):
        items = tuple(hashable(item) for item in value)
        return NONE if NONE in items else items
    return NONE if isinstance(value, dict) or (isinstance(value, float) and math.isnan(value)) else value


def number(source: Source, value: Any, what: str) -> float:
    if isinstance(value, str):
        value = INFINITE.get(value.lower(), value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise source.error(None, f"{what} is {shown(value) if value is not None else 'missing'}: expected a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise source.error(None, f"{what} is {shown(value)}: expected a number of a magnitude below 1.8e308")
    return number


def shown(value: Any) -> str:
    try:
        text = ascii(value)
    except (ValueError, RecursionError):
        text = kind_of(value)
    return text if len(text) <= 40 else text[:40] + "..."


def kind_of(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", type(None): "missing", bool: "true or false"}
    return names.get(type(value), "a number")


def encoded(node: Hashable) -> str:
    if holds(node):
        return json.dumps(node)
    raise InvalidProblem(f"format json cannot hold the node {node!r}: expected text, numbers, or tuples of them")


def encoded_names(nodes: Iterable[Hashable]) -> list[str]:
    """The nodes as JSON; InvalidProblem if two are the same there."""
    names = [encoded(node) for node in nodes]
    if len(set(names)) != len(names):
        raise InvalidProblem("format json writes two nodes the same: expected nodes that differ as JSON")
    return names


def holds(node: Any) -> bool:
    if isinstance(node, tuple):
        return all(holds(item) for item in node)
    return node is None or type(node) in (bool, int, str) or (type(node) is float and math.isfinite(node))
