"""Is a signed network balanced? Two sides with the fewest frustrated pairs, and any number of groups beside them.

In a signed network, pairs are friends (positive sign) or enemies (negative sign). A pair is *frustrated* if it is
friends on different sides, or enemies on the same side. The network is balanced if two sides without frustrated pairs
exist (Cartwright & Harary 1956). The frustration index is the smallest weight of frustrated pairs of all two sides
(Harary 1959; Aref, Mason & Wilson 2020). With any number of groups in place of two sides, it is the same number for
weak balance (Davis 1967), and the problem is correlation clustering.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphpart.display import Shown, frame_of, number, plural
from graphpart.errors import InvalidOption, known_arguments, warn
from graphpart.partition.default import auto
from graphpart.partition.inputs.arrays import arrays_of_graph
from graphpart.partition.inputs.matrices import sparse_pairs
from graphpart.partition.problem import SetPartition
from graphpart.result import PartitionResult, Status

__all__ = ["Frustration", "frustration"]

ANY_SHARE = 0.25  # share of the time for any number of groups


@dataclass(frozen=True, repr=False)
class Frustration(Shown):
    """The frustration index of a signed network, with two sides and with any number of groups.

    Attributes
    ----------
    index, lower_bound : float
        The weight of the frustrated pairs of the two sides, and a number that no two sides have less of. They are equal
        if the status is optimal.
    status : Status
        Why the search for two sides stopped; `message` says more.
    sides : dict
        The side of each node: 0 or 1.
    pairs : list of (node, node)
        The frustrated pairs.
    groups_index, groups_lower_bound : float
        The same numbers for any number of groups.
    groups : list of sets of nodes
        The groups with that number.
    two, several : PartitionResult
        The results of :func:`graphpart.partition.auto`, whose costs are these numbers less the weight of all friends.
    """

    index: float
    lower_bound: float
    sides: dict[Hashable, int]
    pairs: list[tuple[Hashable, Hashable]]
    groups_index: float
    groups_lower_bound: float
    two: PartitionResult = field(repr=False)
    several: PartitionResult = field(repr=False)

    @property
    def status(self) -> Status:
        """Why the search for two sides stopped."""
        return self.two.status

    @property
    def message(self) -> str:
        """How the search for two sides ended, and what would help if they are not proven."""
        return self.two.message

    @property
    def groups(self) -> list[set[Hashable]]:
        """The groups, any number of them, with the least weight of frustrated pairs that was found."""
        return self.several.clusters

    @property
    def balanced(self) -> bool:
        """Whether no pair is frustrated."""
        return not self.pairs

    def to_frame(self, library: str = "pandas", *, pairs: bool = False) -> Any:
        """A data frame with a row for each node: `node`, its `side`, its `group`, and its number of `frustrated` pairs.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Whose data frame.
        pairs : bool
            Whether to list the frustrated pairs instead: `left` and `right`, and `decision`, which is "together" for
            enemies on one side and "apart" for friends on different sides.

        Raises
        ------
        MissingDependency
            If the library is not installed.
        """
        if pairs:
            left, right = zip(*self.pairs, strict=True) if self.pairs else ((), ())
            decision = ["together" if self.sides[u] == self.sides[v] else "apart" for u, v in self.pairs]
            return frame_of({"left": list(left), "right": list(right), "decision": decision}, library)
        count = Counter(node for pair in self.pairs for node in pair)
        frustrated = np.array([count[node] for node in self.sides], np.int64)
        sides = np.array(list(self.sides.values()), np.int64)
        columns = {"side": sides, "group": self.several.labels, "frustrated": frustrated}
        return frame_of({"node": list(self.sides)} | columns, library)

    def _of_groups(self) -> float | str:
        if self.several.status is Status.OPTIMAL:
            return self.groups_index
        return f"at most {number(self.groups_index)}, at least {number(self.groups_lower_bound)}"

    def _title(self) -> str:
        return f"Frustration: index {number(self.index)}, {plural(len(self.sides), 'node')}"

    def _facts(self) -> dict[str, Any]:
        return {
            "lower bound": self.lower_bound,
            "status": str(self.status),
            "index of any number of groups": self._of_groups(),
        }


@known_arguments
def frustration(
    network: Any,
    u: str | None = None,
    v: str | None = None,
    *,
    sign: str = "sign",
    time_limit: float | None = None,
    seed: int | None = None,
) -> Frustration:
    """Compute the frustration index of a signed network: the least weight of frustrated pairs of all two sides.

    Parameters
    ----------
    network : networkx.Graph, igraph.Graph, scipy.sparse matrix or data frame
        Undirected. A matrix stores the signs. A data frame has a row for each pair, with its two nodes in the columns
        `u` and `v`.
    u, v : str, optional
        The columns of a data frame that name the nodes.
    sign : str
        The edge attribute, or column, with the sign of each pair: positive for friends, negative for enemies. Its
        absolute value is the weight of the pair, 1 in most networks.
    time_limit : float, optional
        Seconds, a quarter of which is for any number of groups. Without a limit, each of the two searches ends after
        some 5 s, proven or not.
    seed : int, optional
        For methods that draw random numbers.

    Returns
    -------
    Frustration

    Raises
    ------
    InvalidProblem
        If the network is directed, or a sign is missing or not a number.
    InvalidOption
        If the columns of a data frame are not named.

    Warns
    -----
    GraphPartWarning
        If no sign is negative.

    See Also
    --------
    graphpart.solve : ``solve(G, n_clusters=(1, 2))``, for other costs and further requirements

    Notes
    -----
    Two sides are found and proven by branch and cut over odd cycles: networks of 20,000 pairs of which few are
    frustrated take seconds. It is fastest with highspy (``pip install 'graphpart[highs]'``).
    See :cite:`BarahonaMahjoub1986`.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.cycle_graph(["ann", "bob", "cid", "dan"])
    >>> nx.set_edge_attributes(G, 1, "sign")
    >>> G.edges["ann", "bob"]["sign"] = -1
    >>> r = frustration(G)
    >>> r
    <Frustration: index 1, 4 nodes
     lower bound 1, status optimal, index of any number of groups 1>
    >>> r.balanced, len(r.pairs), sorted(r.sides)
    (False, 1, ['ann', 'bob', 'cid', 'dan'])
    >>> r.to_frame().columns.tolist()
    ['node', 'side', 'group', 'frustrated']
    """
    if hasattr(network, "is_directed") or hasattr(network, "weighted_edge_list"):
        nodes, first, second, signs = arrays_of_graph(network, sign, float, advised=False)
        p = SetPartition.from_pairs(len(nodes), (first, second), -signs, nodes=nodes)
    elif hasattr(network, "tocoo"):
        n, (first, second, signs) = sparse_pairs(network)
        p = SetPartition.from_pairs(n, (first, second), -signs)
    elif u is None or v is None:
        if isinstance(network, np.ndarray) and network.ndim == 2 and network.shape[0] == network.shape[1]:
            raise InvalidOption(
                "network is an array: expected a sparse matrix, whose zeros are no pairs, as scipy.sparse.coo_array(A)"
            )
        raise InvalidOption('which columns name the nodes of each pair? for example frustration(df, "from", "to")')
    else:
        p = SetPartition.from_frame(network, u, v, weight=sign, missing=0)
        signs = np.asarray(network[sign], np.float64)
    a, b, costs = p._listed()
    if len(costs) and not (signs < 0).any():  # of costs, opposite signs of one pair may have cancelled
        warn(
            "no pair has a negative sign, so nothing can be frustrated: expected negative numbers for enemies (of True "
            "and False, or 1 and 0, 2 * sign - 1)"
        )
    share = None if time_limit is None else ANY_SHARE * time_limit
    several = auto(p, time_limit=share, seed=seed)
    left = None if time_limit is None else time_limit - min(several.seconds, ANY_SHARE * time_limit)
    two = auto(p.require(n_clusters=(1, 2)) if p.n else p, time_limit=left, seed=seed)
    least = several.lower_bound
    if several.cost > two.cost:  # in too short a time; two sides are one way to have groups
        left = 0.0 if time_limit is None else max(0.0, time_limit - several.seconds - two.seconds)
        several = auto(p, two.labels, time_limit=left, seed=seed)
        least = max(least, several.lower_bound)
    friends = float(-costs[costs < 0].sum())
    together = two.labels[a] == two.labels[b]
    frustrated = np.flatnonzero((costs != 0) & (together == (costs > 0)))
    names = p.nodes
    return Frustration(
        friends + two.cost,
        max(0.0, friends + two.lower_bound, friends + least),
        dict(zip(names, two.labels.tolist(), strict=True)),
        [(names[i], names[j]) for i, j in zip(a[frustrated].tolist(), b[frustrated].tolist(), strict=True)],
        friends + several.cost,
        max(0.0, friends + least),
        two,
        several,
    )
