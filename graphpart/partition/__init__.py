"""The set partition problem and its algorithms."""

from graphpart.partition.auto import auto
from graphpart.partition.brute_force import brute_force
from graphpart.partition.certificate import Certificate
from graphpart.partition.exact import exact
from graphpart.partition.greedy_joining import greedy_joining
from graphpart.partition.greedy_moving import greedy_moving
from graphpart.partition.ilp import ilp
from graphpart.partition.kernighan_lin import kernighan_lin
from graphpart.partition.kernighan_lin_pairs import kernighan_lin_pairs
from graphpart.partition.lower_bound import lower_bound
from graphpart.partition.persistency import persistency, reduce
from graphpart.partition.problem import SetPartition
from graphpart.partition.search import search

__all__ = [
    "Certificate",
    "SetPartition",
    "auto",
    "brute_force",
    "exact",
    "greedy_joining",
    "greedy_moving",
    "ilp",
    "kernighan_lin",
    "kernighan_lin_pairs",
    "lower_bound",
    "persistency",
    "reduce",
    "search",
]
