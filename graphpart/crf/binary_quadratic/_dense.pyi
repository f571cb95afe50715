from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Linear = NDArray[np.int32]
_Spins = NDArray[np.int8]

def energy_and_gains(matrix: Any, linear: _Linear, spins: _Spins) -> tuple[int, NDArray[np.int32]]: ...
def anneal(
    matrix: Any,
    linear: _Linear,
    spins: _Spins,
    temperatures: NDArray[np.float64],
    variates: NDArray[np.float32],
    seed: int,
    stopping: Stopping,
) -> int: ...
def tabu(
    matrix: Any,
    linear: _Linear,
    spins: _Spins,
    moves: int,
    tenure: int,
    seed: int,
    stopping: Stopping,
) -> tuple[int, int]: ...
