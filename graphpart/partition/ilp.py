from typing import Any


def ilp(problem: Any, **options: Any) -> Any: ...  # being written
