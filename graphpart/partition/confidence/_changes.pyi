from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Elements = NDArray[np.int32]
_Costs = NDArray[np.float64]

def sums_to_subsets(
    starts: NDArray[np.int64],
    neighbours: _Elements,
    costs: _Costs,
    m: int,
    labels: _Elements,
    subsets: int,
    stopping: Stopping,
) -> tuple[_Costs, _Costs, _Elements, _Costs, _Costs]: ...
def partings(
    u: Any,
    v: Any,
    own: _Costs,
    merges: _Elements,
    merge_costs: _Costs,
    joins: int,
    labels: _Elements,
    sizes: _Elements,
    split: _Costs,
    split_size: _Elements,
    stopping: Stopping,
) -> _Costs: ...
def follow(
    u: _Elements,
    v: _Elements,
    cost: _Costs,
    starts: NDArray[np.int64],
    neighbours: _Elements,
    costs: _Costs,
    labels: _Elements,
    subsets: int,
    own: _Costs,
    elements: _Costs,
    to: _Elements,
    from_u: _Costs,
    from_v: _Costs,
    skip: NDArray[np.uint8],
    rises: _Costs,
    looks: int,
    longest: int,
    tolerance: float,
    stopping: Stopping,
) -> None: ...
