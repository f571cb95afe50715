"""The extension modules: every .pyx file below graphpart/ is one. All other metadata stands in pyproject.toml."""

import os
import re
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SHARED = "graphpart.kernels._shared"  # what Cython would otherwise repeat in each module: the code for memoryviews
CORES = os.cpu_count() or 1

# No -march=native and no -ffast-math: a wheel must run elsewhere and obey IEEE arithmetic (inf is a cost). Products
# and sums are not contracted into fused operations, which some processors have and others not, so that results agree.
if sys.platform == "win32":
    FLAGS = ["/O2", "/fp:precise"]
else:
    given = os.environ.get("CFLAGS", "")  # whoever builds may choose optimisation and debug information
    FLAGS = [] if re.search(r"(^|\s)-O", given) else ["-O3"]
    FLAGS += [] if re.search(r"(^|\s)-g", given) else ["-g0"]
    FLAGS += ["-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]

extensions = [Extension(SHARED, [SHARED.replace(".", "/") + ".c"], extra_compile_args=FLAGS)] + [
    Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=FLAGS)
    for path in sorted(Path("graphpart").rglob("*.pyx"))
]

setup(
    options={"build_ext": {"parallel": CORES}},
    ext_modules=cythonize(
        extensions,
        nthreads=CORES,
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "freethreading_compatible": False,
        },
    ),
)
