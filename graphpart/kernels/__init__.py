"""C-level pieces that several algorithms share, and elementary functions. Nothing here knows networkx."""

__all__ = ["LARGEST_INDEX"]

LARGEST_INDEX = 2**31 - 2  # of elements, variables, factors and labels, which kernels hold as int32; -1 is none
