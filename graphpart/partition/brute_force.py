from typing import Any


def brute_force(problem: Any, **options: Any) -> Any: ...  # being written
