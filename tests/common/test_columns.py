"""Small tables as text."""

import numpy as np

from graphpart.common.columns import Columns


def test_the_first_rows_are_aligned_text_of_one_line_each():
    table = Columns({"left": np.array([f"name {k}" for k in range(12)], object), "cost": np.arange(12) / 7})
    lines = str(table).splitlines()
    assert lines[0].split() == ["left", "cost"] and lines[2].split() == ["name", "1", "0.142857"]
    assert len(lines) == 12 and "..." in lines[-1] and len({len(line) for line in lines}) == 1
    assert str(table.head(1)).splitlines()[1].split() == ["name", "0", "0.0"]


def test_columns_that_do_not_fit_are_named():
    table = Columns({f"column {k}": np.array(["a long\ntext " * 9, ""], object) for k in range(9)})
    lines = str(table).splitlines()
    assert all(len(line) <= 80 for line in lines) and len(lines) == 4
    assert lines[-1].startswith("6 columns more: column 3, column 4")
    wide = Columns({"x" * 100: np.array([1]), "y": np.array([2])})
    assert "..." in str(wide) and str(Columns({})) == "Columns(; 0 rows)"
    assert str(table[:0]) == repr(table[:0])
