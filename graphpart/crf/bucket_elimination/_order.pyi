from numpy import int32, int64
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]

def interactions(view: View) -> tuple[I64, I32]: ...

class VariableGraph:
    def __init__(self, domains: I32, start: I64, neighbour: I32, logs: I64) -> None: ...
    def greedy(
        self, noise: I64, rank: I32, criterion: int, budget: int, abort: float, stopping: Stopping
    ) -> tuple[I32, int, int, float, float, int]: ...
    def sweep(self) -> I32: ...
