"""The extension modules: every .pyx file below graphpart/ is one. All other metadata stands in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# No -march=native and no -ffast-math: a wheel must run elsewhere and obey IEEE arithmetic (inf is a cost).
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-fno-math-errno", "-fno-trapping-math"]

extensions = [
    Extension(str(path.with_suffix("")).replace("/", ".").replace("\\", "."), [str(path)], extra_compile_args=FLAGS)
    for path in sorted(Path("graphpart").rglob("*.pyx"))
]

setup(
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
    ext_modules=cythonize(
        extensions,
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
