import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Places = NDArray[np.int64]
_Elements = NDArray[np.int32]
_Costs = NDArray[np.float64]

def rises(
    domains: _Elements,
    scope_start: _Places,
    scope: _Elements,
    table_start: _Places,
    tables: _Costs,
    rows: _Places,
    factors: _Elements,
    labels: _Elements,
    place: _Places,
    wanted: NDArray[np.uint8],
    found: _Costs,
    looks: int,
    stopping: Stopping,
) -> int: ...
