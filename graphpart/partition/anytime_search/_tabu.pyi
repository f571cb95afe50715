import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

LARGEST_ROW: int

def tabu_search(
    matrix: NDArray[np.int32],
    guides: NDArray[np.int32],
    labels: NDArray[np.int32],
    steps: int,
    tenure: int,
    patience: int,
    seed: int,
    cost: float,
    scale: float,
    stopping: Stopping,
) -> tuple[NDArray[np.int32], float, int]: ...
