# The types of numbers in kernels.
from libc.stdint cimport int32_t, int64_t

ctypedef int32_t element_t    # an element, subset, variable or label
ctypedef int64_t offset_t     # a position in an array of pairs
ctypedef double cost_t
