"""Parsers of large texts: lines of pairs, and streams of numbers, fed block by block.

Each parser turns bytes into C arrays that grow as data arrives (never as a header promises), and raises FormatError
with the exact line, the token found and what was expected.
"""

import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo
from libc.math cimport NAN, isinf
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc

from graphpart.errors import FormatError
from graphpart.files._decimal cimport (
    EXTRA, INTEGER, IS_NAN, LONG, LOOP, NONE, NUMBER, SHORT, SURPLUS, TOO_LARGE, Fault, number,
)
from graphpart.kernels.growing cimport reserve

cdef enum:
    LONGEST = 1 << 16      # most bytes of a token or line; a file with longer ones is of another format
    SHOWN = 40             # bytes of a token that a message shows


# --------------------------------------------------------------------------------------------------- one token

cdef inline const uint8_t* integer(const uint8_t* p, const uint8_t* end, int64_t* out) noexcept nogil:
    """The end of an integer of at most 18 digits without leading zeros that starts at p; NULL if there is none."""
    cdef bint negative = p < end and p[0] == c'-'
    cdef const uint8_t* first
    cdef int64_t value = 0
    p += negative
    first = p
    while p < end and c'0' <= p[0] <= c'9':
        value = 10 * value + (p[0] - c'0')
        p += 1
        if p - first > 18:
            return NULL
    if p == first or (first[0] == c'0' and (p - first > 1 or negative)):
        return NULL
    out[0] = -value if negative else value
    return p


cdef inline bint blank(uint8_t c) noexcept nogil:
    return c == c' ' or c == c'\t' or c == c'\r' or c == c'\f' or c == c'\v'


cdef str shown(const uint8_t* p, const uint8_t* end):
    """A token as a message shows it."""
    cdef Py_ssize_t size = min(end - p, <Py_ssize_t>SHOWN)
    text = ascii((<bytes>p[:size]).decode("utf-8", "backslashreplace"))
    return text + "..." if end - p > SHOWN else text


cdef class Block:
    """Memory from `realloc`, freed when no view of it is left."""

    cdef void* data
    cdef Py_ssize_t size

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.data, self.size, False, flags)

    def __dealloc__(self):
        free(self.data)


cdef object taken(void** data, Py_ssize_t size, Py_ssize_t width, object dtype):
    """A NumPy array that takes over the first `size` items of a C array."""
    cdef Block block
    cdef void* just
    if size == 0:
        return np.empty(0, dtype)
    just = realloc(data[0], size * width)
    block = Block()
    block.data, block.size = data[0] if just == NULL else just, size * width
    data[0] = NULL
    return np.frombuffer(block, dtype)


# ------------------------------------------------------------------------------------------------ all parsers

