import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

def move_rows(
    keys: _Ints,
    size: _Floats,
    weights: _Floats,
    order: _Ints,
    labels: _Ints,
    counts: _Floats,
    total: _Floats,
    costs: _Floats,
    tolerance: float,
    start: int,
) -> tuple[int, int]: ...
