from numpy import bool_, int32, int64
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Network:
    n: int
    edges: int
    source_done: bool
    def __init__(self, n: int, edges: int, mirrored: bool = False) -> None: ...

def max_flow(
    n: int,
    ends: NDArray[int32],
    capacity: NDArray[int64],
    excess: NDArray[int64],
    stopping: Stopping,
    mirrored: bool = False,
) -> tuple[bool, NDArray[bool_], NDArray[int64], NDArray[int64]]: ...
