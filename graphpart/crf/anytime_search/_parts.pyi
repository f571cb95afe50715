from typing import Any

from numpy import float64, int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

class Arrays:
    def __init__(self, model: Any) -> None: ...
    def energy(self, labels: I32) -> tuple[float, int]: ...
    def better_parts(self, one: I32, other: I32) -> I32: ...

def part(
    whole: Any, labels: I32, inside: I32, place: I32, most: int
) -> tuple[I64, I32, I64, I64, I64, int, int] | None: ...
