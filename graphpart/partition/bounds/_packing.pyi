from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

Packed = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]

def pack_stars(rest: Any, least: Any, largest: int, stopping: Stopping) -> Packed: ...
def pack_triangles(rest: Any, stopping: Stopping, bound: float) -> Packed: ...
def pack_cycles(
    n: int, u: Any, v: Any, attractive: Any, capacity: Any, lengths: NDArray[np.int64], stopping: Stopping
) -> Packed: ...
def share(starts: Any, pairs: Any, capacity: Any, worth: Any, amounts: Any, sweeps: int, stopping: Stopping) -> int: ...