cdef class Parser:
    """Cuts blocks at ends of lines or tokens, counts lines, and raises errors.

    Parameters
    ----------
    name : str
        The file, for messages.
    form : str
        The expected form of the file, for messages.
    line : int
        The number of the line that the first byte belongs to.
    """

    cdef object name, form
    cdef bytes carry
    cdef readonly int64_t line
    cdef bint by_line
    # the fault that a scan found, and its place
    cdef Fault fault
    cdef const uint8_t* from_
    cdef const uint8_t* to

    def __init__(self, name, form, line):
        self.name, self.form, self.line = name, form, line
        self.carry = b""
        self.by_line = True

    cdef const uint8_t* scan(self, const uint8_t* p, const uint8_t* end) noexcept nogil:
        """Parse all of [p, end), which ends at the end of a line or token; note a fault."""
        return end

    def feed(self, bytes block):
        """Parse a block; an unfinished line or token is kept for the next block."""
        cdef bytes data = self.carry + block if self.carry else block
        cdef const uint8_t* start = data
        cdef const uint8_t* end = start + len(data)
        while end > start and (end - 1)[0] != c'\n' and (self.by_line or not blank((end - 1)[0])):
            end -= 1
        self.run(start, end)
        self.carry = data[end - start:]
        if self.fault == NONE and len(self.carry) > LONGEST:
            start = self.carry
            self.fail(LONG, start, start + LONGEST)
            self.report()

    def finish(self):
        """Parse the rest at the end of the file."""
        if not self.carry:
            return
        cdef bytes data = self.carry + b"\n"
        cdef const uint8_t* start = data
        self.carry = b""
        self.run(start, start + len(data))

    cdef int run(self, const uint8_t* start, const uint8_t* end) except -1:
        with nogil:
            self.scan(start, end)
        if self.fault != NONE:
            self.report()
        return 0

    cdef void fail(self, Fault fault, const uint8_t* start, const uint8_t* end) noexcept nogil:
        self.fault, self.from_, self.to = fault, start, end

    cdef int report(self) except -1:
        token = shown(self.from_, self.to)
        if self.fault == SHORT:
            text = f"the line ends early: expected {self.form}"
        elif self.fault == INTEGER:
            text = f"found {token}: expected {self.range()}, in a line {self.form}"
        elif self.fault == NUMBER:
            text = f"found {token}: expected a number"
        elif self.fault == TOO_LARGE:
            text = f"found {token}: expected a number of a magnitude below 1.8e308"
        elif self.fault == IS_NAN:
            text = f"found {token}: expected a number, inf or -inf"
        elif self.fault == EXTRA:
            text = f"found {token} at the end of the line: expected {self.form} and nothing else"
        elif self.fault == LOOP:
            text = f"found element {token} paired with itself: expected two different elements"
        elif self.fault == SURPLUS:
            text = f"found {token} after the last number: expected {self.form}"
        else:
            text = f"found {token} without an end within {LONGEST} bytes: expected {self.form}"
        raise FormatError(self.name, self.line, text)

    def range(self):
        return "an integer"


# --------------------------------------------------------------------------------------------------- lines of pairs

