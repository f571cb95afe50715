"""The extension modules: every .pyx file below graphpart/ is one; and README.md with links that hold elsewhere too.

All other metadata stands in pyproject.toml.
"""

import os
import re
import sys
import tomllib
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SHARED = "graphpart.kernels._shared"  # what Cython would otherwise repeat in each module: the code for memoryviews
CORES = os.cpu_count() or 1

# One wheel for all versions of Python from 3.11 on, if it is asked for: GRAPHPART_LIMITED_API=1. Kernels that are
# called often or take many arrays are up to 1.4 times slower then: it is for versions without a wheel of their own.
LIMITED = os.environ.get("GRAPHPART_LIMITED_API", "0") not in ("", "0")
STABLE = {"define_macros": [("Py_LIMITED_API", "0x030B0000")], "py_limited_api": True} if LIMITED else {}

# No -march=native and no -ffast-math: a wheel must run elsewhere and obey IEEE arithmetic (inf is a cost). Products
# and sums are not contracted into fused operations, which some processors have and others not, so that results agree.
if sys.platform == "win32":  # Visual Studio 2022 and later contract only with /fp:contract or /fp:fast
    FLAGS = ["/O2", "/fp:precise"]
else:
    given = os.environ.get("CFLAGS", "")  # whoever builds may choose optimisation, debug information and assertions
    FLAGS = [] if re.search(r"(^|\s)-O", given) else ["-O3"]
    FLAGS += [] if re.search(r"(^|\s)-g", given) else ["-g0"]
    FLAGS += [] if "NDEBUG" in given else ["-DNDEBUG"]
    FLAGS += ["-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]

extensions = [Extension(SHARED, [SHARED.replace(".", "/") + ".c"], extra_compile_args=FLAGS, **STABLE)] + [
    Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=FLAGS, **STABLE)
    for path in sorted(Path("graphpart").rglob("*.pyx"))
]


def long_description() -> str:
    """README.md as the package index shows it: links to files of the repository become absolute."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["urls"]["Homepage"]
    text = Path("README.md").read_text("utf-8")
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{project}/raw/main/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{project}/blob/main/", text)


setup(
    long_description=long_description(),
    long_description_content_type="text/markdown",
    options={"build_ext": {"parallel": CORES}} | ({"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {}),
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
