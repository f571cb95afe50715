import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

LARGEST: int

class Annealing:
    hot: float
    cold: float
    def __init__(self, matrix: NDArray[np.int32]) -> None: ...
    def run(
        self,
        labels: NDArray[np.int32],
        sweeps: int,
        hot_rate: float,
        cold_rate: float,
        variates: NDArray[np.float64],
        seed: int,
        cost: float,
        scale: float,
        stopping: Stopping,
    ) -> tuple[NDArray[np.int32], float]: ...
