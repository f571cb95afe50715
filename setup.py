"""The extension modules: every .pyx file below graphpart/ is one, and gets a stub; README.md with absolute links.

To each module, whatever is in it, gcc and Cython give a third of a second. Small kernels of a folder are therefore one
module, `_kernels`, which includes them: each is a file with the suffix .pxi.

All other metadata stands in pyproject.toml.
"""

import contextlib
import fnmatch
import functools
import gc
import os
import re
import sys
import tomllib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SHARED = "graphpart.kernels._shared"  # what Cython would otherwise repeat in each module: the code for memoryviews
CORES = os.cpu_count() or 1

# One wheel for all versions of Python from 3.11 on, if it is asked for: GRAPHPART_LIMITED_API=1. Kernels that are
# called often or take many arrays are up to 1.4 times slower then: it is for versions without a wheel of their own.
LIMITED = os.environ.get("GRAPHPART_LIMITED_API", "0") not in ("", "0")
STABLE = {"py_limited_api": True} if LIMITED else {}

# Cython writes shortcuts into each place where a kernel uses Python objects: names of a module, methods, whole numbers.
# Kernels do so before and after their loops only. Without the shortcuts they are a twelfth smaller, and gcc takes a
# tenth less time.
MACROS: list[tuple[str, str | None]] = [("Py_LIMITED_API", "0x030B0000")] if LIMITED else []
MACROS += [(f"CYTHON_{name}", "0") for name in ("USE_DICT_VERSIONS", "USE_PYLONG_INTERNALS", "UNPACK_METHODS")]

# How far gcc optimises a kernel: by the first pattern that fits, else -O2: 0.7 of the time that all take at -O3, where
# -O2 takes 0.8 and -O1 half. Measured by methods that spend their time in a kernel, as ratios to -O3:
# - loops over rows of a matrix or a table of messages become vector instructions at -O3 only: 4.6 in dense annealing;
# - joining, moving, packing, messages and texts of pairs: 0.96 to 1.10 at -O2, but 1.15 to 1.4 at -O1;
# - branch and cut, branch and bound, elimination, roof duality, reductions, enumeration: 0.97 to 1.07 at -O1, and so
#   what plans, builds or checks once for each problem.
# A new kernel is at -O2 until somebody measures it. A pattern without a kernel does no harm.
LEVELS = {
    "3": """*.images._contacts *._dense_annealing *.partition.local_search._kernels *.binary_quadratic.* *._min_sum
            *.maximum_cut.* *.crf.bounds._message_passing *.crf.exact_solvers._kernels *.random_fields.* *._strips
            *.partition.bounds._cuts""",
    "1": """graphpart.learn.* graphpart.distributed.* graphpart.io.* *.bucket_elimination.* *.branch_and_bound.*
            *.certificates.* *.crf.reduction.* *.pieces.* *.graph_cuts._kernels *._prepared *._shared *.stopping""",
}


def level(name: str) -> str:
    """The level of optimisation of a kernel, as gcc names it."""
    fits = (key for key, patterns in LEVELS.items() for one in patterns.split() if fnmatch.fnmatchcase(name, one))
    return next(fits, "2")


# No -march=native and no -ffast-math: a wheel must run elsewhere and obey IEEE arithmetic (inf is a cost). Products
# and sums are not contracted into fused operations, which some processors have and others not, so that results agree.
if sys.platform == "win32":  # Visual Studio 2022 and later contract only with /fp:contract or /fp:fast
    OPTIMISE = False
    FLAGS, LINK = ["/O2", "/fp:precise"], []
