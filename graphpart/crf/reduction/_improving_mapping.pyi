from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.crf.problem._view import View

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]
U8 = NDArray[uint8]

def differences(
    view: View, labels: I32, mapped: U8, stays: U8, slack: float
) -> tuple[I32, I64, I32, F64, I64, bool]: ...
def negative(view: View, messages: F64, tolerance: float) -> U8: ...
