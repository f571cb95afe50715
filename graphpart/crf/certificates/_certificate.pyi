import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Offsets = NDArray[np.int64]
_Elements = NDArray[np.int32]

def places(scope_start: _Offsets, scope: _Elements, links: _Elements, out: _Elements) -> int: ...
def unary_minima(
    domains: _Elements,
    first: _Offsets,
    scope_start: _Offsets,
    scope: _Elements,
    table_start: _Offsets,
    tables: _Floats,
    messages: _Floats,
    extra_start: _Offsets,
    extra_scope: _Elements,
) -> _Floats: ...
def factor_minima(
    domains: _Elements,
    scope_start: _Offsets,
    scope: _Elements,
    table_start: _Offsets,
    sizes: _Offsets,
    tables: _Floats,
    messages: _Floats,
    rows: _Offsets,
    ends: _Offsets,
    place_start: _Offsets,
    place: _Elements,
    links: _Elements,
    link_start: _Offsets,
    link_messages: _Floats,
    largest_arity: int,
) -> _Floats: ...
def sum_down(total: float, values: _Floats) -> float: ...
