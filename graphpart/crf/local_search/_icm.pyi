from numpy import int32
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

def best_first(view: View, labels: NDArray[int32], cost: float, stopping: Stopping) -> None: ...
def sweep(view: View, labels: NDArray[int32], cost: float, stopping: Stopping) -> None: ...
