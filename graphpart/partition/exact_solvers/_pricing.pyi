import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def descend(
    cost: NDArray[np.float64],
    price: NDArray[np.float64],
    first: NDArray[np.int64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    penalty: NDArray[np.float64],
    subsets: NDArray[np.uint8],
    steps: int,
    stopping: Stopping,
) -> NDArray[np.float64]: ...
def examine(
    cost: NDArray[np.float64],
    weight: NDArray[np.float64],
    price: NDArray[np.float64],
    starts: NDArray[np.int64],
    heads: NDArray[np.int32],
    mate: NDArray[np.int64],
    attraction: NDArray[np.float64],
    share: NDArray[np.float64],
    first: NDArray[np.int64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    penalty: NDArray[np.float64],
    between: NDArray[np.int64],
    rise: NDArray[np.float64],
    limit: float,
    room: int,
    target: float,
    few: int,
    work: int,
    stopping: Stopping,
) -> tuple[NDArray[np.uint8], bool]: ...
