import numpy as np
from numpy.typing import NDArray

from graphpart.kernels._pairs import CompressedRows
from graphpart.stopping import Stopping

_Places = NDArray[np.int64]
_Elements = NDArray[np.int32]
_Costs = NDArray[np.float64]

class SmallGroups:
    def __init__(self, rows: CompressedRows, order: _Places, first: _Places, wanted: _Places) -> None: ...
    def exact_rises(self, labels: _Elements, rises: _Costs, exact: NDArray[np.uint8], stopping: Stopping) -> _Costs: ...
    def best_splits(
        self, split: _Costs, split_size: _Elements, exact: NDArray[np.uint8], stopping: Stopping
    ) -> None: ...
