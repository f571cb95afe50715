"""An HTML file that contains its scripts, styles and data, and loads nothing from elsewhere.

The policy in its head (Content-Security-Policy) makes the browser enforce this: it allows no request, and no scripts
other than those whose digests it names. Text from data is escaped, both in HTML and in the block of data.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Sequence
from typing import Any, BinaryIO

from graphpart.reporting.payload import json_block

__all__ = ["document", "title_of"]


def document(title: str, style: str, body: str, data: Any, scripts: Sequence[str], sends: bool = False) -> str:
    """The whole page; scripts find the data as JSON in the element ``data``. With `sends`, they may send data to the
    server that the page comes from."""
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_digest, scripts))}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    if sends:
        policy += "; connect-src 'self'"
    blocks = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'{body}<script type="application/json" id="data">{json_block(data)}</script>\n{blocks}</body>\n</html>\n'
    )


def title_of(path: str | os.PathLike[str] | BinaryIO, otherwise: str) -> str:
    """The name of a file without its suffix; `otherwise` for a stream and for standard output."""
    if not isinstance(path, str | os.PathLike) or os.fspath(path) == "-":
        return otherwise
    return os.path.splitext(os.path.basename(path))[0] or otherwise


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
