import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

def incidence(n: int, pairs: Ints) -> tuple[NDArray[np.int64], Ints]: ...
def losses(
    scores: Floats,
    pair_scores: Floats,
    tie: Ints,
    pairs: Ints,
    start: NDArray[np.int64],
    row: Ints,
    labels: Ints,
    derivative: Floats,
) -> float: ...
