"""The checks of scikit-learn as parameters of a test, for all versions of scikit-learn and pytest."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks


def with_checks(estimators, **options):
    """`parametrize_with_checks`, which up to scikit-learn 1.7 gives pytest an iterator, of which pytest 9 warns."""
    mark = parametrize_with_checks(estimators, **options)
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)
