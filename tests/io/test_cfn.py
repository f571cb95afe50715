"""Cost function networks of toulbar2: conventions against a reference of a few lines and toulbar2 itself, mistakes."""

import contextlib
import gzip
import io
import itertools
import json
import lzma
import math
import resource
from decimal import Decimal

import numpy as np
import pytest
from trials import trials

import graphpart as gp


def read(text, **options):
    return gp.read(io.BytesIO(text.encode() if isinstance(text, str) else text), "cfn", **options)


def written(f):
    stream = io.BytesIO()
    gp.write(f, stream, "cfn")
    return stream.getvalue()


def labelings(f):
    return [list(labels) for labels in itertools.product(*map(range, f.domains.tolist()))]


# ------------------------------------------------------------------------------------- random networks, and their sums


def random_network(rng, digits=2, sense="<", smallest=-5.0):
    """A network as JSON has it, with some of everything; costs are texts of decimals."""
    n = int(rng.integers(1, 5))
    variables = {}
    for v in range(n):
        size = int(rng.integers(1, 4))
        variables[f"v{v}"] = size if rng.random() < 0.5 else [f"{'abc'[i]}{v}" for i in range(size)]
    sizes = [x if isinstance(x, int) else len(x) for x in variables.values()]
    names = list(variables)

    def cost():
        return f"{rng.uniform(smallest, 9):.{digits}f}"

    functions = {}
    for f in range(int(rng.integers(0, 6))):
        scope = rng.permutation(n)[: rng.integers(0, min(n, 3) + 1)].tolist()
        shape = [sizes[v] for v in scope]
        entry = {"scope": [names[v] if rng.random() < 0.7 else v for v in scope]}
        if rng.random() < 0.5:
            entry["costs"] = [cost() for _ in range(math.prod(shape))]
        else:
            entry["defaultcost"] = cost()
            tuples = [t for t in itertools.product(*map(range, shape)) if rng.random() < 0.5]
            entry["costs"] = []
            for t in tuples:
                for v, label in zip(scope, t, strict=True):
                    listed = variables[names[v]]
                    entry["costs"].append(listed[label] if isinstance(listed, list) and rng.random() < 0.7 else label)
                entry["costs"].append(cost())
        functions[f"f{f}"] = entry
    bound = f"{sense}{100 if sense == '<' else -100}.{'0' * digits}"
    return {"problem": {"name": "random", "mustbe": bound}, "variables": variables, "functions": functions}


def value(network, labels):
    """The sum of the costs of a labeling, in decimals."""
    domains = list(network["variables"].values())
    names = list(network["variables"])
    total = Decimal(0)
    for function in network["functions"].values():
        scope = [v if isinstance(v, int) else names.index(v) for v in function["scope"]]
        mine = [labels[v] for v in scope]
        costs = function["costs"]
        if "defaultcost" not in function:
            sizes = [len(d) if isinstance(d, list) else d for d in (domains[v] for v in scope)]
            total += Decimal(costs[int(np.ravel_multi_index(mine, sizes)) if mine else 0])
            continue
        k = len(scope)
        found = Decimal(function["defaultcost"])
        for at in range(0, len(costs), k + 1):
            listed = costs[at : at + k]
            t = [x if isinstance(x, int) else domains[v].index(x) for v, x in zip(scope, listed, strict=True)]
            if t == mine:
                found = Decimal(costs[at + k])
        total += found
    return total


def loosely(rng, network):
    """The same network with less punctuation, more comments, and other brackets."""
    text = json.dumps(network, indent=1)
    text = "".join(
        rng.choice([" ", ""]) if c == "," and rng.random() < 0.4 else " " if c == ":" and rng.random() < 0.3 else c
        for c in text.replace(",", " ,")
    )
    swapped = str.maketrans({"{": "[", "}": "]"}) if rng.random() < 0.3 else {}
    lines = [line.translate(swapped) for line in text.split("\n")]
    lines = [line.replace('"', " ") if rng.random() < 0.3 else line for line in lines]
    for _ in range(3):
        lines.insert(int(rng.integers(0, len(lines) + 1)), rng.choice(["# { ] comment", "", "  // comment: [1, 2"]))
    return "\r\n".join(lines) if rng.random() < 0.3 else "\n".join(lines)


