from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Pairs:
    labels: NDArray[np.int32]
    changed: NDArray[np.int8]
    cost: float
    def __init__(
        self,
        matrix: NDArray[np.float64] | None,
        rows: tuple[Any, ...] | None,
        labels: NDArray[np.int32],
        magnitude: float,
        tolerance: float,
        cost: float,
        patience: int,
    ) -> None: ...
    def improve(self, first: NDArray[np.int32], second: NDArray[np.int32], stopping: Stopping) -> None: ...
    def split(self, subsets: NDArray[np.int32], stopping: Stopping) -> None: ...