cdef class Pairs(Parser):
    """Lines ``u v cost`` or ``u v``.

    Parameters
    ----------
    name, form, line
        As above.
    low, high : int
        The range of u and v; `low` is subtracted from them.
    valued : bool
        Whether a line has a cost.
    comment : str
        A line that starts with this character is skipped.
    csv : bool
        Fields are separated by commas; u and v are any integers, kept as they are in 64 bits; a line ``u,,`` gives
        (u, u, nan). The first line of another form ends the parsing: `rest` then holds the bytes from there on.

    Attributes
    ----------
    size : int
        Number of pairs so far.
    largest : int
        Largest u or v so far, -1 without any.
    rest : bytes or None
        The bytes that were not parsed (`csv`).
    """

    cdef void* u
    cdef void* v
    cdef double* cost
    cdef Py_ssize_t capacity
    cdef readonly Py_ssize_t size
    cdef readonly int64_t largest
    cdef readonly object rest
    cdef int64_t low, high
    cdef bint valued, csv
    cdef uint8_t comment
    # Lines are consecutive but for breaks: pair breaks[2 i] stands in line breaks[2 i + 1].
    cdef int64_t* breaks
    cdef Py_ssize_t broken, room
    cdef int64_t expected_line

    def __init__(self, name, form, line=1, low=0, high=2**31 - 3, comment=""):
        super().__init__(name, form, line)
        self.low, self.high = low, high
        self.csv = "," in form
        self.valued = len(form.replace(",", " ").split()) == 3
        self.comment = ord(comment) if comment else 0
        self.largest = -1
        self.expected_line = -1

    def __dealloc__(self):
        free(self.u)
        free(self.v)
        free(self.cost)
        free(self.breaks)

    def range(self):
        return f"an element from {self.low} to {self.high}"

    cdef int run(self, const uint8_t* start, const uint8_t* end) except -1:
        cdef const uint8_t* stop
        cdef Py_ssize_t most = (end - start) // 4 + 1     # the line of a pair has at least four bytes
        cdef Py_ssize_t room = self.capacity, width = 8 if self.csv else 4
        reserve(&self.u, &room, self.size + most, width)
        room = self.capacity
        reserve(&self.v, &room, self.size + most, width)
        if self.valued:
            room = self.capacity
            reserve(<void**>&self.cost, &room, self.size + most, 8)
        self.capacity = room
        reserve(<void**>&self.breaks, &self.room, 2 * (self.broken + most), 8)
        with nogil:
            stop = self.scan(start, end)
        if self.fault == NONE:
            return 0
        if self.csv:
            self.fault = NONE
            self.rest = <bytes>stop[:end - stop]
            return 0
        return self.report()

    def take_rest(self):
        """The bytes from the line that ended the parsing to the end of the last block."""
        rest, self.rest = self.rest + self.carry, None
        self.carry = b""
        return rest

    cdef const uint8_t* scan(self, const uint8_t* p, const uint8_t* end) noexcept nogil:
        cdef const uint8_t* start
        cdef const uint8_t* token
        cdef const uint8_t* q
        cdef int64_t a = 0, b = 0
        cdef double x = 0.0
        cdef Fault fault
        while p < end:
            start = p
            while blank(p[0]):
                p += 1
            if p[0] == c'\n':
                p += 1
                self.line += 1
                continue
            if p[0] == self.comment and self.comment:
                while p[0] != c'\n':
                    p += 1
                p += 1
                self.line += 1
                continue
            # u
            q = integer(p, end, &a)
            if q == NULL or not (blank(q[0]) or q[0] == c'\n' or (self.csv and q[0] == c',')):
                return self.wrong(INTEGER, start, p)
            if not self.csv and not self.low <= a <= self.high:
                return self.wrong(INTEGER, start, p)
            token = p
            p = self.between(q)
            if p == NULL or p[0] == c'\n':
                return self.wrong(SHORT, start, q)
            # v
            if self.csv and p[0] == c',':
                b, x = a, NAN
                p += 1
            else:
                q = integer(p, end, &b)
                if q == NULL or not (blank(q[0]) or q[0] == c'\n' or (self.csv and q[0] == c',')):
                    return self.wrong(INTEGER, start, p)
                if not self.csv and not self.low <= b <= self.high:
                    return self.wrong(INTEGER, start, p)
                if a == b:
                    return self.wrong(LOOP, start, token)
                p = q
                # cost
                if self.valued:
                    p = self.between(p)
                    if p == NULL or p[0] == c'\n':
                        return self.wrong(SHORT, start, q)
                    q = p
                    while not blank(q[0]) and q[0] != c'\n':
                        q += 1
                    fault = number(p, q, &x)
                    if fault != NONE:
                        return self.wrong(fault, start, p)
                    p = q
            while blank(p[0]):
                p += 1
            if p[0] != c'\n':
                return self.wrong(EXTRA, start, p)
            if self.csv:
                (<int64_t*>self.u)[self.size] = a
                (<int64_t*>self.v)[self.size] = b
            else:
                a -= self.low
                b -= self.low
                (<int32_t*>self.u)[self.size] = <int32_t>a
                (<int32_t*>self.v)[self.size] = <int32_t>b
                self.largest = max(self.largest, a, b)
            if self.valued:
                self.cost[self.size] = x
            if self.line != self.expected_line:
                self.breaks[2 * self.broken] = self.size
                self.breaks[2 * self.broken + 1] = self.line
                self.broken += 1
            self.size += 1
            p += 1
            self.line += 1
            self.expected_line = self.line
        return end

    cdef const uint8_t* between(self, const uint8_t* p) noexcept nogil:
        """The start of the next field after the field that ends at p; NULL if a comma is missing."""
        while blank(p[0]):
            p += 1
        if self.csv:
            if p[0] != c',':
                return NULL
            p += 1
            while blank(p[0]):
                p += 1
        return p

    cdef const uint8_t* wrong(self, Fault fault, const uint8_t* start, const uint8_t* token) noexcept nogil:
        cdef const uint8_t* end = token
        while not blank(end[0]) and end[0] != c'\n':
            end += 1
        self.fail(fault, token, end)
        return start

    def line_of(self, Py_ssize_t k):
        """The line of pair k."""
        cdef Py_ssize_t i = self.broken - 1
        while self.breaks[2 * i] > k:
            i -= 1
        return self.breaks[2 * i + 1] + k - self.breaks[2 * i]

    def arrays(self):
        """(u, v, cost) or (u, v), as NumPy arrays that take over the memory; only once."""
        cdef Py_ssize_t size = self.size
        dtype, width = (np.int64, 8) if self.csv else (np.int32, 4)
        self.capacity = 0
        ends = taken(&self.u, size, width, dtype), taken(&self.v, size, width, dtype)
        return (*ends, taken(<void**>&self.cost, size, 8, np.float64)) if self.valued else ends