@pytest.mark.parametrize("seed", range(trials(150)))
def test_random_networks_in_loose_writing(seed):
    rng = np.random.default_rng(seed)
    sense = "<" if seed % 2 else ">"
    network = random_network(rng, digits=int(rng.integers(0, 4)), sense=sense)
    f = read(loosely(rng, network))
    assert list(f.variables) == list(network["variables"]) and f.sense == (1 if sense == "<" else -1)
    again = gp.read(io.BytesIO(written(f)))
    for labels in labelings(f):
        assert f.objective(f.evaluate(labels)) == pytest.approx(float(value(network, labels)), abs=1e-9)
        assert again.evaluate(labels) == f.evaluate(labels) and again.sense == f.sense


@pytest.mark.parametrize("seed", range(trials(40)))
def test_blocks_may_end_anywhere(seed):
    rng = np.random.default_rng(seed)
    text = loosely(rng, random_network(rng)).encode()

    class Dripping:
        def __init__(self):
            self.stream = io.BytesIO(text)

        def read(self, size):
            return self.stream.read(min(size, int(rng.integers(1, 4))))

    from graphpart.io._kernels import Tokens

    def all_of(blocks):
        tokens, found = Tokens("x", blocks), []
        while tokens.next():
            found.append((tokens.kind, tokens.word, tokens.line))
        return found

    cut = [text[i : i + 1] for i in range(len(text))]
    assert all_of([text]) == all_of(cut)
    assert gp.read(Dripping(), "cfn").tables.tolist() == read(text).tables.tolist()


@pytest.mark.parametrize("seed", range(trials(25)))
def test_toulbar2_gives_the_same_energies(seed, tmp_path):
    """On what it writes, and on what we write; where it finds a labeling forbidden, its sum reaches the bound."""
    toulbar2 = pytest.importorskip("pytoulbar2")
    rng = np.random.default_rng(seed)
    sense = "<" if seed % 3 else ">"
    network = random_network(rng, digits=2, sense=sense)
    bound = round(float(rng.uniform(2, 30)), 2)
    network["problem"]["mustbe"] = f"{sense}{bound if sense == '<' else -bound:.2f}"
    path, theirs, ours, turn = (str(tmp_path / f"{name}.cfn") for name in ("mine", "theirs", "ours", "turn"))
    with open(turn, "w") as file:
        file.write("{problem: {name: turn, mustbe: >-1}, variables: {x: 2}, functions: {}}")
    with open(path, "w") as file:
        json.dump(network, file)
    f = gp.read(path)
    gp.write(f, ours)

    def load(file):
        problem = toulbar2.CFN()
        problem.Read(file)
        return problem

    def turn_back():
        """Each file of a maximisation turns the sign of all that are read after it, in version 1.4.0.1."""
        if sense == ">":
            load(turn)

    load(path).Dump(theirs)
    turn_back()
    g = gp.read(theirs)
    for labels in (labelings(f)[i] for i in rng.permutation(math.prod(f.domains.tolist()))[:6]):
        exact = float(value(network, labels))
        allowed = exact < bound if sense == "<" else exact > -bound
        for file in (path, ours):
            one = load(file)
            try:
                for v, label in enumerate(labels):
                    one.Assign(v, label)
                found = one.Solve()
            except one.Contradiction:
                found = None
            turn_back()
            if file == path:
                assert (found is not None) == allowed
            if found is not None and allowed:
                assert found[1] == pytest.approx(exact, abs=1e-9)
        if allowed:
            assert f.objective(f.evaluate(labels)) == pytest.approx(exact, abs=1e-9)
            assert g.objective(g.evaluate(labels)) == pytest.approx(exact, abs=1e-9)


# ------------------------------------------------------------------------------------------------------- conventions

