from typing import Any

def sweep(
    starts: Any,
    middles: Any,
    pairs: Any,
    rhs: Any,
    row_steps: Any,
    lower: Any,
    upper: Any,
    step: float,
    point: Any,
    prices: Any,
    rest: Any,
) -> None: ...
