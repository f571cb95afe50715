"""Seeded instances with planted truth: each generator returns a pair (problem, truth), Instance or FactorInstance."""

from graphpart.generate.cluster_editing import cluster_editing
from graphpart.generate.correlations import correlations
from graphpart.generate.digits import digits
from graphpart.generate.factor_chain import factor_chain
from graphpart.generate.factor_grid import factor_grid
from graphpart.generate.factor_tree import factor_tree
from graphpart.generate.families import FAMILIES, Family, Parameter, find_family
from graphpart.generate.grid import grid
from graphpart.generate.instance import FactorInstance, Instance
from graphpart.generate.labeled_grid import LabeledInstance, labeled_grid
from graphpart.generate.lifted import lifted_grid, lifted_random
from graphpart.generate.machine_parts import machine_parts
from graphpart.generate.max_cut import max_cut
from graphpart.generate.modularity import modularity
from graphpart.generate.noisy_image import noisy_image
from graphpart.generate.person_records import NICKNAMES, PersonRecords, person_records
from graphpart.generate.planted_partition import planted_partition
from graphpart.generate.qubo import qubo
from graphpart.generate.radio_links import radio_links
from graphpart.generate.scene import scene
from graphpart.generate.soft_requirements import soft_requirements
from graphpart.generate.sparse_random import sparse_random
from graphpart.generate.spin_glass import spin_glass
from graphpart.generate.tracks import Tracks, tracks
from graphpart.generate.uniform_integers import uniform_integers
from graphpart.generate.volume import volume

__all__ = [
    "FAMILIES",
    "NICKNAMES",
    "FactorInstance",
    "Family",
    "Instance",
    "LabeledInstance",
    "Parameter",
    "PersonRecords",
    "Tracks",
    "cluster_editing",
    "correlations",
    "digits",
    "factor_chain",
    "factor_grid",
    "factor_tree",
    "find_family",
    "grid",
    "labeled_grid",
    "lifted_grid",
    "lifted_random",
    "machine_parts",
    "max_cut",
    "modularity",
    "noisy_image",
    "person_records",
    "planted_partition",
    "qubo",
    "radio_links",
    "scene",
    "soft_requirements",
    "sparse_random",
    "spin_glass",
    "tracks",
    "uniform_integers",
    "volume",
]


def __dir__() -> list[str]:
    return sorted(__all__)
