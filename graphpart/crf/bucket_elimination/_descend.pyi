from typing import Any

from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.crf.problem._view import View
from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]
U8 = NDArray[uint8]

def descend(
    view: View, plan: Any, messages: F64, there: U8, choice_start: I64, choices: U8, labels: I32
) -> None: ...
def sample(view: View, plan: Any, messages: F64, uniform: F64, labels: I32, stopping: Stopping) -> int: ...
def best(view: View, plan: Any, messages: F64, optimum: float, labels: I32, stopping: Stopping) -> int: ...
