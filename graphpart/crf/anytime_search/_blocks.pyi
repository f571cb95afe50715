from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

class Blocks:
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
        near_start: I64,
        near: I32,
        penalty: float,
        room: int,
    ) -> None: ...
    @property
    def work(self) -> float: ...
    def members(self) -> I32: ...
    def around(self, size: int, seed: int) -> I32: ...
    def run(
        self,
        labels: I32,
        inside: I32,
        size: int,
        limit: float,
        count: int,
        noise: F64,
        heat: float,
        seed: int,
        cost: float,
        stopping: Stopping,
    ) -> tuple[I32, float]: ...

def energy(
    domains: I32,
    first: I64,
    unary: F64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    penalty: float,
    labels: I32,
) -> tuple[float, int]: ...
def best_of_regions(
    domains: I32,
    first: I64,
    unary: F64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    rows: I64,
    factors: I32,
    near_start: I64,
    near: I32,
    penalty: float,
    one: I32,
    other: I32,
) -> tuple[I32, float]: ...
