import numpy as np
from numpy.typing import NDArray

def blocks(n: int, u: NDArray[np.int32], v: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]: ...
