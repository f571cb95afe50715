import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.int64]

def passes(
    domains: Ints,
    first: Places,
    scope_start: Places,
    scope: Ints,
    table_start: Places,
    tables: Floats,
    weight: Floats,
    edge_first: Places,
    base: Floats,
    message: Floats,
    belief: Floats,
    damping: float,
    tolerance: float,
    largest_table: int,
    largest_arity: int,
    stopping: Stopping,
) -> float: ...
def log_z(
    domains: Ints,
    first: Places,
    scope_start: Places,
    scope: Ints,
    table_start: Places,
    tables: Floats,
    weight: Floats,
    edge_first: Places,
    message: Floats,
    belief: Floats,
    largest_table: int,
    largest_arity: int,
) -> float: ...
def forest(n: int, scope_start: Places, scope: Ints, order: Places) -> Places: ...
