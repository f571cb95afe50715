from typing import Any

from numpy.typing import NDArray

from graphpart.crf.problem.layout import Layout

class View:
    arrays: tuple[NDArray[Any], ...]
    connected: bool
    def __init__(self, arrays: tuple[NDArray[Any], ...], layout: Layout, has_forbidden: bool) -> None: ...
    def connect(self, incidence: tuple[NDArray[Any], ...]) -> None: ...
