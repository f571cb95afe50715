"""Block-coordinate Frank-Wolfe for the structured support vector machine (Lacoste-Julien et al. 2013).

With N problems, hinges H_i (see `training`), a prior mean theta_0 and lambda = 1 / sigma^2, minimise

    P(theta)  =  lambda/2 ||theta - theta_0||^2  +  1/N sum over i of H_i(theta).

A dual point gives each problem i weights alpha_i(z) >= 0 of partitions z that add up to 1. With

    d_i = sum over z of alpha_i(z) psi_i(z) / (lambda N),      l_i = sum over z of alpha_i(z) loss_i(z) / N
    theta = theta_0 + sum over i of d_i

it proves that no theta has an objective below

    D(alpha)  =  sum over i of (l_i - lambda <theta_0, d_i>)  -  lambda/2 ||theta - theta_0||^2.

    repeat
        for i in random order:  z := oracle_i(theta);  remember z;  move weight of problem i towards z by line search
        several times, for i in random order:  move weight of problem i from the worst to the best remembered partition
        if the gaps seen are small:  ask all oracles about one theta;  stop if P(theta) - D(alpha) <= tol P(theta)

Moves between remembered partitions take no inference (Osokin et al. 2016, who call them pairwise steps on cached atoms;
Shah et al. 2015). D is valid for any oracle, since any partitions make a dual point. P is valid if the oracle proves a
bound, or if its answers are bounded afterwards: an oracle that misses the worst partition gives a P that is too small.

`graphpart.learn.frank_wolfe` is the plain algorithm, for oracles that take no more time than a step. It stores no
answers, has no moves between them, no mean of the prior, and no bounds of oracles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from graphpart.learn.frank_wolfe import step_length
from graphpart.learn.max_margin.oracle import certified, infer
from graphpart.learn.max_margin.training import TrainingProblem
from graphpart.learn.objective import Array
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Found", "History", "Machine", "minimise"]

History = list[
    tuple[float, float, float]
]  #: (seconds, objective, bound) whenever all oracles were asked about one theta


@dataclass
class Found:
    """The parameters at which a solver ended, with their objective and gap."""

    theta: Array
    objective: float = math.nan
    bound: float = -math.inf
    certified: bool = False
    status: Status = Status.OPTIMAL
    oracles: int = 0
    history: History = field(default_factory=list)


class Block:
    """The remembered partitions of one problem and their weights."""

    def __init__(self, training: TrainingProblem, base: Array) -> None:
        self.training = training
        self.base = base  # theta_0
        size = training.X.shape[1]
        self.psi = np.zeros((1, size))  # the truth is the first of them
        self.loss = np.zeros(1)
        self.weight = np.ones(1)
        self.exact_bound = math.nan  # the proven upper bound of the hinge at the last call of the oracle

    def values(self, theta: Array) -> Array:
        """loss - <theta, psi> for each."""
        values: Array = self.loss - self.psi @ theta
        return values

    def add(self, psi: Array, loss: float) -> int:
        """Remember a partition; return its index."""
        equal = np.flatnonzero((self.loss == loss) & (self.psi == psi).all(axis=1))
        if len(equal):
            return int(equal[0])
        self.psi, self.loss = np.vstack([self.psi, psi]), np.append(self.loss, loss)
        self.weight = np.append(self.weight, 0.0)
        return len(self.loss) - 1


class Machine:
    """The dual point and the steps on it."""

    def __init__(
        self, problems: Sequence[TrainingProblem], base: Array, sigma: float, oracle: str, stopping: Stopping
    ) -> None:
        self.blocks = [Block(problem, base) for problem in problems]
        self.base, self.oracle, self.stopping = base, oracle, stopping
        self.precision = 1.0 / (sigma * sigma)  # lambda
        self.scale = 1.0 / (self.precision * max(1, len(problems)))
        self.theta = base.copy()
        self.oracles = 0

    def ask(self, block: Block) -> int:
        """Ask the oracle about theta; return the index of the best partition known now."""
        training = block.training
        answer = infer(self.oracle, training, training.augmented(self.theta), self.stopping.remaining)
        self.oracles += 1
        block.add(*training.plane(answer.joined))
        block.exact_bound = training.hinge(self.theta, answer.bound)
        return int(np.argmax(block.values(self.theta)))

    def towards(self, block: Block, s: int) -> float:
        """Do the step of Frank and Wolfe towards one partition; return the gap of the block before it."""
        values = block.values(self.theta)
        gap = float(values[s] - values @ block.weight)
        direction = self.scale * (block.psi[s] - block.weight @ block.psi)
        step = self._step(gap, direction, 1.0)
        if step > 0:
            block.weight *= 1.0 - step
            block.weight[s] += step
            self.theta = self.theta + step * direction
        return max(gap, 0.0)

    def pairwise(self, block: Block) -> float:
        """Move weight from the worst to the best remembered partition; return the gap of the block before it."""
        values = block.values(self.theta)
        best = int(np.argmax(values))
        worst = int(np.argmin(np.where(block.weight > 0, values, np.inf)))
        gap = float(values[best] - values @ block.weight)
        direction = self.scale * (block.psi[best] - block.psi[worst])
        step = self._step(float(values[best] - values[worst]), direction, float(block.weight[worst]))
        if step > 0:
            # all of the weight is moved to the last digit, so that none is left by rounding
            moved = block.weight[worst] if step == block.weight[worst] else step
            block.weight[worst] -= moved
            block.weight[best] += moved
            self.theta = self.theta + step * direction
        return max(gap, 0.0)

    def _step(self, slope: float, direction: Array, most: float) -> float:
        """The length from 0 to `most` that raises D most: its derivative is slope / N at first."""
        return step_length(slope / len(self.blocks), self.precision * float(direction @ direction), most)

    def refresh(self) -> None:
        """Recompute theta from the weights, so that errors of rounding do not add up."""
        total = np.zeros_like(self.base)
        for block in self.blocks:
            block.weight /= block.weight.sum()
            total += block.weight @ block.psi
        self.theta = self.base + self.scale * total

    def dual(self) -> float:
        """D."""
        moved = self.theta - self.base
        value = sum(float(block.weight @ (block.loss - block.psi @ self.base)) for block in self.blocks)
        return value / max(1, len(self.blocks)) - 0.5 * self.precision * float(moved @ moved)

    def primal(self, hinges: Sequence[float]) -> float:
        """P at theta, with given hinges."""
        moved = self.theta - self.base
        return 0.5 * self.precision * float(moved @ moved) + float(np.mean(hinges)) if len(hinges) else 0.0


def minimise(machine: Machine, tol: float, certify: bool, seed: int | None) -> Found:
    """Minimise P to a gap of `tol` times P; see the module."""
    stopping = machine.stopping
    rng = np.random.default_rng(seed)
    found = Found(machine.base.copy())
    if not machine.blocks:
        found.objective = found.bound = 0.0
        found.certified = True
        return found
    try:
        while not stopping.step(found.objective):
            gap = _round(machine, rng)
            if stopping.check(found.objective):
                break
            _settle(machine, rng)
            machine.refresh()
            bound = machine.dual()
            if gap / len(machine.blocks) > 2.0 * tol * max(abs(bound), 1e-300) and stopping.iterations % 5:
                continue  # these gaps were seen at different theta, and are no bound on the gap at any of them
            objective = _everywhere(machine)
            if stopping.reason is not None:
                break
            keep(found, machine, objective, bound)
            if found.objective - found.bound <= tol * abs(found.objective):
                break
            for block in machine.blocks:
                machine.towards(block, int(np.argmax(block.values(machine.theta))))
            _settle(machine, rng)
            machine.refresh()
    except KeyboardInterrupt:
        stopping.stop(Status.INTERRUPTED)
    machine.refresh()
    if math.isnan(found.objective):  # ended before all oracles were called: values of the known partitions
        best = [float(block.values(machine.theta).max()) for block in machine.blocks]
        keep(found, machine, machine.primal(best), machine.dual(), proven=False)
    found.oracles = machine.oracles
    if certify and not found.certified and stopping.reason is None:
        _prove(found, machine)
    found.status = stopping.reason or Status.OPTIMAL
    return found


def keep(found: Found, machine: Machine, objective: float, bound: float, proven: bool = True) -> None:
    """Record P and D, and theta if it is the best so far."""
    found.bound = max(found.bound, bound)
    if not objective >= found.objective:
        found.objective, found.theta = objective, machine.theta.copy()
        found.certified = proven and all(math.isfinite(block.exact_bound) for block in machine.blocks)
    found.history.append((machine.stopping.seconds, objective, found.bound))


def _round(machine: Machine, rng: np.random.Generator) -> float:
    """One round of oracles; the sum of the gaps of blocks."""
    total = 0.0
    for i in rng.permutation(len(machine.blocks)).tolist():
        block = machine.blocks[i]
        total += machine.towards(block, machine.ask(block))
        if machine.stopping.check(math.nan):
            break
    return total


def _settle(machine: Machine, rng: np.random.Generator) -> None:
    """Rounds over remembered partitions, until none of them has a gap."""
    for _ in range(20):  # rounds over remembered partitions after each round of oracles
        gaps = [machine.pairwise(machine.blocks[i]) for i in rng.permutation(len(machine.blocks)).tolist()]
        if not any(gaps) or machine.stopping.check(math.nan):
            return


def _everywhere(machine: Machine) -> float:
    """P at theta, from the answers of all oracles, or from their bounds if they prove any."""
    hinges = []
    for block in machine.blocks:
        at = machine.ask(block)
        best = float(block.values(machine.theta)[at])
        proven = block.exact_bound
        hinges.append(max(best, proven) if math.isfinite(proven) else best)
        if machine.stopping.check(math.nan):
            break
    return machine.primal(hinges)


def _prove(found: Found, machine: Machine) -> None:
    """Replace P, which is too small if an oracle missed the worst partition, by a proven upper bound."""
    hinges = []
    for block in machine.blocks:
        hinges.append(certified(block.training, found.theta, machine.stopping.remaining))
        if machine.stopping.check(found.objective):
            return
    machine.theta = found.theta
    found.objective = machine.primal(hinges)
    found.certified = True
    found.history.append((machine.stopping.seconds, found.objective, found.bound))