else:
    given = os.environ.get("CFLAGS", "")  # whoever builds may choose optimisation, debug information and assertions
    OPTIMISE = not re.search(r"(^|\s)-O", given)
    FLAGS = [] if re.search(r"(^|\s)-g", given) else ["-g0"]
    FLAGS += [] if "NDEBUG" in given else ["-DNDEBUG"]
    LINK = []
    if sys.platform == "linux" and "-g0" in FLAGS:  # names of functions, and padding: a sixth of a kernel
        LINK = ["-Wl,-s", "-Wl,-z,noseparate-code"]
    FLAGS += ["-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
    if OPTIMISE and sys.platform == "linux":  # a fifth of the time of gcc, and kernels are as fast without
        FLAGS += ["-fno-gcse", "-fno-rerun-cse-after-loop", "-fno-schedule-insns2", "-Wno-all"]
        FLAGS += ["-fno-asynchronous-unwind-tables"]  # for traces of calls in C: a twelfth of a kernel


def extension(name: str, source: str) -> Extension:
    flags = [f"-O{level(name)}"] * OPTIMISE + FLAGS
    return Extension(name, [source], define_macros=MACROS, extra_compile_args=flags, extra_link_args=LINK, **STABLE)


extensions = [extension(SHARED, SHARED.replace(".", "/") + ".c")] + [
    extension(".".join(path.with_suffix("").parts), str(path)) for path in sorted(Path("graphpart").rglob("*.pyx"))
]


# What a stub (_name.pyi) says is read from the kernel beside it: classes, attributes, functions and their parameters. A
# function whose result a Python function returns as it is says in its source what that is. All that is not a number,
# a truth value or a text is of any type.
SCALARS = {"double": "float", "float": "float", "bint": "bool", "str": "str", "bytes": "bytes"}
WHOLE = re.compile(r"(u?int\d*(_t)?|size_t|Py_ssize_t|(unsigned )?(char|short|int|long( long)?))")
DECLARATION = re.compile(
    r"^(?P<indent>|    )("
    r"(cdef )?(?P<head>class (?P<class>\w+)(\((?P<base>\w+)\))?:)"
    r"|def (?P<function>\w+)\((?P<parameters>.*?)\)( -> (?P<result>[^\n]+))?:(?=\s)"
    r"|cdef (readonly|public) (?P<type>[^\n#]*?) *(?P<attributes>\w+(, \w+)*) *(#[^\n]*)?$"
    r"|(?P<constants>[A-Z]\w*(, [A-Z]\w*)*) = (?!\[)"
    r"|(?P<property>@property)$)",
    re.MULTILINE | re.DOTALL,
)


def type_of(text: str) -> str:
    return "int" if WHOLE.fullmatch(text) else SCALARS.get(text, "Any")


def parameter(text: str) -> str:
    declared, default, _ = text.replace(" not None", "").partition("=")
    *kind, name = declared.split()
    return name + (f": {type_of(' '.join(kind))}" if name not in ("self", "*", "/") else "") + " = ..." * bool(default)


def stub(kernel: Path) -> str:
    heads = ["from typing import Any", "import numpy as np", "from numpy.typing import NDArray"]
    members: dict[str, list[str]] = {}  # by class; of the module: ""
    text = kernel.read_text("utf-8")
    files = [kernel.with_suffix(".pxd"), kernel]  # the first has the attributes of classes that other kernels use
    files += [kernel.parent / name for name in re.findall(r'^include "(.*)"$', text, re.MULTILINE)]
    for source in (file.read_text("utf-8") for file in files if file.exists()):
        inside = ""
        for found in DECLARATION.finditer(source):
            indent, inside = found["indent"], inside if found["indent"] else found["class"] or ""
            lines = members.setdefault(inside, [])
            if found["base"] and (other := re.search(rf"^from (\S+) cimport .*\b{found['base']}\b", source, re.M)):
                heads.append(f"from {other[1]} import {found['base']}")
            if found["class"]:
                lines += [] if lines else [found["head"], "    ..."]
            elif found["constants"] and not indent:
                lines += [f"{name}: int" for name in found["constants"].split(", ")]
            elif found["attributes"] and inside:
                lines += [f"    {name}: {type_of(found['type'])}" for name in found["attributes"].split(", ")]
            elif found["property"] and inside:
                lines.append("    @property")
            elif found["function"] and bool(inside) == bool(indent):
                name = found["function"].replace("__cinit__", "__init__")
                if name == "__init__" or not name.startswith("_"):
                    given = re.split(r",(?![^\[]*\])", re.sub(r"#.*", "", found["parameters"]))
                    inner = ", ".join(parameter(one) for one in given if one.strip())
                    result = "None" if name == "__init__" else found["result"] or "Any"
                    lines.append(f"{indent}def {name}({inner}) -> {result}: ...")
    return "\n".join([*heads, *(line for lines in members.values() for line in lines)]) + "\n"


for kernel in Path("graphpart").rglob("_*.pyx"):
    written, text = kernel.with_suffix(".pyi"), stub(kernel)
    if not written.exists() or written.read_text("utf-8") != text:
        written.write_text(text, "utf-8")


def long_description() -> str:
    """README.md as the package index shows it: links to files of the repository become absolute."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["urls"]["Homepage"]
    text = Path("README.md").read_text("utf-8")
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{project}/raw/main/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{project}/blob/main/", text)


# What a module does once when it is imported or called (to read arguments, attributes, constants) is half of a kernel,
# which is a fifth smaller if gcc optimises this half for size. The marks are around such parts in the C of Cython.
SLOW = r"^/\* Python wrapper \*/$.*?^}$|^/\* #### Code section: module_exttypes .*?(?=^/\* #### Code section: end )"
GCC = "\n#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC {}\n#endif\n"
SKIPPED = "tree-pre tree-vrp ipa-sra ivopts tree-tail-merge code-hoisting tree-dominator-opts tree-sra"
OPTIONS = ",".join(["Os", *(f"no-{one}" for one in SKIPPED.split())])  # these take time, and gain no byte
SMALL = GCC.format(f'push_options\n#pragma GCC optimize("{OPTIONS}")')


def mark(source: Path) -> None:
    """Tell gcc which parts of the C of a kernel to optimise for size."""
    text = source.read_text("utf-8")
    if SMALL not in text:
        ends = GCC.format("pop_options")
        source.write_text(re.sub(SLOW, lambda part: SMALL + part[0] + ends, text, flags=re.M | re.S), "utf-8")


@functools.cache
def declarations(name: str, kernel: str | None = None) -> str | None:
    """The file of ours that a kernel cimports by this name, if there is one."""
    path = name.replace(".", "/") + ".pxd"
    return path if os.path.exists(path) else None


class BuildExtensions(build_ext):
    """Makes C of the kernels when they are compiled: metadata and the source distribution have no need of it."""

    def get_source_files(self) -> list[str]:
        return [source for source in super().get_source_files() if not source.endswith(".c")]

    def run(self) -> None:
        from Cython.Build import cythonize  # here, since metadata have no need of it

        gc.set_threshold(100_000)  # Cython makes trees that live until its end: a fifth of its time
        with contextlib.suppress(ImportError):  # else it looks for each name of each kernel in all folders, for 2 s
            from Cython.Build.Dependencies import create_dependency_tree

            create_dependency_tree(quiet=True).find_pxd = declarations
        directives = {
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "freethreading_compatible": True,
            "annotation_typing": False,  # what a function returns is said for its stub
            "auto_pickle": False,  # what is pickled says how, by __reduce__
            "binding": False,  # such functions keep names and lines of their source, 7% of the kernels
            "embedsignature": True,  # the others tell their parameters in the first line of their text, as Python's own
            "embedsignature.format": "clinic",
            "emit_code_comments": False,  # with the line above, a fifth of the C
        }
        written = cythonize(
            self.extensions, nthreads=CORES, shared_utility_qualified_name=SHARED, compiler_directives=directives
        )
        sources = {extension.name: extension.sources for extension in written}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
            if OPTIMISE:
                mark(Path(extension.sources[0]))
        self.extensions.sort(key=lambda one: -os.path.getsize(one.sources[0]))  # none of the long ones is left for last
        self.parallel = self.parallel or CORES  # an editable installation forgets the option of `setup`
        super().run()


setup(
    long_description=long_description(),
    long_description_content_type="text/markdown",
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
    cmdclass={"build_ext": BuildExtensions},
    ext_modules=extensions,
)
