from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

def arrange(
    starts: Any, pairs: Any, signs: Any, words: Any
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]: ...
def reordered(
    order: Any, starts: Any, middles: Any, pairs: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]: ...
def left(starts: Any, middles: Any, pairs: Any, y: Any) -> NDArray[np.float64]: ...
def add_rows(starts: Any, middles: Any, pairs: Any, multipliers: Any, out: Any) -> None: ...
def reflect(
    starts: Any,
    middles: Any,
    pairs: Any,
    rhs: Any,
    lower: Any,
    upper: Any,
    pair_steps: Any,
    row_steps: Any,
    y: Any,
    multipliers: Any,
    reduced: Any,
    iterations: int,
    stopping: Stopping,
) -> int: ...
def compressed(
    starts: Any, middles: Any, pairs: Any, place: Any, y: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def project(
    starts: Any,
    middles: Any,
    pairs: Any,
    rhs: Any,
    row_steps: Any,
    lower: Any,
    upper: Any,
    step: float,
    point: Any,
    prices: Any,
    rest: Any,
) -> None: ...