HEADER = '{problem: {name: p, mustbe: "<10.00"}, variables: {x: [a b c], y: 2},\nfunctions: {'


def test_costs_at_the_bound_forbid():
    f = read(HEADER + "f: {scope: [x], costs: [9.99, 10, 10.01]}}}")
    assert [f.evaluate([i, 0]) for i in range(3)] == [9.99, math.inf, math.inf]
    g = read(HEADER.replace("<10.00", ">1") + "f: {scope: [x], costs: [0.99, 1, 1.5]}}}")
    assert [g.evaluate([i, 0]) for i in range(3)] == [math.inf, math.inf, -1.5]
    assert g.objective(-1.5) == 1.5


def test_costs_that_others_make_up_for_do_not_forbid():
    text = HEADER + "f: {scope: [x], costs: [12, 15, 0]}, g: {scope: [y], costs: [-5, 0]}}}"
    f = read(text)
    assert f.evaluate([0, 0]) == 7 and f.evaluate([1, 0]) == math.inf


def test_sums_of_decimals_reach_the_bound_exactly():
    """0.1 + 0.2 is not 0.3 in floating point."""
    f = read(HEADER.replace("10.00", "0.3") + "f: {scope: [x], costs: [0.2, 0.3, 0]}, g: {scope: [], costs: [0.1]}}}")
    assert [f.evaluate([i, 0]) for i in range(3)] == [math.inf, math.inf, 0.1]
    g = read(HEADER.replace("10.00", "0.31") + "f: {scope: [x], costs: [0.2, 0.3, 0]}, g: {scope: [], costs: [0.1]}}}")
    assert g.evaluate([0, 0]) == pytest.approx(0.3) and g.evaluate([1, 0]) == math.inf


def test_shared_costs():
    f = read(HEADER + "f: {scope: [x y], costs: g} g: {scope: [x y], costs: [0 1 2 3 4 5]}}}")
    assert f.evaluate([2, 1]) == 10  # it reaches the bound only by the sum of both
    assert [f.factor(i)[1].ravel().tolist() for i in (0, 1)] == [[0, 1, 2, 3, 4, 5]] * 2


def test_without_keys():
    f = read(
        "[[p <9.5] [[a b c] 2 -3] [[[0 1] 1 [a 0 5.5 2 1 7]] [[2] [0 1 2]] [[0 1] same] same[[x0 x1][1 2 3 4 5 6]]]]"
    )
    assert f.domains.tolist() == [3, 2, 3] and list(f.variables) == [0, 1, 2]
    assert f.evaluate([0, 0, 0]) == 5.5 + 0 + 1 + 1


def test_names():
    f = read('{problem:{name:"p" mustbe:<5} variables:{"a b{:":2 "": 3}functions:{}}'.replace('"": 3', "ü: 3"))
    assert list(f.variables) == ["a b{:", "ü"]


def test_content_tells_the_format():
    text = b'# comment\n\n// another\n{ "problem": ' + HEADER.removeprefix("{problem: ").encode() + b"}}"
    assert gp.read(io.BytesIO(text)).n == 2
    assert gp.read(io.BytesIO(gzip.compress(text))).n == gp.read(io.BytesIO(lzma.compress(text))).n == 2


def test_the_last_brace_may_be_missing():
    assert read(HEADER + "f: {scope: [x], costs: [0 1 2]}}").m == 1


# ---------------------------------------------------------------------------------------------------------- mistakes

