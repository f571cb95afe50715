from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

def enumerate_labelings(
    view: View,
    due_start: NDArray[int64],
    due: NDArray[int32],
    rest: NDArray[float64],
    slack: float,
    constant: float,
    stopping: Stopping,
) -> tuple[NDArray[int32] | None, float, bool]: ...
