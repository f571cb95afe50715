from numpy import float64, int32
from numpy.typing import NDArray

from graphpart.crf.anytime_search._parts import Arrays
from graphpart.stopping import Stopping

I32 = NDArray[int32]
F64 = NDArray[float64]

class Annealing:
    def __init__(self, arrays: Arrays, variates: F64, binary: bool, forbidden: bool) -> None: ...
    @property
    def work(self) -> float: ...
    def changes(self, labels: I32, weight: float) -> F64: ...
    def run(
        self,
        labels: I32,
        inside: I32,
        temperatures: F64,
        weight: float,
        tolerance: float,
        seed: int,
        stopping: Stopping,
    ) -> tuple[I32, float]: ...
