import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

def rises(
    view: View,
    labels: NDArray[np.int32],
    wanted: NDArray[np.uint8],
    found: NDArray[np.float64],
    looks: int,
    stopping: Stopping,
) -> int: ...
