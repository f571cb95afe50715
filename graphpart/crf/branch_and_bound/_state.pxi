# The state of the search: domains, unary costs and the amounts that factors have sent. Backtracking restores all of it.
#
# The cost of an entry t of factor f is  table[t] - sum over its places j of delta[f, j, t_j]; the unary cost of a label
# is  unary[i, a] - base[i]; the bound is c0. Old values are saved on a trail before they change.
from libc.stdint cimport int32_t, int64_t, uint8_t

cdef enum:
    NARY = 64       # the most variables of a factor


cdef struct Trail:
    int64_t* where
    int64_t value


cdef struct View:   # a factor of which two variables, x and y, have several labels
    int f
    int x
    int y
    int64_t px      # where the amounts sent to x and y stand
    int64_t py
    int64_t sx      # strides of the two in the table
    int64_t sy
    const int64_t* table    # at the labels of all others
    int64_t sent    # to the labels of all others


cdef struct Store:
    # the problem
    int n
    int m                   # factors; those from `fixed` on are made by elimination and have two variables
    int fixed
    int most                # room for factors
    int largest             # domain
    int64_t* first          # n + 1: where the labels of each variable stand
    int64_t* scope_start    # most + 1
    int32_t* scope
    int64_t* stride         # for each place of a scope
    int64_t* place          # for each place of a scope, where its amounts stand in delta
    int64_t** table         # for each factor
    int64_t* near_start     # n + 1: room for the factors of each variable
    int32_t* near           # factors of each variable
    int64_t* near_count     # n, trailed
    # the state, all trailed
    int64_t* unary
    int64_t* base
    int64_t* highest        # n: no label costs more
    int64_t* count          # n: labels left, which come first in live
    int64_t* free           # m: number of undecided variables of the factor; below 2: it is done, -1: eliminated
    int64_t* gone           # n: eliminated
    int64_t* delta
    int64_t c0
    int64_t top             # only labelings that cost less than this are sought
    int64_t forbidden       # entries of at least this are forbidden
    int32_t* live
    int32_t* where          # of each label in live
    # hints, not trailed: they are checked when used
    int32_t* support        # for each amount, the label or entry that was the cheapest
    int32_t* full           # the same with unary costs
    int32_t* eac            # n
    # trail and levels
    Trail* trail
    int64_t trail_size
    Py_ssize_t trail_room
    # what waits to be looked at
    uint8_t* in_nc
    uint8_t* in_ac
    uint8_t* in_dac         # by rank
    uint8_t* in_eac
    uint8_t* in_out
    int32_t* nc
    int32_t* ac
    int32_t* eac_queue
    int32_t* out            # candidates of elimination
    int nc_size
    int ac_begin
    int ac_size
    int eac_begin
    int eac_size
    int out_size
    int dac_highest
    int32_t* ending         # factors that have come down to at most two undecided variables
    int ending_size
    bint risen              # whether c0 has risen since all labels were compared with top
    bint conflict
    bint failed             # out of memory
    int current             # the factor at work
    # eliminated variables
    int32_t* eliminated     # n
    int* sides              # n: number of views of each
    View* views             # 2 n
    int64_t eliminated_size     # trailed
    int64_t* arena
    int64_t arena_used          # trailed
    int64_t arena_room
    int64_t made                # trailed: number of factors made
    int64_t delta_fixed
    # work space
    int64_t* cost_x         # of the largest domain
    int64_t* cost_y
    int64_t* least
    int* chosen
    int64_t* paid           # for the labels of all variables of a factor
    # weights
    double* weight          # n
    double bump


cdef inline void save(Store* s, int64_t* p) noexcept nogil:
    if s.trail_size == s.trail_room:
        lengthen(s)
        if s.failed:
            return
    s.trail[s.trail_size].where = p
    s.trail[s.trail_size].value = p[0]
    s.trail_size += 1


cdef inline void undo(Store* s, int64_t mark) noexcept nogil:
    while s.trail_size > mark:
        s.trail_size -= 1
        s.trail[s.trail_size].where[0] = s.trail[s.trail_size].value
    s.m = s.fixed + <int>s.made


cdef inline bint is_live(Store* s, int i, int a) noexcept nogil:
    return s.where[s.first[i] + a] < s.count[i]


cdef inline int64_t cost_of(Store* s, int i, int a) noexcept nogil:
    return s.unary[s.first[i] + a] - s.base[i]


cdef inline int64_t entry(Store* s, View* v, int a, int b) noexcept nogil:
    return v.table[a * v.sx + b * v.sy] - s.delta[v.px + a] - s.delta[v.py + b] - v.sent


cdef inline void turn(View* v) noexcept nogil:
    v.x, v.y = v.y, v.x
    v.px, v.py = v.py, v.px
    v.sx, v.sy = v.sy, v.sx


cdef inline void queue_nc(Store* s, int i) noexcept nogil:
    if not s.in_nc[i]:
        s.in_nc[i] = 1
        s.nc[s.nc_size] = i
        s.nc_size += 1


cdef inline void queue_ac(Store* s, int i) noexcept nogil:
    cdef int at
    if not s.in_ac[i]:
        s.in_ac[i] = 1
        at = s.ac_begin + s.ac_size
        if at >= s.n:
            at -= s.n
        s.ac[at] = i
        s.ac_size += 1


cdef inline void queue_dac(Store* s, int i) noexcept nogil:
    cdef int r = i
    s.in_dac[r] = 1
    if r > s.dac_highest:
        s.dac_highest = r


cdef inline void queue_eac(Store* s, int i) noexcept nogil:
    cdef int at
    if not s.in_eac[i]:
        s.in_eac[i] = 1
        at = s.eac_begin + s.eac_size
        if at >= s.n:
            at -= s.n
        s.eac_queue[at] = i
        s.eac_size += 1


cdef inline void queue_out(Store* s, int i) noexcept nogil:
    if not s.in_out[i]:
        s.in_out[i] = 1
        s.out[s.out_size] = i
        s.out_size += 1


# A label costs more by x > 0.
cdef inline void add_unary(Store* s, int i, int a, int64_t x) noexcept nogil:
    cdef int64_t* p = &s.unary[s.first[i] + a]
    cdef int64_t cost
    save(s, p)
    p[0] += x
    cost = p[0] - s.base[i]
    if cost > s.highest[i]:
        save(s, &s.highest[i])
        s.highest[i] = cost
    if cost == x:
        queue_nc(s, i)
        queue_dac(s, i)
    if cost + s.c0 >= s.top:
        queue_nc(s, i)


# A label costs too much: `check_labels` will leave it out.
cdef inline void forbid(Store* s, int i, int a) noexcept nogil:
    cdef int64_t* p = &s.unary[s.first[i] + a]
    if p[0] < s.forbidden:
        save(s, p)
        p[0] = 2 * s.forbidden
        if s.highest[i] < s.forbidden:
            save(s, &s.highest[i])
            s.highest[i] = 2 * s.forbidden
        queue_nc(s, i)


cdef inline void send(Store* s, int64_t place, int a, int64_t x) noexcept nogil:
    save(s, &s.delta[place + a])
    s.delta[place + a] += x
