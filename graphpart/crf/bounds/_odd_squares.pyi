from typing import Any

import numpy as np
from numpy.typing import NDArray

def ascend(
    W: Any, starts: Any, members: Any, signs: Any, multipliers: Any, free: int, mu: float, least: float
) -> tuple[int, float]: ...
def add_squares(starts: Any, members: Any, signs: Any, multipliers: Any, out: Any) -> None: ...
def triangles(X: Any, most: float) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]: ...
