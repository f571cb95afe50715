"""Parsers of large texts: lines of pairs, and streams of numbers, fed block by block.

Each parser turns bytes into C arrays that grow as data arrives (never as a header promises), and raises FormatError
with the exact line, the token found and what was expected. A decimal number is rounded correctly: up to 2**53 times a
power of ten up to 10**22 takes one exact multiplication or division (Clinger 1990), other numbers of up to 19 digits take
one or two multiplications of 64 by 64 bits (Lemire 2021), and what these cannot decide goes to Python's own converter.
None of them looks at the locale.
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY, NAN, isinf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from graphpart.errors import FormatError

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1.0

cdef extern from *:
    """
    typedef unsigned __int128 graphpart_wide;
    """
    ctypedef uint64_t wide_t "graphpart_wide"     # Cython knows no integer of 128 bits; C does
    int __builtin_clzll(uint64_t x) nogil

cdef enum:
    LOW_POWER = -342       # of ten, from which on 19 digits may be no zero
    HIGH_POWER = 308
    LONGEST = 1 << 16      # bytes of a token or line, beyond which a file is no text of ours
    SHOWN = 40             # bytes of a token that a message shows

cdef enum Fault:
    NONE, SHORT, INTEGER, NUMBER, TOO_LARGE, IS_NAN, EXTRA, LOOP, SURPLUS, LONG

cdef double[23] POWERS
POWERS = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
          1e20, 1e21, 1e22]


# The first 128 bits of the powers of ten, rounded down.
cdef uint64_t[2 * (308 + 342 + 1)] SIGNIFICANDS


def _significand(power):
    """floor(10**power * 2**k), where k is such that the result has 128 bits."""
    if power >= 0:
        exact = 10**power
        shift = exact.bit_length() - 128
        return exact >> shift if shift > 0 else exact << -shift
    exact = 10 ** (-power)
    return (1 << (exact.bit_length() + 127)) // exact


for power in range(LOW_POWER, HIGH_POWER + 1):
    SIGNIFICANDS[2 * (power - LOW_POWER)] = _significand(power) >> 64
    SIGNIFICANDS[2 * (power - LOW_POWER) + 1] = _significand(power) & (2**64 - 1)


# --------------------------------------------------------------------------------------------------- one number

cdef inline bint scaled(uint64_t digits, long power, double* out) noexcept nogil:
    """digits * 10**power, correctly rounded, for digits > 0; false if this way cannot tell.

    The significand of the power is too small by less than one unit, thus the product by less than `digits`. If this
    can neither carry into the bits that count nor tell a tie from a larger number, the bits are right.
    """
    cdef wide_t product
    cdef uint64_t high, low, more, top, significand
    cdef long exponent
    cdef int zeros
    if not LOW_POWER <= power <= HIGH_POWER:
        return False
    zeros = __builtin_clzll(digits)
    digits <<= zeros
    product = <wide_t>digits * SIGNIFICANDS[2 * (power - LOW_POWER)]
    high, low = <uint64_t>(product >> 64), <uint64_t>product
    if high & 0x1FF == 0x1FF and low + digits < digits:      # the missing part may carry: take 64 bits more
        product = <wide_t>digits * SIGNIFICANDS[2 * (power - LOW_POWER) + 1]
        more = low
        low += <uint64_t>(product >> 64)
        high += low < more
        if high & 0x1FF == 0x1FF and low + 1 == 0 and <uint64_t>product + digits < digits:
            return False
    top = high >> 63
    significand = high >> (top + 9)                           # 54 bits, the last one to be rounded away
    if low == 0 and high & 0x1FF == 0 and significand & 3 == 1:
        return False
    # floor(log2(10**power)) is power * 217706 / 65536 rounded down, in this range
    exponent = ((217706 * power) >> 16) + 64 + 1023 - zeros - (1 - <long>top)
    significand = (significand + (significand & 1)) >> 1
    if significand >> 53:
        significand >>= 1
        exponent += 1
    if not 0 < exponent < 0x7FF:                              # subnormal or too large
        return False
    more = (<uint64_t>exponent << 52) | (significand & ((<uint64_t>1 << 52) - 1))
    memcpy(out, &more, 8)
    return True


cdef double convert(const uint8_t* p, Py_ssize_t size) noexcept with gil:
    """A token that is known to have the form of a decimal number."""
    return PyOS_string_to_double(<bytes>(p[:size]), NULL, NULL)


cdef inline bint same(const uint8_t* p, const uint8_t* end, const char* word) noexcept nogil:
    while p < end and word[0] != 0 and (p[0] | 32) == word[0]:
        p += 1
        word += 1
    return p == end and word[0] == 0


cdef Fault number(const uint8_t* start, const uint8_t* end, double* out) noexcept nogil:
    """Convert the token [start, end): a decimal number, inf or infinity, each with an optional sign."""
    cdef const uint8_t* p = start
    cdef uint64_t mantissa = 0
    cdef int digits = 0          # significant ones seen
    cdef bint any = False, lost = False, negative = False, small
    cdef long exponent = 0, written = 0
    if p < end and (p[0] == c'-' or p[0] == c'+'):
        negative = p[0] == c'-'
        p += 1
    while p < end and c'0' <= p[0] <= c'9':
        any = True
        if digits < 19:
            mantissa = 10 * mantissa + (p[0] - c'0')
            digits += mantissa != 0
        else:
            lost |= p[0] != c'0'
            exponent += 1
        p += 1
    if p < end and p[0] == c'.':
        p += 1
        while p < end and c'0' <= p[0] <= c'9':
            any = True
            if digits < 19:
                mantissa = 10 * mantissa + (p[0] - c'0')
                digits += mantissa != 0
                exponent -= 1
            else:
                lost |= p[0] != c'0'
            p += 1
    if not any:
        p = start + (start < end and (start[0] == c'-' or start[0] == c'+'))
        if same(p, end, b"inf") or same(p, end, b"infinity"):
            out[0] = -INFINITY if negative else INFINITY
            return NONE
        return IS_NAN if same(p, end, b"nan") else NUMBER
    if p < end and (p[0] | 32) == c'e':
        p += 1
        small = False
        if p < end and (p[0] == c'-' or p[0] == c'+'):
            small = p[0] == c'-'
            p += 1
        if p == end:
            return NUMBER
        while p < end and c'0' <= p[0] <= c'9':
            if written < 1000000:
                written = 10 * written + (p[0] - c'0')
            p += 1
        exponent += -written if small else written
    if p != end:
        return NUMBER
    if not lost and mantissa <= <uint64_t>1 << 53 and -22 <= exponent <= 22:
        out[0] = mantissa * POWERS[exponent] if exponent >= 0 else mantissa / POWERS[-exponent]
        if negative:
            out[0] = -out[0]
        return NONE
    if not lost and mantissa and scaled(mantissa, exponent, out):
        if negative:
            out[0] = -out[0]
        return NONE
    out[0] = convert(start, end - start)
    return TOO_LARGE if isinf(out[0]) else NONE


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


cdef int grow(void** data, Py_ssize_t capacity, Py_ssize_t width) except -1:
    # realloc moves large blocks by their page table: nothing is copied, and pages not yet written take no memory.
    cdef void* larger = realloc(data[0], max(<Py_ssize_t>1, capacity) * width)
    if larger == NULL:
        raise MemoryError()
    data[0] = larger
    return 0


cdef object taken(void** data, Py_ssize_t size, Py_ssize_t width, object dtype):
    """A NumPy array that takes over the first `size` items of a C array."""
    cdef cython.view.array holder
    if size == 0:
        return np.empty(0, dtype)
    grow(data, size, width)
    holder = <uint8_t[:size * width]><uint8_t*>data[0]
    holder.callback_free_data = free
    data[0] = NULL
    return np.asarray(holder).view(dtype)


# ------------------------------------------------------------------------------------------------ what all share

cdef class Parser:
    """Cuts blocks at line or token ends, counts lines, and words the errors.

    Parameters
    ----------
    name : str
        The file, for messages.
    form : str
        What was expected, for messages.
    line : int
        The number of the line that the first byte belongs to.
    """

    cdef object name, form
    cdef bytes carry
    cdef readonly int64_t line
    cdef bint by_line
    # where and what a scan found wrong
    cdef Fault fault
    cdef const uint8_t* from_
    cdef const uint8_t* to

    def __init__(self, name, form, line):
        self.name, self.form, self.line = name, form, line
        self.carry = b""
        self.by_line = True

    cdef const uint8_t* scan(self, const uint8_t* p, const uint8_t* end) noexcept nogil:
        """Parse all of [p, end), which ends at a line or token end; on a fault, set it."""
        return end

    def feed(self, bytes block):
        """Parse some bytes; what they leave unfinished waits for the next ones."""
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
        """Parse what is left at the end of the file."""
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
        What is left to someone else (`csv`).
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

    def __init__(self, name, form, line=1, low=0, high=2**31 - 3, valued=True, comment="", csv=False):
        super().__init__(name, form, line)
        self.low, self.high, self.valued, self.csv = low, high, valued, csv
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

    cdef int enlarge(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t width = 8 if self.csv else 4
        self.capacity = capacity
        grow(&self.u, self.capacity, width)
        grow(&self.v, self.capacity, width)
        if self.valued:
            grow(<void**>&self.cost, self.capacity, 8)
        return 0

    cdef int run(self, const uint8_t* start, const uint8_t* end) except -1:
        cdef const uint8_t* stop
        cdef Py_ssize_t most = (end - start) // 4 + 1     # the line of a pair has at least four bytes
        if self.capacity < self.size + most:
            self.enlarge(max(self.size + most, 2 * self.capacity))
        if self.room < 2 * (self.broken + most):
            self.room = 2 * max(self.broken + most, self.room)
            grow(<void**>&self.breaks, self.room, 8)
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
    """Numbers separated by white space, in lines that may mean something (rows) or not.

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
        cdef Py_ssize_t needed = self.size + (end - start) // 2 + 1     # a number and a separator: two bytes
        if self.capacity < needed:
            self.capacity = max(needed, 2 * self.capacity)
            grow(<void**>&self.data, self.capacity, 8)
        if self.rows:
            needed = 2 * (self.height + (end - start) + 1)
            if self.room < needed:
                self.room = max(needed, 2 * self.room)
                grow(<void**>&self.starts, self.room, 8)
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
