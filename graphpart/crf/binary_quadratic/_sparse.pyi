from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

BLOCK: int

_Spins = NDArray[np.int8]

def energy_and_gains(
    starts: NDArray[np.int64], neighbours: NDArray[np.int32], couplings: Any, linear: Any, spins: _Spins
) -> tuple[int, NDArray[Any]]: ...
def anneal(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    couplings: Any,
    linear: Any,
    spins: _Spins,
    temperatures: NDArray[np.float64],
    variates: NDArray[np.float32],
    seed: int,
    stopping: Stopping,
) -> int: ...
def tabu(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    couplings: Any,
    linear: Any,
    spins: _Spins,
    moves: int,
    tenure: int,
    seed: int,
    stopping: Stopping,
) -> tuple[int, int]: ...
