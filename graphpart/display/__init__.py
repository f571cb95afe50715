"""The display of problems, results and progress: on terminals, in notebooks, and as data frames.

`facts` has the two-line representations and tables in HTML, `frames` makes data frames of results, `progress` shows
running methods. Public classes import from here; this room imports none of them.
"""

from graphpart.display.facts import Facts, Shown, html_of, number, percent, plural, shortened
from graphpart.display.frames import frame_of, series_of

__all__ = ["Facts", "Shown", "frame_of", "html_of", "number", "percent", "plural", "series_of", "shortened"]
