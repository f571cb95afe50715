from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def pack_stars(
    rest: Any, least: Any, largest: int, stopping: Stopping
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]: ...
