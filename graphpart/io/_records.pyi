import numpy as np
from numpy.typing import NDArray

_Positions = NDArray[np.int64]

def counted_records(values: NDArray[np.float64], at: int, count: int) -> tuple[_Positions, int]: ...
def listed_functions(values: NDArray[np.float64], at: int, count: int, n: int) -> tuple[_Positions, int]: ...
def fill_tables(
    values: NDArray[np.float64],
    starts: _Positions,
    domains: NDArray[np.int32],
    table_start: _Positions,
    tables: NDArray[np.float64],
    top: float,
) -> int: ...
