from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def greedy_moving(
    starts: Any, neighbours: Any, costs: Any, labels: NDArray[np.int32], weights: Any, partner: Any, factor: Any,
    magnitude: float, tolerance: float, cost: float, stopping: Stopping,
) -> NDArray[np.int32]: ...  # fmt: skip
def kernighan_lin_sequence(
    starts: Any, neighbours: Any, costs: Any, labels: NDArray[np.int32], weights: Any, partner: Any, factor: Any,
    magnitude: float, tolerance: float, cost: float, stopping: Stopping,
) -> NDArray[np.int32]: ...  # fmt: skip
