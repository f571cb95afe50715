"""A page on which people answer questions about pairs: one HTML file, or the same page with a server behind it.

`page` collects the questions (`answers`) and what is known of their elements, and writes the file with the scripts and
styles in `assets/`. `serving` sends the page to a browser on the same machine, and takes its answers. The command line
calls both.
"""

from graphpart.reviewing.page import review
from graphpart.reviewing.serving import ReviewServer

__all__ = ["ReviewServer", "review"]


def __dir__() -> list[str]:
    return sorted(__all__)
