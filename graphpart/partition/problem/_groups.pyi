import numpy as np
from numpy.typing import NDArray

def pairs_together(
    first: NDArray[np.int64], member: NDArray[np.int32], count: NDArray[np.int64], labels: NDArray[np.int32]
) -> NDArray[np.int64]: ...
def prices_of_pairs(
    starts: NDArray[np.int64],
    group: NDArray[np.int32],
    count: NDArray[np.int64],
    price: NDArray[np.float64],
    u: NDArray[np.int32],
    v: NDArray[np.int32],
) -> NDArray[np.float64]: ...
