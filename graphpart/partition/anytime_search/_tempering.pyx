"""Kernel of replica exchange on a matrix of small integer costs (Geyer 1991; Hukushima & Nemoto 1996).

Several copies of a partition, the replicas, are annealed side by side, each at a temperature of its own that stays the
same. A step is a sweep of each replica (see the kernel of annealing), then an exchange of neighbours, from the hottest
pair to the coldest: two replicas with costs C, C' at the inverse temperatures b, b' change places with probability
min(1, exp((C - C') (b - b'))), which leaves the Boltzmann distributions of all temperatures as they are. So a partition
can become hot, forget the local optimum that it was in, and become cold again somewhere else, as often as there is
time. After each step, copies of the coldest replicas descend to local optima, the best of which is the result.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from graphpart.kernels.random cimport random_below
from graphpart.kernels.types cimport element_t
from graphpart.partition.anytime_search._dense_annealing cimport (
    State, build, close_state, copy_state, descend, open_state, sweep,
)
from graphpart.stopping cimport Stopping

cdef Py_ssize_t COLD = 3  # replicas of which copies descend


cdef class Tempering:
    """Replica exchange on one matrix.

    Parameters
    ----------
    matrix : ndarray of int32 or int16, shape (n, n)
        As for annealing.
    variates : ndarray of float32, more than n and a block
        Exponential variates.
    count : int
        Replicas, at least one.
    """
    cdef State* replicas  # the hottest first
    cdef State spare
    cdef Py_ssize_t count
    cdef object kept

    def __cinit__(self, matrix, const float[::1] variates, Py_ssize_t count):
        cdef Py_ssize_t k
        self.kept, self.count = (matrix, variates), count
        self.replicas = <State*>calloc(count, sizeof(State))
        if self.replicas == NULL or not open_state(&self.spare, matrix, variates):
            raise MemoryError()
        for k in range(count):
            if not open_state(&self.replicas[k], matrix, variates):
                raise MemoryError()

    def __dealloc__(self):
        cdef Py_ssize_t k
        close_state(&self.spare)
        for k in range(self.count if self.replicas != NULL else 0):
            close_state(&self.replicas[k])
        free(self.replicas)

    def cool(
        self,
        const element_t[::1] labels,
        const double[::1] temperatures,
        long long sweeps,
        unsigned long long seed,
        Stopping stopping,
    ):
        """Anneal canonical labels at each temperature in turn, for so many sweeps; only the first replica is used.

        Returns the labels at the end of each, shape (temperatures, n), and the mean costs after the later half of its sweeps.
        """
        cdef State* s = &self.replicas[0]
        cdef Py_ssize_t n = s.n, k
        cdef long long t
        cdef element_t[:, ::1] found = np.full((temperatures.shape[0], n), labels, np.int32)
        cdef double[::1] means = np.zeros(temperatures.shape[0])
        cdef double total
        cdef bint ended = False
        with nogil:
            s.random = seed
            build(s, &labels[0])
            for k in range(temperatures.shape[0]):
                total = 0.0
                for t in range(sweeps):
                    sweep(s, temperatures[k])
                    if 2 * t >= sweeps:
                        total += <double>s.cost
                    ended = stopping.poll(INFINITY)
                    if ended or s.failed:
                        break
                if ended or s.failed:
                    break
                means[k] = total / (sweeps - (sweeps + 1) // 2)
                memcpy(&found[k, 0], s.label, n * sizeof(element_t))
        if s.failed:
            raise MemoryError()
        return np.asarray(found), np.asarray(means)

    def run(
        self,
        const element_t[:, ::1] labels,
        const double[::1] temperatures,
        long long steps,
        unsigned long long seed,
        Stopping stopping,
    ):
        """So many steps from canonical labels of each replica, which falling temperatures belong to.

        Returns the best labels that a copy of a cold replica descended to, and the last labels at each temperature. A
        run that is stopped early gives what it has.
        """
        cdef State* s = self.replicas
        cdef State other
        cdef Py_ssize_t n = s.n, count = self.count, k
        cdef long long t
        cdef uint64_t random = seed
        cdef element_t[::1] best = np.array(labels[count - 1], np.int32)
        cdef element_t[:, ::1] last = np.array(labels, np.int32)
        cdef int64_t least = 0
        cdef bint ended = False, failed = False
        with nogil:
            for k in range(count):
                s[k].random = seed + <uint64_t>k + 1
                failed |= not build(&s[k], &labels[k, 0])
            least = s[count - 1].cost
            for t in range(steps):
                if failed or ended:
                    break
                for k in range(count):
                    sweep(&s[k], temperatures[k])
                    failed |= s[k].failed
                    ended |= stopping.poll(INFINITY)
                    if failed or ended:
                        break
                for k in range(max(0, count - COLD), count):
                    if failed or not copy_state(&self.spare, &s[k]):
                        failed = True
                        break
                    while descend(&self.spare):
                        pass
                    failed |= self.spare.failed
                    if self.spare.cost < least:
                        least = self.spare.cost
                        memcpy(&best[0], self.spare.label, n * sizeof(element_t))
                for k in range(count - 1):
                    # An exponential variate is at least x with probability exp(-x).
                    if <double>(s[k].cost - s[k + 1].cost) * (1.0 / temperatures[k + 1] - 1.0 / temperatures[k]) <= (
                        s[k].variates[random_below(&random, s[k].shifts)]
                    ):
                        other = s[k]
                        s[k] = s[k + 1]
                        s[k + 1] = other
            for k in range(count):
                memcpy(&last[k, 0], s[k].label, n * sizeof(element_t))
        if failed:
            raise MemoryError()
        return np.asarray(best), np.asarray(last)
