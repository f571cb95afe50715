from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Chains:
    labels: NDArray[np.int32]
    def __init__(
        self,
        starts: NDArray[np.int64],
        neighbours: NDArray[np.int32],
        costs: NDArray[np.float64],
        labels: NDArray[np.int32],
        magnitude: float,
        tolerance: float,
        patience: int,
        longest: int,
        hub: int,
        terms: Any = ...,
    ) -> None: ...
    def adopt(self, labels: NDArray[np.int32]) -> None: ...
    def improve(self, cost: float, stopping: Stopping) -> float: ...
