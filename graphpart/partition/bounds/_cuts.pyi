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
def near_two_partitions(
    y: Any, starts: Any, splits: Any, elements: Any, tolerance: float, largest: int, steps: int, stopping: Stopping
) -> tuple[NDArray[np.int64], Ints, Ints, Floats]: ...
