"""Labels that may not follow each other in a sequence, not begin one, or not end one.

Their score is -inf in training, in inference and in marginals, so that labelings with them have the probability 0. Of
tags in the BIO scheme (Ramshaw & Marcus 1995), ``I-X`` continues a chunk and follows ``B-X`` or ``I-X`` only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem, warn
from graphpart.learn.random_fields.structures import Packed

__all__ = ["Rules", "check_labels", "rules_of"]

Pairs = list[tuple[Hashable, Hashable]]


@dataclass(frozen=True, eq=False)
class Rules:
    """Forbidden labels and pairs, by the indices of labels.

    Attributes
    ----------
    pairs : ndarray of bool, shape (labels, labels)
        Whether a label (row) may not be followed by a label (column).
    first, last : ndarray of bool, shape (labels,)
        Whether a label may not begin or end a sequence.
    """

    pairs: NDArray[np.bool_]
    first: NDArray[np.bool_]
    last: NDArray[np.bool_]

    def named(self, classes: list[Any]) -> Pairs:
        """The forbidden pairs of labels, with None before the first label and after the last one."""
        out: Pairs = [(classes[a], classes[b]) for a, b in np.argwhere(self.pairs).tolist()]
        out += [(None, classes[b]) for b in np.flatnonzero(self.first).tolist()]
        return out + [(classes[a], None) for a in np.flatnonzero(self.last).tolist()]


def rules_of(forbidden: Any, classes: NDArray[Any]) -> Rules | None:
    """The rules that are given by pairs of labels, or by the name of a scheme; None if nothing is forbidden.

    Examples
    --------
    >>> rules_of("BIO", np.array(["B-X", "I-X", "O"])).named(["B-X", "I-X", "O"])
    [('O', 'I-X'), (None, 'I-X')]
    """
    if forbidden is None:
        return None
    labels = classes.tolist()
    if isinstance(forbidden, str):
        if forbidden != "BIO":
            raise InvalidOption(f"forbidden is {forbidden!r}: expected 'BIO', or a list of pairs (label, next label)")
        forbidden = bio(labels)
    index = {label: k for k, label in enumerate(labels)}
    L = len(labels)
    rules = Rules(np.zeros((L, L), bool), np.zeros(L, bool), np.zeros(L, bool))
    for k, pair in enumerate(forbidden if isinstance(forbidden, Iterable) else [forbidden]):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidOption(f"forbidden: entry {k} is {pair!r}: expected a pair (label, next label)")
        a, b = pair
        unknown = [label for label in pair if label is not None and label not in index]
        if unknown:
            warn(f"forbidden: entry {k} names the label {unknown[0]!r}, which does not occur in y, and is ignored")
        elif a is None and b is None:
            raise InvalidOption(f"forbidden: entry {k} is {tuple(pair)}: expected at least one label")
        elif a is None:
            rules.first[index[b]] = True
        elif b is None:
            rules.last[index[a]] = True
        else:
            rules.pairs[index[a], index[b]] = True
    return rules if rules.pairs.any() or rules.first.any() or rules.last.any() else None


def bio(labels: list[Any]) -> Pairs:
    """The pairs that the BIO scheme forbids: ``I-X`` at the begin, and after all labels but ``B-X`` and ``I-X``."""
    out: Pairs = []
    for inner in labels:
        if isinstance(inner, str) and (inner == "I" or inner.startswith("I-")):
            before = ("B" + inner[1:], inner)
            out += [(None, inner), *((label, inner) for label in labels if label not in before)]
    return out


def check_labels(rules: Rules, data: Packed, y: NDArray[np.int32], classes: NDArray[Any], noun: str) -> None:
    """Raise InvalidProblem, with the first place, if the labels of the data contain a forbidden pair."""
    filled = np.flatnonzero(np.diff(data.start) > 0)
    begin, end = data.start[filled], data.start[filled + 1] - 1
    second = data.pairs[:, 1]
    places: list[NDArray[Any]] = [
        second[rules.pairs[y[data.pairs[:, 0]], y[second]]],
        begin[rules.first[y[begin]]],
        end[rules.last[y[end]]],
    ]
    for kind, at in enumerate(places):
        if len(at):
            first = int(at.min())
            k = int(np.searchsorted(data.start, first, side="right")) - 1
            position = first - int(data.start[k])
            labels = classes.tolist()
            label = labels[y[first]]
            what = (f"{label!r} follows {labels[y[first - 1]]!r}", f"{label!r} begins", f"{label!r} ends")[kind]
            raise InvalidProblem(
                f"{noun} {k}, element {position}: {what}, which is forbidden: expected labels without it, or this "
                "pair left out of forbidden"
            )
