import numpy as np
from numpy.typing import NDArray

def add_differences(
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    positive: int,
    squared: bool,
    first: int,
    last: int,
    C: NDArray[np.float64],
) -> None: ...
def mirror(C: NDArray[np.float64]) -> None: ...
