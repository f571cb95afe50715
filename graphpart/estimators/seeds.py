"""The seed of a method, from what scikit-learn calls a random state."""

from typing import Any

from sklearn.utils import check_random_state


def seed(random_state: Any) -> int | None:
    return None if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
