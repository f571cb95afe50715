from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

def join_sparse(
    n: int,
    u: Any,
    v: Any,
    cost: Any,
    terms: Any,
    tolerance: float,
    cost_at_start: float,
    stopping: Stopping,
    merges: NDArray[np.int32] | None = None,
    merge_costs: NDArray[np.float64] | None = None,
    fewest: int = 0,
) -> Labels: ...
