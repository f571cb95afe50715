"""Min-sum on forests: one pass from the leaves to the roots, one pass back that reads off the labeling.

``belief[v]`` collects the unary costs of variable v and the messages of the factors below it. When factor f is eliminated,
the beliefs of all its variables but its parent p are complete, and its message

    mu(y_p) = min over the other variables of h_f(y) + sum over the other variables c of belief[c](y_c)

is added to belief[p]. The minimum of each message is taken out, so that beliefs stay as small as the costs nearby. The
sum of these minima is kept. On the way back, the argmins are computed again from the same numbers. Only those of
factors of two or three binary variables are kept, as bits.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.crf.problem._view cimport Factors, View, entries_of, labels_of, place
from graphpart.kernels._arrays cimport empty_float64, empty_int64, empty_uint8, zeros_float64
from graphpart.kernels.memory cimport large_pages, prefetch
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    BLOCK = 4096    # factors between two polls of the clock
    AHEAD = 12      # factors between the request for memory and its use


cdef struct Graph:
    Factors all
    offset_t begin, end         # the factors of the run at hand
    offset_t arity, step        # of each of them, and the distance from its table to the next one
    offset_t scopes, entries    # where the scope and the table of the first begin


cdef struct Pass:               # the arrays of both directions
    Graph g
    const element_t* order
    const element_t* parent
    Py_ssize_t steps
    bint scattered              # whether `order` is far from ascending, so that rows are prefetched
    bint compact                # of the beliefs of each binary variable only the difference is kept
    cost_t* belief
    unsigned char* choice
    element_t* labels


cdef inline void look_up(Graph* g, offset_t f) noexcept nogil:
    """Make the run of factor f the current one; without runs, each factor is a run of its own."""
    if g.begin <= f < g.end:
        return
    cdef const offset_t* row = g.all.run
    if row != NULL:
        while row[6] <= f:
            row += 6
        g.begin, g.end, g.arity, g.step, g.scopes, g.entries = row[0], row[6], row[1], row[5], row[3], row[4]
    else:
        g.begin, g.end, g.scopes, g.entries = f, f + 1, g.all.scope_start[f], g.all.table_start[f]
        g.arity, g.step = g.all.scope_start[f + 1] - g.scopes, 0


cdef inline const element_t* scope_of(Graph* g, offset_t f) noexcept nogil:
    return &g.all.scope[g.scopes + (f - g.begin) * g.arity]


cdef inline const cost_t* table_of(Graph* g, offset_t f) noexcept nogil:
    return &g.all.tables[g.entries + (f - g.begin) * g.step]


cdef Pass pass_over(View view, scheme, bint compact, const cost_t[::1] belief, const unsigned char[::1] choice):
    """A pass along the order of a `Scheme`, which must stay alive, as must the vectors."""
    cdef const element_t[::1] order = scheme.order, parent = scheme.parent
    cdef Pass s
    s.g.all = view.g
    s.g.begin = s.g.end = s.g.arity = s.g.step = s.g.scopes = s.g.entries = 0
    s.steps, s.scattered, s.compact = order.shape[0], scheme.scattered, compact
    s.order = &order[0] if s.steps else NULL
    s.parent = &parent[0] if s.steps else NULL
    s.belief = <cost_t*>&belief[0] if belief.shape[0] else NULL
    s.choice = <unsigned char*>&choice[0] if s.steps else NULL
    s.labels = NULL
    return s


def collect(View view, scheme, bint compact, Stopping stopping):
    """The pass to the roots: (beliefs, argmins as bits, sum taken out, factors eliminated, impossible factor).

    With `compact`, only the difference of the two beliefs of each variable is kept, which halves the memory that is
    read. This needs binary variables, factors of at most two variables, and finite tables. The impossible factor is -1,
    or the first factor whose message is inf for all labels of its parent; then the pass ends.
    """
    cdef Py_ssize_t n = view.g.n, m = view.g.m, steps = len(scheme.order), f, t = 0, end
    cdef offset_t y
    cdef element_t p, c
    cdef const element_t* members
    cdef double total = 0.0, low = 0.0
    cdef cost_t* b
    cdef const cost_t* table
    # np.zeros is faster than np.empty and writing zeros: the system provides pages of zeros.
    belief_array = zeros_float64(n if compact else view.g.size)
    choice_array = empty_uint8(steps)
    cdef cost_t[::1] belief = belief_array
    if belief.shape[0]:
        large_pages(&belief[0], belief.shape[0] * sizeof(cost_t))
    cdef cost_t[::1] work = empty_float64(view.g.largest_table)     # a message, or a table with one axis minimised out
    cdef Pass s = pass_over(view, scheme, compact, belief, choice_array)
    cdef Graph* g = &s.g
    cdef offset_t width = g.all.width
    cdef const element_t* order = s.order
    cdef const element_t* parent = s.parent
    cdef bint scattered = s.scattered
    with nogil:
        f = 0
        while f < m:
            look_up(g, f)
            if g.arity == 1:
                for f in range(f, g.end):
                    p = scope_of(g, f)[0]
                    table = table_of(g, f)
                    if compact:
                        belief[p] += table[1] - table[0]
                        total += table[0]
                        continue
                    b = &belief[place(&g.all, p)]
                    for y in range(labels_of(&g.all, p)):
                        b[y] += table[y]
            f = g.end
        while t < steps and low < INFINITY and not stopping.poll(INFINITY):
            end = min(t + BLOCK, steps)
            while t < end and low < INFINITY:
                look_up(g, order[t])
                if width == 2 and g.arity == 2:
                    t = binary_pairs(&s, t, end, &total, &low)
                    continue
                if t + 2 * AHEAD < steps:
                    prefetch(&belief[place(&g.all, parent[t + 2 * AHEAD])])
                if scattered and t + 2 * AHEAD < steps:
                    look_up(g, order[t + 2 * AHEAD])
                    prefetch(scope_of(g, order[t + 2 * AHEAD]))
                    prefetch(table_of(g, order[t + 2 * AHEAD]))
                    f = order[t + AHEAD]
                    look_up(g, f)
                    if g.arity == 2:
                        members = scope_of(g, f)
                        prefetch(&belief[place(&g.all, members[0] ^ members[1] ^ parent[t + AHEAD])])
                f = order[t]
                p = parent[t]
                look_up(g, f)
                members = scope_of(g, f)
                table = table_of(g, f)
                if g.arity == 2:
                    c = members[0] ^ members[1] ^ p
                    low = pair(table, &belief[place(&g.all, c)], labels_of(&g.all, c), &belief[place(&g.all, p)], labels_of(&g.all, p),
                               members[0] == c, &work[0])
                elif g.arity == 3 and width == 2:
                    low = binary_triple(members, table, p, &belief[0], &s.choice[t])
                else:
                    low = larger(g, f, p, &belief[0], &work[0])
                total += low
                t += 1
    return belief_array, choice_array, total, t, order[t - 1] if low == INFINITY else -1


cdef Py_ssize_t binary_pairs(Pass* s, Py_ssize_t t, Py_ssize_t end, double* total, double* low) noexcept nogil:
    """Do the steps from t to `end` while factors are binary pairs of one run; the first step not done."""
    cdef const Graph* g = &s.g
    cdef const element_t* order = s.order
    cdef const element_t* parent = s.parent
    cdef cost_t* belief = s.belief
    cdef unsigned char* choice = s.choice
    cdef bint scattered = s.scattered, compact = s.compact
    cdef Py_ssize_t last = s.steps - 1
    cdef offset_t begin = g.begin, beyond = g.end, step = g.step, f
    cdef const element_t* scope = g.all.scope + g.scopes - 2 * begin
    cdef const cost_t* tables = g.all.tables + g.entries - step * begin
    cdef offset_t width = 1 if compact else 2
    cdef double passed = 0.0, least = 0.0
    cdef element_t c, p
    while t < end and begin <= order[t] < beyond and least < INFINITY:
        prefetch(&belief[width * parent[min(t + 2 * AHEAD, last)]])
        if scattered:
            f = order[min(t + 2 * AHEAD, last)]
            prefetch(&scope[2 * f])         # if the factor is of another run, this request is useless, but harmless
            prefetch(&tables[step * f])
            f = order[min(t + AHEAD, last)]
            if begin <= f < beyond:
                c = scope[2 * f] ^ scope[2 * f + 1] ^ parent[min(t + AHEAD, last)]
                prefetch(&belief[width * c])
        f = order[t]
        p = parent[t]
        c = scope[2 * f] ^ scope[2 * f + 1] ^ p
        if compact:
            least = compact_pair(&tables[step * f], belief[c], &belief[p], 1 + (scope[2 * f] == c), &choice[t])
        else:
            least = binary_pair(&tables[step * f], &belief[2 * <offset_t>c], &belief[2 * <offset_t>p],
                                1 + (scope[2 * f] == c), &choice[t])
        passed += least
        t += 1
    total[0] += passed
    low[0] = least
    return t


cdef inline double binary_pair(
    const cost_t* table, const cost_t* child, cost_t* parent, int stride, unsigned char* choice
) noexcept nogil:
    """The message of a binary pair; `stride` is the stride of the child in the table, 2 if it comes first, else 1."""
    cdef double a = child[0], b = child[1]
    cdef double x0 = table[0] + a, x1 = table[stride] + b
    cdef double z0 = table[3 - stride] + a, z1 = table[3] + b
    choice[0] = (x1 < x0) | ((z1 < z0) << 1)
    x0 = x1 if x1 < x0 else x0
    z0 = z1 if z1 < z0 else z0
    cdef double low = z0 if z0 < x0 else x0
    if low < INFINITY:
        parent[0] += x0 - low
        parent[1] += z0 - low
    return low


cdef inline double compact_pair(
    const cost_t* table, double child, cost_t* parent, int stride, unsigned char* choice
) noexcept nogil:
    """The message of a binary pair if beliefs are differences; the message for label 0 is taken out."""
    cdef double x0 = table[0], x1 = table[stride] + child
    cdef double z0 = table[3 - stride], z1 = table[3] + child
    choice[0] = (x1 < x0) | ((z1 < z0) << 1)
    x0 = x1 if x1 < x0 else x0
    z0 = z1 if z1 < z0 else z0
    parent[0] += z0 - x0
    return x0


cdef inline double binary_triple(
    const element_t* members, const cost_t* table, element_t p, cost_t* belief, unsigned char* choice
) noexcept nogil:
    """The message of a factor of three binary variables; its choice has two bits for each label of the parent."""
    cdef element_t c, e
    cdef int first, second, up
    children_of(members, p, &c, &e, &first, &second, &up)
    cdef const cost_t* a = &belief[2 * c]
    cdef const cost_t* b = &belief[2 * e]
    cdef double x = quadruple(table, first, second, a, b, choice)
    cdef unsigned char bits
    cdef double z = quadruple(&table[up], first, second, a, b, &bits)
    choice[0] |= bits << 2
    cdef double low = z if z < x else x
    if low < INFINITY:
        belief[2 * p] += x - low
        belief[2 * p + 1] += z - low
    return low


cdef inline void children_of(
    const element_t* members, element_t p, element_t* c, element_t* e, int* first, int* second, int* up
) noexcept nogil:
    """The children c and e of parent p in a factor of three binary variables, and the strides of all three."""
    cdef int s = 0 if members[0] == p else (1 if members[1] == p else 2)
    c[0] = members[s == 0]
    e[0] = members[2 - (s == 2)]
    first[0] = 2 if s == 0 else 4
    second[0] = 2 if s == 2 else 1
    up[0] = 4 >> s


cdef inline double quadruple(
    const cost_t* table, int first, int second, const cost_t* a, const cost_t* b, unsigned char* choice
) noexcept nogil:
    cdef double x0 = table[0] + b[0], x1 = table[second] + b[1]
    cdef double z0 = table[first] + b[0], z1 = table[first + second] + b[1]
    cdef unsigned char u = x1 < x0, v = z1 < z0, w
    x0 = (x1 if x1 < x0 else x0) + a[0]
    z0 = (z1 if z1 < z0 else z0) + a[1]
    w = z0 < x0
    choice[0] = u ^ ((u ^ v ^ 2) & -w)      # v + 2 or u, without a branch
    return z0 if z0 < x0 else x0


cdef double pair(
    const cost_t* table, const cost_t* child, offset_t d, cost_t* parent, offset_t e, bint child_first, cost_t* message
) noexcept nogil:
    """The message of a pair with d labels of the child and e of the parent."""
    cdef offset_t y, z
    cdef double a, x, low = INFINITY
    if child_first:
        a = child[0]
        for z in range(e):
            message[z] = table[z] + a
        for y in range(1, d):
            table += e
            a = child[y]
            for z in range(e):
                x = table[z] + a
                message[z] = x if x < message[z] else message[z]
    else:
        for z in range(e):
            message[z] = least_of_row(&table[z * d], child, d)
    for z in range(e):
        low = message[z] if message[z] < low else low
    if low < INFINITY:
        for z in range(e):
            parent[z] += message[z] - low
    return low


cdef inline double least_of_row(const cost_t* row, const cost_t* child, offset_t d) noexcept nogil:
    """The minimum of a sum of two vectors, by four independent minima, so that comparisons overlap in time."""
    cdef double m0 = INFINITY, m1 = INFINITY, m2 = INFINITY, m3 = INFINITY, x0, x1, x2, x3
    cdef offset_t y = 0
    while y + 4 <= d:
        x0 = row[y] + child[y]
        x1 = row[y + 1] + child[y + 1]
        x2 = row[y + 2] + child[y + 2]
        x3 = row[y + 3] + child[y + 3]
        m0 = x0 if x0 < m0 else m0
        m1 = x1 if x1 < m1 else m1
        m2 = x2 if x2 < m2 else m2
        m3 = x3 if x3 < m3 else m3
        y += 4
    while y < d:
        x0 = row[y] + child[y]
        m0 = x0 if x0 < m0 else m0
        y += 1
    m0 = m1 if m1 < m0 else m0
    m2 = m3 if m3 < m2 else m2
    return m2 if m2 < m0 else m0


cdef double larger(Graph* g, Py_ssize_t f, element_t p, cost_t* belief, cost_t* work) noexcept nogil:
    """The message of a factor of any arity: its children are minimised out one by one, the last of the scope first."""
    cdef const cost_t* source = &g.all.tables[g.all.table_start[f]]
    cdef const cost_t* child
    cdef cost_t* to = &belief[place(&g.all, p)]
    cdef offset_t size = entries_of(&g.all, f), inner = 1, d, i, o, k, y
    cdef double x, least, low = INFINITY
    cdef element_t v
    for i in range(g.all.scope_start[f + 1] - 1, g.all.scope_start[f] - 1, -1):
        v = g.all.scope[i]
        d = labels_of(&g.all, v)
        if v == p:
            inner = d
            continue
        child = &belief[place(&g.all, v)]
        size //= d
        # Indices are (o, y, k). After the first axis this works in place: no entry is overwritten before it is read.
        for o in range(size // inner):
            for k in range(inner):
                least = INFINITY
                for y in range(d):
                    x = source[(o * d + y) * inner + k] + child[y]
                    least = x if x < least else least
                work[o * inner + k] = least
        source = work
    for k in range(inner):
        low = source[k] if source[k] < low else low
    if low < INFINITY:
        for k in range(inner):
            to[k] += source[k] - low
    return low


def assign(
    View view, scheme, bint compact, const cost_t[::1] belief, const unsigned char[::1] choice, element_t[::1] labels
):
    """The pass from the roots: fill in labels; (sum of the beliefs of roots, impossible variable or -1).

    Roots take the smallest of their best labels. All other variables are children of the factors in `order`, or already
    have labels in `labels`.
    """
    cdef Pass s = pass_over(view, scheme, compact, belief, choice)
    cdef Graph* g = &s.g
    cdef const element_t[::1] roots = scheme.roots
    cdef const element_t* order = s.order
    cdef const element_t* parent = s.parent
    cdef offset_t width = g.all.width
    cdef bint scattered = s.scattered
    cdef Py_ssize_t t, f, impossible = -1
    cdef offset_t y, best
    cdef const element_t* members
    cdef element_t p, c, e
    cdef double total = 0.0
    cdef const cost_t* b
    cdef offset_t[::1] odometer = empty_int64(2 * g.all.largest_arity)
    cdef int first_stride, second_stride, up
    cdef unsigned char bits
    s.labels = &labels[0] if labels.shape[0] else NULL
    with nogil:
        for t in range(roots.shape[0]):
            p = roots[t]
            if compact:
                labels[p] = belief[p] < 0.0
                total += min(belief[p], 0.0)
                continue
            b = &belief[place(&g.all, p)]
            best = 0
            for y in range(1, labels_of(&g.all, p)):
                best = y if b[y] < b[best] else best
            labels[p] = <element_t>best
            total += b[best]
            if b[best] == INFINITY and impossible < 0:
                impossible = p
        t = s.steps
        while t > 0:
            look_up(g, order[t - 1])
            if width == 2 and g.arity == 2:
                t = read_binary_pairs(&s, t)
                continue
            t -= 1
            if scattered and t >= 2 * AHEAD:
                look_up(g, order[t - 2 * AHEAD])
                prefetch(scope_of(g, order[t - 2 * AHEAD]))
                prefetch(&labels[parent[t - 2 * AHEAD]])
            f = order[t]
            p = parent[t]
            look_up(g, f)
            members = scope_of(g, f)
            if g.arity == 2:
                c = members[0] ^ members[1] ^ p
                if members[0] == c:
                    labels[c] = argmin(&table_of(g, f)[labels[p]], labels_of(&g.all, p), &belief[place(&g.all, c)],
                                       labels_of(&g.all, c))
                else:
                    labels[c] = argmin(&table_of(g, f)[labels[p] * labels_of(&g.all, c)], 1, &belief[place(&g.all, c)],
                                       labels_of(&g.all, c))
            elif g.arity == 3 and width == 2:
                children_of(members, p, &c, &e, &first_stride, &second_stride, &up)
                bits = choice[t] >> (2 * labels[p])
                labels[c] = (bits >> 1) & 1
                labels[e] = bits & 1
            else:
                assign_children(g, f, p, &belief[0], &labels[0], &odometer[0])
    return total, impossible


cdef Py_ssize_t read_binary_pairs(Pass* s, Py_ssize_t t) noexcept nogil:
    """Go back over the steps before t, as far as in `binary_pairs`; the first step done."""
    cdef const Graph* g = &s.g
    cdef const element_t* order = s.order
    cdef const element_t* parent = s.parent
    cdef const unsigned char* choice = s.choice
    cdef element_t* labels = s.labels
    cdef bint scattered = s.scattered
    cdef offset_t begin = g.begin, beyond = g.end, f
    cdef const element_t* scope = g.all.scope + g.scopes - 2 * begin
    cdef element_t p
    while t > 0 and begin <= order[t - 1] < beyond:
        t -= 1
        prefetch(&labels[parent[max(t - 2 * AHEAD, 0)]])
        if scattered:
            prefetch(&scope[2 * <offset_t>order[max(t - 2 * AHEAD, 0)]])
        f = order[t]
        p = parent[t]
        labels[scope[2 * f] ^ scope[2 * f + 1] ^ p] = (choice[t] >> labels[p]) & 1
    return t


cdef inline element_t argmin(const cost_t* table, offset_t stride, const cost_t* child, offset_t d) noexcept nogil:
    cdef offset_t y, best = 0
    cdef double x, least = table[0] + child[0]
    for y in range(1, d):
        x = table[y * stride] + child[y]
        if x < least:
            least = x
            best = y
    return <element_t>best


cdef void assign_children(
    Graph* g, Py_ssize_t f, element_t p, const cost_t* belief, element_t* labels, offset_t* odometer
) noexcept nogil:
    """The best labels of all variables of a factor except its parent, whose label is known; the first on ties."""
    cdef offset_t begin = g.all.scope_start[f], arity = g.all.scope_start[f + 1] - begin, i
    cdef offset_t* at = odometer            # labels tried
    cdef offset_t* best = &odometer[arity]
    cdef offset_t place_in_table = 0
    cdef const cost_t* table = &g.all.tables[g.all.table_start[f]]
    cdef double x, least = INFINITY
    cdef element_t v
    for i in range(arity):
        v = g.all.scope[begin + i]
        at[i] = labels[p] if v == p else 0
        best[i] = at[i]
    while True:
        place_in_table = 0
        for i in range(arity):
            place_in_table = place_in_table * labels_of(&g.all, g.all.scope[begin + i]) + at[i]
        x = table[place_in_table]
        for i in range(arity - 1, -1, -1):      # in the order in which the message was summed
            v = g.all.scope[begin + i]
            if v != p:
                x += belief[place(&g.all, v) + at[i]]
        if x < least:
            least = x
            for i in range(arity):
                best[i] = at[i]
        i = arity - 1
        while i >= 0:
            v = g.all.scope[begin + i]
            if v != p:
                at[i] += 1
                if at[i] < labels_of(&g.all, v):
                    break
                at[i] = 0
            i -= 1
        if i < 0:
            break
    for i in range(arity):
        labels[g.all.scope[begin + i]] = <element_t>best[i]
