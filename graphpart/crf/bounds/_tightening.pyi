import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Offsets = NDArray[np.int64]
_Elements = NDArray[np.int32]

def triangles(start: _Offsets, neighbour: _Elements, pair: _Elements, most: int) -> tuple[_Elements, _Elements]: ...
def squares(
    start: _Offsets, neighbour: _Elements, pair: _Elements, most: int, largest_degree: int
) -> tuple[_Elements, _Elements]: ...
def spread(
    rows: _Offsets,
    neighbour: _Elements,
    pair: _Elements,
    domains: _Elements,
    first: _Offsets,
    unary: _Floats,
    start: _Offsets,
    tables: _Floats,
    sweeps: int,
) -> None: ...
def gains(
    scopes: _Elements,
    pairs: _Elements,
    domains: _Elements,
    first: _Offsets,
    unary: _Floats,
    start: _Offsets,
    tables: _Floats,
) -> _Floats: ...
