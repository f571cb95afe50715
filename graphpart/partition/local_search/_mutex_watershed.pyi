from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def mutex_watershed(n: int, u: Any, v: Any, cost: Any, stopping: Stopping) -> tuple[NDArray[np.int32], int]: ...
