"""Plans of elimination: which tables are summed at which node, how much memory this takes, and the messages.

A plan depends only on the scopes of the factors and on an order; see `_plan` for buckets and mini-buckets. So the bytes
that a run will allocate are known before it allocates anything:

* *minimising* keeps the messages that are still needed, where nodes are processed in an order in which these are few,
  and for each entry of each message the label that attains it, in 1, 2, 4, 8 or 32 bits;
* *keeping* all messages, which mini-buckets, min-marginals, marginals, samples and the m best labelings require,
  takes 8 bytes for each entry; the pass from the roots back needs, in addition, memory for the messages of one node.

In both cases, each level of the sums of a node (see `walks.pxd`) takes a block. The memory of the factor graph and of
the indices of the plan is not counted.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bucket_elimination import _kernels
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import named
from graphpart.crf.problem.shared_tables import largest_of
from graphpart.errors import InfeasibleProblem, InvalidOption
from graphpart.stopping import Stopping

__all__ = ["DEFAULT_MEMORY", "Messages", "Plan", "collect", "make_plan", "memory_of", "text_of"]

DEFAULT_MEMORY = 2**30  # bytes
COUNTABLE = 2.0**55  # entries of all messages, up to which positions in memory are exact
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


@dataclass(frozen=True, eq=False)
class Plan:
    """Nodes, each a bucket or mini-bucket, in the order of elimination; the parent of a node stands after it.

    Attributes
    ----------
    order : ndarray of int32, shape (n,)
        The variables, first eliminated first.
    variable : ndarray of int32, shape (nodes,)
        The variable that each node eliminates.
    axes_start, axes : ndarrays
        Compressed rows: the variables of each node's message, last eliminated first. Those with one label have no axis.
    uses_start, uses : ndarrays
        Compressed rows: the tables that each node sums, f for factor f, ``~k`` for the message of node k.
    size : ndarray of int64
        Entries of each message.
    parent : ndarray of int32
        The node that receives each message; -1 for roots, whose message is a number.
    divided : int
        Buckets that became several mini-buckets; with 0 the plan is exact.
    place : ndarray of int64
        Where each message begins if all are kept.
    """

    domains: NDArray[np.int32]
    order: NDArray[np.int32]
    variable: NDArray[np.int32]
    axes_start: NDArray[np.int64]
    axes: NDArray[np.int32]
    uses_start: NDArray[np.int64]
    uses: NDArray[np.int32]
    size: NDArray[np.int64]
    parent: NDArray[np.int32]
    divided: int
    place: NDArray[np.int64]
    most_tables: int
    most_axes: int
    most_strides: int
    workspace: int

    @property
    def width(self) -> int:
        """The most variables of a message."""
        return self.most_axes - 1

    @property
    def countable(self) -> bool:
        """Whether positions of messages in memory are exact; if not, no memory is large enough anyway."""
        return bool(self.size.astype(np.float64).sum() < COUNTABLE)

    @property
    def largest(self) -> int:
        """Entries of the largest sum of tables."""
        sizes = self.size.astype(np.float64) * self.domains[self.variable]
        at = int(sizes.argmax()) if len(sizes) else -1
        return int(self.size[at]) * int(self.domains[self.variable[at]]) if len(sizes) else 0

    @property
    def entries(self) -> float:
        """Entries of the sums of tables of all nodes; the time of a run is in proportion to it."""
        return float((self.size.astype(np.float64) * self.domains[self.variable]).sum())

    @cached_property
    def scheduled(self) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
        """(order of nodes, places of messages, entries needed) for minimising."""
        if self.countable:
            return _kernels.schedule(self.parent, self.size)
        # No machine can run this. In units of 2^24 entries the sums cannot overflow.
        order, place, entries = _kernels.schedule(self.parent, self.size >> 24)
        return order, place, entries << 24

    @cached_property
    def choice_start(self) -> NDArray[np.int64]:
        return _kernels.choice_bytes(self.domains, self.variable, self.size)

    @property
    def bytes_to_minimise(self) -> int:
        """The bytes that minimising allocates: messages, choices, sums."""
        if not self.countable:
            return 8 * self.scheduled[2]
        return 8 * self.scheduled[2] + int(self.choice_start[-1]) + 8 * self.workspace

    @property
    def bytes_to_keep(self) -> int:
        """The bytes that a pass to the roots allocates if it keeps all messages."""
        return 8 * (self._kept() + self.workspace)

    @property
    def bytes_both_ways(self) -> int:
        """The same, with memory for the pass from the roots back."""
        return 8 * (self._kept() + self.workspace + self.scratch)

    def _kept(self) -> int:
        if self.countable:
            return int(self.size[self.parent >= 0].sum())
        return sum(self.size[self.parent >= 0].tolist())

    @property
    def scratch(self) -> int:
        """Entries of all messages that one node uses, at most."""
        inner = self.parent >= 0
        used = np.bincount(self.parent[inner], weights=self.size[inner].astype(np.float64))
        return int(used.max(initial=0.0))


def make_plan(f: FactorGraph, order: NDArray[np.int32], limit: int | None = None) -> Plan | int:
    """The plan of buckets along an order, or, with a limit on the entries of a message, of mini-buckets.

    Without a limit, returns the variable in whose bucket the message would have 2^62 entries or more, if there is one.
    """
    domains = f.domains
    entries = 2**62 - 1 if limit is None else limit
    made = _kernels.make_plan(f._view(), order, entries, limit is not None)
    if isinstance(made, int):
        return made
    (axes_start, axes), (uses_start, uses), variable, size, parent, divided = made
    inner = parent >= 0
    place = np.zeros(len(size), np.int64)
    if size.astype(np.float64).sum() < COUNTABLE:
        place[1:] = np.cumsum(np.where(inner, size, 0))[:-1]
    measured = _kernels.measure(domains, variable, axes_start, axes, uses_start)
    return Plan(
        domains, order, variable, axes_start, axes, uses_start, uses, size, parent, divided, place, *measured
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages of all nodes, and the constant that was subtracted from each."""

    values: NDArray[np.float64]
    taken: NDArray[np.float64]
    done: int
    place: NDArray[np.int64]
    choices: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class _Placed:
    """A plan in the form that the kernels read, with positions of the messages in memory, and an order of the nodes."""

    plan: Plan
    place: NDArray[np.int64]
    schedule: NDArray[np.int32]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)


