import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Costs = NDArray[np.float64]

def least_costs(matrix: _Costs, stopping: Stopping) -> tuple[float, _Costs, _Costs] | None: ...
def best_split(matrix: _Costs, stopping: Stopping) -> tuple[float, int] | None: ...
