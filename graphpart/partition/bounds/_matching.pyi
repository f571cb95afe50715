import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def matching(
    starts: NDArray[np.int64], to: NDArray[np.int32], weights: NDArray[np.float64], right: int, stopping: Stopping
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]] | None: ...
