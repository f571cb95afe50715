"""Answers that cannot all be right, and the smallest set of them without which the others agree.

If a is with b, and b with c, then a is with c: another answer about a and c contradicts. Components of elements that
the answers "together" and the required joins connect are looked at one by one. In a component with a contradiction,
the smallest set of answers to drop is a set partition problem: an answer "together" attracts with cost 1, an answer
"apart" repels with cost 1, and what the problem requires stays required. Each answer that is violated costs 1 more, so
those that an optimal partition violates are the smallest set (cluster editing; Bansal, Blum & Chawla 2004). Branch and
cut proves it. Of several smallest sets, it is one of older answers: each later one costs a little more, in all less
than 1, and answers are in the order of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.given import APART, NOT_KNOWN, TOGETHER, WORDS, Answers, answers_of
from graphpart.common.columns import Columns, named
from graphpart.common.groups import group
from graphpart.errors import known_arguments
from graphpart.partition.problem import SetPartition, as_problem
from graphpart.partition.problem.derived import connected
from graphpart.partition.problem.staying import violated_cuts
from graphpart.partition.proving import exact

__all__ = ["contradictions", "dropped"]

SECONDS = 20.0  # of search and proof in each component; a set that is not proven to be smallest is still one to drop


@known_arguments
def contradictions(problem: Any, answers: Any, *, library: str | None = None) -> Any:
    """The smallest set of answers without which the others, and what the problem requires, do not contradict.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
    answers : DataFrame, mapping or path
        With the columns `left`, `right` and `answer`, as :func:`graphpart.solve` takes them.
    library : {"pandas", "polars", "dict"}, optional
        As in :meth:`Columns.to_frame`.

    Returns
    -------
    DataFrame
        A row for each answer to drop: `left`, `right`, `answer`, and its `row` in the table, from 0. Empty if all
        agree. If there are several smallest sets, it is one of older answers, those further above in the table.

    Raises
    ------
    InvalidProblem
        If the table is not as described.

    Notes
    -----
    O(n + k) for k answers that agree. Components with contradictions are solved by branch and cut, for at most 20 s
    each. Limits of sizes and of the number of clusters are not looked at.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1)], [1.0], ["ann", "bob", "cid"])
    >>> said = {"left": ["ann", "bob", "ann", "cid"], "right": ["bob", "cid", "cid", "ann"]}
    >>> said["answer"] = ["together", "together", "apart", "apart"]
    >>> contradictions(p, said, library="dict")["row"].tolist()
    [0]
    """
    p = as_problem(problem)
    given = answers_of(p, answers)
    at = np.flatnonzero(dropped(p, given))
    ends = given.pairs[at]
    return Columns(
        {
            "left": named(p.nodes, ends[:, 0]),
            "right": named(p.nodes, ends[:, 1]),
            "answer": np.array(WORDS)[given.said[at]],
            "row": given.rows[at],
        }
    ).to_frame(library)


def dropped(p: SetPartition, given: Answers) -> NDArray[np.bool_]:
    """Which answers the smallest set to drop consists of."""
    out = np.zeros(len(given.said), bool)
    classes = p._must_join_classes().astype(np.int64)
    a, b = classes[given.pairs].T
    part = connected(p.n, *np.concatenate([p.must_join, given.of(TOGETHER)]).T)
    cuts = np.concatenate([given.of(APART), violated_cuts(p, part)])
    order, start = group(part, int(part.max(initial=-1)) + 1)
    for one in np.unique(part[cuts[part[cuts[:, 0]] == part[cuts[:, 1]], 0]]).tolist():
        elements = order[start[one] : start[one + 1]]
        mine = np.flatnonzero((part[given.pairs] == one).all(axis=1) & (given.said != NOT_KNOWN))
        names, inner = np.unique(classes[elements], return_inverse=True)
        u, v = np.searchsorted(names, a[mine]), np.searchsorted(names, b[mine])
        within = u == v
        out[mine[within & (given.said[mine] == APART)]] = True  # the problem itself requires this pair together
        count = len(mine)
        later = 1 + np.arange(count) / (count * count)
        cost = np.where(given.said[mine] == TOGETHER, -later, later)
        cut = _required_cuts(p, elements, inner)
        q = SetPartition.from_pairs(
            len(names), (u[~within], v[~within]), cost[~within], apart=cut, dense=None if len(names) < 500 else False
        )
        labels = exact(q, time_limit=SECONDS).labels
        together = labels[u] == labels[v]
        out[mine] |= ~within & (together != (given.said[mine] == TOGETHER))
    return out


def _required_cuts(p: SetPartition, elements: NDArray[np.int64], inner: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Pairs of must-join classes that the problem requires apart, by their places `inner` among those of elements."""
    place = np.full(p.n, -1, np.int64)
    place[elements] = inner
    cuts = p._must_cut if p._has_must_cut else p.must_join[:0]
    ends = place[cuts]
    found = {(min(u, v), max(u, v)) for u, v in ends[(ends >= 0).all(axis=1)].tolist() if u != v}
    groups = p.groups
    if groups is not None and groups.is_hard:
        at = np.flatnonzero(groups.hard[groups.group] & (place[groups.element] >= 0))
        of_group: dict[int, list[int]] = {}
        for element, group in zip(groups.element[at].tolist(), groups.group[at].tolist(), strict=True):
            of_group.setdefault(group, []).append(int(place[element]))
        for mine in of_group.values():
            found |= {(min(u, v), max(u, v)) for u in mine for v in mine if u != v}
    return sorted(found)
