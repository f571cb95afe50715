from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels._pairs import CompressedRows
from graphpart.stopping import Stopping

_Elements = NDArray[np.int32]
_Costs = NDArray[np.float64]

class Sums:
    own: _Costs
    best: _Costs
    where: _Elements
    from_u: _Costs
    from_v: _Costs
    def __init__(self, rows: CompressedRows, labels: _Elements, subsets: int, stopping: Stopping) -> None: ...
    def partings(
        self,
        pairs: tuple[Any, Any],
        merges: _Elements,
        merge_costs: _Costs,
        split: _Costs,
        split_size: _Elements,
        stopping: Stopping,
    ) -> _Costs: ...
    def follow(
        self,
        elements: _Costs,
        to: _Elements,
        skip: NDArray[np.uint8],
        rises: _Costs,
        looks: int,
        tolerance: float,
        stopping: Stopping,
    ) -> None: ...
