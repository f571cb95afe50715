from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def join_with_background(
    n: int, u: Any, v: Any, cost: Any, weights: Any, partner: Any, factor: Any,
    tolerance: float, cost_at_start: float, stopping: Stopping,
) -> NDArray[np.int32]: ...  # fmt: skip
