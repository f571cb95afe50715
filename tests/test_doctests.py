"""The examples in all docstrings run, also those of compiled modules; every public name has a docstring."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import graphpart

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(graphpart.__path__, "graphpart.")
    if module.name != "graphpart.__main__"  # runs the command line
)


@pytest.mark.parametrize("name", ["graphpart", *MODULES])
def test_examples(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert results.failed == 0


def test_examples_of_compiled_modules_are_found():
    """The finder must look into extension types and functions, else the test above says nothing about them."""
    found = doctest.DocTestFinder().find(importlib.import_module("graphpart.stopping"))
    assert any(test.name == "graphpart.stopping.Stopping" and test.examples for test in found)


def test_what_users_see_has_a_docstring():
    packages = [graphpart, *(importlib.import_module(name) for name in MODULES)]
    for module in packages:
        assert inspect.getdoc(module) or not module.__file__.endswith(".py"), f"{module.__name__} has no docstring"
    for package in packages:
        for name in getattr(package, "__all__", ()) if hasattr(package, "__path__") else ():
            thing = getattr(package, name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                assert inspect.getdoc(thing), f"{package.__name__}.{name} has no docstring"
