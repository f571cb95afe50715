"""Kernel of strips of a grid: messages between strips, labels by rounding, exact moves of whole strips.

A strip is a range of rows. Its state at a column is a table over the labels of its cells in this column; the first row
runs slowest. The strip is minimised cell by cell: the label of one cell is replaced by that of the cell to its right or
to its left. This is a matrix product over (min, +).
"""

from functools import partial

import numpy as np

from libc.math cimport fabs
from libc.string cimport memcpy

from graphpart.kernels._arrays cimport zeros_float64, zeros_int32
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.machine import side_by_side
from graphpart.stopping cimport Stopping

cdef extern from *:
    """
    #include <stddef.h>
    #if defined(__GNUC__) && !defined(__clang__)
    #define GP_ROLLED _Pragma("GCC unroll 1")
    #else
    #define GP_ROLLED
    #endif
    #define GP_LESS(a, b) ((a) < (b) ? (a) : (b))
    /* One row of the result stays in registers. */
    #define GP_PRODUCT(D) \\
        for (ptrdiff_t i = 0; i < rows; i++) { \\
            double best[D]; \\
            const double *one = left + i * row; \\
            GP_ROLLED for (int j = 0; j < D; j++) best[j] = one[0] + right[j]; \\
            for (ptrdiff_t k = 1; k < inner; k++) { \\
                double x = one[k * column]; \\
                const double *other = right + k * D; \\
                GP_ROLLED for (int j = 0; j < D; j++) { double y = x + other[j]; best[j] = GP_LESS(y, best[j]); } \\
            } \\
            GP_ROLLED for (int j = 0; j < D; j++) out[i * D + j] = best[j]; \\
        }
    /* out[i, j] = the least of left[i, k] + right[k, j] over k */
    GP_CLONES static void gp_least_sums(ptrdiff_t rows, ptrdiff_t inner, ptrdiff_t columns,
                                        const double *GP_RESTRICT left, ptrdiff_t row, ptrdiff_t column,
                                        const double *GP_RESTRICT right, double *GP_RESTRICT out) {
        if (columns == 4) { GP_PRODUCT(4) return; }
        if (columns == 8) { GP_PRODUCT(8) return; }
        for (ptrdiff_t i = 0; i < rows; i++, out += columns) {
            const double *one = left + i * row, *p = right;
            ptrdiff_t k = 1;
            for (ptrdiff_t j = 0; j < columns; j++) out[j] = one[0] + p[j];
            for (; k + 4 <= inner; k += 4) {            /* four at a time: a quarter of the loads and stores */
                double a = one[k * column], b = one[(k + 1) * column];
                double c = one[(k + 2) * column], d = one[(k + 3) * column];
                const double *q = right + k * columns, *r = q + columns, *s = r + columns, *t = s + columns;
                for (ptrdiff_t j = 0; j < columns; j++) {
                    double x = a + q[j], y = b + r[j], z = c + s[j], u = d + t[j];
                    x = GP_LESS(y, x);
                    z = GP_LESS(u, z);
                    x = GP_LESS(z, x);
                    out[j] = GP_LESS(x, out[j]);
                }
            }
            for (; k < inner; k++) {
                double x = one[k * column];
                p = right + k * columns;
                for (ptrdiff_t j = 0; j < columns; j++) { double y = x + p[j]; out[j] = GP_LESS(y, out[j]); }
            }
        }
    }
    /* The least of some numbers: eight minima side by side. */
    GP_CLONES static double gp_least_of(ptrdiff_t count, const double *x) {
        double best[8], least = x[0];
        ptrdiff_t i = 0;
        if (count >= 8) {
            for (int k = 0; k < 8; k++) best[k] = x[k];
            for (i = 8; i + 8 <= count; i += 8)
                GP_ROLLED for (int k = 0; k < 8; k++) best[k] = GP_LESS(x[i + k], best[k]);
            for (int k = 0; k < 8; k++) least = GP_LESS(best[k], least);
        }
        for (; i < count; i++) least = GP_LESS(x[i], least);
        return least;
    }
    /* to[x] = from[x] + c */
    GP_CLONES static void gp_plus(ptrdiff_t count, const double *from, double c, double *to) {
        for (ptrdiff_t x = 0; x < count; x++) to[x] = from[x] + c;
    }
    /* to[x] += weight * from[x] */
    GP_CLONES static void gp_add_part(ptrdiff_t count, const double *GP_RESTRICT from, double weight,
                                      double *GP_RESTRICT to) {
        for (ptrdiff_t x = 0; x < count; x++) to[x] += weight * from[x];
    }
    /* out[x, y] = table[x * row + y * column], at most cap */
    GP_CLONES static void gp_capped(ptrdiff_t rows, ptrdiff_t columns, const double *GP_RESTRICT table, ptrdiff_t row,
                                    ptrdiff_t column, double cap, double *GP_RESTRICT out) {
        if (column == 1)
            for (ptrdiff_t i = 0; i < rows * columns; i++) out[i] = GP_LESS(table[i], cap);
        else
            for (ptrdiff_t x = 0; x < rows; x++)
                for (ptrdiff_t y = 0; y < columns; y++)
                    out[x * columns + y] = GP_LESS(table[x * row + y * column], cap);
    }
    /* out[x, y] -= one[x] + other[y] */
    GP_CLONES static void gp_less_sums(ptrdiff_t rows, ptrdiff_t columns, const double *GP_RESTRICT one,
                                       const double *GP_RESTRICT other, double *GP_RESTRICT out) {
        for (ptrdiff_t x = 0; x < rows; x++)
            for (ptrdiff_t y = 0; y < columns; y++) out[x * columns + y] -= one[x] + other[y];
    }
    /* to[a, x, b] += costs[x] */
    GP_CLONES static void gp_add_along(ptrdiff_t before, ptrdiff_t count, ptrdiff_t after, const double *GP_RESTRICT costs,
                                       double *GP_RESTRICT to) {
        if (after == 1) {
            for (ptrdiff_t a = 0; a < before; a++, to += count)
                for (ptrdiff_t x = 0; x < count; x++) to[x] += costs[x];
            return;
        }
        for (ptrdiff_t a = 0; a < before; a++)
            for (ptrdiff_t x = 0; x < count; x++, to += after) {
                double c = costs[x];
                for (ptrdiff_t b = 0; b < after; b++) to[b] += c;
            }
    }
    """
    void least_sums "gp_least_sums" (
        Py_ssize_t rows, Py_ssize_t inner, Py_ssize_t columns, const double* left, Py_ssize_t row, Py_ssize_t column,
        const double* right, double* out
    ) noexcept nogil
    double least_of "gp_least_of" (Py_ssize_t count, const double* x) noexcept nogil
    void plus "gp_plus" (Py_ssize_t count, const double* one, double c, double* to) noexcept nogil
    void add_part "gp_add_part" (Py_ssize_t count, const double* one, double weight, double* to) noexcept nogil
    void capped "gp_capped" (
        Py_ssize_t rows, Py_ssize_t columns, const double* table, Py_ssize_t row, Py_ssize_t column, double cap,
        double* out
    ) noexcept nogil
    void less_sums "gp_less_sums" (
        Py_ssize_t rows, Py_ssize_t columns, const double* one, const double* other, double* out
    ) noexcept nogil
    void add_along "gp_add_along" (
        Py_ssize_t before, Py_ssize_t count, Py_ssize_t after, const double* costs, double* to
    ) noexcept nogil

