from typing import Any

from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]
U8 = NDArray[uint8]

def choice_bytes(domains: I32, variable: I32, size: I64) -> I64: ...
def collect(
    view: View,
    plan: Any,
    messages: F64,
    choices: U8,
    soft: bool,
    normalise: bool,
    stopping: Stopping,
) -> tuple[F64, int, int]: ...
def distribute(
    view: View,
    plan: Any,
    messages: F64,
    taken: F64,
    soft: bool,
    stopping: Stopping,
) -> F64 | None: ...
