"""A kernel that comes nearer to the projection of a point on a box cut by inequalities: dual coordinate ascent.

Row k has the variables ``pairs[starts[k]:middles[k]]`` with sign +, those up to ``starts[k + 1]`` with sign -.
"""

from graphpart.kernels.types cimport element_t, offset_t

cdef double ROOM = -0.05   # a row with multiplier 0 and more room than this is not looked at ...
cdef int REST = 4          # ... in so many sweeps


cdef inline double clipped(double value, double low, double high) noexcept nogil:
    value = low if value < low else value
    return high if value > high else value


def sweep(const offset_t[::1] starts, const offset_t[::1] middles, const element_t[::1] pairs, const double[::1] rhs,
          const double[::1] row_steps, const double[::1] lower, const double[::1] upper, double step,
          double[::1] point, double[::1] multipliers, unsigned char[::1] rest):
    """One pass over the rows, in place.

    `point` is what is to be projected, less ``step * multipliers`` times the rows; with its bounds as limits it is the
    projection once no multiplier changes.
    """
    cdef Py_ssize_t k, e
    cdef offset_t i
    cdef double value, change
    with nogil:
        for k in range(rhs.shape[0]):
            if rest[k]:
                rest[k] -= 1
                continue
            value = -rhs[k]
            for i in range(starts[k], middles[k]):
                e = pairs[i]
                value += clipped(point[e], lower[e], upper[e])
            for i in range(middles[k], starts[k + 1]):
                e = pairs[i]
                value -= clipped(point[e], lower[e], upper[e])
            if multipliers[k] == 0 and value < ROOM:
                rest[k] = REST
                continue
            change = row_steps[k] / step * value
            change = change if multipliers[k] + change > 0 else -multipliers[k]
            if change != 0:
                multipliers[k] += change
                change *= step
                for i in range(starts[k], middles[k]):
                    point[pairs[i]] -= change
                for i in range(middles[k], starts[k + 1]):
                    point[pairs[i]] += change
