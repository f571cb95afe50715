"""Kernel of simulated annealing over moves of one element, on compressed rows of stored pairs.

A sweep examines every element once. The threshold is the temperature times an exponential variate. The candidates are
the subsets that a stored pair links to the element, and the empty set. The element moves to a random candidate for
which the cost changes by at most the threshold. So a move that costs d is accepted with probability proportional to
exp(-d / temperature). Each element remembers a lower bound on the change of cost by its best move: what it found when
it was last looked at, lowered by what each move of a neighbour since then can have changed. It is skipped while this
bound exceeds the threshold. At low temperatures nearly all elements are skipped. With a background, limits or
connected subsets, the element forgets the bound when a neighbour moves, since other costs change as well.

Where subsets have to be connected (kernels/connected.pxd), an element moves to subsets that a base pair links to it, or
to the empty set, and stays where its own subset would not be connected without it.

With a background, the cost of an element in its own subset is recomputed from the sums of weights each time. So only
its cost in other subsets may be out of date when an element is skipped; the descent at the end examines all elements.
The remembered change of cost leaves out the costs of groups and limits (kernels/groups.pxd) in other subsets, because
these may have changed when it is used. If the number of subsets is at its limit, a random subset that no stored pair
links to the element replaces the empty set. With two subsets, this is annealing for the maximum cut.
"""

import numpy as np

from graphpart.kernels._arrays cimport zeros_float64, zeros_int32, zeros_int64, zeros_int8
from graphpart.kernels.elementary import geometric

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from graphpart.kernels.connected cimport Base, base_look, may_leave, take_base
from graphpart.kernels.random cimport random_below, random_bits
from graphpart.kernels.groups cimport groups_at
from graphpart.kernels.terms cimport Terms, take_terms, terms_at, terms_between, terms_clear, terms_move, terms_put
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    STEPS = 8               # a visit of an element counts as this many steps, plus one for each neighbour
    MUTATED = 12            # most elements that a trial mutates
    NEAR = 16               # most neighbours of each mutated element that are repaired
    SWEEPS = 5              # most sweeps over the mutated and repaired elements
    FOLLOWS = 154           # a neighbour is mutated, too, with probability FOLLOWS / 256

cdef enum Wanted:
    BEST                    # the best subset, its own included
    BEST_OTHER
    ANY_OTHER
    ALONE

cdef double SMALLEST = 5e-324      # least gain of a move: where all costs are 0, moves without gain must end


cdef struct State:
    Py_ssize_t n
    const offset_t* starts
    const element_t* neighbours
    const cost_t* costs
    element_t* label
    element_t* size
    element_t* unused       # subsets without an element
    element_t* used         # the others, and the place of each there, if their number is limited
    element_t* place
    Py_ssize_t unuseds
    cost_t* gap             # a lower bound on the change of cost by each element's best move; -inf if not known
    bint forgets            # whether the neighbours of an element that moves forget theirs
    cost_t* sums            # cost of one element to each subset; kept zero between two looks
    char* seen
    element_t* linked
    Py_ssize_t links
    double cost             # since the start
    int64_t steps           # elements and neighbours looked at
    uint64_t random
    Terms terms
    Base base


cdef inline void look_at(State* s, element_t a) noexcept nogil:
    """Sum up the cost of an element to each subset linked to it; clear_look has to follow."""
    cdef offset_t k
    cdef element_t U
    s.links = 0
    s.steps += STEPS + s.starts[a + 1] - s.starts[a]
    for k in range(s.starts[a], s.starts[a + 1]):
        U = s.label[s.neighbours[k]]
        s.linked[s.links] = U       # without a branch, which could not be predicted
        s.links += 1 - s.seen[U]
        s.seen[U] = True
        s.sums[U] += s.costs[k]


cdef inline void clear_look(State* s) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(s.links):
        s.sums[s.linked[i]] = 0.0
        s.seen[s.linked[i]] = False


cdef inline double change(State* s, element_t a, element_t U, double own, double* least) noexcept nogil:
    """The change of cost if the element at hand moves; `least` is lowered to it, without the costs of groups."""
    cdef double delta = s.sums[U] - own
    if s.terms.k:
        delta += terms_between(&s.terms, s.terms.weights + a * s.terms.k, s.terms.total + U * s.terms.k)
    least[0] = min(least[0], delta)
    if s.terms.groups.any:
        delta += groups_at(&s.terms.groups, a, U, False)
    return delta


