from typing import Any

from numpy.typing import NDArray

class Block: ...

class Parser:
    line: int
    def __init__(self, name: str, form: str, line: int) -> None: ...
    def feed(self, block: bytes) -> None: ...
    def finish(self) -> None: ...
    def range(self) -> str: ...

class Pairs(Parser):
    size: int
    largest: int
    rest: bytes | None
    def __init__(
        self,
        name: str,
        form: str,
        line: int = 1,
        low: int = 0,
        high: int = ...,
        valued: bool = True,
        comment: str = "",
        csv: bool = False,
    ) -> None: ...
    def range(self) -> str: ...
    def line_of(self, k: int) -> int: ...
    def take_rest(self) -> bytes: ...
    def arrays(self) -> tuple[NDArray[Any], ...]: ...

class Numbers(Parser):
    size: int
    height: int
    last_line: int
    def __init__(
        self,
        name: str,
        form: str,
        line: int = 1,
        limit: int = ...,
        comment: str = "",
        rows: bool = False,
        finite: bool = False,
    ) -> None: ...
    def array(self) -> NDArray[Any]: ...
    def row_starts(self) -> tuple[NDArray[Any], NDArray[Any]]: ...
