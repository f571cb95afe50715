"""Each stub says what its kernel has: functions, classes, attributes and parameters, as the compiled kernel tells them.

setup.py makes the stubs of private kernels (``_name.pyi``) from their sources. That of `graphpart.stopping` is public
and written by hand. A compiled class does not tell the parameters of its constructor, so they are not compared.
"""

import ast
import importlib
import inspect
from pathlib import Path
from types import GetSetDescriptorType, ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
KERNELS = sorted((ROOT / "graphpart").rglob("*.pyx"))


def module_of(path: Path) -> ModuleType:
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def of_function(function: ast.FunctionDef) -> list[str]:
    """The parameters of a function in a stub: names in order, ``=`` behind those with a default, and ``*``."""
    return text_of(inspect.signature(eval(f"lambda {ast.unparse(_bare(function.args))}: 0")))


def _bare(arguments: ast.arguments) -> ast.arguments:
    for argument in filter(None, [*arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]):
        argument.annotation = None
    arguments.defaults = [ast.Constant(0) for _ in arguments.defaults]
    arguments.kw_defaults = [value and ast.Constant(0) for value in arguments.kw_defaults]
    return arguments


def text_of(signature: inspect.Signature) -> list[str]:
    parts: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        parts.append(parameter.name + ("" if parameter.default is parameter.empty else "="))
    return parts


def in_stub(text: str) -> dict[str, object]:
    """What a stub promises, by name: parameters, None for a value; members of a class as ``Class.member``."""
    found: dict[str, object] = {}

    def add(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                is_property = any(ast.unparse(decorator) == "property" for decorator in node.decorator_list)
                found[prefix + node.name] = None if is_property else of_function(node)
            elif isinstance(node, ast.AnnAssign):
                found[prefix + ast.unparse(node.target)] = None
            elif isinstance(node, ast.ClassDef):
                found[node.name] = [ast.unparse(base) for base in node.bases]
                add(node.body, f"{node.name}.")

    add(ast.parse(text).body, "")
    return {name: what for name, what in found.items() if public(name)}


def public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


def in_kernel(module: ModuleType) -> dict[str, object]:
    """What a kernel has, in the form of `in_stub`. Values of the module are those that the stub may name, or not."""
    found: dict[str, object] = {}
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        if not isinstance(thing, type):
            found[name] = text_of(inspect.signature(thing))
            continue
        found[name] = [base.__name__ for base in thing.__bases__ if base is not object]
        for member, what in vars(thing).items():
            if isinstance(what, GetSetDescriptorType):
                found[f"{name}.{member}"] = None
            elif callable(what) and not member.startswith("_"):
                found[f"{name}.{member}"] = text_of(inspect.signature(what))
    return {name: what for name, what in found.items() if public(name)}


def differences(stub: str, module: ModuleType) -> list[str]:
    """What a stub says otherwise than its kernel, in lines."""
    said, there = in_stub(stub), in_kernel(module)
    for name in [name for name, what in said.items() if what is None and "." not in name and hasattr(module, name)]:
        there[name] = None  # a value: it does not tell where it comes from
    return [
        f"{name}: the stub has {said.get(name, 'nothing')}, the kernel {there.get(name, 'nothing')}"
        for name in sorted(said.keys() | there.keys())
        if name not in said or name not in there or said[name] != there[name]
    ]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: str(path.relative_to(ROOT / "graphpart")))
def test_stub_agrees_with_its_kernel(kernel):
    assert differences(kernel.with_suffix(".pyi").read_text("utf-8"), module_of(kernel)) == []


@pytest.mark.parametrize(
    ("right", "wrong", "name"),
    [
        ("def stop(self, reason: Status)", "def stop(self, why: Status)", "Stopping.stop"),
        ("def stop(self, reason: Status)", "def stop(self, reason: Status, at: int = 0)", "Stopping.stop"),
        ("def step(self, cost: float)", "def step(self, cost: float = 0)", "Stopping.step"),
        ("    def reraise(self) -> None: ...\n", "", "Stopping.reraise"),
        ("    def reraise(self)", "    def raised(self)", "Stopping.reraise"),
        ("    deadline: float\n", "    until: float\n", "Stopping.deadline"),
        ("class Stopping:", "class Stopping(Status):", "Stopping"),
        ("class Stopping:", "class Ending:", "Stopping"),
        ("class Stopping:", "LIMIT: int\n\nclass Stopping:", "LIMIT"),
    ],
)
def test_a_wrong_stub_is_seen(right, wrong, name):
    """Were the stub of `graphpart.stopping` written so, it would be reported by name."""
    kernel = ROOT / "graphpart" / "stopping.pyx"
    stub, module = kernel.with_suffix(".pyi").read_text("utf-8"), module_of(kernel)
    assert right in stub and differences(stub, module) == []
    assert any(line.startswith(f"{name}: ") for line in differences(stub.replace(right, wrong, 1), module))
