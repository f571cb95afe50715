"""Questions to people about pairs of elements, and their answers.

`questions` finds the pairs whose answers are worth most, `Interview` asks one after the other. `answered` makes a
problem that has the answers as requirements or as evidence, `contradictions` finds answers that cannot all be right.
`random_pairs` draws pairs from whose answers `expected_f1` estimates how good a result is. `graphpart.solve`, `records`
and `images` take answers from here; the page on which people answer is in `reviewing`.
"""

from graphpart.answers.applying import answered
from graphpart.answers.asking import questions
from graphpart.answers.contradicting import contradictions
from graphpart.answers.estimating import Quality, expected_f1, random_pairs
from graphpart.answers.interview import Interview

__all__ = ["Interview", "Quality", "answered", "contradictions", "expected_f1", "questions", "random_pairs"]


def __dir__() -> list[str]:
    return sorted(__all__)