START = "{problem: {name: p, mustbe: <10}, variables: {x: 3, y: [a b]},\nfunctions: {\n"
MISTAKES = [
    ("", 1, "the file ends: expected { and the key problem"),
    ("hello", 1, "found 'hello': expected { and the key problem"),
    ("{nodes: {", 1, "found 'nodes': expected the key problem"),
    ("{problem: {title: p", 1, "found 'title': expected the key name"),
    ("{problem: {name: p}", 1, "found '}': expected the key mustbe"),
    ("{problem: {name: p, mustbe: 10}", 1, "found '10': expected mustbe, a bound such as <10.00"),
    ("{problem: {name: p, mustbe: <1e5}", 1, "found '<1e5': expected mustbe"),
    ("{problem: {name: p, mustbe: <nan}", 1, "found '<nan': expected mustbe"),
    ("{problem: {name: p, mustbe: <}", 1, "found '<': expected mustbe"),
    ("{problem: {name: p, mustbe: <5 6}", 1, "found '6': expected } after the bound"),
    ("{problem: {name: p, mustbe: <5},\nfunctions: {}}", 2, "found 'functions': expected the key variables"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: 0}", 1, "found '0': expected the number of labels"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: 1.5}", 1, "found '1.5': expected the number of labels"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: 99999999999}", 1, "expected the number of labels of a variable"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: []}", 1, "expected the name of a label"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: [a a]}", 1, "found 'a': expected each label once"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: [1 2]}", 1, "found '1': expected the name of a label, which"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: 2, x: 3}", 1, "of another name than 'x', which there is already"),
    ("{problem: {name: p, mustbe: <5}, variables: {.x: 2}", 1, "found '.x': expected the name of a variable, which"),
    ("{problem: {name: p, mustbe: <5}, variables: {x: 2", 1, "the file ends: expected a variable, or }"),
    (START, 3, "the file ends: expected a function, or } as the end of the functions"),
    (START + "f: 5", 3, "found '5': expected { and a function, after its name"),
    (START + "f: {costs: [1]}", 3, "found 'costs': expected scope, the first field"),
    (START + "f: {scope: [z]}", 3, "found 'z': expected the name of a variable"),
    (START + "f: {scope: [2]}", 3, "found '2': expected the index of a variable, from 0 to 1"),
    (START + "f: {scope: [-1]}", 3, "found '-1': expected the index of a variable"),
    (START + "f: {scope: [x x]}", 3, "found 'x': expected each variable once in a scope"),
    (START + "f: {scope: [x], type: salldif, params: {}}}}", 3, "found the global cost function 'salldif': expected"),
    (START + "f: {scope: [x], type: salldiff, params: {}}}}", 3, "salldiff: parameters without metric: expected"),
    (START + "f: {scope: [x], table: []}", 3, "found 'table': expected costs or defaultcost"),
    (START + "f: {scope: [x], costs: [1 2]}", 3, "found 2 costs: expected 3, one for each tuple"),
    (START + "f: {scope: [x], costs: [1 2 3 4]}", 3, "found more than 3 costs: expected one for each tuple"),
    (START + "f: {scope: [x], costs: [1 2\n", 4, "the file ends: expected a cost, or ]"),
    (START + "f: {scope: [x], costs: [1 nan 3]}", 3, "found 'nan': expected a cost, a decimal number without exponent"),
    (START + "f: {scope: [x], costs: [1 inf 3]}", 3, "found 'inf': expected a cost"),
    (START + "f: {scope: [x], costs: [1 2e5 3]}", 3, "found '2e5': expected a cost, a decimal number without exponent"),
    (START + "f: {scope: [x], costs: [1 1-2 3]}", 3, "found '1-2': expected a cost"),
    (START + "f: {scope: [x], costs: [1 " + "9" * 400 + "]}", 3, "...: expected a cost"),
    (START + "f: {scope: [x], costs: [1 {2} 3]}", 3, "found '{': expected a cost, or ] after the last one"),
    (START + "f: {scope: [x], defaultcost: x, costs: []}", 3, "found 'x': expected a cost"),
    (START + "f: {scope: [x], defaultcost: 1, costs: [3 5]}", 3, "found '3': expected a label of variable 0"),
    (START + "f: {scope: [y], defaultcost: 1, costs: [c 5]}", 3, "found 'c': expected a label of variable 1: its"),
    (START + "f: {scope: [x], defaultcost: 1, costs: [2]}", 3, "found ']': expected the rest of a tuple and its cost"),
    (START + "f: {scope: [x], defaultcost: 1, costs: [2 1, 2 3]}", 3, "found a tuple again: expected each tuple once"),
    (START + "f: {scope: [x], defaultcost: 1, costs: g}", 3, "found 'g': expected [ and tuples after a default cost"),
    (START + "f: {scope: [x], costs: g}}}", 3, "the costs of 'g', which no function has"),
    (START + "f: {scope: [x], costs: f}}}", 3, "the costs of 'f', which has those of others"),
    (START + "f: {scope: [x], costs: g} g: {scope: [y], costs: [1 2]}}}", 3, "a table of shape (2,): expected (3,)"),
    (
        START + "f: {scope: [x], costs: g} g: {scope: [x], costs: [1 2 3]}g: {scope: [x], costs: [1 2 3]}}}",
        3,
        "the costs of 'g', which has several",
    ),
    (START + "}} 5", 3, "found '5': expected the end of the file"),
    (START + '"f: {scope', 3, "expected a closing quote in the same line"),
    (START + "f\x00: 5", 3, "found 'f\\x00': expected printable text"),
    (START.encode() + b"f: {scope: [\xff]}", 3, r"found '\\xff': expected UTF-8 text"),
    (START + "f" * 70000, 3, "a word of more than 65536 bytes: expected a text file"),
    ("[[p <9] [2 3] [[[0] salldiff [1 2]]]]", 1, "salldiff: metric '1': expected var or dec"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES)
