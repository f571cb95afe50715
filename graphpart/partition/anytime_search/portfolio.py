"""The portfolio of strategies on one problem: rounds of tasks are given to strategies by their recent gains.

A round consists of several tasks of one strategy, which run in parallel and independently of each other. The strategy
of a round is drawn at random. The share of a strategy is partly fixed, and partly in proportion to its gain per
nanosecond of work in its latest rounds. Work is not measured, but estimated from sweeps, steps and elements. The longer
no strategy has gained anything, the more the fixed shares count. Strategies begin in the order of the time of their
first round. Each begins when the others have done about as much work. With a background, all but localised evolution,
label propagation and reheating wait longer while rounds find something better: these gain more in the same time than
the first round of any other strategy. Without, all but annealing over cores do.

After a round, the result of each task takes over the regions in which the best partition is better, and joins the pool
of the best partitions. If several rounds find nothing better, all strategies work longer.

The random numbers of a round and of a task depend only on the seed and the numbers of the round and of the task, and
results are taken in the order of the tasks. So the result after a number of rounds is the same on any number of
threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphpart.common.credit import Credit
from graphpart.common.rounds import RoundSearch, Saver
from graphpart.errors import InvalidOption
from graphpart.methods import ENUMERATED_ELEMENTS
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.annealing_rounds import AnnealingRounds
from graphpart.partition.anytime_search.core_annealing import CoreAnnealing
from graphpart.partition.anytime_search.drifting import Drifting, PropagationRounds, ReheatingRounds
from graphpart.partition.anytime_search.evolution import EvolutionRounds
from graphpart.partition.anytime_search.exchanges import ExchangeRounds
from graphpart.partition.anytime_search.fitted import FittedRounds
from graphpart.partition.anytime_search.fusion import FusionRounds, LevelRounds
from graphpart.partition.anytime_search.levels import has_small_subsets, polished
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.restarts import RestartRounds
from graphpart.partition.anytime_search.start import improved_start
from graphpart.partition.anytime_search.strategy import Found, Strategy, Turn
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.exact_solvers.brute_force import enumerated
from graphpart.partition.local_search.improve import repels
from graphpart.partition.local_search.sums import fits_pairwise
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.forms import as_pairs, without_usual
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Portfolio"]


class Portfolio(RoundSearch[Any, Found]):
    """The state of a search on a problem without required joins.

    Parameters
    ----------
    p : SetPartition
    labels : ndarray of int32, shape (n,)
        The canonical labels to start from.
    within : float
        The cost of required joins, which is not part of p.
    seed, threads : int
    stopping : Stopping
        Its iterations are rounds.
    parameters : SearchParameters
    """

    def __init__(
        self,
        p: SetPartition,
        labels: Labels,
        within: float,
        seed: int,
        threads: int,
        stopping: Stopping,
        parameters: SearchParameters,
    ) -> None:
        super().__init__(threads, parameters.slower, within)
        p = as_pairs(p)
        if p.n >= parameters.few:
            p = without_usual(p)
        self.p, self.within, self.seed = p, within, seed
        self.stopping, self.parameters = stopping, parameters
        most = parameters.pool  # fewer for large problems: their labels take no more memory than the pairs
        self.pool = Pool(p, labels, most if p.n <= parameters.large else max(3, min(most, p.m // p.n)))
        self.worked = 0.0  # nanoseconds in all rounds
        self.way, self.gains = 0, list[float]()  # the strategy of the current round, and the gains of its tasks
        self.saver: Saver | None = None
        self.strategies: list[Strategy] = []

    @property
    def cost(self) -> float:
        """The cost of the best partition, required joins included."""
        return self.pool.cost + self.within

    @property
    def labels(self) -> Labels:
        """The best partition."""
        return self.pool.labels

    def run(self, patience: int | None = None, until: float = math.inf, improved: bool = False) -> Status:
        """Search until stopped, until seconds have passed, or for as long as patience lasts; may be called again.

        Parameters
        ----------
        patience : int, optional
            Rounds without improvement, after which the run ends.
        until : float
            Seconds of `stopping`, looked at after each round.
        improved : bool
            Whether local search has improved the partition to start from.

        Returns
        -------
        Status
            ``optimal`` or ``feasible``; `stopping` has the reason of an early end.
        """
        stopping, p = self.stopping, self.p
        stopping.record(self.cost)
        try:
            if p.n < 2:
                return Status.OPTIMAL
            if not self.strategies and not stopping.check(self.cost):
                if not improved:
                    part = stopping.child(plus=self.within)
                    alone = int(self.labels.max()) + 1 == p.n
                    self.pool.begin(canonical(improved_start(p, self.labels, alone, part, self.seed)))
                    stopping.record(self.cost)
                if p.n <= ENUMERATED_ELEMENTS and not stopping.check(self.cost):
                    inner = stopping.child(plus=self.within)
                    self._take(enumerated(p, inner))
                    return Status.OPTIMAL if inner.reason is None else Status.FEASIBLE
                if self.pool.cost <= trivial_bound(p) + p._tolerance:
                    return Status.OPTIMAL
            if not stopping.check(self.cost):
                self._rounds(patience, until)
        finally:
            if self.saver:
                self.saver.save(self.labels, now=True)
        return Status.FEASIBLE

    def offer(self, labels: Labels) -> None:
        """Add a partition that was found elsewhere to the pool."""
        self._take(labels)

    # ------------------------------------------------------------------------------------------------------- rounds

    def _rounds(self, patience: int | None, until: float) -> None:
        stopping, parameters = self.stopping, self.parameters
        if not self.strategies:
            self.annealer = Annealer(self.p)
            fitting = [each for each in self._fitting(self._turn()) if each.name not in parameters.without]
            if not fitting:
                raise InvalidOption("parameters.without leaves no strategy for this problem: expected fewer names")
            self.strategies = fitting
            self.credit = Credit(len(self.strategies), parameters.fade, 0.0)
            self.mean_work = np.zeros(len(self.strategies))  # of a round
        self.serve = None if self.saver is None else self._save
        self.rounds_until(stopping, patience, until)

    def _fitting(self, turn: Turn) -> list[Strategy]:
        """The strategies that are suitable for the problem, with their initial shares of the time."""
        p, all_ = self.p, self.parameters
        sparse = not p.is_dense and p.n >= all_.few
        light = not p.is_dense and fits_pairwise(p)
        polish: Callable[[Labels, Stopping], Labels] | None = (
            (lambda labels, stopping: polished(p, labels, stopping)) if light or p.background is not None else None
        )
        listed = ExchangeRounds.listed(p, self.labels)
        exchanges: list[Strategy] = []
        if listed is not None:
            exchanging = ExchangeRounds(listed, 1.0)
            exchanges.append(exchanging)
            if p._limits is not None and p._limits.max_size is not None:
                exchanges.append(FittedRounds(turn, exchanging, 1.0))
                if p._limits.is_full(p.n):
                    return exchanges
        if p._limits is not None and p._limits.number:
            # Strategies that combine regions, or begin with all elements apart, do not keep the number of subsets.
            annealing = AnnealingRounds(turn, all_.annealing, 0.4, polish)
            return [annealing, RestartRounds(turn, all_.restarts, 0.6), *exchanges]
        if p.background is not None and sparse and not has_small_subsets(self.labels):
            # Communities: strategies that do not move whole parts of them gain little in much time.
            return [AnnealingRounds(turn, all_.annealing, 0.05, polish), LevelRounds(turn, all_.fusion, 1.0)]
        strategies, until = exchanges, math.inf
        apart = listed is not None and 4 * listed.m < p.n * p.n // 2  # a matrix of few costs, whose parts are far apart
        largest = all_.restarts.sparse if apart else all_.restarts.largest
        if p.is_dense and p.n <= largest and RestartRounds.name not in all_.without:
            restarts = RestartRounds(turn, all_.restarts, 1.0)
            strategies.append(restarts)
            until = all_.wait * restarts.first_work(turn)  # annealing once seldom keeps up with many
            if p._has_must_cut and p.n >= all_.few:  # moves of one element find few ways between pairs that are cut
                strategies.append(FusionRounds(turn, all_.fusion, 1.0))
        if not p.is_dense and p.background is None and p.n <= all_.restarts.sparse:
            strategies.append(RestartRounds(turn, all_.restarts, 1.0))
        plateaus = sparse and turn.annealer.plateaus
        plain = p.background is None and p._limits is None and p.lifted is None
        cores = sparse and plain and p.n <= all_.large and repels(p)
        if cores:
            strategies.append(CoreAnnealing(turn, all_.cores, 1.0, polish))
        elif not plateaus and (not light or p.n <= all_.large):
            share = 0.4 if sparse else 0.1
            strategies.append(AnnealingRounds(turn, all_.annealing, share, polish, until))
        if sparse:
            share = 0.2 if plateaus or cores else 1.0
            strategies.append(FusionRounds(turn, all_.fusion, share))
            if p.background is not None:
                strategies.append(LevelRounds(turn, all_.fusion, share))
                strategies.append(EvolutionRounds(turn, all_.drifting, 1.0))
                strategies.append(PropagationRounds(turn, all_.drifting, 1.0))
            if plateaus:
                strategies.append(ReheatingRounds(turn, all_.drifting, 1.0))
        return strategies

    def _turn(self) -> Turn:
        a, number = self.parameters, self.stopping.iterations
        rng = np.random.default_rng([self.seed, number])
        seeds = rng.integers(2**62, size=a.tasks).tolist()
        return Turn(self.pool, self.annealer, number, self.idle, self.level, self.worked, seeds, rng, a.work)

    def _chosen(self, turn: Turn) -> int:
        """The index of the strategy of this round."""
        ready = [k for k, strategy in enumerate(self.strategies) if strategy.ready(turn)]
        ready = ready or [*range(len(self.strategies))]  # annealing, which is always ready, may be left out
        tried = [k for k in ready if self.mean_work[k]]
        a = self.parameters
        leading = [isinstance(strategy, (Drifting, CoreAnnealing)) for strategy in self.strategies]
        plain = self.p.background is None
        gaining = turn.idle < (a.gaining if any(leading) else 0 if plain else 1)
        longer = a.cores.longer if plain else a.longer
        waits = [longer if gaining and not each else a.wait for each in leading]
        new = [(waits[k] * self.strategies[k].first_work(turn), k) for k in ready if k not in tried]
        if new and (not tried or min(new)[0] <= self.worked):
            return min(new)[1]
        ready = tried
        fixed = np.array([self.strategies[k].share for k in ready])
        rates = self.credit.rates()[ready]
        earned = a.earned * max(0.5, a.fade**self.idle) * (rates.sum() > 0)
        shares = (1 - earned) * fixed / fixed.sum() + earned * rates / max(rates.sum(), 1e-300)
        # Shares of the time.
        chances = np.cumsum(shares / self.mean_work[ready])
        return ready[int(min(np.searchsorted(chances, turn.rng.random() * chances[-1]), len(ready) - 1))]

    @property
    def shown_cost(self) -> float:
        """The cost of the best partition."""
        return self.cost

    def plan(self) -> list[Any]:
        """The tasks of a round, all of one strategy."""
        turn = self._turn()
        self.way, self.gains = self._chosen(turn), []
        return self.strategies[self.way].plan(turn)

    def perform(self, task: Any, stopping: Stopping) -> Found:
        """Do one task of the strategy of this round."""
        return self.strategies[self.way].perform(task, stopping)

    def take(self, task: Any, found: Found) -> bool:
        """Let the pool take the result of a task, and the strategy learn from it."""
        gain = self._take(found.labels, found.independent)
        self.strategies[self.way].learn(found, gain)
        self.gains.append(gain)
        return gain > 0

    def learn(self, tasks: Sequence[Any], found: Sequence[Found]) -> None:
        """Record the gain and the work of the strategy in this round."""
        work, way = float(sum(one.work for one in found)), self.way
        self.credit.learn(way, float(sum(self.gains)), work)
        self.worked += work
        self.mean_work[way] = work if not self.mean_work[way] else (self.mean_work[way] + work) / 2

    def _take(self, labels: Labels, independent: bool = False) -> float:
        gain = self.pool.take(labels, independent)
        if gain > 0:
            self.stopping.record(self.cost)
        return gain

    def _save(self) -> None:
        assert self.saver is not None  # the caller
        self.saver.save(self.labels)
