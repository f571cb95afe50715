from numpy import int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]

def schedule(parent: I32, size: I64) -> tuple[I32, I64, int]: ...
