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
    multipliers: Any,
    rest: Any,
) -> None: ...
