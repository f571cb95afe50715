import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem._view import View

_Floats = NDArray[np.float64]
_Offsets = NDArray[np.int64]
_Elements = NDArray[np.int32]

def places(scope_start: _Offsets, scope: _Elements, links: _Elements, out: _Elements) -> int: ...
def unary_minima(view: View, messages: _Floats, extra_scope: _Elements) -> _Floats: ...

class Links:
    def __init__(
        self,
        links: _Elements,
        rows: _Offsets,
        ends: _Offsets,
        place_start: _Offsets,
        place: _Elements,
        start: _Offsets,
        messages: _Floats,
    ) -> None: ...

def factor_minima(
    view: View, scope_start: _Offsets, scope: _Elements, table_start: _Offsets, messages: _Floats, sent: Links
) -> _Floats: ...
def sum_down(total: float, values: _Floats) -> float: ...
