import numpy as np
from numpy.typing import NDArray

def count_pieces(
    regions: NDArray[np.int32], most: int, corners: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
