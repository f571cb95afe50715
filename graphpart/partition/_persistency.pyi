from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def against(
    starts: Any, neighbours: Any, costs: Any, u: Any, v: Any, cost: Any, stopping: Stopping
) -> NDArray[np.float64]: ...
