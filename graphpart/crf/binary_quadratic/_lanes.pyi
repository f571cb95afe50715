import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

LANES: int

def anneal(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    couplings: NDArray[np.int16],
    fields: NDArray[np.int16],
    spins: NDArray[np.int16],
    heats: NDArray[np.uint16],
    variates: NDArray[np.uint16],
    seed: int,
    stopping: Stopping,
) -> None: ...
