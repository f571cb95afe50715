"""Kernel of region graphs: contacts of regions, the values there, and the connected pieces of each region.

A contact is a pair of neighbouring voxels, along one axis, in two different regions; voxels of region 0 have none. All
contacts of the same two regions are one entry of a table. It has their number along each axis, and the sum, the sum of
squares, the extremes and a histogram of their values. Values are in [0, 1]. Sums are integers, in units of 2**-30. So
tables of blocks add up to exactly the table of the whole, in any order.

The value of a contact is the larger one of its two voxels, so that a boundary one voxel wide counts in full, whichever
side its voxels belong to. Entries are found by a hash table with open addressing. Contacts come in long series for the
same two regions, so the entry that was found last is tried first.

Pieces: along the last axis, voxels of one region form series. Two series of one region are connected if they touch in
neighbouring rows. Sets of connected series are disjoint sets with path halving.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memset

from graphpart.kernels._arrays cimport empty_uint64, zeros_int64
from graphpart.kernels.growing cimport grow
from graphpart.kernels.types cimport element_t
from graphpart.kernels.union_find cimport root, unite

cdef enum:
    BINS = 64           # of a histogram
    AXES = 3
    FIXED = 1 << 30     # units of a sum for 1

cdef struct Contact:
    uint64_t key                # the smaller region in the upper half, the larger one in the lower half
    int64_t number[AXES]
    int64_t total
    int64_t squares
    float least
    float most
    uint32_t bins[BINS]


cdef struct Slot:
    uint64_t key
    Py_ssize_t entry            # plus 1; 0 where there is none


cdef inline const int32_t* skip(const int32_t* a, const int32_t* b, const int32_t* end) noexcept nogil:
    """The first place in a whose voxels may differ from those at b; four are compared at once."""
    while a + 4 <= end and memcmp(a, b, 16) == 0:
        a += 4
        b += 4
    return a


cdef class Contacts:
    """A table of contacts, to which arrays of regions are added."""

    cdef Contact* rows
    cdef Py_ssize_t room, size
    cdef Slot* slots
    cdef uint64_t mask
    cdef int shift

    def __cinit__(self):
        self.mask = 1023
        self.shift = 54
        self.slots = <Slot*>calloc(self.mask + 1, sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.rows)
        free(self.slots)

    cdef inline uint64_t _slot(self, uint64_t key) noexcept nogil:
        cdef uint64_t at = (key * <uint64_t>0x9E3779B97F4A7C15) >> self.shift
        while self.slots[at].entry != 0 and self.slots[at].key != key:
            at = (at + 1) & self.mask
        return at

    cdef bint _enlarge(self) noexcept nogil:
        cdef uint64_t wide = 2 * (self.mask + 1)
        cdef Slot* larger = <Slot*>calloc(wide, sizeof(Slot))
        cdef Py_ssize_t i
        cdef uint64_t at
        if larger == NULL:
            return False
        free(self.slots)
        self.slots, self.mask, self.shift = larger, wide - 1, self.shift - 1
        for i in range(self.size):
            at = self._slot(self.rows[i].key)
            self.slots[at].key, self.slots[at].entry = self.rows[i].key, i + 1
        return True

    cdef Py_ssize_t _find(self, int32_t a, int32_t b) noexcept nogil:
        """The entry of two regions, a new one if there is none; -1 if there is no memory."""
        cdef uint64_t key = (<uint64_t>min(a, b) << 32) | <uint64_t>max(a, b)
        cdef uint64_t at = self._slot(key)
        cdef Contact* row
        if self.slots[at].entry != 0:
            return self.slots[at].entry - 1
        if 2 * <uint64_t>(self.size + 1) > self.mask:
            if not self._enlarge():
                return -1
            at = self._slot(key)
        if not grow(<void**>&self.rows, &self.room, self.size + 1, sizeof(Contact)):
            return -1
        row = &self.rows[self.size]
        memset(row, 0, sizeof(Contact))
        row.key, row.least, row.most = key, 2.0, -1.0
        self.size += 1
        self.slots[at].key, self.slots[at].entry = key, self.size
        return self.size - 1

    cdef inline void _add(self, Py_ssize_t i, int axis, float value) noexcept nogil:
        cdef Contact* row = &self.rows[i]
        cdef int64_t units = <int64_t>(value * <float>FIXED)    # exact down to 2**-30
        cdef int64_t bin = (units * BINS) >> 30
        row.number[axis] += 1
        row.total += units
        row.squares += (units * units) >> 30
        row.least = min(row.least, value)
        row.most = max(row.most, value)
        row.bins[bin if bin < BINS else BINS - 1] += 1

    cdef bint _rows(
        self, const int32_t* row, const int32_t* next, const float* value, const float* next_value,
        Py_ssize_t width, int axis
    ) noexcept nogil:
        """Add the contacts of the voxels of two rows, one by one; False if there is no memory."""
        cdef const int32_t* at = row
        cdef const int32_t* end = row + width
        cdef Py_ssize_t x, entry = -1
        cdef int32_t a, b, before_a = 0, before_b = 0
        cdef float most = 0.0
        while True:
            at = skip(at, next + (at - row), end)
            if at >= end:
                return True
            x = at - row
            at += 1
            a, b = row[x], next[x]
            if a == b or a == 0 or b == 0:
                continue
            if a != before_a or b != before_b:
                entry = self._find(a, b)
                if entry < 0:
                    return False
                before_a, before_b = a, b
            if value != NULL:
                most = max(value[x], next_value[x])
            self._add(entry, axis, most)

    def add(self, const int32_t[:, :, ::1] regions, const float[:, :, ::1] boundary, core):
        """Add all contacts of an array whose first voxel is in the core.

        Parameters
        ----------
        regions : ndarray of int32, shape (depth, height, width)
            At least 0.
        boundary : ndarray of float32 of the same shape, or None
            In [0, 1]; without it every value is 0.
        core : three ints
            The number of voxels of the core along each axis, at most the shape. The voxels beyond it belong to
            neighbouring blocks.
        """
        cdef Py_ssize_t depth = regions.shape[0], height = regions.shape[1], width = regions.shape[2]
        cdef Py_ssize_t core_depth, core_height, core_width
        cdef Py_ssize_t behind = height * width, z, y
        cdef const int32_t* row
        cdef const float* value = NULL
        cdef bint fine = True, valued = boundary is not None
        core_depth, core_height, core_width = core
        if depth == 0 or height == 0 or width == 0:
            return
        with nogil:
            for z in range(core_depth):
                for y in range(core_height):
                    row = &regions[z, y, 0]
                    if valued:
                        value = &boundary[z, y, 0]
                    if z + 1 < depth:
                        fine = self._rows(row, row + behind, value, value + behind if valued else NULL, core_width, 0)
                    if fine and y + 1 < height:
                        fine = self._rows(row, row + width, value, value + width if valued else NULL, core_width, 1)
                    if fine:
                        fine = self._rows(
                            row, row + 1, value, value + 1 if valued else NULL, min(core_width, width - 1), 2
                        )
                    if not fine:
                        break
                if not fine:
                    break
        if not fine:
            raise MemoryError()

    def add_offset(self, const int32_t[:, :, ::1] regions, const float[:, :, ::1] values, offset, core):
        """Add the values of all pairs of voxels an offset apart, whose first voxel is in the core.

        Parameters
        ----------
        regions : ndarray of int32, shape (depth, height, width)
        values : ndarray of float32 of the same shape
            In [0, 1]; the value at x is that of the voxels x and x + offset.
        offset, core : three ints
            The offset, and the size of the core. Pairs are counted under the first axis in which the offset is not 0.
        """
        cdef Py_ssize_t shape[AXES]
        cdef Py_ssize_t low[AXES]
        cdef Py_ssize_t high[AXES]
        cdef Py_ssize_t moved[AXES]
        cdef Py_ssize_t z, y, x, found = -1
        cdef int axis, along = -1
        cdef int32_t a, b, before_a = -1, before_b = -1
        cdef bint failed = False
        shape[0], shape[1], shape[2] = regions.shape[0], regions.shape[1], regions.shape[2]
        for axis in range(AXES):
            moved[axis] = offset[axis]
            low[axis] = max(0, -moved[axis])
            high[axis] = min(<Py_ssize_t>core[axis], shape[axis] - max(<Py_ssize_t>0, moved[axis]))
            if moved[axis] != 0 and along < 0:
                along = axis
        with nogil:
            for z in range(low[0], high[0]):
                for y in range(low[1], high[1]):
                    for x in range(low[2], high[2]):
                        a = regions[z, y, x]
                        b = regions[z + moved[0], y + moved[1], x + moved[2]]
                        if a == b or a == 0 or b == 0:
                            continue
                        if a != before_a or b != before_b:
                            found = self._find(a, b)
                            if found < 0:
                                failed = True
                                break
                            before_a, before_b = a, b
                        self._add(found, along, values[z, y, x])
                    if failed:
                        break
                if failed:
                    break
        if failed:
            raise MemoryError()

    def arrays(self):
        """(pairs, numbers, sums, extremes, histograms) by ascending pairs.

        Returns
        -------
        tuple of ndarray
            int32 of shape (m, 2), int64 (m, 3), int64 (m, 2): of values and of their squares, float32 (m, 2), uint32
            (m, 64).
        """
        cdef Py_ssize_t m = self.size, i, k
        cdef int j
        cdef uint64_t[::1] keys = empty_uint64(m)
        for i in range(m):
            keys[i] = self.rows[i].key
        order_array = np.argsort(keys)
        cdef int64_t[::1] order = order_array
        pairs, numbers = np.empty((m, 2), np.int32), np.empty((m, AXES), np.int64)
        sums, extremes = np.empty((m, 2), np.int64), np.empty((m, 2), np.float32)
        histograms = np.empty((m, BINS), np.uint32)
        cdef int32_t[:, ::1] pair = pairs
        cdef int64_t[:, ::1] number = numbers, moment = sums
        cdef float[:, ::1] extreme = extremes
        cdef uint32_t[:, ::1] histogram = histograms
        cdef Contact* row
        with nogil:
            for k in range(m):
                row = &self.rows[order[k]]
                pair[k, 0], pair[k, 1] = <int32_t>(row.key >> 32), <int32_t><uint32_t>row.key
                moment[k, 0], moment[k, 1] = row.total, row.squares
                extreme[k, 0], extreme[k, 1] = row.least, row.most
                for j in range(AXES):
                    number[k, j] = row.number[j]
                for j in range(BINS):
                    histogram[k, j] = row.bins[j]
        return pairs, numbers, sums, extremes, histograms


# ------------------------------------------------------------------------------------------------------------- pieces

cdef struct Series:
    int32_t region
    int32_t end


cdef void _connect(
    Series* series, element_t* parent, int64_t i, int64_t last_i, int64_t j, int64_t last_j, int32_t reach
) noexcept nogil:
    """Unite series i, ... of one row with touching series j, ... of another; with reach 1 also at corners."""
    cdef int32_t start_i = 0, start_j = 0, start, end
    cdef int64_t k
    while i < last_i:
        end = series[i].end + reach
        while series[j].end + reach <= start_i:
            start_j = series[j].end
            j += 1
        k, start = j, start_j
        while k < last_j and start < end:
            if series[k].region == series[i].region and series[k].region != 0 and parent[k] != parent[i]:
                unite(parent, <element_t>i, <element_t>k)
            start = series[k].end
            k += 1
        start_i = series[i].end
        i += 1


def count_pieces(
    const int32_t[:, :, ::1] regions, Py_ssize_t most, bint corners
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each region, the numbers of voxels, of connected pieces, and of pieces without a voxel at the border.

    Parameters
    ----------
    regions : ndarray of int32, shape (depth, height, width)
        From 0 to most - 1. Region 0 counts as having none.
    most : int
    corners : bool
        Whether voxels that share only an edge or a corner are connected.

    Returns
    -------
    three ndarrays of int64, shape (most,)
        The last one is 0 if no region has several pieces.

    Notes
    -----
    O(voxels) time, and 12 bytes for each series of voxels.
    """
    cdef Py_ssize_t depth = regions.shape[0], height = regions.shape[1], width = regions.shape[2]
    cdef Series* series = NULL
    cdef element_t* parent = NULL
    cdef Py_ssize_t series_room = 0, parent_room = 0
    cdef int64_t size = 0, i, start, end
    cdef int32_t reach = 1 if corners else 0
    cdef Py_ssize_t z, y, x, begin, other, low, high
    cdef int64_t[::1] first = zeros_int64(depth * height + 1)
    cdef int64_t[::1] pieces = zeros_int64(most), inner = zeros_int64(most)
    cdef int64_t[::1] sizes = zeros_int64(most)
    cdef char* open = NULL
    cdef const int32_t* row
    cdef int32_t a
    cdef bint failed = False, several = False, row_open
    if width == 0:
        return np.asarray(sizes), np.asarray(pieces), np.asarray(inner)
    with nogil:
        for z in range(depth):
            for y in range(height):
                if not (grow(<void**>&series, &series_room, size + width, sizeof(Series))
                        and grow(<void**>&parent, &parent_room, size + width, sizeof(element_t))):
                    failed = True
                    break
                row = &regions[z, y, 0]
                i = size
                x = 0
                while x < width:
                    a = row[x]
                    begin = x
                    x += 1
                    while x < width and row[x] == a:
                        x += 1
                    sizes[a] += x - begin
                    series[size].region, series[size].end = a, <int32_t>x
                    parent[size] = <element_t>size
                    size += 1
                first[z * height + y + 1] = size
                if y > 0:
                    _connect(series, parent, i, size, first[z * height + y - 1], i, reach)
                if z > 0:
                    low, high = max(y - reach, 0), min(y + reach, height - 1)
                    for other in range((z - 1) * height + low, (z - 1) * height + high + 1):
                        _connect(series, parent, i, size, first[other], first[other + 1], reach)
            if failed:
                break
        if not failed:
            for i in range(size):
                if parent[i] == i and series[i].region != 0:
                    pieces[series[i].region] += 1
                    several = several or pieces[series[i].region] > 1
        if several:
            open = <char*>calloc(size, 1)
            failed = open == NULL
        if several and not failed:
            i = 0
            for z in range(depth):
                for y in range(height):
                    start, end = i, first[z * height + y + 1]
                    row_open = y == 0 or y == height - 1 or (depth > 1 and (z == 0 or z == depth - 1))
                    while i < end:
                        if row_open or i == start or i == end - 1:
                            open[root(parent, <element_t>i)] = 1
                        i += 1
            for i in range(size):
                if parent[i] == i and series[i].region != 0:
                    inner[series[i].region] += not open[i]
        free(series)
        free(parent)
        free(open)
    if failed:
        raise MemoryError()
    return np.asarray(sizes), np.asarray(pieces), np.asarray(inner)
