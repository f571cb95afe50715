"""Same seed, same result: problems, files and labels do not depend on the instructions that the processor has.

A program runs once as it is, and again while NumPy, BLAS and the C library are told to leave out newer instructions;
what it prints is compared. Where they do not know the variables (another system, another processor), it runs three
times the same.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphpart as gp

# The newest instructions of NumPy 1.26 to 2.4; names that one of them does not know are ignored.
NEWEST = "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512_SKX AVX512_CLX AVX512_CNL"
KINDS = {
    "without AVX-512": {"NPY_DISABLE_CPU_FEATURES": NEWEST, "OPENBLAS_CORETYPE": "Haswell"},
    "without AVX2 and FMA": {
        "NPY_DISABLE_CPU_FEATURES": f"{NEWEST} X86_V3 AVX2 FMA3",
        "OPENBLAS_CORETYPE": "Prescott",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable",
    },
}

PROGRAM = """if True:
    import hashlib, io
    import numpy as np
    import graphpart as gp
    from graphpart.methods import methods_for

    def show(name, *arrays):
        found = hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in arrays))
        print(name, found.hexdigest()[:16])

    make = gp.generate
    options = {"search": {"max_iterations": 4, "seed": 1}}
    partitions = {
        "integers": make.uniform_integers(60, 9, seed=1),
        "decimals": make.planted_partition(70, 5, 2.0, decimals=2, seed=1),
        "sparse": make.grid(12, 12, regions=4, decimals=2, seed=1),
        "unrounded": make.planted_partition(70, 5, 2.0, seed=1),
        "correlations": make.correlations(60, 9, seed=1),
    }
    for name, (p, truth) in partitions.items():
        show(name, *p.pairs())
        for method in ("greedy-joining", "greedy-moving", "kernighan-lin", "kernighan-lin-pairs", "search"):
            r = gp.solve(p, method, **options.get(method, {}))
            show(f"{name} {method}", r.labels, np.array(r.cost))
    factors = {
        "chain": make.factor_chain(60, 4, seed=1),
        "grid": make.factor_grid(12, 12, "mixed", labels=3, decimals=2, seed=1),
        "image": make.noisy_image(30, 30, seed=1),
        "scene": make.scene(20, 20, seed=1),
    }
    for name, (f, truth) in factors.items():
        stream = io.BytesIO()
        gp.write(f, stream, "uai")
        again = gp.read(io.BytesIO(stream.getvalue()), "uai")
        show(name, f.tables, again.tables, np.frombuffer(stream.getvalue(), np.uint8))
        r = gp.solve(f, "min-sum" if f.is_acyclic else "icm")
        show(f"{name} {r.method}", r.labels, np.array(r.cost))
"""


def printed(environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | environment | {"PYTHONPATH": str(Path(gp.__file__).parent.parent)},
        capture_output=True,
        text=True,
    )
    if "NPY_DISABLE_CPU_FEATURES" in done.stderr and done.returncode:
        pytest.skip("this NumPy is built for newer processors only")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def here() -> str:
    return printed({})


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_result(kind, here):
    assert printed(KINDS[kind]).splitlines() == here.splitlines()
