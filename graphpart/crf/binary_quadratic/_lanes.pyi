from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

LANES: int

def anneal(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    couplings: NDArray[Any],
    fields: NDArray[Any],
    spins: NDArray[Any],
    heats: NDArray[Any],
    variates: NDArray[Any],
    seed: int,
    stopping: Stopping,
) -> None: ...
