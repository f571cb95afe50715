import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Tempering:
    def __init__(self, matrix: NDArray[np.integer], variates: NDArray[np.float32], count: int) -> None: ...
    def cool(
        self,
        labels: NDArray[np.int32],
        temperatures: NDArray[np.float64],
        sweeps: int,
        seed: int,
        stopping: Stopping,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
    def run(
        self,
        labels: NDArray[np.int32],
        temperatures: NDArray[np.float64],
        steps: int,
        seed: int,
        stopping: Stopping,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
