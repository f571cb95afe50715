import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

def schedule(n: int, pairs: Ints) -> tuple[Ints, Ints, Ints, Ints] | None: ...
def shift(scores: Floats) -> tuple[float, Floats]: ...
def sum_product(
    weights: Floats,
    pair_weights: Floats,
    tie: Ints,
    pairs: Ints,
    edge: Ints,
    child: Ints,
    parent: Ints,
    roots: Ints,
    expected: Floats,
    back: bool,
) -> float: ...
def sum_product_log(
    scores: Floats,
    pair_scores: Floats,
    tie: Ints,
    pairs: Ints,
    edge: Ints,
    child: Ints,
    parent: Ints,
    roots: Ints,
    expected: Floats,
    back: bool,
) -> float: ...
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
