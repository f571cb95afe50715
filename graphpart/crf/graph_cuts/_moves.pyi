from numpy import int32
from numpy.typing import NDArray

from graphpart.crf.graph_cuts._ordered import OrderedCut
from graphpart.stopping import Stopping

I32 = NDArray[int32]

class Moves(OrderedCut):
    fusions: int
    def prepare(self) -> None: ...
    def best_unary(self) -> I32: ...
    def difference(self, old: I32, new: I32) -> tuple[int, int]: ...
    def move(self, zero: I32, one: I32, labels: I32, cost: float, stopping: Stopping) -> bool: ...
