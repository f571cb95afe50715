from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Pairs:
    labels: NDArray[np.int32]
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
        height: float = ...,
        whole: int = ...,
        terms: tuple[Any, ...] | None = ...,
    ) -> None: ...
    def adopt(self, labels: NDArray[np.int32], cost: float) -> None: ...
    def round(self, stopping: Stopping) -> bool: ...
