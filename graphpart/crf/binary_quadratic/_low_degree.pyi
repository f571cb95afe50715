import numpy as np
from numpy.typing import NDArray

def eliminate(
    ends: NDArray[np.int32], couplings: NDArray[np.float64], fields: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.bool_]]: ...
def set_again(
    order: NDArray[np.int32], near: NDArray[np.int32], strengths: NDArray[np.float64], spins: NDArray[np.int8]
) -> None: ...
