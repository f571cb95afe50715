"""The one table of families of instances, behind Python and the command line.

A new family is one function in one file, and one line here. Its parameters are those of the function, with the types
and defaults of its signature and the descriptions of its docstring.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphpart.errors import InvalidOption, unknown
from graphpart.generate.cluster_editing import cluster_editing
from graphpart.generate.correlations import correlations
from graphpart.generate.digits import digits
from graphpart.generate.factor_chain import factor_chain
from graphpart.generate.factor_grid import factor_grid
from graphpart.generate.factor_tree import factor_tree
from graphpart.generate.grid import grid
from graphpart.generate.instance import FactorInstance, Instance
from graphpart.generate.lifted import lifted_grid, lifted_random
from graphpart.generate.machine_parts import machine_parts
from graphpart.generate.max_cut import max_cut
from graphpart.generate.modularity import modularity
from graphpart.generate.noisy_image import noisy_image
from graphpart.generate.planted_partition import planted_partition
from graphpart.generate.qubo import qubo
from graphpart.generate.radio_links import radio_links
from graphpart.generate.scene import scene
from graphpart.generate.soft_requirements import soft_requirements
from graphpart.generate.sparse_random import sparse_random
from graphpart.generate.spin_glass import spin_glass
from graphpart.generate.uniform_integers import uniform_integers
from graphpart.generate.volume import volume

__all__ = ["FAMILIES", "Family", "Parameter", "find_family"]

PARSERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a family."""

    name: str  #: as in Python; the command line writes "-" for "_"
    type: str  #: "int", "float", "bool" or "str"
    optional: bool  #: whether None, written "none", is a value
    required: bool
    default: Any  #: None if required
    help: str

    def parse(self, text: str) -> Any:
        """The value that a text stands for.

        Raises
        ------
        InvalidOption
            If the text is not of the type of the parameter.
        """
        if self.optional and text.lower() == "none":
            return None
        try:
            return PARSERS.get(self.type, str)(text)
        except (KeyError, ValueError):
            wanted = {"int": "an integer", "float": "a number", "bool": "true or false"}[self.type]
            raise InvalidOption(f"{self.name} is {text!r}: expected {wanted}{' or none' * self.optional}") from None


@dataclass(frozen=True)
class Family:
    """One line of the table."""

    name: str
    function: Callable[..., Instance | FactorInstance]

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in the order of the function."""
        text = _descriptions(inspect.getdoc(self.function) or "")
        parameters = []
        for parameter in inspect.signature(self.function).parameters.values():
            kinds = str(parameter.annotation).split(" | ")
            required = parameter.default is inspect.Parameter.empty
            parameters.append(
                Parameter(
                    name=parameter.name,
                    type=next((kind for kind in ("int", "float", "bool") if kind in kinds), "str"),
                    optional="None" in kinds,
                    required=required,
                    default=None if required else parameter.default,
                    help=text.get(parameter.name, ""),
                )
            )
        return tuple(parameters)


def _descriptions(doc: str) -> dict[str, str]:
    """The description of each parameter in a numpydoc docstring, in one line."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^(\w[\w, ]*) :.*\n((?:[ ]+.*\n?)+)", section.group(1), re.MULTILINE) if section else []
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}


FAMILIES: tuple[Family, ...] = (
    Family("planted-partition", planted_partition),
    Family("grid", grid),
    Family("lifted-grid", lifted_grid),
    Family("lifted-random", lifted_random),
    Family("volume", volume),
    Family("sparse-random", sparse_random),
    Family("uniform-integers", uniform_integers),
    Family("cluster-editing", cluster_editing),
    Family("correlations", correlations),
    Family("modularity", modularity),
    Family("digits", digits),
    Family("machine-parts", machine_parts),
    Family("soft-requirements", soft_requirements),
    Family("factor-tree", factor_tree),
    Family("factor-chain", factor_chain),
    Family("factor-grid", factor_grid),
    Family("noisy-image", noisy_image),
    Family("scene", scene),
    Family("qubo", qubo),
    Family("max-cut", max_cut),
    Family("spin-glass", spin_glass),
    Family("radio-links", radio_links),
)


def find_family(name: str) -> Family:
    """The family of this name.

    Raises
    ------
    InvalidOption
        If there is none; the message lists those that there are.

    Examples
    --------
    >>> p, _ = find_family("uniform-integers").function(n=5, largest=3)
    >>> [parameter.name for parameter in find_family("uniform-integers").parameters]
    ['n', 'largest', 'seed']
    """
    for family in FAMILIES:
        if family.name == name:
            return family
    raise unknown("family", name, (family.name for family in FAMILIES))
