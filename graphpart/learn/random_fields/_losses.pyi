from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

def schedule(n: int, pairs: Ints) -> tuple[Ints, Ints, Ints, Ints] | None: ...
def shift(scores: Floats) -> tuple[float, Floats]: ...
def sum_product(
    weights: Floats, pair_weights: Floats, tie: Ints, data: Any, expected: Floats, back: bool
) -> float: ...
def incidence(n: int, pairs: Ints) -> tuple[NDArray[np.int64], Ints]: ...
def losses(
    scores: Floats, pair_scores: Floats, tie: Ints, data: Any, labels: Ints, derivative: Floats
) -> float: ...
