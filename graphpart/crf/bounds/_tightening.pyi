import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

_Floats = NDArray[np.float64]
_Offsets = NDArray[np.int64]
_Elements = NDArray[np.int32]

def triangles(start: _Offsets, neighbour: _Elements, pair: _Elements, most: int) -> tuple[_Elements, _Elements]: ...
def squares(
    start: _Offsets, neighbour: _Elements, pair: _Elements, most: int, largest_degree: int
) -> tuple[_Elements, _Elements]: ...

class PairCosts:
    def __init__(
        self, domains: _Elements, first: _Offsets, unary: _Floats, start: _Offsets, tables: _Floats
    ) -> None: ...

def spread(
    costs: PairCosts, rows: _Offsets, neighbour: _Elements, pair: _Elements, sweeps: int
) -> None: ...
def shortest(
    start: _Offsets, neighbour: _Elements, pair: _Elements, longest: int, reach: int, most: int
) -> tuple[_Offsets, _Elements, _Elements]: ...
def gains(
    costs: PairCosts, cycle_start: _Offsets, scopes: _Elements, pairs: _Elements, cost: float, stopping: Stopping
) -> _Floats: ...
def agreements(
    ends: _Elements, domains: _Elements, node: _Offsets, start: _Offsets, tables: _Floats, edge_start: _Offsets
) -> tuple[_Elements, _Elements, _Elements, _Floats]: ...
def frustrated(
    u: _Elements, v: _Elements, pair: _Elements, value: _Floats, nodes: int, longest: int, most: int
) -> tuple[_Offsets, _Elements, _Elements]: ...
