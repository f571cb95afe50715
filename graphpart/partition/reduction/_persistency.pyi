from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Pairs = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.integer[Any]]]

def persistent(
    n: int,
    starts: Any,
    neighbours: Any,
    costs: Any,
    exact: bool,
    largest: int,
    stopping: Stopping,
    channels: Any = None,
    groups: Any = None,
) -> tuple[_Pairs, _Pairs]: ...
