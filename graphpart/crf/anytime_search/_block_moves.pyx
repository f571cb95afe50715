"""Kernel of blocks: exact minimisation over many variables, given the labels of all others.

A block begins as a set of variables: all variables, or those around a random one. Again and again, the variable whose
elimination makes the smallest table is eliminated (see `bucket_elimination/`). If even this table would have more
entries than allowed, other variables leave the block and keep their labels, until the table is small enough; the
variables that leave are those that would make the largest tables themselves (cutset conditioning with bounded width,
Dechter 1990; Bidyuk & Dechter 2007). With tables of two variables only, a block is a forest (Hamze & de Freitas 2004).
With larger tables, blocks are strips and balls of a grid, or stars with several centres and any number of leaves.

Then the tables are summed and minimised in this order. Labels are found in the opposite order, by reading the same
tables again; of labels of equal cost, one is drawn at random. The axes of a table are in the order of elimination, so
that the entries of a message for one label of the variable are contiguous in memory.

A forbidden entry counts as `penalty`.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t

from graphpart.crf.anytime_search._block_plan cimport KEYS, LIVE, OUT, State, grow, plan
from graphpart.crf.anytime_search._block_tables cimport collect, descend, settle
from graphpart.crf.anytime_search._parts cimport Arrays
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


# --------------------------------------------------------------------------------------------------------------- blocks

cdef class Blocks:
    """Blocks of one model, for one thread.

    Parameters
    ----------
    arrays : Arrays
    room : int
        Entries of all messages of a block.
    """
    cdef State s
    cdef list kept
    cdef element_t[::1] label
    cdef Py_ssize_t steps

    def __cinit__(self, Arrays arrays, offset_t room):
        cdef State* s = &self.s
        cdef Py_ssize_t n = arrays.g.n, m = arrays.g.m
        self.kept = [arrays]
        s.g = arrays.g
        s.members_room = 16 * n + 1024
        s.arena_room = room
        cdef element_t[::1] ints
        cdef offset_t[::1] longs
        cdef cost_t[::1] costs
        cdef char[::1] chars
        cdef short[::1] shorts
        self.label = np.zeros(n + 1, np.int32)
        s.label = &self.label[0]
        ints = np.zeros(9 * (n + 1) + 2 * (m + 1) + 3 * s.members_room + KEYS, np.int32)
        s.place, s.order, s.stamp, s.next = &ints[0], &ints[n + 1], &ints[2 * (n + 1)], &ints[3 * (n + 1)]
        s.before, s.touching, s.child = &ints[4 * (n + 1)], &ints[5 * (n + 1)], &ints[6 * (n + 1)]
        s.sibling = &ints[7 * (n + 1)]
        s.used, s.taken = &ints[9 * (n + 1)], &ints[9 * (n + 1) + m + 1]
        s.link_message = &ints[9 * (n + 1) + 2 * (m + 1)]
        s.link_next = s.link_message + s.members_room
        s.members = s.link_next + s.members_room
        s.head = s.members + s.members_room
        longs = np.zeros(3 * (n + 2), np.int64)
        s.step_factors, s.step_scope, s.message = &longs[0], &longs[n + 2], &longs[2 * (n + 2)]
        costs = np.empty(s.g.first[n] + 1)
        self.kept += [ints, longs, costs]
        s.local = &costs[0]
        chars = np.zeros(2 * (n + 1), np.int8)
        s.state, s.alive = &chars[0], &chars[n + 1]
        shorts = np.zeros(n + 1, np.int16)
        s.key = &shorts[0]
        self.kept += [chars, shorts]
        costs = np.empty(2 * room + 64)
        self.kept.append(costs)
        s.arena, s.sums = &costs[0], &costs[room + 32]

    @property
    def work(self):
        """Entries of all tables summed so far."""
        return self.s.work

    def members(self):
        """The variables of the last block, in the order of elimination."""
        cdef Py_ssize_t t
        return np.array([self.s.order[t] for t in range(self.steps)], np.int32)

    def around(self, Py_ssize_t size, unsigned long long seed):
        """So many variables around a random one, the nearest first; fewer if its component has fewer."""
        cdef State* s = &self.s
        cdef Py_ssize_t i, count
        cdef element_t[::1] found = np.empty(s.g.n, np.int32)
        s.random = seed
        for i in range(s.g.n):
            s.state[i] = OUT
        with nogil:
            count = grow(s, &found[0], min(size, s.g.n))
        return np.array(found[:count])

    def run(
        self, const element_t[::1] labels, const element_t[::1] inside, Py_ssize_t size, double limit,
        Py_ssize_t count, unsigned long long seed, Stopping stopping,
    ):
        """Labels after minimising over `count` blocks, and by how much their penalised energy differs from the start.

        Parameters
        ----------
        labels : ndarray of int32, shape (n,)
        inside : ndarray of int32
            Variables that blocks begin with; if there are none, `size` variables around random ones.
        size : int
        limit : float
            Entries of a table, at most.
        count : int
        seed : int
        """
        cdef State* s = &self.s
        cdef Py_ssize_t n = s.g.n, steps, k, i, t, found_count
        cdef double before, after, delta = 0.0
        cdef offset_t at, length
        cdef bint ended = False
        if n == 0:
            return np.zeros(0, np.int32), 0.0
        cdef element_t* kept
        cdef element_t[::1] chosen = np.empty(n, np.int32)
        cdef element_t[::1] old = np.empty(n, np.int32)
        kept = &chosen[0]
        with nogil:
            self.label[:n] = labels
            s.random = seed
            for k in range(count):
                if stopping.poll(INFINITY):
                    break
                for i in range(n):
                    s.state[i] = OUT
                if inside.shape[0]:
                    found_count = inside.shape[0]
                    for i in range(found_count):
                        kept[i] = inside[i]
                        s.state[inside[i]] = LIVE
                elif size >= n:
                    found_count = n
                    for i in range(n):
                        kept[i] = <element_t>i
                        s.state[i] = LIVE
                else:
                    found_count = grow(s, kept, size)
                if s.union_ > 2000000000:
                    s.union_ = 0
                    for i in range(n):
                        s.stamp[i] = 0
                steps = plan(s, kept, found_count, limit, <double>s.arena_room)
                self.steps = steps
                before = after = 0.0
                at = 0
                for t in range(steps):
                    length = settle(s, t)
                    s.message[t] = at
                    at += length
                    s.work += length * s.g.domains[s.order[t]]
                for t in range(steps):
                    collect(s, t, (s.message[t + 1] if t + 1 < steps else at) - s.message[t], &before)
                    if stopping.poll(INFINITY):
                        ended = True
                        break
                if ended:
                    break
                for t in range(steps):
                    old[t] = s.label[s.order[t]]
                for t in range(steps - 1, -1, -1):
                    descend(s, t, &after)
                if after > before:      # by rounding
                    for t in range(steps):
                        s.label[s.order[t]] = old[t]
                else:
                    delta += after - before
        return np.array(self.label[:n]), delta
