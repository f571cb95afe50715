"""Kernel of sequential reweighted message passing: passes over the variables, and over tight pairs of triplets."""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from graphpart.crf.bounds._prepared cimport Prepared, message_of, sizes
from graphpart.crf.bounds._visits cimport gp_first, gp_network, gp_run, gp_visit
from graphpart.crf.problem._view cimport entries_of
from graphpart.kernels._arrays cimport zeros_float64
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef extern from *:
    """
    #define GP_ROWS(D) \\
        for (ptrdiff_t i = 0; i < rows; i++) { \\
            double best[D]; \\
            for (int j = 0; j < D; j++) best[j] = left[i * row] + right[j]; \\
            for (ptrdiff_t k = 1; k < inner; k++) { \\
                double x = left[i * row + k * column]; \\
                for (int j = 0; j < D; j++) { \\
                    double y = x + right[k * D + j]; \\
                    best[j] = best[j] < y ? y : best[j]; \\
                } \\
            } \\
            for (int j = 0; j < D; j++) out[i * D + j] = best[j]; \\
        }
    /* out[i, j] = the most of left[i, k] + right[k, j] over k */
    static void gp_most_of_sums(ptrdiff_t rows, ptrdiff_t inner, ptrdiff_t columns, const double *left, ptrdiff_t row,
                                ptrdiff_t column, const double *right, double *out) {
        if (columns == 2) { GP_ROWS(2) return; }
        if (columns == 4) { GP_ROWS(4) return; }
        if (columns == 8) { GP_ROWS(8) return; }
        for (ptrdiff_t i = 0; i < rows; i++) {
            double *best = out + i * columns;
            for (ptrdiff_t j = 0; j < columns; j++) best[j] = left[i * row] + right[j];
            for (ptrdiff_t k = 1; k < inner; k++) {
                double x = left[i * row + k * column];
                for (ptrdiff_t j = 0; j < columns; j++) {
                    double y = x + right[k * columns + j];
                    best[j] = best[j] < y ? y : best[j];
                }
            }
        }
    }
    """
    void most_of_sums "gp_most_of_sums" (
        Py_ssize_t rows, Py_ssize_t inner, Py_ssize_t columns, const double* left, Py_ssize_t row, Py_ssize_t column,
        const double* right, double* out
    ) noexcept nogil

cdef enum:
    BLOCK = 16                      # variables between two looks at the clock


