"""Where real instances lie: in the folder that the environment variable GRAPHPART_INSTANCES names.

docs/benchmarks/index.md says what the folder contains and where to download it. Without the variable, the benchmarks
leave out their rows of real instances.
"""

from __future__ import annotations

import os
from pathlib import Path

INSTANCES = Path(os.environ.get("GRAPHPART_INSTANCES") or os.devnull)  #: nothing lies below the null device
