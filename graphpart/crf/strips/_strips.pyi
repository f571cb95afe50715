from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.stopping import Stopping

class Strips:
    def __init__(
        self,
        rows: int,
        columns: int,
        domains: NDArray[int32],
        first: NDArray[int64],
        unary: NDArray[float64],
        tables: NDArray[float64],
        start: NDArray[int64],
        turned: NDArray[uint8],
        cap: float,
        width: int,
    ) -> None: ...
    @property
    def bound(self) -> float: ...
    def export(self) -> tuple[NDArray[int64], NDArray[float64]]: ...
    def half(self, forward: bool, share: float, cost: float, stopping: Stopping) -> bool: ...
    def proven(self) -> tuple[NDArray[float64], float]: ...
    def round(self, labels: NDArray[int32]) -> None: ...
    def move(
        self, labels: NDArray[int32], width: int, offset: int, step: int, cost: float, stopping: Stopping
    ) -> bool: ...
