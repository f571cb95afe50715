import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Offsets = NDArray[np.int64]
_Elements = NDArray[np.int32]
_Floats = NDArray[np.float64]

def cycles(
    starts: _Offsets,
    neighbours: _Elements,
    lengths: _Floats,
    closing: _Offsets,
    other: _Elements,
    longest: _Floats,
    tolerance: float,
    reach: int,
    stopping: Stopping,
) -> tuple[_Offsets, _Elements, _Floats, _Offsets]: ...
def far_cycles(
    cluster: _Elements,
    within: _Offsets,
    beside: _Elements,
    starts: _Offsets,
    neighbours: _Elements,
    lengths: _Floats,
    tails: _Elements,
    heads: _Elements,
    closing: _Offsets,
    near: _Elements,
    far: _Elements,
    longest: _Floats,
    tolerance: float,
    begin: int,
    limit: int,
    work: int,
    stopping: Stopping,
) -> tuple[_Offsets, _Elements, _Floats, int]: ...
