"""Machines and the parts they work on, to be grouped into cells (Oosten, Rutten & Spieksma 2001)."""

from __future__ import annotations

import numpy as np

from graphpart.errors import InvalidOption
from graphpart.generate.instance import Instance, check_integer, check_number, cluster_labels, random_generator
from graphpart.partition.problem import SetPartition, canonical, check_matrix_fits

__all__ = ["machine_parts"]


def machine_parts(
    machines: int, parts: int, cells: int = 4, within: float = 0.7, outside: float = 0.15, seed: int | None = 0
) -> Instance:
    """Machines and parts with planted cells; costs are -1 and 1, and 0 for two machines or two parts.

    A machine and a part cost -1 if the machine works on the part, else 1; two machines, or two parts, cost nothing. A
    void is a machine and a part of one cell that do not work together; an exception is a machine that works on a part
    of another cell. The cost of a partition into cells is the number of voids less the number of machines and parts
    that work together in one cell. ``problem.objective(cost)`` is the number of voids and exceptions.

    Parameters
    ----------
    machines : int
        Number of machines, which are the first elements.
    parts : int
        Number of parts.
    cells : int
        Number of planted cells. Machines, and parts, are divided among them as evenly as possible.
    within : float
        Probability that a machine works on a part of its own cell.
    outside : float
        Probability that a machine works on a part of another cell.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (dense, unless there are far more elements of one kind than of the other) and the planted cells.

    Notes
    -----
    O((machines + parts)^2). Drawn in this order: cells of the machines, of the parts, one number for each machine and
    part in lexicographic order. As half of the pairs cost nothing, and others only -1 or 1, most moves of one element
    from a good partition change the cost little or not at all.

    Examples
    --------
    >>> p, truth = machine_parts(14, 24, seed=1)
    >>> p.n, sorted(set(p.matrix.ravel().tolist()))
    (38, [-1.0, 0.0, 1.0])
    >>> perfect, cells = machine_parts(6, 9, cells=3, within=1, outside=0)
    >>> perfect.objective(perfect.evaluate(cells))
    0.0
    """
    machines, parts = check_integer("machines", machines, 0), check_integer("parts", parts, 0)
    check_matrix_fits(machines + parts)
    cells = check_integer("cells", cells, 1)
    if cells > max(1, min(machines, parts)):
        raise InvalidOption(
            f"cells is {cells}: expected at most the number of machines, {machines}, and of parts, {parts}"
        )
    within, outside = check_number("within", within, 0, 1), check_number("outside", outside, 0, 1)
    rng = random_generator(seed)
    of_machine, of_part = cluster_labels(machines, cells, rng), cluster_labels(parts, cells, rng)
    together = of_machine[:, None] == of_part
    works = rng.random((machines, parts)) < np.where(together, within, outside)
    u, v = (np.repeat(np.arange(machines), parts), np.tile(np.arange(machines, machines + parts), machines))
    problem = SetPartition.from_pairs(
        machines + parts, (u, v), np.where(works, -1.0, 1.0).ravel(), offset=float(np.count_nonzero(works))
    )
    return Instance(problem, canonical(np.concatenate([of_machine, of_part])))