cdef inline void lower_gap(State* s, element_t b, element_t mine, element_t target, cost_t cost) noexcept nogil:
    """Lower the bound of an element by what the move of a neighbour, with this cost, may change.

    A join of a subset that no other neighbour is in costs as much as being alone, plus `cost`. The bound knows what
    being alone would cost, unless the element is alone, or was before this move: then it is forgotten.
    """
    cdef element_t U = s.label[b]
    if U == mine:                   # all moves cost more by `cost`, and joining the target twice as much
        s.gap[b] += cost + min(0.0, cost)
    elif s.size[U] == 1 + (U == target):
        s.gap[b] = -INFINITY
    elif U == target:               # all moves cost less by `cost`, and joining the former subset twice as much
        s.gap[b] -= cost + max(0.0, cost)
    else:                           # leaving a subset that repels, or joining one that attracts, lowers one move
        s.gap[b] -= cost if cost > 0.0 else -cost


cdef void move(State* s, element_t a, element_t target, double delta) noexcept nogil:
    """Move an element to another subset, which changes the cost by `delta`. O(degree)"""
    cdef element_t U, mine = s.label[a]
    cdef offset_t k
    s.cost += delta
    s.label[a] = target
    s.size[mine] -= 1
    s.size[target] += 1
    terms_move(&s.terms, a, mine, target)
    if s.size[target] == 1:
        s.unuseds -= 1
        if s.terms.groups.limited:
            s.place[target] = <element_t>(s.n - s.unuseds)
            s.used[s.place[target]] = target
    if s.size[mine] == 0:
        if s.terms.groups.limited:
            U = s.used[s.n - s.unuseds]
            s.used[s.place[mine]] = U
            s.place[U] = s.place[mine]
        s.unused[s.unuseds] = mine
        s.unuseds += 1
    s.gap[a] = -INFINITY
    if s.forgets:
        for k in range(s.starts[a], s.starts[a + 1]):
            s.gap[s.neighbours[k]] = -INFINITY
    else:
        for k in range(s.starts[a], s.starts[a + 1]):
            lower_gap(s, s.neighbours[k], mine, target, s.costs[k])


cdef element_t within_limits(
    State* s, element_t a, double own, double threshold, element_t target, double* chosen, Py_ssize_t* eligible,
    double* least,
) noexcept nogil:
    """The target of a move if the number of subsets is limited; `target` is the choice among linked subsets."""
    cdef Py_ssize_t used = s.n + 1 - s.unuseds
    cdef element_t mine = s.label[a], U, tries = 0
    cdef double delta
    if s.size[mine] == 1 and used <= s.terms.groups.least:
        least[0] = -INFINITY            # valid until there is one subset more
        eligible[0] = 0
        return -1
    if used < s.terms.groups.most:
        if s.size[mine] == 1:
            return target
        U = s.unused[s.unuseds - 1]
        delta = -own
    elif s.base.any:                    # no base pair leads to any other subset
        least[0] = min(least[0], -own)
        return target
    else:
        while True:
            U = s.used[random_below(&s.random, used)]
            if U != mine and not s.seen[U]:
                break
            tries += 1
            if tries == 8:
                return target
        delta = terms_at(&s.terms, a, U, False) - own
        least[0] = min(least[0], -own)
    least[0] = min(least[0], delta)
    if delta <= threshold:
        eligible[0] += 1
        if eligible[0] == 1 or random_below(&s.random, eligible[0]) == 0:
            chosen[0] = delta
            return U
    return target


cdef inline bint visit(State* s, element_t a, double threshold) noexcept nogil:
    """Move an element to a random subset, if a move is cheap enough. O(degree)"""
    cdef element_t U, mine = s.label[a], target = -1
    cdef Py_ssize_t i, eligible = 0
    cdef double delta, least = INFINITY, chosen = 0.0, own, within = 0.0
    cdef bint based = s.base.any
    look_at(s, a)
    if based:
        base_look(&s.base, a, s.label)
    own = s.sums[mine]
    if s.terms.any:
        within = terms_at(&s.terms, a, mine, True)
        own += within
    for i in range(s.links):
        U = s.linked[i]
        if U == mine or (based and s.base.reached[U] != s.base.look):
            continue
        delta = change(s, a, U, own, &least)
        if delta <= threshold:
            eligible += 1
            if eligible == 1 or random_below(&s.random, eligible) == 0:
                target = U
                chosen = delta
    if s.terms.groups.limited:
        target = within_limits(s, a, own, threshold, target, &chosen, &eligible, &least)
    elif s.size[mine] > 1:
        least = min(least, -own)
        if -own <= threshold:
            eligible += 1
            if eligible == 1 or random_below(&s.random, eligible) == 0:
                target = s.unused[s.unuseds - 1]
                chosen = -own
    clear_look(s)
    if eligible == 0:
        s.gap[a] = least + within
        return False
    if based and not may_leave(&s.base, a, s.label):
        return False
    move(s, a, target, chosen)
    return True


