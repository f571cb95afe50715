import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Places = NDArray[np.int64]
_Elements = NDArray[np.int32]
_Costs = NDArray[np.float64]

def exact_rises(
    order: _Places,
    first: _Places,
    wanted: _Places,
    largest: int,
    starts: _Places,
    neighbours: _Elements,
    costs: _Costs,
    labels: _Elements,
    rises: _Costs,
    exact: NDArray[np.uint8],
    gains: _Costs,
    stopping: Stopping,
) -> None: ...
def best_splits(
    order: _Places,
    first: _Places,
    wanted: _Places,
    largest: int,
    starts: _Places,
    neighbours: _Elements,
    costs: _Costs,
    split: _Costs,
    split_size: _Elements,
    exact: NDArray[np.uint8],
    stopping: Stopping,
) -> None: ...
