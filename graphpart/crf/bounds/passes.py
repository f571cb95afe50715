"""Passes of messages over a factor graph, which may have additional triplets, and the certificate of their bound.

Costs are scaled so that sums of huge or tiny costs neither overflow nor vanish. If a table has infinite entries, no
message exceeds a **cap**, which is above all finite energies. So messages stay finite, and forbidden labels are
propagated as they would be by infinite messages.

Variables are visited in their order. If there are many, and pairs only, and few variables of the second half have a
pair with the first one, the order is another: the first half, the rest of the second half in reverse, and then these
few. So both halves can be visited at once, and the result is the same on any number of threads.

The bound of pairs without forbidden entries is proven variable by variable from the messages that are stored, one for
each pair: the other one is the answer to it. From `LARGE` numbers in both on, messages are stored as integers of 16
bits in units of their own, or, where entries of pairs differ by far more than unary costs, as float32. Their bound
holds, too, since it is computed from what is stored, in float64; a pass in float64 makes up for the rounding meanwhile.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds._kernels import Network
from graphpart.crf.certificates import _certificate
from graphpart.crf.certificates.certificate import Certificate, Extra, certify, later, message_starts, proven_bound
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem._view import View, add_sent, unary_sums
from graphpart.crf.problem.labeling import named, places
from graphpart.crf.problem.layout import layout_of
from graphpart.crf.problem.shared_tables import absolute_costs, by_table
from graphpart.errors import InfeasibleProblem
from graphpart.machine import give_back, side_by_side
from graphpart.stopping import Stopping

__all__ = ["PROVING", "Passes", "Structure", "sent"]

Floats = NDArray[np.float64]
LARGE = 2**27  # numbers in all messages, both of each pair, from which on those of pairs are stored in fewer bytes
MANY = 2**22  # numbers in all messages of pairs from which on rounded labels are improved without any preparation
SAMPLE, FLAT = 4096, 64  # variables of which unary costs are looked at, and how much larger those of pairs may be
FEWEST = 2**17  # variables from which on two threads prove their parts
SOME, RING = 2**20, 2**20  # variables of which the proof keeps what it finds; numbers in new messages that it keeps
PROVING = 2e-7  # seconds of a proof for each entry that triplets send
Elements = NDArray[np.int32]


@dataclass(frozen=True)
class Structure:
    """The factors that were added to a factor graph: pairs with tables of zeros, and triplets of pairs.

    Factors of at least two variables are numbered as in `Extra`: those of the factor graph, then the added pairs.

    Attributes
    ----------
    pairs : ndarray of int32, shape (p, 2)
        Variables, the smaller one first.
    triplets : ndarray of int32, shape (t, 3)
        The factors over (i, j), (i, k), (j, k), for variables i < j < k.
    scopes : ndarray of int32, shape (t, 3)
        These variables.
    """

    pairs: Elements
    triplets: Elements
    scopes: Elements

    @staticmethod
    def none() -> Structure:
        return Structure(np.zeros((0, 2), np.int32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.int32))


def sent(domains: Elements, triplets: Elements) -> NDArray[np.int64]:
    """The number of entries that each triplet sends to its pairs."""
    a, b, c = domains.astype(np.int64)[triplets].T
    return np.asarray(a * b + a * c + b * c)


class Passes:
    """The messages of a factor graph, and the passes that change them.

    Attributes
    ----------
    bound : float
        The bound that the messages prove after the latest complete pass, up to rounding.
    certified : float
        The bound of the latest certificate.
    structure : Structure
    proving : float
        Seconds that added triplets take in the proof of the bound.
    plain : bool
        Whether there are pairs only, costs are finite and not scaled, and each variable has one table of unary costs,
        so that the stored messages prove a bound by themselves.
    narrow : int
        The bytes in which each number of messages is stored, if fewer than 8; else 0.
    """

    def __init__(self, f: FactorGraph) -> None:
        self.f = f
        tables = f._flat()[4]
        self.size = messages_of(f)
        finite = tables[np.isfinite(tables)] if f.has_forbidden else tables
        size = max(-float(finite.min(initial=0.0)), float(finite.max(initial=0.0)))
        exponent = math.frexp(size)[1] + max(1, f.entries).bit_length()
        # Larger or smaller costs are scaled, so that sums neither overflow nor vanish.
        self.exponent = exponent if size and abs(exponent) > 400 else 0
        if self.exponent:
            tables = np.ldexp(tables, -self.exponent)
        self.tables = tables  # each once, as they are kept
        self.cap = sys.float_info.max
        if f.has_forbidden:
            self.cap = 4.0 * absolute_costs(f, tables) + 1.0
        self.unary, stands = self._sum_of_unary()
        self.bound, self.certified, self.proving = -math.inf, -math.inf, 0.0
        self.structure = Structure.none()
        pairs = f._layout().largest_arity <= 2
        self.plain = stands and pairs and not f.has_forbidden and not self.exponent
        self.narrow = 0
        if self.plain and self.size >= LARGE and 2.0**-80 < size < 2.0**80:
            self.narrow = 2 if self._are_even() else 4
        self.order, self.ends = self._in_halves()
        self.network = self._network()
        if self.narrow:
            give_back()

    def _in_halves(self) -> tuple[Elements | None, NDArray[np.int64]]:
        """(the variables as they are visited, None if in their order; where parts that are visited begin). O(n + m)"""
        n, (_, scope_start, scope, _, _) = self.f.n, self.f._flat()
        if self.size >= 2**18 and np.diff(scope_start).max() == 2:  # else threads gain nothing
            begin = scope_start[:-1][np.diff(scope_start) == 2]
            one, other = scope[begin], scope[begin + 1]
            late = np.zeros(n, bool)
            late[np.maximum(one, other)[np.minimum(one, other) < n // 2]] = True
            late[: n // 2] = False
            between = np.flatnonzero(late)
            if len(between) <= n // 16:
                apart = n // 2 + np.flatnonzero(~late[n // 2 :])[::-1]
                order = np.concatenate([np.arange(n // 2), apart, between])
                return order.astype(np.int32), np.array([0, n // 2, n - len(between), n])
        return None, np.array([0, n])

    def _sum_of_unary(self) -> tuple[Floats, bool]:
        """The sums of unary costs, and whether the tables have them as they are."""
        _, scope_start, scope, table_start, _ = self.f._flat()
        alone = np.flatnonzero(scope_start[1:] - scope_start[:-1] == 1)
        begins, first = table_start[alone], self.first
        stands = bool(
            len(alone) == self.f.n > 0
            and (scope[scope_start[alone]] == np.arange(self.f.n)).all()
            and (begins - begins[0] == first[:-1]).all()
        )
        there = self.tables[begins[0] : begins[0] + first[-1]] if stands else None
        total = unary_sums(self.f._view(), self.tables) if there is None else there
        if self.f.has_forbidden and self.f.n:
            bad = np.flatnonzero(np.isposinf(np.minimum.reduceat(total, first[:-1])))
            if len(bad):
                name = self.f.variables[int(bad[0])]
                raise InfeasibleProblem(f"every labeling is forbidden: no label of variable {name!r} is possible")
            full = np.flatnonzero(np.isposinf(by_table(self.f, np.minimum, self.tables)))
            if len(full):
                where = named(self.f, int(full[0]))
                raise InfeasibleProblem(f"every labeling is forbidden: {where} allows none")
        return total, stands

    def _are_even(self) -> bool:
        """Whether entries of pairs differ so little, beside unary costs, that 16 bits are enough for their messages."""
        width, alone = self.f._layout().width, len(self.unary)
        if not width:
            return False
        begin = int(self.f._flat()[3][np.flatnonzero(np.diff(self.f._flat()[1]) == 1)[0]])
        others = self.tables[:begin], self.tables[begin + alone :]
        least, most = min(x.min(initial=math.inf) for x in others), max(x.max(initial=-math.inf) for x in others)
        some = self.unary.reshape(-1, width)[:: max(1, self.f.n // SAMPLE)]
        typical = float(np.median(np.median(some, axis=1) - some.min(axis=1)))
        return bool(most - least <= FLAT * typical)

    def _pairs(self) -> NDArray[np.int64]:
        """The factors in the order of the pairs of the network, which does not keep it where messages are narrow."""
        _, scope_start, scope, _, _ = self.f._flat()
        rank = np.arange(self.f.n)
        if self.order is not None:
            rank = np.argsort(self.order)
        begin = scope_start[self.several]
        first = np.minimum(rank[scope[begin]], rank[scope[begin + 1]])
        return self.several[np.argsort(first, kind="stable")]

    def _network(self) -> Network:
        domains, scope_start, scope, table_start, _ = self.f._flat()
        tables, added = self.tables, self.structure.pairs
        order = np.zeros(0, np.int32) if self.order is None else self.order
        first = np.zeros(0, np.int64) if self.f._layout().width else self.first
        if self.order is not None:
            rank = np.empty_like(self.order)
            rank[self.order] = np.arange(len(rank), dtype=np.int32)
            scope = rank[scope]
            if len(first):
                domains, first = domains[order], first[order]
        number = self.several if len(self.structure.triplets) else np.zeros(0, np.int64)
        if len(added):
            sizes = domains[added].astype(np.int64)
            scope_start = np.concatenate([scope_start, scope_start[-1] + 2 * np.arange(1, len(added) + 1)])
            scope = np.concatenate([scope, added.ravel()])
            entries = sizes.prod(axis=1)
            table_start = np.concatenate([table_start, np.full(len(added), len(tables))])
            tables = np.concatenate([tables, np.zeros(int(entries.max()))])  # one table for all of them
            number = np.concatenate([number, self.f.m + np.arange(len(added))])
        tight = np.zeros(len(scope_start) - 1, np.uint8)
        triplets = number[self.structure.triplets]
        tight[triplets] = 1
        tight[self.f.m :] = 1
        layout = layout_of(domains, scope_start, scope, table_start, self.f.has_forbidden)
        view = View((domains, scope_start, scope, table_start, tables), layout, self.f.has_forbidden)
        return Network(
            view, first, order, self.unary, tight, triplets.astype(np.int32), self.ends, self.cap, self.narrow
        )

    @property
    def first(self) -> NDArray[np.int64]:
        """Where the labels of each variable begin."""
        return places(self.f)

    @cached_property
    def several(self) -> NDArray[np.int64]:
        """The factors of at least two variables."""
        return np.flatnonzero(np.diff(self.f._flat()[1]) > 1)

    def own(self) -> NDArray[np.int64]:
        """Where the messages of each factor of at least two variables begin in the layout of certificates; else -1."""
        own = np.full(self.f.m + len(self.structure.pairs), -1, np.int64)
        own[self.several] = message_starts(self.f)[1][:-1]
        each = self.f.domains[self.structure.pairs].sum(axis=1, dtype=np.int64)
        own[self.f.m :] = self.size + np.cumsum(each) - each
        return own

    def iterate(self, cost: float, stopping: Stopping) -> bool:
        """One pass forward and one in reverse; False if they were stopped in between."""
        return all(self.one_way(forward, cost, stopping) for forward in (True, False))

    def one_way(self, forward: bool, cost: float, stopping: Stopping) -> bool:
        """One pass forward or in reverse, which raises the bound; False if it was stopped in between."""
        total, whole = self.half(forward, cost, stopping)
        if whole:
            self.bound = math.ldexp(total, self.exponent) + self.f.constant
        return whole

    def half(self, forward: bool, cost: float, stopping: Stopping) -> tuple[float, bool]:
        """A pass forward or in reverse; (the sum of the minima taken out, whether it is complete)."""
        self.network.begin(forward)
        visit, inner, found = self.network.visit, stopping.child(), list[tuple[float, bool]]()
        groups = [(0,)] if self.order is None else [(0, 1), (2,)]  # of parts that are visited at once
        for parts in groups if forward else groups[::-1]:
            found += side_by_side(*(partial(visit, part, cost, inner if part == 1 else stopping) for part in parts))
            if not all(whole for _, whole in found):
                return 0.0, False
        return sum(total for total, _ in found), True

    def straighten(self) -> None:
        """Visit variables in their order from now on, which structure needs."""
        if self.order is not None:
            messages = self.messages()
            self.order, self.ends = None, np.array([0, self.f.n])
            self.network = self._network()
            self.load(*messages)

    def load(self, messages: Floats, links: Floats) -> None:
        """Start from messages, and those of links, as `messages` returns them."""
        own = self.own()
        self.network.load(messages, links, own[self._pairs()] if self.narrow else own)

    def shows_infeasible(self) -> bool:
        """Whether the bound is above all finite energies, up to rounding."""
        return self.f.has_forbidden and self.bound - self.f.constant > math.ldexp(self.cap / 2, self.exponent)

    @property
    def ends_early(self) -> bool:
        """Whether labelings can be rounded from a pass forward alone, even if it is not complete."""
        return not self.network.large_count

    def round(self, labels: Elements | None = None) -> Elements:
        """A labeling by rounding; after a pass forward, of other labels, which stay where it has not been."""
        labels = np.zeros(self.f.n, np.int32) if labels is None else labels.copy()
        self.network.round(labels)
        return labels

    def rounded(self, stopping: Stopping, labels: Elements | None = None) -> tuple[Elements, float]:
        """The labeling by rounding (see `round`), improved by iterated conditional modes, and its energy."""
        labels = self.round(labels)
        if not self.narrow and (self.size < MANY or not self.ends_early):
            return improve(self.f, labels, stopping, "sweep")
        self.network.descend(labels, self.f.evaluate_labels(labels), stopping)
        return labels, self.f.evaluate_labels(labels)

    def messages(self) -> tuple[Floats, Floats]:
        """(messages, those of links) in the unit of the passes; see `Certificate` and `Structure`."""
        extra = int(self.f.domains[self.structure.pairs].sum(dtype=np.int64))
        out = np.zeros(self.size + extra)
        if self.narrow:
            self._stream(out, self.own()[self._pairs()])
        else:
            self.network.export(out, self.own())
        return out, self.network.export_links()

    def remaining(self, messages: Floats) -> Floats:
        """Unary costs plus messages, in the unit of the passes."""
        total = self.unary.copy()
        add_sent(self.f._view(), self.structure.pairs.ravel(), messages, total)
        return total

    def add(self, pairs: Elements, triplets: Elements, scopes: Elements) -> None:
        """Add pairs and triplets; later passes start from the present messages."""
        out, links = self.messages()
        old = self.structure
        self.structure = Structure(
            np.concatenate([old.pairs, pairs]),
            np.concatenate([old.triplets, triplets]),
            np.concatenate([old.scopes, scopes]),
        )
        more = int(self.f.domains[pairs].sum(dtype=np.int64))
        self.proving += PROVING * float(sent(self.f.domains, scopes).sum())
        self.network = self._network()
        self.load(np.concatenate([out, np.zeros(more)]), links)

    def certificate(self, method: str, cost: float | None = None, last: bool = False) -> Certificate:
        """The bound that the messages prove, with its proof; InfeasibleProblem if they show that all is forbidden.

        After the `last` certificate there are no more passes: messages that are stored prove it, and are written out
        when they are first read; of others, the memory is given back before the proof.
        """
        if last and self.streams:
            self.certified, self.f = self.proven(), self.f._now()
            return later(self.f, self.certified, method, lambda: self.messages()[0], cost)
        messages, extra = self._proof()
        if last:
            del self.network
        certificate = certify(self.f, messages, method, extra=extra, cost=cost, copy=False)
        self.certified = certificate.bound
        return certificate

    @property
    def streams(self) -> bool:
        """Whether the stored messages prove the bound by themselves, in the time of a pass."""
        return self.plain and not len(self.structure.triplets)

    def proven(self) -> float:
        """The bound alone, not rounded up to a step."""
        if not self.streams:
            return proven_bound(self.f, *self._proof())
        return self._stream(np.zeros(0), np.zeros(0, np.int64))

    def _stream(self, out: Floats, own: NDArray[np.int64]) -> float:
        """The bound that the stored messages prove, with the messages that prove it in `out`, unless it is empty."""
        total = float(self.f.constant)
        for begin in range(0, self.f.n, SOME):
            end = min(begin + SOME, self.f.n)
            least, half = np.empty(end - begin), (begin + end) // 2
            ends = (begin, half, least[: half - begin]), (half, end, least[half - begin :])
            side_by_side(
                *(partial(self.network.proven, *one, RING, out, own) for one in ends), worth=end - begin >= FEWEST
            )
            total = _certificate.sum_down(total, least)
        return total

    def _proof(self) -> tuple[Floats, Extra]:
        out, links = self.messages()
        s = self.structure
        domains = self.f.domains
        if len(s.triplets):  # triplets send nothing to variables
            out = np.concatenate([out, np.zeros(int(domains[s.scopes].sum(dtype=np.int64)))])
        count = len(self.several) + len(s.pairs)
        extra = Extra(
            np.concatenate([2 * np.arange(len(s.pairs) + 1), 2 * len(s.pairs) + 3 * np.arange(1, len(s.triplets) + 1)]),
            np.concatenate([s.pairs.ravel(), s.scopes.ravel()]).astype(np.int32),
            np.column_stack([s.triplets.ravel(), np.repeat(count + np.arange(len(s.triplets)), 3)]).astype(np.int32),
            self._in_own_unit(links),
        )
        return self._in_own_unit(out), extra

    def _in_own_unit(self, messages: Floats) -> Floats:
        if not self.exponent:
            return messages
        with np.errstate(over="ignore", under="ignore"):
            messages = np.ldexp(messages, self.exponent)
        return np.clip(messages, -sys.float_info.max, sys.float_info.max)


def messages_of(f: FactorGraph) -> int:
    """The number of messages of a certificate: one for each label of each variable of a factor of at least two."""
    domains, scope_start, scope, _, _ = f._flat()
    alone = scope_start[:-1][np.diff(scope_start) == 1]
    return int(domains[scope].sum(dtype=np.int64) - domains[scope[alone]].sum(dtype=np.int64))
