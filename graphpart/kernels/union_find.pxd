# Disjoint sets of elements in an array of parents (Tarjan & van Leeuwen 1984). The root of a set is its least element, so
# sets do not depend on the order in which they are united, and roots appear in order.
from graphpart.kernels.types cimport element_t


cdef inline element_t root(element_t* parent, element_t a) noexcept nogil:
    # By path halving.
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


cdef inline void unite(element_t* parent, element_t a, element_t b) noexcept nogil:
    a, b = root(parent, a), root(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b


cdef inline element_t number_sets(element_t* parent, Py_ssize_t n) noexcept nogil:
    # Parents become numbers of sets, in order of their least elements; how many there are.
    cdef Py_ssize_t k
    cdef element_t count = 0
    for k in range(n):    # parents are smaller, so they already hold a number
        if parent[k] == k:
            parent[k] = count
            count += 1
        else:
            parent[k] = parent[parent[k]]
    return count
