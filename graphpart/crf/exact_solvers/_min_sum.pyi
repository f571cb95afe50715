from typing import Any

from numpy import float64, int32, uint8
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

F64 = NDArray[float64]
U8 = NDArray[uint8]

def collect(view: View, scheme: Any, compact: bool, stopping: Stopping) -> tuple[F64, U8, float, int, int]: ...
def assign(
    view: View, scheme: Any, compact: bool, belief: F64, choice: U8, labels: NDArray[int32]
) -> tuple[float, int]: ...
