from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

def triangles(y: Any, tolerance: float, stopping: Stopping) -> tuple[Ints, Floats]: ...
def two_partitions(
    y: Any, tolerance: float, largest: int, stopping: Stopping
) -> tuple[NDArray[np.int64], Ints, Ints, Floats]: ...
def odd_wheels(y: Any, tolerance: float, stopping: Stopping) -> tuple[NDArray[np.int64], Ints, Floats]: ...
def general_two_partitions(
    y: NDArray[np.float64],
    tolerance: float,
    largest: int,
    cap: int,
    starts_count: int,
    kicks: int,
    seed: int,
    stopping: Stopping,
) -> tuple[NDArray[np.int8], NDArray[np.float64]]: ...