cdef element_t wanted_subset(State* s, element_t a, Wanted wanted, double tolerance, double* delta) noexcept nogil:
    """The subset that an element shall move to, and the change of cost; its own if there is none. O(degree)

    Ties are broken at random.
    """
    cdef element_t U, mine = s.label[a], target = mine
    cdef Py_ssize_t i, ties = 1 if wanted == BEST else 0
    cdef double value, own, within = 0.0, least = INFINITY, low = 0.0 if wanted == BEST else INFINITY
    cdef bint based = s.base.any
    look_at(s, a)
    if based:
        base_look(&s.base, a, s.label)
    own = s.sums[mine]
    if s.terms.any:
        within = terms_at(&s.terms, a, mine, True)
        own += within
    if wanted == ANY_OTHER:
        tolerance = INFINITY
    for i in range(s.links + 1):
        if i < s.links:
            U = s.linked[i]
            if U == mine or wanted == ALONE or (based and s.base.reached[U] != s.base.look):
                continue
            value = change(s, a, U, own, &least)
        elif s.size[mine] > 1:
            U, value = s.unused[s.unuseds - 1], -own
            least = min(least, value)
        else:
            break
        if value == INFINITY or value > low + tolerance:
            continue
        if value < low - tolerance:
            ties = 0
        ties += 1
        if ties == 1 or random_below(&s.random, ties) == 0:
            target, delta[0] = U, value
            low = min(low, value)
    clear_look(s)
    if wanted != ALONE:
        s.gap[a] = least + within
    if target != mine and based and not may_leave(&s.base, a, s.label):
        return mine
    return target


cdef inline bint go(State* s, element_t a, Wanted wanted, double tolerance) noexcept nogil:
    """Move an element to its wanted subset; return whether it was elsewhere."""
    cdef double delta = 0.0
    cdef element_t target = wanted_subset(s, a, wanted, tolerance, &delta)
    if target == s.label[a]:
        return False
    move(s, a, target, delta)
    return True


cdef inline double gap_of(State* s, element_t a) noexcept nogil:
    """The change of cost by the best move that an element remembers; -inf if there is none."""
    cdef double gap = s.gap[a]
    if s.terms.any and gap > -INFINITY:
        gap -= terms_at(&s.terms, a, s.label[a], True)
    return gap


cdef struct Trials:
    const element_t* centers  # elements that trials begin with
    Py_ssize_t count
    element_t* near         # elements that are repaired; the mutated ones come first
    int64_t* tried          # number of the trial in which an element was last near
    element_t* moved        # the moved elements in order, and their old subsets
    element_t* origin
    Py_ssize_t moves
    double tolerance


cdef inline bint try_move(State* s, Trials* t, element_t a, Wanted wanted) noexcept nogil:
    """Move an element to its wanted subset, and record the old one."""
    cdef double delta = 0.0
    cdef element_t target = wanted_subset(s, a, wanted, t.tolerance, &delta)
    if target == s.label[a]:
        return False
    t.moved[t.moves], t.origin[t.moves] = a, s.label[a]
    t.moves += 1
    move(s, a, target, delta)
    return True


