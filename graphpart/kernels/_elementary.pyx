"""Kernels of exponentials and logarithms: see elementary.py for the method."""

from libc.math cimport INFINITY, frexp, ldexp

cdef double LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # ln 2 as a sum: k times this is exact for |k| < 2**20,
cdef double LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # as its last 21 bits are zero
cdef double PER_LN2 = float.fromhex("0x1.71547652b82fep+0")   # 1 / ln 2
cdef double ROOT = float.fromhex("0x1.6a09e667f3bcdp-1")      # of 1/2
cdef double LEAST = -746.0                                    # beyond LEAST and MOST, an exponential is 0 or inf
cdef double MOST = 710.0
cdef double TO_INTEGER = 6755399441055744.0                   # 1.5 * 2**52: adding and subtracting it rounds to integers
cdef double[13] EXP_TERMS                                     # 1 / 14!, ..., 1 / 2!
cdef double[13] LOG_TERMS                                     # 2 / 27, 2 / 25, ..., 2 / 3
cdef long long factorial = 1
cdef int term
for term in range(2, 15):
    factorial *= term
    EXP_TERMS[14 - term] = 1.0 / <double>factorial
    LOG_TERMS[14 - term] = 2.0 / <double>(2 * term - 1)



cdef inline double polynomial(const double* c, double x) noexcept nogil:
    """By Horner's rule, the coefficient of the highest power first; one expression, so that compilers vectorise it."""
    return ((((((((((((c[0] * x + c[1]) * x + c[2]) * x + c[3]) * x + c[4]) * x + c[5]) * x + c[6]) * x + c[7]) * x
                + c[8]) * x + c[9]) * x + c[10]) * x + c[11]) * x + c[12])


cdef enum:
    BLOCK = 64      # numbers per block; loops over a block contain no calls


def exponentials(const double[::1] x, double[::1] out):
    """e to the power of each number, which may be infinite, but not NaN."""
    cdef Py_ssize_t n = x.shape[0], first, count, i
    cdef double at, high, low, r, less, most, y
    cdef double[BLOCK] k
    cdef double[BLOCK] value
    with nogil:
        for first in range(0, n, 64):
            count = min(<Py_ssize_t>BLOCK, n - first)
            for i in range(count):
                # x = k ln 2 + r with |r| <= (ln 2) / 2, and r = high - low, where high is exact;  e^x = 2^k e^r
                at = x[first + i]
                at = at if at > LEAST else LEAST
                at = at if at < MOST else MOST
                k[i] = (at * PER_LN2 + TO_INTEGER) - TO_INTEGER
                high = at - k[i] * LN2_HIGH
                low = k[i] * LN2_LOW
                r = high - low
                # e^r = 1 + r + r^2 (1/2! + r/3! + ...) = 1 + high + less; what the two sums round off is added then
                less = r * r * polynomial(EXP_TERMS, r) - low
                most = high + less
                y = 1.0 + most
                value[i] = y + ((most - (y - 1.0)) + (less - (most - high)))
            for i in range(count):
                out[first + i] = ldexp(value[i], <int>k[i])


def logarithms(const double[::1] x, double[::1] out):
    """The natural logarithm of each finite number; -inf of 0."""
    cdef Py_ssize_t n = x.shape[0], first, count, i
    cdef int exponent = 0
    cdef double f, s, square, half, R
    cdef double[BLOCK] k
    cdef double[BLOCK] fraction
    with nogil:
        for first in range(0, n, 64):
            count = min(<Py_ssize_t>BLOCK, n - first)
            for i in range(count):
                # x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2)
                fraction[i] = frexp(x[first + i], &exponent)
                if fraction[i] < ROOT:
                    fraction[i] += fraction[i]
                    exponent -= 1
                k[i] = exponent
            for i in range(count):
                f = fraction[i] - 1.0
                # With s = f / (2 + f):  ln(1 + f) = 2 artanh(s) = f - f^2/2 + s (f^2/2 + R),  R = 2 s^2/3 + 2 s^4/5 + ...
                s = f / (2.0 + f)
                square = s * s
                half = 0.5 * f * f
                R = square * polynomial(LOG_TERMS, square)
                out[first + i] = k[i] * LN2_HIGH - ((half - (s * (half + R) + k[i] * LN2_LOW)) - f)
            for i in range(count):
                if not x[first + i] > 0.0:
                    out[first + i] = -INFINITY
