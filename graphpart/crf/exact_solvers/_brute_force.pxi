"""Kernel of brute force on factor graphs: all labelings in lexicographic order, variables assigned one by one.

A factor is added as soon as the last of its variables has a label. A branch is cut off if the energy so far, plus the
smallest entries of all remaining factors, is not below the best energy known.
"""

from libc.math cimport INFINITY

from graphpart.crf.problem._view cimport Factors, View, entry_of, table_of
from graphpart.kernels._arrays cimport zeros_float64, zeros_int32
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping


def enumerate_labelings(
    View view,
    const offset_t[::1] due_start,
    const element_t[::1] due,
    const cost_t[::1] rest,
    double slack,
    double constant,
    Stopping stopping,
):
    """(labels, energy, completed): the first best labeling, None if there is none.

    The factors ``due[due_start[v]:due_start[v + 1]]`` are added with variable v; ``rest[v]`` is a lower bound on the
    factors that are added after v. `slack` is the largest rounding error of an energy.
    """
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, v = 0
    cdef offset_t i, f
    cdef double x, best_cost = INFINITY
    cdef bint completed = True, found = False
    best_array = zeros_int32(n)
    cdef element_t[::1] label = zeros_int32(n + 1), best = best_array
    cdef double[::1] energy = zeros_float64(n + 1)
    energy[0] = constant
    if n == 0:
        return best_array, constant, True
    with nogil:
        label[0] = -1
        while v >= 0:
            label[v] += 1
            if label[v] == g.domains[v]:
                v -= 1
                continue
            if stopping.poll(best_cost):
                completed = False
                break
            x = energy[v]
            for i in range(due_start[v], due_start[v + 1]):
                f = due[i]
                x += table_of(g, f)[entry_of(g, f, &label[0])]
            if x == INFINITY or (found and x + rest[v] - slack >= best_cost):
                continue
            if v < n - 1:
                v += 1
                energy[v] = x
                label[v] = -1
            elif not found or x < best_cost:
                found = True
                best_cost = x
                best[:] = label[:n]
    return best_array if found else None, best_cost, completed
