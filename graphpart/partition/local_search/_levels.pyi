from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Labels = NDArray[np.int32]

class Level:
    n: int
    k: int
    tolerance: float
    def __init__(self, starts: Any, neighbours: Any, costs: Any, terms: Any) -> None: ...
    def move(self, labels: _Labels, cost: float, stopping: Stopping, order: Any = None) -> float: ...
    def refine(self, labels: _Labels, order: Any = None) -> _Labels: ...
    def coarsen(self, labels: _Labels, subsets: int) -> Level: ...
