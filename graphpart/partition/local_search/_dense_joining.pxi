"""Kernel of greedy joining on a matrix of costs, from singletons.

The costs of elements that are alone stay in the matrix, which is only read. A subset with several elements has a row of
its own, with its cost to each element that is alone. It also has a row and a column of a small table, with its costs to
all other such subsets. So a join adds two rows, and writes to few columns. Scattered memory is only read, and only for
the few subsets with several elements.

A pair of an element that is alone and a subset with several elements belongs to the row of the subset. A pair of two
such subsets belongs to both rows, a pair of two elements that are alone to the row of the smaller index. Each row keeps
its smallest cost and the place of this cost. When the subset at this place is joined, the value stays as a lower bound,
and the row is searched again only when it comes first (Müllner 2011). When only half of the elements are alone, the
rows of subsets drop the others. The matrix is not copied, since this would read all of it. The remaining entries of one
of its rows are collected when they are needed, which for most rows happens once.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.memory cimport large_pages, prefetch
from graphpart.kernels.ties cimport pack_sizes, scramble_pair
from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping

# These loops take most of the time. They are in C so that GP_CLONES applies to them. Several minima side by side run at
# the speed of memory, one does not. Only the block of the minimum is noted; its place is searched there. Compilers
# vectorise the loops over lanes. With 16 or fewer lanes, GCC unrolls these loops and does not vectorise them.
cdef extern from *:
    """
    #define GP_LANES 32
    #define GP_PLACES 256  /* in a block */

    /* All places of the smallest number lie from `first` on, before `end`. */
    typedef struct { double least; Py_ssize_t first, end; } gp_place;

    /* The smallest VALUE(k) for k below n. */
    #define GP_SCAN(VALUE)                                                                      \
        gp_place place = {Py_HUGE_VAL, 0, 0};                                                    \
        Py_ssize_t begin, end, k, j;                                                            \
        for (begin = 0; begin < n; begin = end) {                                               \
            double least[GP_LANES], low = Py_HUGE_VAL;                                          \
            end = n - begin < GP_PLACES ? n : begin + GP_PLACES;                                 \
            for (j = 0; j < GP_LANES; j++) least[j] = Py_HUGE_VAL;                              \
            for (k = begin; k + GP_LANES <= end; k += GP_LANES)                                 \
                for (j = 0; j < GP_LANES; j++) {                                                \
                    const double x = VALUE(k + j);                                              \
                    least[j] = x < least[j] ? x : least[j];                                     \
                }                                                                               \
            for (; k < end; k++) {                                                              \
                const double x = VALUE(k);                                                      \
                low = x < low ? x : low;                                                        \
            }                                                                                   \
            for (k = GP_LANES / 2; k > 2; k /= 2)                                               \
                for (j = 0; j < k; j++) least[j] = least[j + k] < least[j] ? least[j + k] : least[j]; \
            for (j = 0; j < 4; j++) low = least[j] < low ? least[j] : low;                      \
            if (low < place.least) { place.least = low; place.first = begin; place.end = end; } \
            else if (low == place.least) place.end = end;                                       \
        }                                                                                       \
        return place;

    /* Add a row to another one; the smallest of the sums, each with the number in `dead` added. */
    #define GP_SUM(k) ((into[k] += row[k]) + dead[k])
    GP_CLONES
    static gp_place gp_add_row(Py_ssize_t n, double *GP_RESTRICT into, const double *GP_RESTRICT row,
                               const double *GP_RESTRICT dead) { GP_SCAN(GP_SUM) }

    /* The smallest number of a row, the one in `dead` added. */
    #define GP_ALIVE(k) (row[k] + dead[k])
    GP_CLONES
    static gp_place gp_least_alive(Py_ssize_t n, const double *GP_RESTRICT row, const double *GP_RESTRICT dead)
    { GP_SCAN(GP_ALIVE) }

    #define GP_PLAIN(k) (row[k])
    GP_CLONES
    static gp_place gp_least(Py_ssize_t n, const double *GP_RESTRICT row) { GP_SCAN(GP_PLAIN) }

    /* The first place from k on with this number; n if there is none. */
    GP_CLONES
    static Py_ssize_t gp_next_equal(Py_ssize_t n, const double *GP_RESTRICT row, double value, Py_ssize_t k) {
        Py_ssize_t j;
        for (; k + GP_LANES <= n; k += GP_LANES) {
            int64_t any = 0;    /* as wide as what is compared */
            for (j = 0; j < GP_LANES; j++) any |= row[k + j] == value ? 1 : 0;
            if (any)
                for (j = 0; j < GP_LANES; j++)
                    if (row[k + j] == value) return k + j;
        }
        for (; k < n; k++)
            if (row[k] == value) return k;
        return n;
    }

    /* The numbers of a row at some places. */
    static void gp_collect(Py_ssize_t n, double *GP_RESTRICT out, const double *GP_RESTRICT row,
                           const int32_t *GP_RESTRICT places) {
        Py_ssize_t k;
        for (k = 0; k < n; k++) out[k] = row[places[k]];
    }

    /* The first place from k on that names one of two; n if there is none. */
    GP_CLONES
    static Py_ssize_t gp_next_named(Py_ssize_t n, const int32_t *GP_RESTRICT names, int32_t a, int32_t b,
                                    Py_ssize_t k) {
        Py_ssize_t j;
        for (; k + 2 * GP_LANES <= n; k += 2 * GP_LANES) {
            int32_t any = 0;
            for (j = 0; j < 2 * GP_LANES; j++) any |= (names[k + j] == a) | (names[k + j] == b);
            if (any)
                for (j = 0; j < 2 * GP_LANES; j++)
                    if (names[k + j] == a || names[k + j] == b) return k + j;
        }
        for (; k < n; k++)
            if (names[k] == a || names[k] == b) return k;
        return n;
    }
    """
    ctypedef struct Place "gp_place":
        double least
        Py_ssize_t first, end
    Place add_row "gp_add_row" (Py_ssize_t n, cost_t* into, const cost_t* row, const cost_t* dead) noexcept nogil
    Place least_alive "gp_least_alive" (Py_ssize_t n, const cost_t* row, const cost_t* dead) noexcept nogil
    Place least "gp_least" (Py_ssize_t n, const cost_t* row) noexcept nogil
    Py_ssize_t next_equal "gp_next_equal" (Py_ssize_t n, const cost_t* row, double value, Py_ssize_t k) noexcept nogil
    void collect "gp_collect" (Py_ssize_t n, cost_t* out, const cost_t* row, const element_t* places) noexcept nogil
    Py_ssize_t next_named "gp_next_named" (
        Py_ssize_t n, const element_t* names, element_t a, element_t b, Py_ssize_t k
    ) noexcept nogil


cdef struct Side:
    # The rows of one kind: elements that are alone, or subsets with several elements.
    Py_ssize_t n
    element_t* name             # the smallest element of each row's subset
    cost_t* low                 # lower bound on the costs of the row's pairs; inf for a row that is gone
    element_t* nearest          # the name of the subset at this cost, if not loose
    char* loose
    uint64_t* sizes             # the key that decides ties, if not loose
    uint64_t* hash


cdef struct Joining:
    const cost_t* matrix
    Py_ssize_t n                # its size
    cost_t* collected           # the entries of one row, without joined subsets
    Py_ssize_t alive            # number of elements that are alone; the single ones also include dead ones
    cost_t* dead                # for each single one: 0 if it is alone, inf if it is dead
    Side single
    Side several
    cost_t** rows               # of subsets with several elements: their costs to the single ones
    cost_t** unused             # rows of subsets that are gone
    Py_ssize_t unuseds
    cost_t* table               # (capacity, width): costs between subsets with several elements; inf on the diagonal
    Py_ssize_t capacity
    Py_ssize_t width            # more than the capacity: columns a power of two apart would share places in the cache
    element_t* at               # of each name: place among the single ones, or -1 - place among those with several
    element_t* elements         # of each name: number of elements
    element_t* place            # new places of the subsets that stay, when others are dropped
    bint failed


# -------------------------------------------------------------------------------------------------------------- ties

cdef inline void offer_row(Joining* s, Side* side, Py_ssize_t row, element_t name) noexcept nogil:
    """Let a row lead to subset `name`, at its smallest cost, if this precedes the present one (-1: none) on ties."""
    cdef element_t mine = side.name[row]
    cdef uint64_t sizes = pack_sizes(s.elements[mine], s.elements[name]), hash = scramble_pair(mine, name)
    if (
        side.nearest[row] < 0 or sizes < side.sizes[row]
        or (sizes == side.sizes[row] and hash < side.hash[row])
    ):
        side.nearest[row] = name
        side.sizes[row] = sizes
        side.hash[row] = hash


cdef void offer_singles(
    Joining* s, Side* side, Py_ssize_t row, const cost_t* costs, Py_ssize_t first, Py_ssize_t end
) noexcept nogil:
    """Offer all elements of a range that are alone and have the smallest cost of the row."""
    cdef Py_ssize_t k = next_equal(end, costs, side.low[row], first)
    while k < end:
        if s.dead[k] == 0.0:
            offer_row(s, side, row, s.single.name[k])
        k = next_equal(end, costs, side.low[row], k + 1)


cdef inline const cost_t* row_of_single(Joining* s, Py_ssize_t k, Py_ssize_t first) noexcept nogil:
    """Costs of an element that is alone to single ones from `first` on, at their places; valid until the next call."""
    cdef const cost_t* row = s.matrix + s.single.name[k] * s.n
    if s.single.n == s.n:
        return row
    collect(s.single.n - first, s.collected + first, row, s.single.name + first)
    return s.collected


cdef void scan_single(Joining* s, Py_ssize_t k) noexcept nogil:
    """Find the smallest cost of an element that is alone to later elements that are alone."""
    cdef Side* side = &s.single
    cdef Py_ssize_t n = side.n
    cdef const cost_t* costs = row_of_single(s, k, k + 1)
    cdef Place place = least_alive(n - k - 1, costs + k + 1, s.dead + k + 1)
    side.low[k] = place.least
    side.loose[k] = False
    side.nearest[k] = -1
    if place.least < INFINITY:
        offer_singles(s, side, k, costs, k + 1 + place.first, k + 1 + place.end)


cdef void finish_scan(Joining* s, Py_ssize_t i, Place place) noexcept nogil:
    """Find the smallest cost of a subset with several elements, given that to elements that are alone."""
    cdef Side* side = &s.several
    cdef Py_ssize_t k
    cdef const cost_t* costs = s.table + i * s.width
    cdef Place other = least(side.n, costs)
    side.low[i] = min(place.least, other.least)
    side.loose[i] = False
    side.nearest[i] = -1
    if side.low[i] == INFINITY:
        return
    if place.least == side.low[i]:
        offer_singles(s, side, i, s.rows[i], place.first, place.end)
    if other.least == side.low[i]:
        k = next_equal(other.end, costs, other.least, other.first)
        while k < other.end:
            offer_row(s, side, i, side.name[k])
            k = next_equal(other.end, costs, other.least, k + 1)


cdef void consider(Joining* s, Side* side, Place place, Side** first, Py_ssize_t* row) noexcept nogil:
    """Search each row again of which only this bound is known. Keep the first row with this cost on ties."""
    cdef cost_t low = place.least
    cdef Py_ssize_t k = next_equal(place.end, side.low, low, place.first)
    while k < place.end:
        if side.loose[k]:
            if side == &s.single:
                scan_single(s, k)
            else:
                finish_scan(s, k, least_alive(s.single.n, s.rows[k], s.dead))
        if side.low[k] == low and (
            first[0] == NULL or side.sizes[k] < first[0].sizes[row[0]]
            or (side.sizes[k] == first[0].sizes[row[0]] and side.hash[k] < first[0].hash[row[0]])
        ):
            first[0] = side
            row[0] = k
        k = next_equal(place.end, side.low, low, k + 1)


cdef cost_t best_pair(Joining* s, element_t* a, element_t* b) noexcept nogil:
    """The smallest cost of all, and its two subsets."""
    cdef cost_t low = INFINITY
    cdef Py_ssize_t row = -1
    cdef Side* first = NULL
    cdef Place single, several
    while first == NULL:
        single = least(s.single.n, s.single.low)
        several = least(s.several.n, s.several.low)
        low = min(single.least, several.least)
        if low == INFINITY:
            return low
        if single.least == low:
            consider(s, &s.single, single, &first, &row)
        if several.least == low:
            consider(s, &s.several, several, &first, &row)
    a[0] = first.name[row]
    b[0] = first.nearest[row]
    return low


# ------------------------------------------------------------------------------------------------------------- joins

cdef bint add_row_of_several(Joining* s) noexcept nogil:
    """Add a subset with several elements; False if there is no memory."""
    cdef Py_ssize_t i = s.several.n, capacity, width, k
    cdef cost_t* table
    if i == s.capacity:
        capacity = 2 * s.capacity
        width = capacity + 8
        table = <cost_t*>malloc(capacity * width * sizeof(cost_t))
        if table == NULL:
            s.failed = True
            return False
        large_pages(table, capacity * width * sizeof(cost_t))
        for k in range(i):
            memcpy(table + k * width, s.table + k * s.width, i * sizeof(cost_t))
        free(s.table)
        s.table = table
        s.capacity = capacity
        s.width = width
    if s.unuseds:
        s.unuseds -= 1
        s.rows[i] = s.unused[s.unuseds]
    else:
        s.rows[i] = <cost_t*>malloc(s.single.n * sizeof(cost_t))
        if s.rows[i] == NULL:
            s.failed = True
            return False
        large_pages(s.rows[i], s.single.n * sizeof(cost_t))
    s.several.n += 1
    return True


cdef void remove_row_of_several(Joining* s, Py_ssize_t i) noexcept nogil:
    """Remove a subset with several elements; the last one takes its place."""
    cdef Side* side = &s.several
    cdef Py_ssize_t last, k
    cdef cost_t* table = s.table
    s.unused[s.unuseds] = s.rows[i]
    s.unuseds += 1
    side.n -= 1
    last = side.n
    if i == last:
        return
    s.rows[i] = s.rows[last]
    side.name[i] = side.name[last]
    side.low[i] = side.low[last]
    side.nearest[i] = side.nearest[last]
    side.loose[i] = side.loose[last]
    side.sizes[i] = side.sizes[last]
    side.hash[i] = side.hash[last]
    s.at[side.name[i]] = <element_t>(-1 - i)
    memcpy(table + i * s.width, table + last * s.width, last * sizeof(cost_t))
    for k in range(last):
        table[k * s.width + i] = table[i * s.width + k]
    table[i * s.width + i] = INFINITY


cdef inline void loosen(Side* side, element_t a, element_t b) noexcept nogil:
    """Mark the rows that lead to one of two subsets: their value is only a bound from now on."""
    cdef Py_ssize_t k = next_named(side.n, side.nearest, a, b, 0)
    while k < side.n:
        side.loose[k] = True
        k = next_named(side.n, side.nearest, a, b, k + 1)


cdef void join_subsets(Joining* s, element_t a, element_t b) noexcept nogil:
    """Join two subsets, of which the first has the smaller name."""
    cdef Side* side = &s.several
    cdef Py_ssize_t n = s.single.n, width = s.width, i, j, k, t
    cdef cost_t* costs
    cdef Place place
    cdef element_t x
    cdef bint fresh = s.at[a] >= 0 and s.at[b] >= 0
    loosen(&s.single, a, b)
    loosen(side, a, b)
    for k in range(2):      # elements that are alone no more
        x = b if k else a
        if s.at[x] >= 0:
            s.dead[s.at[x]] = INFINITY
            s.single.low[s.at[x]] = INFINITY
            s.single.nearest[s.at[x]] = -1
            s.alive -= 1
    if fresh:               # a new row, from that of one of the two
        if not add_row_of_several(s):
            return
        width = s.width
        i = side.n - 1
        j = s.at[a]
        memcpy(s.rows[i], row_of_single(s, j, 0), n * sizeof(cost_t))
        for t in range(i):
            s.table[i * width + t] = s.rows[t][j]
        j = s.at[b]
    elif s.at[a] < 0:
        i = -1 - s.at[a]
        j = s.at[b]
    else:
        i = -1 - s.at[b]
        j = s.at[a]
    costs = s.table + i * width
    if j >= 0:              # an element joins a subset
        for t in range(side.n):
            if t + 16 < side.n:
                prefetch(s.rows[t + 16] + j)
            costs[t] += s.rows[t][j]
        place = add_row(n, s.rows[i], row_of_single(s, j, 0), s.dead)
    else:
        j = -1 - j
        for t in range(side.n):
            costs[t] += s.table[j * width + t]
        place = add_row(n, s.rows[i], s.rows[j], s.dead)
    costs[i] = INFINITY
    for t in range(side.n):
        s.table[t * width + i] = costs[t]
    s.elements[a] += s.elements[b]
    side.name[i] = a
    if s.at[b] < 0 and s.at[a] < 0:
        j = -1 - s.at[b]
        if i == side.n - 1:
            i = j           # the row that is removed
        remove_row_of_several(s, j)
    s.at[a] = <element_t>(-1 - i)
    finish_scan(s, i, place)


cdef void compact(Joining* s) noexcept nogil:
    """Drop the columns of elements that are no longer alone; the order stays."""
    cdef Side* side = &s.single
    cdef Py_ssize_t m = s.alive, i, j = 0, k
    cdef element_t* place = s.place
    cdef cost_t* row
    for i in range(side.n):
        if s.dead[i] == 0.0:
            place[j] = <element_t>i
            j += 1
    for i in range(m):
        j = place[i]
        side.name[i] = side.name[j]
        side.low[i] = side.low[j]
        side.nearest[i] = side.nearest[j]
        side.loose[i] = side.loose[j]
        side.sizes[i] = side.sizes[j]
        side.hash[i] = side.hash[j]
        s.at[side.name[i]] = <element_t>i
        s.dead[i] = 0.0
    for i in range(s.several.n):
        row = s.rows[i]
        for k in range(m):
            row[k] = row[place[k]]
    side.n = m


cdef bint make_side(Side* side, Py_ssize_t n) noexcept nogil:
    side.n = 0
    side.name = <element_t*>malloc((n + 1) * sizeof(element_t))
    side.low = <cost_t*>malloc((n + 1) * sizeof(cost_t))
    side.nearest = <element_t*>malloc((n + 1) * sizeof(element_t))
    side.loose = <char*>calloc(n + 1, 1)
    side.sizes = <uint64_t*>malloc((n + 1) * sizeof(uint64_t))
    side.hash = <uint64_t*>malloc((n + 1) * sizeof(uint64_t))
    return not (
        side.name == NULL or side.low == NULL or side.nearest == NULL or side.loose == NULL or side.sizes == NULL
        or side.hash == NULL
    )


cdef void free_side(Side* side) noexcept nogil:
    free(side.name)
    free(side.low)
    free(side.nearest)
    free(side.loose)
    free(side.sizes)
    free(side.hash)


cdef bint make(Joining* s, const cost_t* matrix, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    cdef bint made
    s.failed = False
    s.matrix = matrix
    s.n = n
    s.alive = n
    s.capacity = 64
    s.width = s.capacity + 8
    s.unuseds = 0
    s.dead = <cost_t*>calloc(n + 1, sizeof(cost_t))
    s.rows = <cost_t**>malloc((n + 1) * sizeof(cost_t*))
    s.unused = <cost_t**>malloc((n + 1) * sizeof(cost_t*))
    s.table = <cost_t*>malloc(s.capacity * s.width * sizeof(cost_t))
    s.at = <element_t*>malloc((n + 1) * sizeof(element_t))
    s.elements = <element_t*>malloc((n + 1) * sizeof(element_t))
    s.place = <element_t*>malloc((n + 1) * sizeof(element_t))
    s.collected = <cost_t*>malloc((n + 1) * sizeof(cost_t))
    made = make_side(&s.single, n)
    made &= make_side(&s.several, n)
    if (
        not made or s.dead == NULL or s.rows == NULL or s.unused == NULL or s.table == NULL or s.at == NULL
        or s.elements == NULL or s.place == NULL or s.collected == NULL
    ):
        return False
    s.single.n = n
    for k in range(n):
        s.single.name[k] = s.at[k] = <element_t>k
        s.elements[k] = 1
    for k in range(n):
        scan_single(s, k)
    return True


cdef void free_all(Joining* s) noexcept nogil:
    cdef Py_ssize_t k
    if s.rows != NULL:
        for k in range(s.several.n):
            free(s.rows[k])
    if s.unused != NULL:
        for k in range(s.unuseds):
            free(s.unused[k])
    free_side(&s.single)
    free_side(&s.several)
    free(s.collected)
    free(s.place)
    free(s.dead)
    free(s.rows)
    free(s.unused)
    free(s.table)
    free(s.at)
    free(s.elements)


def join_dense(const cost_t[:, ::1] matrix, double tolerance, double cost, Stopping stopping):
    """Labels of the fixed point. O(n^2) expected time; at most about one matrix of further memory, mostly far less."""
    cdef Py_ssize_t n = matrix.shape[0], k
    cdef element_t a = 0, b = 0, swap
    cdef Joining s
    cdef cost_t low
    cdef bint made
    labels_array = np.arange(n, dtype=np.int32)
    if n < 2:
        return labels_array
    cdef element_t[::1] labels = labels_array
    with nogil:
        made = make(&s, &matrix[0, 0], n)
        while made and not s.failed:
            low = best_pair(&s, &a, &b)
            if not low < -tolerance:
                break
            if b < a:
                swap = a
                a = b
                b = swap
            cost += low
            labels[b] = a
            join_subsets(&s, a, b)
            if 2 * s.alive <= s.single.n and s.single.n > 32:
                compact(&s)
            if stopping.tick(cost):
                break
        free_all(&s)
        for k in range(n):      # the representative of an element is smaller, so its label is final
            labels[k] = labels[labels[k]]
    if not made or s.failed:
        raise MemoryError()
    return labels_array