def test_mistakes(text, line, message, tmp_path):
    path = tmp_path / "model.cfn"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(gp.FormatError) as caught:
        gp.read(path)
    said = str(caught.value)
    assert message in said and said.startswith(f"{path}:{line}: ") and "\n" not in said


def test_no_promise_makes_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    names = " ".join(f"v{i}" for i in range(12))
    text = "{problem: {name: p, mustbe: <10}, variables: {" + " ".join(f"v{i}: 2000000000" for i in range(12))
    for rest in ("defaultcost: 0, costs: [", "costs: [0 1 2]", "defaultcost: 0, costs: []}}}"):
        with pytest.raises(gp.FormatError, match=r"fits into memory|found 3 costs: expected 4"):
            read(f"{text}}}, functions: {{f: {{scope: [{names}], {rest}}}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10  # KiB


@pytest.mark.parametrize("seed", range(trials(12)))
def test_every_prefix_and_some_damage(seed):
    rng = np.random.default_rng(seed)
    text = loosely(rng, random_network(rng)).rstrip().encode()
    content = text.rstrip(b"\r\n")
    for size in range(0, len(content) - 40, 1 + len(content) // 60):
        with pytest.raises(gp.FormatError):
            read(content[:size])
    pieces = [b"", b"{", b"}", b'"', b"-1 ", b"99999999999 ", b"nan ", b"\x00", b"\xff", b"//", b"\n#", b"1e400 "]
    for _ in range(trials(60)):
        at = int(rng.integers(0, len(content)))
        damaged = content[:at] + pieces[rng.integers(len(pieces))] + content[at + int(rng.integers(0, 3)) :]
        with contextlib.suppress(gp.FormatError):
            f = read(damaged)
            f.evaluate([0] * f.n)


def test_extreme_costs_are_written_exactly():
    f = gp.FactorGraph.from_arrays(
        [2, 3], [([[0]], [[1e300, -1e-300]]), ([[1]], [[math.inf, -1e300, 0.1]])], constant=1e-5
    )
    g = read(written(f))
    assert g.tables.tolist() == f.tables.tolist() and g.constant == f.constant
    empty = read(written(gp.FactorGraph()))
    assert empty.n == 0 and empty.evaluate([]) == 0


@pytest.mark.parametrize("large", [1e15, 1e16, 1e17, 1e300])
def test_large_costs_stay_allowed(tmp_path, large):
    """A bound that is larger by 1 would be lost in rounding."""
    f = gp.FactorGraph.from_arrays([3], [([[0]], [[0.0, large, np.inf]])])
    path = tmp_path / "large.cfn"
    gp.write(f, path)
    assert gp.read(path).factor(0)[1].tolist() == [0.0, large, np.inf]