cdef bint trial(State* s, Trials* t, int64_t number, double limit) noexcept nogil:
    """Mutate some elements and repair the elements near them; undo this if the cost is above the limit."""
    cdef Py_ssize_t i, j, mutated = 0, near, most = 1 + random_below(&s.random, MUTATED)
    cdef element_t a = t.centers[random_below(&s.random, t.count)], b
    cdef offset_t k, degree
    cdef double before = s.cost
    cdef bint moved
    cdef uint64_t draw
    t.moves = 0
    while True:
        draw = random_bits(&s.random) >> 32
        if t.tried[a] != number:
            t.tried[a] = number
            t.near[mutated] = a
            mutated += 1
            if s.size[s.label[a]] > 1 and draw & 1:
                try_move(s, t, a, ALONE)
            else:
                try_move(s, t, a, BEST_OTHER if draw & 2 else ANY_OTHER)
        degree = s.starts[a + 1] - s.starts[a]
        if mutated == most or degree == 0 or (draw >> 2) & 255 >= FOLLOWS:
            break
        b = s.neighbours[s.starts[a] + <offset_t>random_below(&s.random, degree)]
        if <offset_t>random_below(&s.random, s.starts[b + 1] - s.starts[b]) < NEAR:
            a = b
    if t.moves == 0:
        return False
    near = mutated
    for i in range(mutated):
        a = t.near[i]
        degree = s.starts[a + 1] - s.starts[a]
        for k in range(min(degree, NEAR)):
            b = s.neighbours[s.starts[a] + (k if degree <= NEAR else <offset_t>random_below(&s.random, degree))]
            if t.tried[b] != number and <offset_t>random_below(&s.random, s.starts[b + 1] - s.starts[b]) < NEAR:
                t.tried[b] = number
                t.near[near] = b
                near += 1
    for j in range(SWEEPS):
        moved = False
        for i in range(near - 1, -1, -1):
            k = <offset_t>random_below(&s.random, i + 1)
            a = t.near[k]
            t.near[k] = t.near[i]
            t.near[i] = a
            if gap_of(s, a) <= t.tolerance and try_move(s, t, a, BEST):
                moved = True
        if not moved:
            break
    if s.cost <= limit:
        return True
    for i in range(t.moves - 1, -1, -1):
        move(s, t.moved[i], t.origin[i], 0.0)
    s.cost = before
    return False


