from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def triangles(y: Any, tolerance: float, stopping: Stopping) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
def stars(
    y: Any, tolerance: float, stopping: Stopping
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
