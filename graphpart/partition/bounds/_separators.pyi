from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

Found = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int]

def cuts(
    starts: Any,
    neighbours: Any,
    mate: Any,
    capacity: Any,
    rows: Any,
    others: Any,
    values: Any,
    near: Any,
    far: Any,
    wanted: Any,
    tolerance: float,
    begin: int,
    limit: int,
    work: int,
    stopping: Stopping,
) -> Found: ...