cdef enum:
    RIGHT = 0                       # pairs of a cell and the one to its right,
    DOWN = 1                        # or the one below
    NONE = -1

cdef double UNIT = 2.0**-53


cdef struct Strip:
    Py_ssize_t low, high, width     # its rows
    bint upwards                    # the first row of the state is `high`
    bint above, below               # rows next to it have fixed labels
    Py_ssize_t given                # the row whose costs are messages only, or NONE
    Py_ssize_t sends                # the row whose costs are less by messages, or NONE


cdef inline Py_ssize_t row_at(const Strip* s, Py_ssize_t k) noexcept nogil:
    return s.high - k if s.upwards else s.low + k


cdef class Strips:
    """The cells of a grid and the messages between its strips.

    Strips have `width` rows, and the last row of each is the first row of the next strip. The costs of this row belong
    to the upper strip. There is a message for each pair of labels of neighbours in this row; it is added to the lower
    strip and subtracted from the upper one.

    Strips above the middle one and strips below it are apart, so both halves are worked on at once; the middle one comes
    after them, or before them. A `twin` has the same messages, for another thread.

    Parameters
    ----------
    rows, columns : int
        At least 2.
    domains : ndarray of int32, shape (rows * columns,)
        The number of labels of each cell, row by row.
    first : ndarray of int64, shape (rows * columns,)
        Where the unary costs of each cell begin in `unary`.
    unary, tables : ndarray of float64
    start : ndarray of int64, shape (4, rows * columns)
        The starts in `tables` of the tables of a cell with its right and with its lower neighbour; -1 if there is none.
        Then, for the same pairs, the starts in `tables` of the costs that the table sends to the labels of its first
        and then of its second variable, and that are subtracted from its entries; -1 if it sends none.
    turned : ndarray of uint8, shape (2, rows * columns)
        Whether the rows of the table are the labels of that neighbour.
    cap : float
        Larger costs are replaced by this.
    width : int
    """

    cdef Py_ssize_t rows, columns, width, largest
    cdef bint measures, inwards, large
    cdef Strips other_half
    cdef element_t[::1] done        # of the upper half, the lower half and the middle: strips that this pass has visited
    cdef double cap, magnitude, error
    cdef const element_t[::1] domains
    cdef const offset_t[::1] first
    cdef const double[::1] unary, tables
    cdef const offset_t[:, ::1] start
    cdef const unsigned char[:, ::1] turned
    cdef offset_t[::1] message_start
    cdef double[::1] messages, least
    cdef double[::1] states, kept, pair, single, marginal
    cdef double* state
    cdef double* other
    cdef Py_ssize_t room

    def __init__(self, Py_ssize_t rows, Py_ssize_t columns, domains, first, unary, tables, start, turned, double cap,
                 Py_ssize_t width):
        self.rows, self.columns, self.cap = rows, columns, cap
        self.domains, self.first, self.unary, self.tables = domains, first, unary, tables
        self.start, self.turned = start, turned
        self.width = min(width, rows)
        self.room = 0
        self.largest = int(np.max(domains, initial=1))
        self.pair = zeros_float64(self.largest * self.largest)
        self.marginal = zeros_float64(self.largest * self.largest)
        self.single = zeros_float64(2 * self.largest)
        self.least = np.full((rows - 2) // (self.width - 1) + 1, -np.inf)
        # room for messages in the rows that two strips have in common
        each = np.zeros((rows, columns), np.int64)
        common = slice(self.width - 1, rows - 1, self.width - 1)
        sizes = np.asarray(domains).reshape(rows, columns).astype(np.int64)
        each[common, :-1] = sizes[common, :-1] * sizes[common, 1:]
        ends = np.cumsum(each)
        self.message_start = ends - each.ravel()
        self.messages = zeros_float64(int(each.sum()))
        self.done = zeros_int32(3)
        self.large = float(rows) * columns * self.largest**self.width >= 2**20      # else threads gain nothing

    cdef Strips twin(self):
        if self.other_half is not None:
            return self.other_half
        cdef Strips other = Strips.__new__(Strips)
        other.rows, other.columns, other.cap, other.width = self.rows, self.columns, self.cap, self.width
        other.domains, other.first, other.unary, other.tables = self.domains, self.first, self.unary, self.tables
        other.start, other.turned, other.largest, other.room = self.start, self.turned, self.largest, 0
        other.pair, other.marginal = np.zeros_like(self.pair), np.zeros_like(self.marginal)
        other.single = np.zeros_like(self.single)
        other.message_start, other.messages, other.least, other.done = (
            self.message_start, self.messages, self.least, self.done
        )
        self.other_half = other
        return other

    def at_once(self, one, other):
        return side_by_side(one, other, worth=self.large)

    @property
    def bound(self):
        """The sum of the minima of all strips in the latest pass; -inf before the first pass."""
        return float(np.sum(self.least))

    def export(self):
        """(where the messages of each cell and its right neighbour begin, messages)."""
        return np.array(self.message_start), np.array(self.messages)

    def half(self, bint inwards, double share, double cost, Stopping stopping):
        """Continue a pass to the middle or away from it: strips send a `share` of their minima; whether it is complete."""
        if inwards != self.inwards or np.sum(self.done) == self.least.shape[0]:
            self.done[:] = 0
        self.inwards = inwards
        one = partial(self.send, 0, inwards, share, cost, stopping)
        other = partial(self.twin().send, 1, inwards, share, cost, stopping.child())
        if inwards:
            return all(self.at_once(one, other)) and self.send(2, inwards, share, cost, stopping)
        return self.send(2, inwards, share, cost, stopping) and all(self.at_once(one, other))

    def send(self, Py_ssize_t part, bint inwards, double share, double cost, Stopping stopping):
        """The same in a half (0, 1) or for the middle strip (2), which sends to both neighbours, or to none."""
        cdef Py_ssize_t count = self._in(part), k
        cdef bint ended = False
        self._reserve(self.width)
        with nogil:
            while self.done[part] < count and not ended:
                k = self._number(part, self.done[part], inwards)
                if part == 2 and not inwards:
                    self._send(k, False, share)
                if part < 2 or not inwards:
                    self._send(k, inwards == (part == 0), share)
                else:
                    self.least[k] = self._minimum(k)
                self.done[part] += 1
                ended = stopping.poll(cost)
        return self.done[part] == count

    cdef Py_ssize_t _in(self, Py_ssize_t part) noexcept nogil:
        """The number of strips of a part."""
        cdef Py_ssize_t count = self.least.shape[0]
        return 1 if part == 2 else count // 2 if part == 0 else count - 1 - count // 2

    cdef Py_ssize_t _number(self, Py_ssize_t part, Py_ssize_t turn, bint inwards) noexcept nogil:
        """The number of the strip of a part whose turn it is."""
        cdef Py_ssize_t count = self.least.shape[0]
        if part == 2:
            return count // 2
        if not inwards:
            turn = self._in(part) - 1 - turn
        return count - 1 - turn if part else turn

    cdef double _minimum(self, Py_ssize_t k) noexcept nogil:
        cdef Strip s = self._strip(k, False)
        return self._collect(&s, NULL)

    def proven(self):
        """(the minimum of each strip with the present messages, a bound on the rounding error of their sum)."""
        cdef Py_ssize_t count = self.least.shape[0]
        cdef Strips other = self.twin()
        least = zeros_float64(count)
        self.at_once(partial(self.prove, 0, count // 2, least), partial(other.prove, count // 2, count, least))
        return least, self.error + other.error

    def prove(self, Py_ssize_t begin, Py_ssize_t end, double[::1] least):
        """The same for the strips from `begin` to `end`."""
        cdef Py_ssize_t k
        self._reserve(self.width)
        self.measures, self.error = True, 0.0
        with nogil:
            for k in range(begin, end):
                least[k] = self._minimum(k)
        self.measures = False

    def round(self, labels):
        """Labels of all cells by fixing strips towards the middle; only after a pass away from it."""
        self.at_once(partial(self.fix, 0, labels), partial(self.twin().fix, 1, labels))
        self.fix(2, labels)

    def fix(self, Py_ssize_t part, element_t[::1] labels):
        """The same for a half (0, 1) or the middle strip (2)."""
        cdef Py_ssize_t turn, k
        cdef Strip s
        self._reserve(self.width)
        with nogil:
            for turn in range(self._in(part)):
                k = self._number(part, turn, True)
                s = self._strip(k, False)
                if k and part != 1:                             # the row in common with the strip above is fixed
                    s.low, s.width, s.above, s.given = s.low + 1, s.width - 1, True, NONE
                if k + 1 < self.least.shape[0] and part:        # the row in common with the strip below is fixed
                    s.high, s.width, s.below, s.sends = s.high - 1, s.width - 1, True, NONE
                if s.width > 0:
                    self._collect(&s, &labels[0])
                    self._descend(&s, &labels[0])

    def move(self, labels, Py_ssize_t width, Py_ssize_t offset, Py_ssize_t step, double cost, Stopping stopping):
        """Give each strip of `width` rows its best labels given all others; return whether all strips had their turn.

        The first rows of the strips are `offset`, `offset + step`, `offset + 2 * step`, and so on.
        """
        cdef Py_ssize_t begin = offset + max(0, self.rows - offset) // (2 * step) * step    # of strips in the middle,
        cdef Py_ssize_t end = begin + width // step * step      # more than `width - step` rows, which part the halves
        return all(self.at_once(
            partial(self.improve, labels, width, offset, begin, step, cost, stopping),
            partial(self.twin().improve, labels, width, end, self.rows, step, cost, stopping.child()),
        )) and self.improve(labels, width, begin, min(end, self.rows), step, cost, stopping)

    def improve(self, element_t[::1] labels, Py_ssize_t width, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t step,
                double cost, Stopping stopping):
        """The same for the strips whose first row is at least `begin` and less than `end`."""
        cdef Py_ssize_t low = begin, high
        cdef Strip s
        cdef bint ended = False
        self._reserve(min(width, self.rows))
        with nogil:
            while low < end and not ended:
                high = min(low + width, self.rows) - 1
                s = Strip(low, high, high - low + 1, False, low > 0, high < self.rows - 1, NONE, NONE)
                self._collect(&s, &labels[0])
                self._descend(&s, &labels[0])
                low += step
                ended = stopping.poll(cost)
        return not ended

    def _reserve(self, Py_ssize_t width):
        cdef Py_ssize_t room = self.largest**width
        if room > self.room:
            self.room = room
            self.states, self.kept = zeros_float64(2 * room), zeros_float64(room * self.columns)
            self.state, self.other = &self.states[0], &self.states[room]

    cdef Strip _strip(self, Py_ssize_t k, bint upwards) noexcept nogil:
        """Strip k of those that exchange messages."""
        cdef Py_ssize_t low = k * (self.width - 1), high = min(low + self.width, self.rows) - 1
        return Strip(low, high, high - low + 1, upwards, False, False, low if k else NONE,
                     high if high < self.rows - 1 else NONE)

    cdef void _gather(self, Py_ssize_t which, Py_ssize_t cell, Py_ssize_t next_cell, bint swapped, double* out) noexcept nogil:
        """The table of a cell and the next one. Its rows are labels of the cell or, if `swapped`, of the next one."""
        cdef Py_ssize_t d = self.domains[cell], e = self.domains[next_cell], x, of_x, of_y
        cdef offset_t sent = self.start[2 + which, cell]
        cdef const double* to_x
        cdef const double* to_y
        if self.start[which, cell] < 0:
            for x in range(d * e):
                out[x] = 0.0
            return
        of_x, of_y = e, 1
        to_x = to_y = &self.tables[max(sent, 0)]
        if self.turned[which, cell]:
            of_x, of_y = 1, d
            to_x += e
        else:
            to_y += d
        if swapped:
            d, e, of_x, of_y = e, d, of_y, of_x
            to_x, to_y = to_y, to_x
        capped(d, e, &self.tables[self.start[which, cell]], of_x, of_y, self.cap, out)
        if sent >= 0:
            less_sums(d, e, to_x, to_y, out)

    cdef void _across(self, const Strip* s, Py_ssize_t row, Py_ssize_t j, double* out) noexcept nogil:
        """The costs of the pair of columns j and j + 1 of a row in a strip."""
        cdef Py_ssize_t cell = row * self.columns + j, size = self.domains[cell] * self.domains[cell + 1], i
        cdef const double* message
        cdef double most = 0.0
        if row != s.given:
            self._gather(RIGHT, cell, cell + 1, False, out)
        if row == s.given or row == s.sends:
            message = &self.messages[self.message_start[cell]]
            if row == s.given:
                memcpy(out, message, size * sizeof(double))
            else:
                add_part(size, message, -1.0, out)
        if self.measures:
            for i in range(size):
                most = max(most, fabs(out[i]))
            self.magnitude += most

    cdef Py_ssize_t _nodes(self, const Strip* s, Py_ssize_t j, const element_t* labels, double* to) noexcept nogil:
        """Add all costs within column j to a state; return the size of the state."""
        cdef Py_ssize_t k, row, cell, i, d, e, before = 1, after = 1
        cdef double* own = &self.single[0]
        cdef double* pair = &self.pair[0]
        cdef double most
        for k in range(s.width):
            after *= self.domains[row_at(s, k) * self.columns + j]
        cdef Py_ssize_t size = after
        for k in range(s.width):
            row = row_at(s, k)
            cell = row * self.columns + j
            d = self.domains[cell]
            after //= d
            for i in range(d):
                own[i] = 0.0 if row == s.given else min(self.unary[self.first[cell] + i], self.cap)
            if s.above and row == s.low:
                self._gather(DOWN, cell - self.columns, cell, False, pair)
                e = labels[cell - self.columns]
                for i in range(d):
                    own[i] += pair[e * d + i]
            if s.below and row == s.high:
                self._gather(DOWN, cell, cell + self.columns, True, pair)
                e = labels[cell + self.columns]
                for i in range(d):
                    own[i] += pair[e * d + i]
            if self.measures:
                most = 0.0
                for i in range(d):
                    most = max(most, fabs(own[i]))
                self.magnitude += most
            if k + 1 == s.width:
                add_along(before, d, 1, own, to)
                break
            row = row_at(s, k + 1)
            e = self.domains[row * self.columns + j]
            cell = min(row, row_at(s, k)) * self.columns + j
            self._gather(DOWN, cell, cell + self.columns, s.upwards, pair)
            if self.measures:
                most = 0.0
                for i in range(d * e):
                    most = max(most, fabs(pair[i]))
                self.magnitude += most
            add_along(1, d, e, own, pair)
            add_along(before, d * e, after // e, pair, to)
            before *= d
        return size

    cdef void _replace(self, const Strip* s, Py_ssize_t k, Py_ssize_t j, bint back) noexcept nogil:
        """Replace, in the state, the label of row k in column j by that in column j + 1; if `back`, the reverse.

        The rows before it have been replaced.
        """
        cdef Py_ssize_t row = row_at(s, k), cell = row * self.columns + j, q, i, x, y, before = 1, after = 1
        cdef Py_ssize_t d = self.domains[cell], e = self.domains[cell + 1]
        cdef Py_ssize_t old = e if back else d, new = d if back else e
        cdef double* pair = &self.pair[0]
        cdef double* turned = &self.marginal[0]
        for q in range(k):
            before *= self.domains[row_at(s, q) * self.columns + j + (0 if back else 1)]
        for q in range(k + 1, s.width):
            after *= self.domains[row_at(s, q) * self.columns + j + (1 if back else 0)]
        self._across(s, row, j, pair)
        if after == 1:
            if back:
                for x in range(d):
                    for y in range(e):
                        turned[y * d + x] = pair[x * e + y]
                pair = turned
            least_sums(before, old, new, self.state, old, 1, pair, self.other)
        else:
            for i in range(before):
                least_sums(new, old, after, pair, e if back else 1, 1 if back else e, &self.state[i * old * after],
                           &self.other[i * new * after])
        self.state, self.other = self.other, self.state

    cdef double _collect(self, const Strip* s, const element_t* labels) noexcept nogil:
        """The minimum of a strip. For each column, the minimum over it and the columns to its right is kept.

        The rounding error: on a best path, each addition errs by at most UNIT times the absolute value of its result.
        This is at most the absolute value of the kept minimum plus those of the added costs.
        """
        cdef Py_ssize_t j = self.columns - 1, k, i, size
        cdef double* here
        cdef double least, total = 0.0, most, before = 0.0
        self.magnitude = 0.0
        here = &self.kept[j * self.room]
        for i in range(self.room):
            here[i] = 0.0
        size = self._nodes(s, j, labels, here)
        while True:
            if self.measures:
                most = 0.0
                for i in range(size):
                    most = max(most, fabs(here[i]))
                self.error += UNIT * (fabs(total) + (8 * s.width + 8) * (most + before + self.magnitude))
                before, self.magnitude = most, 0.0
            if j == 0:
                break
            j -= 1
            memcpy(self.state, here, size * sizeof(double))
            for k in range(s.width):
                self._replace(s, k, j, True)
            size = 1
            for k in range(s.width):
                size *= self.domains[row_at(s, k) * self.columns + j]
            least = least_of(size, self.state)
            total += least
            here = &self.kept[j * self.room]
            plus(size, self.state, -least, here)
            self._nodes(s, j, labels, here)
        return total + least_of(size, here)

    cdef void _send(self, Py_ssize_t number, bint down, double share) noexcept nogil:
        """A strip sends the one below or above a share of the least costs of the pairs of labels in their common row.

        Pairs are processed from left to right; sent costs are subtracted before the next pair.
        """
        cdef Strip s = self._strip(number, not down)
        cdef Py_ssize_t last = s.sends if down else s.given, j, k, i, d, e, cell, size
        cdef double* pair = &self.pair[0]
        cdef double* marginal = &self.marginal[0]
        self.least[number] = self._collect(&s, NULL)
        if last == NONE:
            return
        for i in range(self.room):
            self.state[i] = 0.0
        size = self._nodes(&s, 0, NULL, self.state)
        for j in range(self.columns - 1):
            for k in range(s.width - 1):
                self._replace(&s, k, j, False)
            cell = last * self.columns + j
            d, e = self.domains[cell], self.domains[cell + 1]
            size = 1
            for k in range(s.width - 1):
                size *= self.domains[row_at(&s, k) * self.columns + j + 1]
            least_sums(d, size, e, self.state, 1, d, &self.kept[(j + 1) * self.room], marginal)
            self._across(&s, last, j, pair)
            add_part(d * e, pair, 1.0, marginal)
            plus(d * e, marginal, -least_of(d * e, marginal), marginal)
            add_part(d * e, marginal, share if down else -share, &self.messages[self.message_start[cell]])
            self._replace(&s, s.width - 1, j, False)
            size *= e
            plus(size, self.state, -least_of(size, self.state), self.state)
            self._nodes(&s, j + 1, NULL, self.state)

    cdef void _descend(self, const Strip* s, element_t* labels) noexcept nogil:
        """Set the best labels of a strip, from left to right, by the kept minima."""
        cdef Py_ssize_t j, k, i, at, size, before, after, cell
        cdef double* here
        for j in range(self.columns):
            here = &self.kept[j * self.room]
            size = 1
            for k in range(s.width):
                size *= self.domains[row_at(s, k) * self.columns + j]
            if j:
                before, after = 1, size
                for k in range(s.width):
                    cell = row_at(s, k) * self.columns + j
                    after //= self.domains[cell]
                    self._across(s, row_at(s, k), j - 1, &self.pair[0])
                    add_along(before, self.domains[cell], after, &self.pair[labels[cell - 1] * self.domains[cell]],
                              here)
                    before *= self.domains[cell]
            at = 0
            for i in range(1, size):
                if here[i] < here[at]:
                    at = i
            for k in range(s.width - 1, -1, -1):
                cell = row_at(s, k) * self.columns + j
                labels[cell] = <element_t>(at % self.domains[cell])
                at //= self.domains[cell]
