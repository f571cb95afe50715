from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

U8 = NDArray[uint8]

def dead_ends(view: View, alive: U8, weak: bool, stopping: Stopping) -> int: ...
def restrict(
    view: View, alive: U8
) -> tuple[NDArray[int64], NDArray[int32], NDArray[float64], NDArray[float64], int]: ...
