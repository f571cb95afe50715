from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

class Annealing:
    def __init__(
        self,
        domains: I32,
        first: I64,
        unary: F64,
        scope_start: I64,
        scope: I32,
        table_start: I64,
        tables: F64,
        rows: I64,
        factors: I32,
        near: I32,
        binary: bool,
        forbidden: bool,
    ) -> None: ...
    @property
    def work(self) -> float: ...
    def changes(self, labels: I32, weight: float) -> F64: ...
    def run(
        self,
        labels: I32,
        inside: I32,
        temperatures: F64,
        variates: F64,
        weight: float,
        seed: int,
        tolerance: float,
        cost: float,
        stopping: Stopping,
    ) -> tuple[I32, float]: ...
