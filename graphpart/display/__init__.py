"""How problems, results and progress look to people: on terminals, in notebooks, and as data frames.

`facts` has the two-line representations and tables in HTML, `frames` makes data frames of results, `progress` shows
runs while they last. Classes that people see import from here, and this room from none of them.
"""

from graphpart.display.facts import Facts, Shown, number, percent, plural
from graphpart.display.frames import frame_of, series_of

__all__ = ["Facts", "Shown", "frame_of", "number", "percent", "plural", "series_of"]
