# Subsets that base pairs have to connect. Other pairs, the lifted ones, only have costs (Keuper et al. 2015).
#
# A kernel that moves an element asks two questions. To which subsets do base pairs link the element? Only these subsets
# may take it. And does the subset that it leaves stay connected? Its base neighbours there must reach each other on
# other paths. To answer this question, floods start from all these neighbours and advance by one element each, in turn.
# The floods mostly meet within a few steps. Where they do not meet, the flood on the smaller side is the first to end.
# In a kernel without base pairs, all this costs one branch.
#
# An element that may not leave is barred until a change of its subset may have freed it. If another element x leaves,
# the freed element may be the only one through which x was connected. If x enters, the freed element may be one that
# all paths between two base neighbours of x passed, so it is on the paths on which floods from these neighbours meet.
from libc.stdint cimport int64_t
from libc.string cimport memset

from graphpart.kernels.types cimport element_t, offset_t


cdef struct Base:
    bint any                    # whether subsets have to be connected
    const offset_t* starts
    const element_t* neighbours
    const unsigned char* lifted  # of each entry of the rows: 1 if the pair is lifted, 0 if it is a base pair
    int64_t* reached            # for each subset: number of the last look at which a base pair of the element led to it
    int64_t look
    int64_t* seen               # for each element: number of the last flood that reached it
    int64_t flood
    element_t* source           # neighbour from which this flood came; one neighbour stands for all floods that met
    element_t* above
    element_t* front            # for each source: number of waiting elements
    element_t* queue
    int64_t work                # number of elements from which floods advanced since the last look at the clock


cdef inline list take_base(
    Base* s, const offset_t[::1] starts, const element_t[::1] neighbours, terms, Py_ssize_t subsets
):
    """Point to the flags of `Terms` of sums.py, or None, for these rows; returns what has to be kept alive."""
    cdef const unsigned char[::1] lifted
    cdef int64_t[:, ::1] wide
    cdef element_t[:, ::1] room
    import numpy as np

    memset(s, 0, sizeof(Base))
    if terms is None or terms.row_flags is None:
        return []
    s.any = True
    lifted, wide, room = terms.row_flags, np.zeros((2, subsets), np.int64), np.zeros((4, subsets), np.int32)
    s.starts = &starts[0]
    if lifted.shape[0]:
        s.neighbours, s.lifted = &neighbours[0], &lifted[0]
    s.reached, s.seen = &wide[0, 0], &wide[1, 0]
    s.source, s.above, s.front, s.queue = &room[0, 0], &room[1, 0], &room[2, 0], &room[3, 0]
    return [starts, neighbours, lifted, wide, room]


cdef inline void base_look(Base* s, element_t a, const element_t* label) noexcept nogil:
    """Mark all subsets to which a base pair links an element. O(degree)"""
    cdef offset_t k
    s.look += 1
    for k in range(s.starts[a], s.starts[a + 1]):
        if not s.lifted[k]:
            s.reached[label[s.neighbours[k]]] = s.look


cdef inline Py_ssize_t base_only(
    Base* s, element_t a, const element_t* label, element_t* linked, Py_ssize_t links
) noexcept nogil:
    """Keep only the linked subsets to which a base pair links an element; return their number. O(degree)"""
    cdef Py_ssize_t i, kept = 0
    base_look(s, a, label)
    for i in range(links):
        if s.reached[linked[i]] == s.look:
            linked[kept] = linked[i]
            kept += 1
    return kept


cdef inline element_t base_root(Base* s, element_t b) noexcept nogil:
    while s.above[b] != b:
        s.above[b] = s.above[s.above[b]]
        b = s.above[b]
    return b


cdef inline bint may_leave(Base* s, element_t a, const element_t* label) noexcept nogil:
    """Whether base pairs connect the subset of a without a, given that they connect it with a."""
    cdef element_t b, c, root, other, mine = label[a]
    cdef offset_t k
    cdef Py_ssize_t head = 0, tail = 0, parts
    s.flood += 1
    s.seen[a] = s.flood
    for k in range(s.starts[a], s.starts[a + 1]):
        b = s.neighbours[k]
        if s.lifted[k] or label[b] != mine:
            continue
        s.seen[b] = s.flood
        s.source[b] = s.above[b] = b
        s.front[b] = 1
        s.queue[tail] = b
        tail += 1
    parts = tail
    while parts > 1:
        b = s.queue[head]
        head += 1
        s.work += 1
        root = base_root(s, s.source[b])
        s.front[root] -= 1
        for k in range(s.starts[b], s.starts[b + 1]):
            c = s.neighbours[k]
            if s.lifted[k] or label[c] != mine or c == a:
                continue
            if s.seen[c] != s.flood:
                s.seen[c] = s.flood
                s.source[c] = root
                s.front[root] += 1
                s.queue[tail] = c
                tail += 1
                continue
            other = base_root(s, s.source[c])
            if other != root:
                s.above[other] = root
                s.front[root] += s.front[other]
                parts -= 1
        if s.front[root] == 0 and parts > 1:
            return False
    return True


cdef inline void mark_freed(Base* s, element_t x, const element_t* label, element_t left) noexcept nogil:
    """Element x has left a subset for its own. Mark as seen all elements of both that this may have freed."""
    cdef element_t hung = -1
    cdef offset_t k
    cdef Py_ssize_t links = 0
    may_leave(s, x, label)
    for k in range(s.starts[x], s.starts[x + 1]):
        if not s.lifted[k] and label[s.neighbours[k]] == left:
            hung = s.neighbours[k]
            links += 1
    if links == 1:
        s.seen[hung] = s.flood


cdef inline bint is_freed(const Base* s, element_t a) noexcept nogil:
    return s.seen[a] == s.flood