def placed(plan: Plan, messages: Messages) -> Any:
    """The plan for kernels that read these messages."""
    return plan if messages.place is plan.place else _Placed(plan, messages.place, np.zeros(0, np.int32))


def collect(f: FactorGraph, plan: Plan, stopping: Stopping, *, keep: bool, soft: bool = False) -> Messages:
    """The pass to the roots. With `keep` all messages are kept; else their memory is reused, and choices are kept.

    Raises
    ------
    InfeasibleProblem
        If the messages of a node leave no label; its variable is named.
    """
    if keep:
        order, place, entries = np.arange(len(plan.variable), dtype=np.int32), plan.place, plan._kept()
        choices = np.zeros(0, np.uint8)
    else:
        order, place, entries = plan.scheduled
        choices = np.zeros(int(plan.choice_start[-1]), np.uint8)
    values = np.empty(entries)
    # So that subtracting least entries does not overflow.
    read, normalise = _Placed(plan, place, order), magnitude(f) < 2.0**1000
    taken, done, failed = _kernels.collect(f._view(), read, values, choices, soft, normalise, stopping)
    if failed >= 0:
        raise _no_label(f, plan, failed)
    return Messages(values, taken, done, place, choices)


def _no_label(f: FactorGraph, plan: Plan, node: int) -> InfeasibleProblem:
    name = f.variables[plan.variable[node]]
    text = f"every labeling is forbidden: no label of variable {name!r} is possible"
    uses = plan.uses[plan.uses_start[node] : plan.uses_start[node + 1]]
    factors = uses[uses >= 0]
    if len(factors):
        text += f", as {named(f, int(factors[0]))} and those before it show"
    return InfeasibleProblem(text)


def magnitude(f: FactorGraph) -> float:
    """The sum of the largest absolute finite entries of all tables, and the constant: no partial energy is larger."""
    kept = f._cache.get("magnitude")
    if kept is None:
        kept = f._cache["magnitude"] = float(largest_of(f).sum())
    return abs(f.constant) + float(kept)


# --------------------------------------------------------------------------------------------------------------- memory


def memory_of(limit: int | float | str | None) -> int:
    """A memory limit in bytes, from a number of bytes or text such as "4GB", "512 MiB"; None is 1 GiB.

    Raises
    ------
    InvalidOption
        For any other value, and for negative numbers.

    Examples
    --------
    >>> memory_of("4GB"), memory_of("0.5 GiB"), memory_of(1000)
    (4000000000, 536870912, 1000)
    """
    if limit is None:
        return DEFAULT_MEMORY
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?:([kmgt]i?)?b)?\s*", limit, re.IGNORECASE)
        if match:
            return int(float(match[1]) * UNITS[(match[2] or "").lower()])
    elif isinstance(limit, int | float | np.integer | np.floating) and not isinstance(limit, bool):
        if limit == math.inf:
            return 2**63
        if limit >= 0:
            return int(limit)
    raise InvalidOption(f"memory_limit is {limit!r}: expected a number of bytes, or text such as '4GB' or '512MiB'")


def text_of(size: int) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> text_of(512), text_of(3 * 2**30), text_of(2**90)
    ('512 bytes', '3 GiB', '2^90 bytes')
    """
    if size >= 2**60:
        return f"2^{math.log2(size):.3g} bytes"
    for unit, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
