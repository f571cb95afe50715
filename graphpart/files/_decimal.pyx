"""Decimal text to float64, correctly rounded and without a look at the locale.

Up to 2**53 times a power of ten up to 10**22 takes one exact multiplication or division (Clinger 1990), other numbers of
up to 19 digits take one or two multiplications of 64 by 64 bits (Lemire 2021), and what these cannot decide goes to
Python's own converter.
"""

from libc.math cimport INFINITY, isinf
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from graphpart.kernels.bits cimport leading_zeros, multiply

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1.0

cdef enum:
    LOW_POWER = -342       # exponent of ten; below it, 19 digits are zero in float64
    HIGH_POWER = 308

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
    """digits * 10**power, correctly rounded, for digits > 0; False if this method cannot decide.

    The significand of the power is too small by less than one unit, so the product is too small by less than `digits`.
    The bits are right unless this error can carry into them, or decide whether there is a tie.
    """
    cdef uint64_t high, low, more, carried, top, significand
    cdef long exponent
    cdef int zeros
    if not LOW_POWER <= power <= HIGH_POWER:
        return False
    zeros = leading_zeros(digits)
    digits <<= zeros
    low = multiply(digits, SIGNIFICANDS[2 * (power - LOW_POWER)], &high)
    if high & 0x1FF == 0x1FF and low + digits < digits:      # the missing part may carry: take 64 bits more
        more = multiply(digits, SIGNIFICANDS[2 * (power - LOW_POWER) + 1], &carried)
        low += carried
        high += low < carried
        if high & 0x1FF == 0x1FF and low + 1 == 0 and more + digits < digits:
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
