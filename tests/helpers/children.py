"""Processes that tests start, and end in any case."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def child(argv: Sequence[object], **options: Any) -> Iterator[subprocess.Popen]:
    """A process that does not outlive its test: one left behind would make a later test fail, too."""
    with subprocess.Popen(list(map(str, argv)), **options) as process:
        try:
            yield process
        finally:
            process.kill()  # does nothing to one that has ended