cdef class Passing(Prepared):
    """A factor graph with messages, and passes that update them, part by part: two passes are one iteration."""

    def begin(self, bint forward):
        """Begin a pass in order, or in reverse."""
        cdef Py_ssize_t k
        self.done_forward = forward
        for k in range(self.front.shape[0]):
            self.front[k] = <element_t>(self.ends[k] if forward else self.ends[k + 1] - 1)

    def visit(self, Py_ssize_t part, double cost, Stopping stopping):
        """Visit all variables of a part; (sum of the minima taken out, whether all were visited).

        Threads may visit different parts if there are pairs only, and none between these parts.
        """
        cdef Py_ssize_t left = self.ends[part + 1] - self.ends[part], some, largest = self.given.shape[0]
        cdef double[::1] room = zeros_float64(4 * largest)
        cdef gp_network net = self.net
        cdef element_t front = self.front[part]
        cdef double total = 0.0
        cdef bint ended = False, forward = self.done_forward
        net.in_, net.out, net.given, net.wide = &room[0], &room[largest], &room[2 * largest], &room[3 * largest]
        with nogil:
            while left > 0:
                if self.large_count == 0:
                    some = min(left, BLOCK)
                    total += gp_run(&net, front, some, forward)
                else:
                    some = 1
                    if not forward:
                        self._visit_tight(front, False)
                    total += self._visit(front, forward)
                    if forward:
                        self._visit_tight(front, True)
                left -= some
                front += <element_t>(some if forward else -some)
                if stopping.poll(cost):
                    ended = left > 0
                    break
        self.front[part] = front
        return total, not ended

    cdef double _visit(self, element_t v, bint forward) noexcept nogil:
        cdef element_t d = self.domains[v], y
        cdef offset_t i, at = gp_first(&self.net, v)
        cdef const double* start = &self.unary[at]
        cdef double* message
        cdef double least
        cdef Py_ssize_t k
        cdef bint large = self.large_rows[v] < self.large_rows[v + 1]
        if large:
            memcpy(&self.start[0], start, d * sizeof(double))
            start = &self.start[0]
            for i in range(self.large_rows[v], self.large_rows[v + 1]):
                k = self.large_of[i]
                message = message_of(self, k, self.place_of[i])
                if v != (self.large_first[k] if forward else self.large_last[k]):
                    self._collect(k, self.place_of[i], message)
                for y in range(d):
                    self.start[y] += message[y]
        least = gp_visit(&self.net, v, forward, start, &self.given[0])
        if large:
            for i in range(self.large_rows[v], self.large_rows[v + 1]):
                k = self.large_of[i]
                if v != (self.large_last[k] if forward else self.large_first[k]):
                    message = message_of(self, k, self.place_of[i])
                    for y in range(d):
                        message[y] -= self.given[y]
        return least

    cdef void _collect(self, Py_ssize_t k, element_t place, double* message) noexcept nogil:
        """The message to one variable becomes the least of the table less the messages to the others."""
        cdef offset_t f = self.large_factor[k], begin = self.scope_start[f], end = self.scope_start[f + 1]
        cdef offset_t size = entries_of(&self.view.g, f), i, j, y, rest
        cdef double* buffer = &self.scratch[0]
        cdef const double* source
        cdef const double* other
        cdef double least
        cdef element_t d
        if self.large_table[k] >= 0:
            self._collect_pair(k, place, message)
            return
        source = &self.tables[self.table_start[f]]
        for i in range(end - 1, begin + place, -1):         # the variables behind it, from the last one
            d = self.domains[self.scope[i]]
            other = message_of(self, k, <element_t>(i - begin))
            size //= d
            for j in range(size):
                least = source[j * d] - other[0]
                for y in range(1, d):
                    least = min(least, source[j * d + y] - other[y])
                buffer[j] = least
            source = buffer
        for i in range(begin, begin + place):               # those before it, from the first one
            d = self.domains[self.scope[i]]
            other = message_of(self, k, <element_t>(i - begin))
            rest = size // d
            for j in range(rest):
                buffer[j] = source[j] - other[0]
            for y in range(1, d):
                for j in range(rest):
                    least = source[y * rest + j] - other[y]
                    buffer[j] = least if least < buffer[j] else buffer[j]
            source = buffer
            size = rest
        for y in range(size):
            message[y] = min(source[y], self.cap)

    cdef void _collect_pair(self, Py_ssize_t k, element_t place, double* message) noexcept nogil:
        cdef element_t u = self.large_first[k], v = self.large_last[k]
        cdef element_t rows = self.domains[u], columns = self.domains[v]
        cdef const double* table = &self.pair_tables[self.large_table[k]]
        cdef const double* other = message_of(self, k, 1 - place)
        cdef bint to_rows = self.scope[self.scope_start[self.large_factor[k]] + place] == u
        cdef offset_t i, j
        cdef double least
        if to_rows:
            for i in range(rows):
                least = INFINITY
                for j in range(columns):
                    least = min(least, table[i * columns + j] - other[j])
                message[i] = min(least, self.cap)
            return
        for j in range(columns):
            message[j] = self.cap
        for i in range(rows):
            for j in range(columns):
                least = table[i * columns + j] - other[i]
                message[j] = least if least < message[j] else message[j]

    cdef void _visit_tight(self, element_t u, bint forward) noexcept nogil:
        """For the tight pairs from u to later variables: collect from their triplets, and send shares on."""
        cdef offset_t begin = self.owned_start[u], end = self.owned_start[u + 1], step
        for step in range(end - begin):
            self._visit_pair(self.owned[begin + step if forward else end - 1 - step], forward)

    cdef void _visit_pair(self, Py_ssize_t k, bint forward) noexcept nogil:
        cdef offset_t r, ahead = 0, behind = 0
        cdef element_t place, last = 2 if forward else 0, first = 2 - last
        cdef element_t rows = self.domains[self.large_first[k]], columns = self.domains[self.large_last[k]], x, y
        cdef double* table = &self.pair_tables[self.large_table[k]]
        cdef double* share = &self.scratch[0]
        cdef const double* to_rows
        cdef const double* to_columns
        cdef double least = INFINITY, weight
        cdef bint flipped = self.scope[self.scope_start[self.large_factor[k]]] != self.large_first[k]
        if self.member_start[k] == self.member_start[k + 1]:
            return
        for r in range(self.member_start[k], self.member_start[k + 1]):
            place = self.member[r] % 3
            ahead += place != last
            behind += place != first
            if place != first:
                self._collect_triplet(self.member[r] // 3, place, table)
        if not ahead:
            return
        weight = 1.0 / (1 + max(ahead, behind))
        to_rows, to_columns = message_of(self, k, flipped), message_of(self, k, not flipped)
        for x in range(rows):
            for y in range(columns):
                share[x * columns + y] = table[x * columns + y] - to_rows[x] - to_columns[y]
                least = min(least, share[x * columns + y])
        for x in range(rows * columns):
            share[x] = min(weight * (share[x] - least), self.cap)
        for r in range(self.member_start[k], self.member_start[k + 1]):
            if self.member[r] % 3 != last:
                self._send_to_triplet(self.member[r] // 3, self.member[r] % 3, share, table)

    cdef void _collect_triplet(self, Py_ssize_t t, element_t place, double* table) noexcept nogil:
        """Take out of a triplet, for each entry of a pair, the least over the third variable."""
        cdef element_t a, b, c, y, z
        cdef const double* first = &self.link_messages[self.link_message[t, 0]]
        cdef const double* second = &self.link_messages[self.link_message[t, 1]]
        cdef const double* third = &self.link_messages[self.link_message[t, 2]]
        cdef double* link = &self.link_messages[self.link_message[t, place]]
        cdef double* turned = &self.scratch2[0]
        cdef double* most = &self.scratch[0]
        cdef double least
        cdef offset_t i, count
        sizes(self, t, &a, &b, &c)
        if place == 0:
            for y in range(b):
                for z in range(c):
                    turned[z * b + y] = third[y * c + z]
            most_of_sums(a, c, b, second, c, 1, turned, most)
            count = <offset_t>a * b
        elif place == 1:
            most_of_sums(a, b, c, first, b, 1, third, most)
            count = <offset_t>a * c
        else:
            most_of_sums(b, a, c, first, 1, b, second, most)
            count = <offset_t>b * c
        for i in range(count):
            least = -most[i] - link[i]
            table[i] += least
            link[i] += least

    cdef void _send_to_triplet(self, Py_ssize_t t, element_t place, const double* share, double* table) noexcept nogil:
        cdef double* link = &self.link_messages[self.link_message[t, place]]
        cdef Py_ssize_t k = self.triplets[t, place]
        cdef offset_t i
        for i in range(<offset_t>self.domains[self.large_first[k]] * self.domains[self.large_last[k]]):
            table[i] -= share[i]
            link[i] -= share[i]
