"""The contents of the columns of records, and rules and comparisons that follow from them, for `match`.

A column is a date, a number (with a decimal point), a code (mostly digits), a category (few different values), a name
(short texts) or a text. Pairs are candidates if they agree in a rule: in one column, in two columns or their first
letters, or in a rare word of a text. A rule is used if it gives at most `PER_RECORD` pairs for each record, or `PAIRS`;
of rules that include each other, the wider one is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from graphpart.records.words import KEY, RARE, words_comparison

__all__ = ["SESSIONS", "Column", "blocking_rules", "comparison", "halving", "kind_of", "most_pairs", "training_rules"]

PER_RECORD = 10  # candidates that a rule may give for each record
PAIRS = 150_000  # candidates that a rule may give however few the records are
SESSIONS = 4  # of expectation maximisation, at most
DIFFER = (0.001, 0.05, 0.2, 0.5)  # shares by which numbers differ
NUMBER = re.compile(r"[-+]?\d+[.,]\d+")
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


@dataclass(frozen=True)
class Column:
    """A column and its kind: "date", "number", "code", "category", "name" or "text"."""

    name: str
    kind: str


def kind_of(values: Any) -> str:
    """The kind of a column of texts; missing ones are None."""
    texts = [text for text in values if text is not None]
    some = texts[:: max(1, len(texts) // 5000)] or [""]
    if np.mean([DATE.fullmatch(text.strip()) is not None for text in some]) > 0.8:
        return "date"
    if np.mean([NUMBER.fullmatch(text.strip()) is not None for text in some]) > 0.5:
        return "number"
    if len(set(texts)) <= 30 < len(texts) / 10:
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
        return words_comparison(column.name)
    if column.kind == "number":
        return _number_comparison(column.name)
    found = library.JaroWinklerAtThresholds(column.name, [0.94, 0.86, 0.72])
    return found.configure(term_frequency_adjustments=True)


def halving(column: Column) -> list[float]:
    """Probabilities of the levels of `comparison` among pairs of one entity, each half of the one before."""
    levels = comparison(column).create_comparison_levels()
    share = 0.5 ** np.arange(sum(not level.is_null_level for level in levels))
    return (share / share.sum()).tolist()  # type: ignore[no-any-return]


def _number_comparison(name: str) -> Any:
    """Numbers by the share of the larger one that they differ by."""
    import splink.comparison_level_library as levels
    import splink.comparison_library as library

    one, other = (f"try_cast(replace(\"{name}_{side}\", ',', '.') AS DOUBLE)" for side in "lr")
    none = levels.CustomLevel(f"{one} IS NULL OR {other} IS NULL", label_for_charts="missing")
    differ = f"abs({one} - {other}) <= {{}} * greatest(abs({one}), abs({other}))"
    return library.CustomComparison(
        output_column_name=name,
        comparison_levels=[
            none.configure(is_null_level=True),
            *(levels.CustomLevel(differ.format(x), label_for_charts=f"within {x:.0%}") for x in DIFFER),
            levels.ElseLevel(),
        ],
    )


def most_pairs(n: int) -> int:
    """The number of candidates that a rule may give."""
    return max(PER_RECORD * n, PAIRS)


def blocking_rules(frame: Any, columns: list[Column]) -> list[tuple[str, ...]]:
    """Rules, each of them SQL expressions in which both records of a candidate agree.

    A rule that ends with `RARE` is about a word of a list.
    """
    words = [(column.name + RARE,) for column in columns if column.kind == "text"]
    words = [rule for rule in words if rule[0] in frame.columns and frame[rule[0]].notna().any()]
    parts = {}
    for column in columns:
        parts[f'"{column.name}"'] = frame[column.name]
        if column.kind not in ("category", "text", "number"):
            parts[f'substr("{column.name}", 1, 4)'] = frame[column.name].str[:4]
    most = most_pairs(len(frame))
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
    return [*words, *rules] or [tuple(f'"{column.name}"' for column in columns)]


def training_rules(columns: list[Column]) -> list[tuple[str, ...]]:
    """Rules whose pairs show how records of one entity differ: equal dates, equal names, or a rare word in common.

    Pairs that agree in an address, for instance, are often of different persons of one family.
    """
    texts: list[tuple[str, ...]] = [(f'"{column.name}{KEY}"',) for column in columns if column.kind == "text"]
    if texts:
        others: list[tuple[str, ...]] = [
            (f'"{column.name}"',) for column in columns if column.kind in ("date", "code", "number", "name")
        ]
        return [*texts, *others][:SESSIONS] if len(columns) > 1 else texts
    dates = [(f'"{column.name}"',) for column in columns if column.kind == "date"]
    names = [f'"{column.name}"' for column in columns if column.kind == "name"]
    return [*dates, tuple(names[:2])] if dates and len(names) > 1 else []


def _column(expression: str) -> str:
    return expression.split('"')[1]


def _includes(wide: str, part: str) -> bool:
    """Whether equality of a part implies that of the wider one."""
    return wide == part or (wide.startswith("substr") and _column(wide) == _column(part))
