"""Each stub (``_name.pyi``) says what its kernel (``_name.pyx``) has: functions, classes, attributes and parameters.

Functions, methods and attributes are asked of the compiled kernel. The parameters of a constructor are read from the
source, since a compiled class does not tell them.
"""

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import GetSetDescriptorType, ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
KERNELS = sorted((ROOT / "graphpart").rglob("*.pyx"))
STUBS = sorted((ROOT / "graphpart").rglob("*.pyi"))
CONSTRUCTOR = re.compile(r"^    def (?:__c?init__)\((.*?)\) *(?:->.*)?:", re.MULTILINE | re.DOTALL)


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


def of_constructor(source: str, name: str) -> list[str] | None:
    """The parameters of ``__init__`` or ``__cinit__`` in the source of a kernel; None if the class has neither."""
    body = re.search(rf"^(?:cdef )?class {name}\b.*?(?=^\S|\Z)", source, re.MULTILINE | re.DOTALL)
    found = CONSTRUCTOR.search(body[0] if body else "")
    if found is None:
        return None
    text = re.sub(r"\[[^\]]*\]", "", re.sub(r"#.*", "", found[1]))  # without shapes of arrays
    parts = []
    for part in filter(None, map(str.strip, text.split(","))):
        declared, default, _ = part.partition("=")
        parts.append(re.sub(r" (not|or) None", "", declared).split()[-1] + default)
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
    return not any(part.startswith("_") for part in name.removesuffix(".__init__").split("."))


def in_kernel(module: ModuleType, source: str) -> dict[str, object]:
    """What a kernel has, in the form of `in_stub`. Values of the module are those that the stub may name, or not."""
    found: dict[str, object] = {}
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        if not isinstance(thing, type):
            found[name] = text_of(inspect.signature(thing))
            continue
        found[name] = [base.__name__ for base in thing.__bases__ if base is not object]
        constructor = of_constructor(source, name)
        if constructor is not None:
            found[f"{name}.__init__"] = constructor
        for member, what in vars(thing).items():
            if isinstance(what, GetSetDescriptorType):
                found[f"{name}.{member}"] = None
            elif callable(what) and not member.startswith("_"):
                found[f"{name}.{member}"] = text_of(inspect.signature(what))
    return {name: what for name, what in found.items() if public(name)}


def differences(stub: str, module: ModuleType, source: str) -> list[str]:
    """What a stub says otherwise than its kernel, in lines."""
    said, there = in_stub(stub), in_kernel(module, source)
    for name in [name for name, what in said.items() if what is None and "." not in name and hasattr(module, name)]:
        there[name] = None  # a value: it does not tell where it comes from
    return [
        f"{name}: the stub has {said.get(name, 'nothing')}, the kernel {there.get(name, 'nothing')}"
        for name in sorted(said.keys() | there.keys())
        if name not in said or name not in there or said[name] != there[name]
    ]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: str(path.relative_to(ROOT / "graphpart")))
def test_stub_agrees_with_its_kernel(kernel):
    source, stub = kernel.read_text("utf-8"), kernel.with_suffix(".pyi")
    text = stub.read_text("utf-8") if stub.exists() else ""  # a kernel only for other kernels needs none
    assert not differences(text, module_of(kernel), source)


def test_no_stub_without_a_kernel():
    assert [stub for stub in STUBS if not stub.with_suffix(".pyx").exists()] == []


@pytest.mark.parametrize(
    ("right", "wrong", "name"),
    [
        ("def feed(self, block: bytes)", "def feed(self, text: bytes)", "Parser.feed"),
        ("def feed(self, block: bytes)", "def feed(self, block: bytes, more: int = 0)", "Parser.feed"),
        ("def feed(self, block: bytes)", "def feed(self, block: bytes = b'')", "Parser.feed"),
        ("    def finish(self) -> None: ...\n", "", "Parser.finish"),
        ("    def finish(self)", "    def finished(self)", "Parser.finish"),
        ("    largest: int\n", "    greatest: int\n", "Pairs.largest"),
        ("line: int = 1,\n        low", "line: int,\n        low", "Pairs.__init__"),
        ("limit: int = ...,", "most: int = ...,", "Numbers.__init__"),
        ("class Pairs(Parser):", "class Pairs:", "Pairs"),
        ("class Block: ...", "class Blocks: ...", "Block"),
        ("class Block: ...", "LIMIT: int\n\nclass Block: ...", "LIMIT"),
    ],
)
def test_a_wrong_stub_is_seen(right, wrong, name):
    """Were the stub of the parsers of texts written so, it would be reported by name."""
    kernel = ROOT / "graphpart" / "files" / "_text.pyx"
    source, stub, module = kernel.read_text("utf-8"), kernel.with_suffix(".pyi").read_text("utf-8"), module_of(kernel)
    assert right in stub and differences(stub, module, source) == []
    assert any(line.startswith(f"{name}: ") for line in differences(stub.replace(right, wrong, 1), module, source))
