from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

def both_ways(
    view: View, order: I32, parent: I32, up_start: I64, edge_first: I64, soft: bool, normalise: bool
) -> tuple[F64, float, F64, F64, int]: ...

class LoopyMessages:
    messages: F64
    beliefs: F64
    def __init__(self, view: View, tables: F64, weight: F64, start: I64, base: F64) -> None: ...
    def run(self, damping: float, tolerance: float, stopping: Stopping) -> float: ...
    def log_z(self) -> float: ...

def forest(view: View, order: I64) -> I64: ...
