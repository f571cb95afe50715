from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Elements = NDArray[np.int32]
_Costs = NDArray[np.float64]

def cost_of_background(
    u: Any, v: Any, cost: Any, labels: _Elements, beta: _Costs, vectors: Sequence[tuple[_Costs, _Costs]]
) -> float: ...
def sums_by_label(x: _Costs, labels: _Elements, k: int) -> _Costs: ...
