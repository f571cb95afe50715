from typing import Any

from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]
U8 = NDArray[uint8]

def choice_bytes(domains: I32, variable: I32, size: I64) -> I64: ...
def collect(
    problem: tuple[I32, I64, I32, I64, F64],
    plan: Any,
    schedule: I32,
    messages: F64,
    choice_start: I64,
    choices: U8,
    soft: bool,
    normalise: bool,
    stopping: Stopping,
) -> tuple[F64, int, int]: ...
def distribute(
    problem: tuple[I32, I64, I32, I64, F64],
    plan: Any,
    messages: F64,
    taken: F64,
    scratch: F64,
    first: I64,
    soft: bool,
    stopping: Stopping,
) -> F64 | None: ...
