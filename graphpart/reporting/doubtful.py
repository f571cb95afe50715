"""The tables of doubtful decisions and elements of a partition."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphpart.display import number, plural
from graphpart.partition.confidence.decisions import in_words
from graphpart.partition.confidence.doubts import Doubts
from graphpart.partition.inputs.frames import Table as PairTable
from graphpart.partition.inputs.given_rows import GivenRows
from graphpart.partition.inputs.origin import Origin
from graphpart.partition.problem import SetPartition
from graphpart.reporting.page import Table, column
from graphpart.reporting.payload import LEAST_SURE, short

__all__ = ["PairRows", "decisions_table", "elements_table", "pixel_name"]

WATERFALL = ("bf_", "mw_", "bits_")  # beginnings of names of columns: Bayes factors; weights in bits


class PairRows:
    """The columns of the frame of pairs that are shown.

    Parameters
    ----------
    table : Table
        With a row for each pair.
    origin : Origin
        Names the columns of the two elements.
    """

    def __init__(self, table: PairTable, origin: Origin) -> None:
        self._table, self._origin = table, origin
        others = [c for c in table.columns if c not in (origin.left, origin.right, origin.column)]
        self.waterfall = [c for c in others if str(c).startswith(WATERFALL)]
        self.columns = [c for c in others if c not in self.waterfall][:6]
        self.fields = origin.fields
        self.find([])

    def find(self, pairs: list[tuple[Hashable, Hashable]]) -> GivenRows:
        """The rows of some pairs."""
        return GivenRows(self._table, self._origin.left, self._origin.right, pairs)

    def bits(self, rows: GivenRows) -> list[list[tuple[str, float]]]:
        """For each pair what each comparison adds to the evidence, in bits."""
        found: list[list[tuple[str, float]]] = [[] for _ in rows.rows]
        for name in self.waterfall:
            text = str(name)
            factor = text.startswith("bf_")
            for k, value in enumerate(rows.values(name).tolist()):
                if isinstance(value, int | float) and np.isfinite(value) and (value > 0 or not factor):
                    found[k].append((text.partition("_")[2], float(np.log2(value) if factor else value)))
        return found


def pixel_name(i: int, shape: Sequence[int]) -> str:
    """The number of a pixel, and where it is, as the page's script has it, too."""
    place = np.unravel_index(int(i), tuple(shape))
    words = ("plane", "row", "column")[-len(place) :]
    return f"{i} ({', '.join(f'{word} {at}' for word, at in zip(words, place, strict=True))})"


def decisions_table(
    p: SetPartition, doubts: Doubts, rows: PairRows | None, shape: Sequence[int] | None = None
) -> Table:
    """The decisions, in words, with the pair that speaks most for each change; `shape` is that of an image."""
    head = doubts.decisions.head(LEAST_SURE)
    index = (lambda name: int(name)) if isinstance(p.nodes, range) else p.index
    left, right = ([index(name) for name in head[side].tolist()] for side in ("left", "right"))
    clusters = list(zip(head["cluster"].tolist(), head["other"].tolist(), strict=True))
    pairs = list(zip(head["left"].tolist(), head["right"].tolist(), strict=True))
    named = in_words(head) if shape is None else in_words(head, partial(pixel_name, shape=shape))
    texts = [short(text, 160) for text in named]
    targets = [[[k for k in both if k >= 0], [i, j]] for both, i, j in zip(clusters, left, right, strict=True)]
    origin = doubts.origin if rows is not None else None  # columns are called as in the frame
    sides = ("left", "right") if origin is None else (str(origin.left), str(origin.right))
    shown = [column(short(name), at, "element") for name, at in zip(sides, (left, right), strict=True)]
    shown.append(column("decision", head["decision"].tolist(), "text"))
    shown.append(change := column("change", texts, "change") | {"targets": targets})
    if "score" in head:
        name = "score" if origin is None else short(str(origin.column))
        shown.append(column(name, [float(f"{x:.6g}") for x in head["score"]]))
    given = None if rows is None else rows.find(pairs)
    if rows is not None and rows.fields is not None:
        shown += [_plain(name, values.tolist()) for name, values in rows.fields.of_pairs(pairs).items()]
    if rows is not None and given is not None:
        shown += [_plain(str(name), given.values(name).tolist()) for name in rows.columns]
    shown.append(column("cost", head["cost"].tolist()))
    if rows is not None and given is not None and rows.waterfall:
        change["bits"] = rows.bits(given)
    shown += [column(name, head[name].tolist(), "text") for name in ("kind", "scope")]
    shown += [column(name, head[name].tolist()) for name in ("cluster", "other", "pairs", "doubt")]
    if "chance" in head:
        shown.append(column("chance", [f"{100 * float(x):.2g}%" for x in head["chance"]], "text"))
    shown += [column("bound", head["bound"].tolist(), "text")]
    chance = (
        " The chance is that of the change, if it is this or that: each bit of cost halves the odds."
        if "chance" in head
        else ""
    )
    gain = (
        f" A change lowers the cost by {number(float(f'{doubts.gain:.6g}'))}: solve again from here, or longer."
        if doubts.gain > 0
        else ""
    )
    caption = (
        f"The {plural(head.rows, 'decision')} that would cost least otherwise, of {number(doubts.decisions.rows)}, "
        "with the pair that speaks most for the change. The doubt is by how much the cost would rise with the change; "
        f"press a change to draw its clusters.{chance} An exact doubt is the least possible; others may turn out lower "
        f"than shown (at most).{gain}"
    )
    return Table("decisions", "Decisions", caption, shown)


def _plain(name: str, values: list[Any]) -> dict[str, Any]:
    """A column of numbers, or of text."""
    numbers = [value for value in values if value is not None]
    if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in numbers):
        return column(name, [np.nan if value is None else float(f"{value:.6g}") for value in values])
    return column(name, ["" if value is None else short(value, 60) for value in values], "text")


def elements_table(p: SetPartition, doubts: Doubts) -> Table:
    """The elements that are least sure."""
    index = (lambda name: int(name)) if isinstance(p.nodes, range) else p.index
    elements = doubts.elements.head(LEAST_SURE)
    moves = ["a cluster of its own" if to == -1 else f"cluster {to}" for to in elements["to"].tolist()]
    moves = ["" if d == np.inf else move for d, move in zip(elements["doubt"], moves, strict=True)]
    return Table(
        "elements",
        "Elements",
        f"What it would cost to move each of them, all others staying: the {len(moves)} least sure of "
        f"{plural(doubts.elements.rows, 'element')}.",
        [
            column("element", [index(name) for name in elements["element"].tolist()], "element"),
            column("cluster", elements["cluster"].tolist(), "cluster"),
            column("to", moves, "text"),
            column("doubt", elements["doubt"].tolist()),
            column("bound", elements["bound"].tolist(), "text"),
        ],
    )
