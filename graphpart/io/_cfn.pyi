from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

END: int
OPEN: int
CLOSE: int
WORD: int

class Tokens:
    line: int
    kind: int
    def __init__(self, name: str, blocks: Iterable[bytes], line: int = 1) -> None: ...
    def next(self) -> int: ...
    @property
    def word(self) -> str: ...
    def wrong(self, expected: str) -> Exception: ...

class Functions:
    names: list[str | None]
    calls: list[tuple[str, list[int], list[Any], int]]
    shared: list[tuple[int, str, int]]
    decimals: int
    def __init__(
        self,
        tokens: Tokens,
        tagged: bool,
        index: dict[str, int],
        domains: NDArray[np.int32],
        labels: list[dict[str, int] | None],
        most: int,
    ) -> None: ...
    def read(self) -> None: ...
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]: ...

def forbid(
    tables: NDArray[np.float64], start: NDArray[np.int64], limits: NDArray[np.float64], scale: float
) -> None: ...