# ------------------------------------------------------------------------------------------------ streams of numbers

cdef class Numbers(Parser):
    """Numbers separated by white space; lines matter only if `rows`.

    Parameters
    ----------
    name, form, line
        As above.
    limit : int
        More numbers than this are an error.
    comment : str
        A line that starts with this character is skipped.
    rows : bool
        Note where each line that is not a comment starts.
    finite : bool
        Whether inf is an error.

    Attributes
    ----------
    size : int
        How many numbers so far.
    last_line : int
        The line of the last one.
    """

    cdef double* data
    cdef int64_t* starts      # of rows: position of the first number, line
    cdef Py_ssize_t capacity, room
    cdef readonly Py_ssize_t size, height
    cdef readonly int64_t last_line
    cdef Py_ssize_t limit
    cdef uint8_t comment
    cdef bint rows, finite, fresh, skipping

    def __init__(self, name, form, line=1, limit=2**62, comment="", rows=False, finite=False):
        super().__init__(name, form, line)
        self.by_line = False
        self.limit, self.rows, self.finite = limit, rows, finite
        self.comment = ord(comment) if comment else 0
        self.fresh = True
        self.last_line = line

    def __dealloc__(self):
        free(self.data)
        free(self.starts)

    cdef int run(self, const uint8_t* start, const uint8_t* end) except -1:
        # A number and a separator have two bytes.
        reserve(<void**>&self.data, &self.capacity, self.size + (end - start) // 2 + 1, 8)
        if self.rows:
            reserve(<void**>&self.starts, &self.room, 2 * (self.height + (end - start) + 1), 8)
        return Parser.run(self, start, end)

    cdef const uint8_t* scan(self, const uint8_t* p, const uint8_t* end) noexcept nogil:
        cdef const uint8_t* q
        cdef Fault fault
        while p < end:
            if self.skipping:
                while p < end and p[0] != c'\n':
                    p += 1
                if p == end:
                    return end
                self.skipping, self.fresh = False, True
                p += 1
                self.line += 1
                continue
            if self.fresh:
                if self.comment and p[0] == self.comment:
                    self.skipping = True
                    continue
                self.fresh = False
                if self.rows:
                    self.starts[2 * self.height] = self.size
                    self.starts[2 * self.height + 1] = self.line
                    self.height += 1
            if p[0] == c'\n':
                p += 1
                self.line += 1
                self.fresh = True
                continue
            if blank(p[0]):
                p += 1
                continue
            q = p
            while not blank(q[0]) and q[0] != c'\n':
                q += 1
            fault = SURPLUS if self.size >= self.limit else number(p, q, &self.data[self.size])
            if fault == NONE and self.finite and isinf(self.data[self.size]):
                fault = NUMBER
            if fault != NONE:
                self.fail(fault, p, q)
                return p
            self.size += 1
            self.last_line = self.line
            p = q
        return end

    def array(self):
        """The numbers as a NumPy array that takes over the memory; only once."""
        cdef Py_ssize_t size = self.size
        self.capacity = 0
        return taken(<void**>&self.data, size, 8, np.float64)

    def row_starts(self):
        """(position of the first number of each row, its line), two arrays; only once, if `rows`."""
        both = taken(<void**>&self.starts, 2 * self.height, 8, np.int64).reshape(-1, 2)
        self.room = 0
        return both[:, 0], both[:, 1]
