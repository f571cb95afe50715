import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

LARGEST_ROW: int

class Annealing:
    def __init__(self, matrix: NDArray[np.integer], variates: NDArray[np.float32]) -> None: ...
    def one_pass(self, labels: NDArray[np.int32], subset: int, temperature: float, seed: int) -> NDArray[np.int32]: ...
    def run(
        self,
        labels: NDArray[np.int32],
        sweeps: int,
        hot: float,
        cold: float,
        seed: int,
        cost: float,
        scale: float,
        stopping: Stopping,
    ) -> tuple[NDArray[np.int32], float]: ...