cdef class Annealing:
    """Simulated annealing on one graph, given as compressed rows, and the terms of a background, if there is one."""
    cdef State s
    cdef list kept
    cdef element_t[::1] label, best
    cdef double tolerance

    def __cinit__(
        self, const offset_t[::1] starts, const element_t[::1] neighbours, const cost_t[::1] costs, double tolerance,
        terms=None,
    ):
        cdef Py_ssize_t n = starts.shape[0] - 1
        cdef element_t[::1] size, unused, linked, used, place
        cdef cost_t[::1] gap
        cdef cost_t[::1] sums
        cdef char[::1] seen
        self.label, self.best = zeros_int32(n), zeros_int32(n)
        size, unused, linked = zeros_int32(n + 1), zeros_int32(n + 2), zeros_int32(n + 1)
        gap, sums, seen = zeros_float64(n), zeros_float64(n + 1), zeros_int8(n + 1)
        self.kept = [starts, neighbours, costs, size, unused, linked, gap, sums, seen]
        self.tolerance = tolerance
        self.s.n = n
        self.s.starts = &starts[0]
        self.s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        self.s.costs = &costs[0] if costs.shape[0] else NULL
        self.s.label = &self.label[0]
        self.s.size = &size[0]
        self.s.unused = &unused[0]
        self.s.gap = &gap[0]
        self.s.sums = &sums[0]
        self.s.seen = &seen[0]
        self.s.linked = &linked[0]
        self.kept.append(take_terms(&self.s.terms, terms, n + 1))
        self.kept += take_base(&self.s.base, starts, neighbours, terms, n + 1)
        self.s.forgets = self.s.terms.any or self.s.base.any or not np.isfinite(costs).all()
        if self.s.terms.groups.limited:
            used, place = zeros_int32(n + 2), zeros_int32(n + 2)
            self.kept += [used, place]
            self.s.used, self.s.place = &used[0], &place[0]

    cdef void start(self) noexcept nogil:
        cdef State* s = &self.s
        cdef Py_ssize_t a
        for a in range(s.n + 1):
            s.size[a] = 0
        terms_clear(&s.terms, s.n + 1)
        for a in range(s.n):
            s.size[s.label[a]] += 1
            terms_put(&s.terms, <element_t>a, s.label[a])
            s.gap[a] = -INFINITY
        s.unuseds = 0
        for a in range(s.n, -1, -1):
            if s.size[a] == 0:
                s.unused[s.unuseds] = <element_t>a
                s.unuseds += 1
            elif s.terms.groups.limited:
                s.place[a] = <element_t>(s.n - a - s.unuseds)
                s.used[s.place[a]] = <element_t>a
        s.cost = 0.0

    def run(
        self,
        const element_t[::1] labels,
        long long sweeps,
        double hot,
        double cold,
        const double[::1] variates,
        unsigned long long seed,
        double cost,
        Stopping stopping,
    ):
        """Labels after `sweeps` sweeps from canonical labels and a descent, and their cost less that of the start.

        A run that is stopped early gives the best partition that a sweep ended with. `variates` are exponential
        variates; their number is a power of 2. The cost of the start serves `stopping` only.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t n = s.n, a
        cdef long long t
        cdef int64_t moves
        cdef uint64_t shift = 0, mask = variates.shape[0] - 1
        cdef double threshold, best = 0.0
        cdef double[::1] temperatures = geometric(hot, cold, sweeps)
        cdef bint ended = False
        with nogil:
            self.label[:] = labels
            self.best[:] = labels
            s.random = seed
            self.start()
            for t in range(sweeps):
                for a in range(n):
                    if a % 4096 == 0:
                        shift = random_below(&s.random, mask + 1)
                        if stopping.poll(cost + best):
                            ended = True
                            break
                    threshold = temperatures[t] * variates[(a + shift) & mask]
                    if gap_of(s, <element_t>a) <= threshold:
                        visit(s, <element_t>a, threshold)
                if ended:
                    break
                if s.cost < best - self.tolerance:
                    best = s.cost
                    self.best[:] = self.label
            # What is left to gain without accepting anything worse.
            moves = not ended
            for a in range(n):      # bounds may be out of date, or too high by rounding
                s.gap[a] = -INFINITY
            while moves:
                moves = 0
                for a in range(n):
                    if gap_of(s, <element_t>a) < -self.tolerance:
                        moves += visit(s, <element_t>a, -max(2 * self.tolerance, SMALLEST))
        if ended:
            return np.array(self.best), best
        return np.array(self.label), s.cost

    def evolve(
        self,
        const element_t[::1] labels,
        const element_t[::1] centers,
        long long steps,
        unsigned long long seed,
        double cost,
        Stopping stopping,
    ):
        """Labels after trials of `steps` steps from canonical labels, and their cost less that of the start.

        A step is an element or a neighbour that is looked at. The cost of the start serves `stopping` only.
        """
        cdef State* s = &self.s
        cdef Trials t
        cdef Py_ssize_t near = MUTATED * (1 + NEAR)
        cdef element_t[:, ::1] rows = np.zeros((3, MUTATED + (SWEEPS + 1) * near), np.int32)
        cdef int64_t[::1] tried = zeros_int64(s.n)
        cdef int64_t number = 0
        cdef double best = 0.0
        t.near, t.moved, t.origin, t.tried = &rows[0, 0], &rows[1, 0], &rows[2, 0], &tried[0]
        t.tolerance, t.centers, t.count = self.tolerance, &centers[0], centers.shape[0]
        self.s.forgets = True       # an element that goes back may join a subset that no neighbour is in
        with nogil:
            self.label[:] = labels
            s.random = seed
            s.steps = 0
            self.start()
            while s.steps < steps and not stopping.poll(cost + best):
                number += 1
                s.steps += STEPS
                if trial(s, &t, number, best + self.tolerance):
                    best = min(best, s.cost)
        return np.array(self.label), s.cost

    def propagate(
        self,
        const element_t[::1] labels,
        const element_t[::1] elements,
        double share,
        long long sweeps,
        unsigned long long seed,
        double cost,
        Stopping stopping,
    ):
        """Labels after label propagation from canonical labels, and the steps that it took.

        First a share of the elements is mutated. Then, in each sweep, all elements move to a random one of their best
        subsets. The result may cost more than the start, whose cost serves `stopping` only.
        """
        cdef State* s = &self.s
        cdef Py_ssize_t count = elements.shape[0], i
        cdef element_t a
        cdef int64_t t, moves = 1
        cdef uint64_t limit = <uint64_t>(share * 4294967296.0)
        cdef Wanted wanted
        with nogil:
            self.label[:] = labels
            s.random = seed
            s.steps = 0
            self.start()
            wanted = ALONE if random_bits(&s.random) >> 63 else ANY_OTHER
            for i in range(count if limit else 0):
                a = elements[i]
                if random_bits(&s.random) >> 32 < limit and (wanted != ALONE or s.size[s.label[a]] > 1):
                    go(s, a, wanted, self.tolerance)
            for t in range(sweeps):
                if moves == 0:
                    break
                moves = 0
                s.steps += count
                for i in range(count):
                    if i % 4096 == 0 and stopping.poll(cost):
                        moves = 0
                        break
                    a = elements[i]
                    if gap_of(s, a) <= self.tolerance:
                        moves += go(s, a, BEST, self.tolerance)
        return np.array(self.label), s.steps
