"""Losses of labelings with their gradients: sum-product on forests for the likelihood, and the pseudolikelihood.

Pairs have K + 1 numbers each, or share them, and ``tie[a, b]`` says which one the labels a and b of a pair select.

Sum-product computes, for many forests at once, log Z, probabilities of labels, and expected counts of pairs of labels.
A chain is a forest, and the two passes are the forward and the backward recursion (Rabiner 1989). Leaves are peeled off
along paths (`schedule`), so that a chain is walked from one end to the other. The belief of a variable is a vector of L
numbers that sum to 1; the logarithms of the scaling factors add up to log Z. The exponentials of all scores are
computed before the passes. The entries of a scaled vector are at least exp(-r), where r is the range of the scores of
the variable plus the ranges of its pairs. `sum_product` needs exp(-r) within the range of float64. For other scores,
use the passes in logarithms for any factor graph (`crf.exact_solvers`), which are several times as slow.

The pseudolikelihood takes each variable given its neighbours (Besag 1975). For a variable v with label y_v, the scores
of its labels given those of its neighbours are

    s[l] = scores[v, l] + sum over its pairs of the number that the labels l and y_u of the pair select,

and its loss is ``log sum exp s - s[y_v]``. The derivative by s is the probabilities of the labels less 1 for y_v; it
goes to the scores of v and to the numbers of its pairs. This takes two passes over the pairs of a variable, and none
over all labelings.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log

from graphpart.kernels._arrays cimport empty_float64, empty_int32, zeros_float64, zeros_int64
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.types cimport element_t, offset_t


# ----------------------------------------------------------------------------------------------- sum-product on forests

cdef extern from *:
    """
    /* out[j] = sum over i of in[i] * M[i, j], rows of M `step` numbers apart, `step` a multiple of 4. */
    GP_CLONES
    static void gp_multiply(const double *GP_RESTRICT in, const double *GP_RESTRICT M, Py_ssize_t count, Py_ssize_t step,
                            double *GP_RESTRICT out) {
        Py_ssize_t i, j, k;
        for (j = 0; j < step; j += 4) {
            double sum[4] = {0.0, 0.0, 0.0, 0.0};
            const double *row = M + j;
            for (i = 0; i < count; i++, row += step)
                for (k = 0; k < 4; k++) sum[k] += in[i] * row[k];
            for (k = 0; k < 4; k++) out[j + k] = sum[k];
        }
    }

    /* sums[i, j] += left[i] * right[j] */
    GP_CLONES
    static void gp_add_products(const double *GP_RESTRICT left, const double *GP_RESTRICT right, Py_ssize_t count,
                                Py_ssize_t step, double *GP_RESTRICT sums) {
        Py_ssize_t i, j, k;
        for (i = 0; i < count; i++)
            for (j = 0; j < step; j += 4)
                for (k = 0; k < 4; k++) sums[i * step + j + k] += left[i] * right[j + k];
    }
    """
    void gp_multiply(const double*, const double*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
    void gp_add_products(const double*, const double*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil


def schedule(
    Py_ssize_t n, const element_t[:, ::1] pairs
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]] | None:
    """(edge, child, parent) of each step towards the roots, and the roots; None if there is a cycle. O(n + m)"""
    cdef Py_ssize_t m = pairs.shape[0], i, steps = 0, roots = 0, v, p
    cdef offset_t e
    degree_array, mixed_array = zeros_int64(n), zeros_int64(n)
    cdef offset_t[::1] degree = degree_array, mixed = mixed_array   # `mixed`: exclusive or of the pairs of a variable
    edge_array, child_array, parent_array = (empty_int32(m) for _ in range(3))
    root_array = empty_int32(n)
    cdef element_t[::1] edge = edge_array, child = child_array, parent = parent_array, root = root_array
    with nogil:
        for i in range(m):
            degree[pairs[i, 0]] += 1
            degree[pairs[i, 1]] += 1
            mixed[pairs[i, 0]] ^= i
            mixed[pairs[i, 1]] ^= i
        for i in range(n):
            v = i
            while degree[v] == 1:
                e = mixed[v]
                p = pairs[e, 0] if pairs[e, 1] == v else pairs[e, 1]
                edge[steps] = <element_t>e
                child[steps] = <element_t>v
                parent[steps] = <element_t>p
                steps += 1
                degree[v] = 0
                degree[p] -= 1
                mixed[p] ^= e
                v = p
            if degree[v] == 0 and mixed[v] != -1:   # the last variable of its component, unless it was removed before
                mixed[v] = -1
                root[roots] = <element_t>v
                roots += 1
        if steps == m:
            # A variable that was a child is not a root. It was marked when a path ended in it, or when it came up
            # again.
            for i in range(m):
                degree[child[i]] = -1
    if steps < m:
        return None
    kept = root_array[:roots]
    return edge_array, child_array, parent_array, np.ascontiguousarray(kept[degree_array[kept] >= 0])


def shift(double[:, ::1] scores):
    """Subtract the largest score of each row in place: (their sum, the range of each row)."""
    cdef Py_ssize_t n = scores.shape[0], L = scores.shape[1], v, a
    cdef double high, low, total = 0.0, carry = 0.0, t
    spread_array = empty_float64(n)
    cdef double[::1] spread = spread_array
    with nogil:
        for v in range(n):
            high = -INFINITY
            low = INFINITY
            for a in range(L):
                high = scores[v, a] if scores[v, a] > high else high
                low = scores[v, a] if scores[v, a] < low else low
            for a in range(L):
                scores[v, a] -= high
            spread[v] = high - low
            # the rounding error of each addition is carried along (Kahan 1965)
            high -= carry
            t = total + high
            carry = (t - total) - high
            total = t
    return total, spread_array


def sum_product(
    double[:, ::1] weights, const double[:, ::1] pair_weights, const element_t[:, ::1] tie, data,
    double[:, ::1] expected, bint back,
):
    """log Z of the distribution proportional to products of `weights` and `pair_weights`; overwrites both outputs.

    `data` has pairs, and their `forest` from `schedule`. `weights`, shape (n, L), are positive; with `back`, they
    become the probabilities of labels. `pair_weights` has shape (m, K + 1), or (1, K + 1) if shared. `expected`, of the
    same shape, becomes the expected count of each number, summed over pairs if shared.
    """
    cdef const element_t[:, ::1] pairs = data.pairs
    cdef const element_t[::1] edge = data.forest[0], child = data.forest[1], parent = data.forest[2]
    cdef const element_t[::1] roots = data.forest[3]
    cdef Py_ssize_t n = weights.shape[0], L = weights.shape[1], steps = edge.shape[0], s, a, b, i
    cdef Py_ssize_t step = (L + 3) // 4 * 4
    cdef bint shared = pair_weights.shape[0] == 1, flipped
    cdef element_t c, p, e
    cdef double total = 0.0, product = 1.0, z, x
    cdef double[:, ::1] up = np.empty((steps, step)), before = np.empty((steps if back else 0, step))
    cdef double[:, ::1] belief = np.zeros((n, step)), after = np.ones((n if back else 0, step))
    # Both orientations of a table: rows are labels of the first end, then of the second one.
    cdef double[:, ::1] straight = np.zeros((L, step)), turned = np.zeros((L, step)), sums = np.zeros((L, step))
    cdef double[::1] rest = zeros_float64(step), down = zeros_float64(step)
    with nogil:
        for a in range(n):
            for b in range(L):
                belief[a, b] = weights[a, b]
        if shared:
            expand(&pair_weights[0, 0], tie, straight, turned)
        for s in range(steps):
            e = edge[s]
            c = child[s]
            p = parent[s]
            flipped = pairs[e, 1] == c
            if not shared:
                expand(&pair_weights[e, 0], tie, straight, turned)
            gp_multiply(&belief[c, 0], &turned[0, 0] if flipped else &straight[0, 0], L, step, &up[s, 0])
            z = 0.0
            for b in range(L):
                z += up[s, b]
            product *= z
            if not (1e-100 < product < 1e100):
                total += log(product)
                product = 1.0
            z = 1.0 / z
            for b in range(step):
                up[s, b] *= z
                if back:
                    before[s, b] = belief[p, b]
                belief[p, b] *= up[s, b]
        for i in range(roots.shape[0]):
            z = 0.0
            for b in range(L):
                z += belief[roots[i], b]
            total += log(z)
            if back:
                for b in range(L):
                    weights[roots[i], b] = belief[roots[i], b] / z
        total += log(product)
        if back:
            for s in range(steps - 1, -1, -1):
                e = edge[s]
                c = child[s]
                p = parent[s]
                flipped = pairs[e, 1] == c
                if not shared:
                    expand(&pair_weights[e, 0], tie, straight, turned)
                for b in range(step):
                    rest[b] = before[s, b] * after[p, b]
                    after[p, b] *= up[s, b]
                gp_multiply(&rest[0], &straight[0, 0] if flipped else &turned[0, 0], L, step, &down[0])
                z = 0.0
                x = 0.0
                for a in range(L):
                    z += belief[c, a] * down[a]
                    x += down[a]
                z = 1.0 / z
                x = 1.0 / x
                for a in range(step):
                    after[c, a] = down[a] * x
                for a in range(L):
                    weights[c, a] = belief[c, a] * down[a] * z
                for b in range(step):
                    rest[b] *= z
                if not shared:
                    sums[:, :] = 0.0
                if flipped:
                    gp_add_products(&rest[0], &belief[c, 0], L, step, &sums[0, 0])
                else:
                    gp_add_products(&belief[c, 0], &rest[0], L, step, &sums[0, 0])
                if not shared:
                    gather(sums, straight, tie, &expected[e, 0], expected.shape[1])
            if shared:
                gather(sums, straight, tie, &expected[0, 0], expected.shape[1])
    return total


cdef void expand(
    const double* numbers, const element_t[:, ::1] tie, double[:, ::1] straight, double[:, ::1] turned
) noexcept nogil:
    cdef Py_ssize_t a, b
    for a in range(tie.shape[0]):
        for b in range(tie.shape[0]):
            straight[a, b] = numbers[tie[a, b]]
            turned[b, a] = straight[a, b]


cdef void gather(
    const double[:, ::1] sums, const double[:, ::1] table, const element_t[:, ::1] tie, double* expected, Py_ssize_t numbers
) noexcept nogil:
    cdef Py_ssize_t a, b
    for a in range(numbers):
        expected[a] = 0.0
    for a in range(tie.shape[0]):
        for b in range(tie.shape[0]):
            expected[tie[a, b]] += sums[a, b] * table[a, b]


# ------------------------------------------------------------------------------------------------- the pseudolikelihood

def losses(
    double[:, ::1] scores,
    const double[:, ::1] pair_scores,
    const element_t[:, ::1] tie,
    data,
    const element_t[::1] labels,
    double[:, ::1] derivative,
):
    """The sum of the losses. `scores` become its derivatives by the scores, `derivative` those by the pairs' numbers."""
    cdef const element_t[:, ::1] pairs = data.pairs
    cdef const offset_t[::1] start = data.incidence[0]
    cdef const element_t[::1] row = data.incidence[1]
    cdef Py_ssize_t n = scores.shape[0], L = scores.shape[1], v, l, y
    cdef offset_t i
    cdef element_t e, u
    cdef bint shared = pair_scores.shape[0] == 1
    cdef const double* numbers
    cdef double* out
    cdef double total = 0.0, part = 0.0, high, z, mine
    cdef double[::1] s = empty_float64(L)
    derivative[:, :] = 0.0
    with nogil:
        for v in range(n):
            for l in range(L):
                s[l] = scores[v, l]
            for i in range(start[v], start[v + 1]):
                e = row[i]
                if e >= 0:
                    numbers = &pair_scores[0 if shared else e, 0]
                    u = labels[pairs[e, 1]]
                    for l in range(L):
                        s[l] += numbers[tie[l, u]]
                else:
                    numbers = &pair_scores[0 if shared else ~e, 0]
                    u = labels[pairs[~e, 0]]
                    for l in range(L):
                        s[l] += numbers[tie[u, l]]
            y = labels[v]
            high = -INFINITY
            for l in range(L):
                high = s[l] if s[l] > high else high
            z = 0.0
            mine = s[y]
            for l in range(L):
                s[l] = exp(s[l] - high)
                z += s[l]
            part += high - mine + log(z)
            if v % 256 == 255:  # partial sums: the error of a long sum does not grow with its length
                total += part
                part = 0.0
            z = 1.0 / z
            for l in range(L):
                s[l] *= z
            s[y] -= 1.0
            for l in range(L):
                scores[v, l] = s[l]
            for i in range(start[v], start[v + 1]):
                e = row[i]
                if e >= 0:
                    out = &derivative[0 if shared else e, 0]
                    u = labels[pairs[e, 1]]
                    for l in range(L):
                        out[tie[l, u]] += s[l]
                else:
                    out = &derivative[0 if shared else ~e, 0]
                    u = labels[pairs[~e, 0]]
                    for l in range(L):
                        out[tie[u, l]] += s[l]
    return total + part
