"""A page on which people answer questions about pairs: one HTML file, without a server.

`page` collects the questions (`answers`) and what is known of their elements, and writes the file with the scripts and
styles in `assets/`. The command line calls it; nothing else does.
"""

from graphpart.reviewing.page import review

__all__ = ["review"]


def __dir__() -> list[str]:
    return sorted(__all__)
