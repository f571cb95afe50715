"""What the columns of records hold, and from it how pairs are found and compared: for `match`.

A column is a date, a code (mostly digits), a category (few different values), a name (short texts) or a text. Pairs are
candidates if they agree in a rule: in one column, or in two columns or their first letters. A rule is used if it gives
at most `PER_RECORD` pairs for each record; of rules that include each other, the wider one is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

__all__ = ["Column", "blocking_rules", "comparison", "kind_of", "training_rules"]

PER_RECORD = 15  # candidates that a rule may give for each record
LETTERS = 4  # of a column, that a rule may be about
CATEGORIES = 30  # different values of a category, at most
SAMPLE = 5000  # values whose form is looked at
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


@dataclass(frozen=True)
class Column:
    """A column and its kind: "date", "code", "category", "name" or "text"."""

    name: str
    kind: str


def kind_of(values: Any) -> str:
    """What a column of texts, None where missing, holds."""
    texts = [text for text in values if text is not None]
    some = texts[:: max(1, len(texts) // SAMPLE)] or [""]
    if np.mean([DATE.fullmatch(text.strip()) is not None for text in some]) > 0.8:
        return "date"
    if len(set(texts)) <= CATEGORIES < len(texts) / 10:
        return "category"
    digits = sum(c.isdigit() for text in some for c in text)
    if digits > 0.6 * sum(map(len, some)):
        return "code"
    return "name" if np.mean([len(text.split()) for text in some]) <= 4 else "text"


def comparison(column: Column) -> Any:
    """How splink compares a column of this kind."""
    import splink.comparison_library as library

    if column.kind == "category":
        return library.ExactMatch(column.name).configure(term_frequency_adjustments=True)
    if column.kind in ("date", "code"):
        return library.DamerauLevenshteinAtThresholds(column.name, [1, 2])
    if column.kind == "text":
        return library.JaroWinklerAtThresholds(column.name, [0.92, 0.8, 0.7])
    found = library.JaroWinklerAtThresholds(column.name, [0.94, 0.86, 0.75])
    return found.configure(term_frequency_adjustments=True)


def blocking_rules(frame: Any, columns: list[Column]) -> list[tuple[str, ...]]:
    """Rules, each of them SQL expressions in which both records of a candidate agree."""
    parts = {}
    for column in columns:
        parts[f'"{column.name}"'] = frame[column.name]
        if column.kind != "category":
            parts[f'substr("{column.name}", 1, {LETTERS})'] = frame[column.name].str[:LETTERS]
    most = PER_RECORD * len(frame)
    rules: list[tuple[str, ...]] = []
    # Wider rules first: prefixes come after the column that they are of, so that reversing them suits.
    single = [(name,) for name in reversed(parts)]
    double = [pair for pair in combinations(reversed(parts), 2) if _column(pair[0]) != _column(pair[1])]
    for rule in [*single, *double]:
        if any(all(any(_includes(wide, part) for part in rule) for wide in known) for known in rules):
            continue
        known = frame[[]].assign(**{str(k): parts[name] for k, name in enumerate(rule)}).dropna()
        count = known.groupby(list(known.columns)).size().to_numpy(np.float64)
        if float((count * (count - 1)).sum()) / 2 <= most:
            rules.append(rule)
    return rules or [tuple(f'"{column.name}"' for column in columns)]


def training_rules(columns: list[Column]) -> list[tuple[str, ...]]:
    """Rules whose pairs show how records of one entity differ: equal dates, and equal names.

    Pairs that agree in an address, for instance, are often of different persons of one family.
    """
    dates = [(f'"{column.name}"',) for column in columns if column.kind == "date"]
    names = [f'"{column.name}"' for column in columns if column.kind == "name"]
    return [*dates, tuple(names[:2])] if dates and len(names) > 1 else []


def _column(expression: str) -> str:
    return expression.split('"')[1]


def _includes(wide: str, part: str) -> bool:
    """Whether equality of a part implies that of the wider one."""
    return wide == part or (wide.startswith("substr") and _column(wide) == _column(part))
