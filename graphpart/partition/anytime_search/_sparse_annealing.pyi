from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Annealing:
    def __init__(
        self,
        starts: NDArray[np.int64],
        neighbours: NDArray[np.int32],
        costs: NDArray[np.float64],
        tolerance: float,
        terms: Any = ...,
    ) -> None: ...
    def run(
        self,
        labels: NDArray[np.int32],
        sweeps: int,
        hot: float,
        cold: float,
        variates: NDArray[np.float64],
        seed: int,
        cost: float,
        stopping: Stopping,
    ) -> tuple[NDArray[np.int32], float]: ...
    def evolve(
        self,
        labels: NDArray[np.int32],
        centers: NDArray[np.int32],
        steps: int,
        seed: int,
        cost: float,
        stopping: Stopping,
    ) -> tuple[NDArray[np.int32], float]: ...
    def propagate(
        self,
        labels: NDArray[np.int32],
        elements: NDArray[np.int32],
        share: float,
        sweeps: int,
        seed: int,
        cost: float,
        stopping: Stopping,
    ) -> tuple[NDArray[np.int32], int]: ...
