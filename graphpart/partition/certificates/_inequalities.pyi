from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

def sizes(kinds: Any, starts: Any, splits: Any, elements: Any, n: int) -> tuple[Ints, Floats, int]: ...
def expand(kinds: Any, starts: Any, splits: Any, elements: Any, ends: Any, n: int) -> tuple[Ints, NDArray[np.int8]]: ...
def add_terms(slots: Ints, signs: NDArray[np.int8], values: Floats, low: Floats) -> None: ...
def add_values(slots: Ints, values: Floats, low: Floats) -> None: ...
def sum_down(values: Floats, negative_only: bool) -> float: ...
def dot_up(x: Floats, y: Floats) -> float: ...
def background_down(
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    beta: Floats,
    x: Floats,
    x_high: Floats,
    y: Floats,
    y_high: Floats,
    single: NDArray[np.uint8],
    start: Floats,
    low: Floats,
    negative: Floats,
) -> None: ...
def groups_down(
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    starts: Ints,
    group: NDArray[np.int32],
    count: Ints,
    price: Floats,
    low: Floats,
) -> None: ...
