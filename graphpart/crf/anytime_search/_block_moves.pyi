from numpy import int32
from numpy.typing import NDArray

from graphpart.crf.anytime_search._parts import Arrays
from graphpart.stopping import Stopping

I32 = NDArray[int32]

class Blocks:
    def __init__(self, arrays: Arrays, room: int) -> None: ...
    @property
    def work(self) -> float: ...
    def members(self) -> I32: ...
    def around(self, size: int, seed: int) -> I32: ...
    def run(
        self, labels: I32, inside: I32, size: int, limit: float, count: int, seed: int, stopping: Stopping
    ) -> tuple[I32, float]: ...
