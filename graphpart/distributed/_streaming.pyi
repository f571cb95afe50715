import numpy as np
from numpy.typing import NDArray

_Elements = NDArray[np.int32]
_Costs = NDArray[np.float64]

def unite_below(parents: _Elements, u: _Elements, v: _Elements, cost: _Costs, threshold: float) -> None: ...
def unite_strong(
    parents: _Elements,
    u: _Elements,
    v: _Elements,
    cost: _Costs,
    least: float,
    below: float,
    weights: NDArray[np.int64],
    most: int,
    given: NDArray[np.int64],
) -> None: ...
def unite_within(
    parents: _Elements,
    u: _Elements,
    v: _Elements,
    cost: _Costs,
    order: NDArray[np.int64],
    weights: NDArray[np.int64],
    most: int,
) -> None: ...
def numbered(parents: _Elements) -> int: ...
def compensated_sum(values: _Costs) -> float: ...
