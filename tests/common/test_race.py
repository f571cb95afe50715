"""The race: who has which turns, and what the race takes over from whom. Contestants here make up what they find."""

import math

import numpy as np
import pytest

from graphpart.common.race import Race, RaceParameters
from graphpart.stopping import Stopping

LABELS = np.zeros(3, np.int32)


class Clock:
    """Stands for a Stopping whose clock moves only when somebody works."""

    def __init__(self, limit):
        self.seconds, self.limit, self.reason = 0.0, limit, None

    @property
    def remaining(self):
        return None if self.limit is None else max(0.0, self.limit - self.seconds)

    def check(self, cost):
        return self.limit is not None and self.seconds >= self.limit


class Made:
    """A contestant that gains the same each second until it reaches a last cost or bound."""

    def __init__(self, name, cost=10.0, bound=-math.inf, falls=0.0, rises=0.0, least=0.0, most=math.inf, proves=False):
        self.name, self.labels, self.cost, self.bound = name, LABELS, cost, bound
        self.falls, self.rises, self.least, self.most, self.proves = falls, rises, least, most, proves
        self.done, self.needs, self.turns, self.offers = False, 0.0, [], []

    def offer(self, labels, cost):
        self.offers.append(cost)
        self.cost = cost

    def run(self, stopping, until):
        took = 1.0 if until is None else until - stopping.seconds
        stopping.seconds += took
        self.turns.append(took)
        self.cost = max(self.least, self.cost - self.falls * took)
        self.bound = min(self.most, self.bound + self.rises * took)


def run(contestants, limit=100.0, **options):
    race = Race(contestants, LABELS, 10.0, **options)
    race.run(Clock(limit))
    return race


def test_a_bound_that_is_far_gets_a_tenth_while_the_search_gains():
    search = Made("search", falls=0.01)
    proof = Made("proof", bound=-1e6, rises=1e-3, proves=True)
    race = run([search, proof])
    spent = race.spent()
    assert abs(sum(spent.values()) - 100) < 0.01
    assert 0.05 < spent["proof"] / 100 < 0.2
    assert not race.proven and race.cost == search.cost


def test_a_bound_that_is_far_gets_half_once_the_search_gains_nothing():
    race = run([Made("search"), Made("proof", bound=-1e6, rises=1e-3, proves=True)])
    assert 0.4 < race.spent()["proof"] / 100 < 0.6


def test_a_bound_that_has_not_come_nine_tenths_of_the_way_gets_a_tenth_also_then():
    far, nearer = (Made("proof", bound=bound, rises=1e-3, proves=True) for bound in (-1e6, -10.0))
    assert 0.05 < run([Made("search"), far], bound=-1e6).spent()["proof"] / 100 < 0.2
    assert 0.4 < run([Made("search"), nearer], bound=-1e6).spent()["proof"] / 100 < 0.6


def test_a_bound_that_begins_slowly_soon_has_another_turn():
    """Its long first turn raises nothing: with a tenth of the time, the second one would begin after 56 seconds."""
    began = []

    class Slow(Made):
        def run(self, stopping, until):
            began.append(stopping.seconds)
            super().run(stopping, until if self.turns else stopping.seconds + 20)

    run([Made("search"), Slow("proof", bound=-1e6, proves=True)], bound=-1e6)
    assert 38 < began[1] < 45


def test_a_near_proof_gets_half_and_ends_the_race():
    race = run([Made("search", falls=0.001), Made("proof", bound=0.0, rises=0.5, proves=True)])
    assert race.proven and race.prover == "proof" and race.bound == race.cost
    assert race.spent()["search"] < 30


def test_the_searcher_that_gains_more_has_more_turns():
    race = run([Made("slow", falls=0.001, least=-1e9), Made("fast", falls=0.1, least=-1e9)])
    spent = race.spent()
    assert spent["fast"] > 3 * spent["slow"] > 0


def test_a_search_with_a_long_first_step_is_tried_while_others_gain():
    gaining, search = Made("bound with labels", bound=-1e6, falls=0.01, rises=1e-3, proves=True), Made("search")
    search.needs = 30.0  # an equal share of the time, but not of the time of searchers while others gain
    run([gaining, search])
    assert search.turns and search.turns[0] >= 30.0
    search = Made("search")
    search.needs = 60.0
    run([Made("bound with labels", bound=-1e6, falls=0.01, rises=1e-3, proves=True), search])
    assert not search.turns


def test_costs_are_offered_and_taken_over():
    finder, other = Made("finder", falls=1.0, least=3.0), Made("other")
    race = run([finder, other], limit=20.0)
    assert race.cost == 3.0 and len(other.offers) > 1 and other.offers == sorted(other.offers, reverse=True)
    assert other.cost < 9.9


def test_nobody_who_is_done_has_another_turn():
    one, two = Made("one"), Made("two", falls=0.01)
    one.done = True
    race = run([one, two])
    assert not one.turns and race.spent()["one"] == 0
    two.done = True
    assert Race([one, two], LABELS, 10.0).done


def test_turns_become_longer_up_to_a_share_of_what_is_left():
    one = Made("one", falls=0.001)
    run([one], parameters=RaceParameters(first=0.1, longer=2.0, longest=0.1))
    assert one.turns[:4] == [0.1, 0.2, 0.4, 0.8] or np.allclose(one.turns[:4], [0.1, 0.2, 0.4, 0.8])
    assert max(one.turns) <= 10.0


def test_without_a_limit_each_has_one_turn_in_the_given_order():
    one, two = Made("one", falls=1.0), Made("two", bound=0.0, rises=2.0, proves=True)
    told = []
    race = run([one, two], limit=None, told=lambda *now: told.append(now))
    assert one.turns == two.turns == [1.0]
    assert race.cost == 9.0 and race.bound == 2.0 and told == [(9.0, -math.inf), (9.0, 2.0)]


def hopeful(proof, limit=100.0, calls=3):
    race = Race([Made("search"), proof], LABELS, 10.0)
    clock = Clock(limit)
    turns = [race.run(clock, hopeful=True) for _ in range(calls)]
    return race, clock, turns


def test_a_proof_that_is_far_has_a_tenth_of_the_time_in_all_calls_if_there_is_no_limit():
    proof = Made("proof", bound=-1e6, rises=1e-3, proves=True)
    race, clock, turns = hopeful(proof)
    assert turns == [True, False, False]
    assert 10.0 < clock.seconds == sum(proof.turns) < 30.0 and "search" not in {k for k, s in race.spent().items() if s}


def test_a_proof_that_has_left_little_of_the_gap_goes_on_if_there_is_no_limit():
    for most, little in ((9.0, True), (5.0, False)):  # of a gap from -90 to 10, 1% and 5% are left
        proof = Made("proof", bound=-90.0, rises=20.0, most=most, proves=True)
        race, clock = Race([Made("search"), proof], LABELS, 10.0, -90.0), Clock(100.0)
        race.run(clock, hopeful=True)
        assert race.bound == most and (clock.seconds > 99.0 if little else clock.seconds < 60.0)


def test_a_proof_that_finds_better_solutions_goes_on_if_there_is_no_limit():
    proof = Made("proof", bound=-1e6, falls=0.1, least=5.0, proves=True)
    race, clock, _ = hopeful(proof, limit=300.0)
    assert race.cost == 5.0 and 100.0 <= clock.seconds < 150.0


@pytest.mark.parametrize(("falls", "least", "most"), [(0.01, 40.0, 60.0), (0.0, 90.0, 110.0)])
def test_a_proof_waits_for_a_search_that_gains_if_there_is_no_limit(falls, least, most):
    """It would be near, or find better solutions, for all of 100 seconds."""
    for proof in (Made("proof", bound=0.0, rises=0.09, proves=True), Made("proof", bound=-1e6, falls=0.1, proves=True)):
        search = Made("search", falls=falls)
        race, clock = Race([search, proof], LABELS, 10.0), Clock(None)
        search.run = lambda stopping, until, one=search: Made.run(one, stopping, stopping.seconds + 40.0)
        race.once(clock, searching=True)
        race.run(clock, seconds=100.0, hopeful=True)
        assert least <= sum(proof.turns) < most, proof.turns


def test_searches_leave_time_for_proofs_that_had_no_turn_yet_only():
    clock, given = Clock(8.0), []
    clock.child = lambda seconds: given.append(seconds) or clock
    race = Race([Made("search"), Made("proof", bound=-1e6, proves=True)], LABELS, 10.0)
    race.once(clock, searching=True)  # takes one second
    race.once(clock)
    race.once(clock, searching=True)
    assert given == [4.0, 3.5, 6.0, 5.0]


def test_a_proof_that_is_near_ends_if_there_is_no_limit():
    race, clock, _ = hopeful(Made("proof", bound=0.0, rises=0.2, proves=True))
    assert race.proven and 50.0 <= clock.seconds < 70.0


def test_a_bound_above_the_cost_counts_as_the_cost():
    race = run([Made("proof", bound=50.0, proves=True)])
    assert race.bound == race.cost == 10.0 and race.proven


def test_a_stopped_race_gives_no_turn():
    one = Made("one")
    stopping = Stopping(max_iterations=0)
    Race([one], LABELS, 10.0).run(stopping)
    assert not one.turns


def test_a_prover_that_finds_better_solutions_has_time_for_that():
    search, proof = Made("search"), Made("proof", falls=0.05, least=-1e9, bound=-1e6, rises=1e-3, proves=True)
    assert run([search, proof]).spent()["proof"] > 80


def test_next_to_nothing_found_lately_is_nothing():
    """The search gains at first only. Later the proof, though it is far, has more than a tenth of the time."""
    race = run([Made("search", falls=1.0, least=5.0), Made("proof", bound=-1e6, rises=1e-3, proves=True)])
    assert race.cost == 5.0 and race.spent()["proof"] > 15


def test_who_joins_later_has_turns_like_the_others():
    early, late = Made("early", falls=0.01), Made("late", bound=0.0, rises=2.0, proves=True)
    race = Race([early], LABELS, 10.0)
    race.run(Clock(50.0))
    race.join(late)
    assert not race.done
    race.run(Clock(50.0))
    assert race.proven and race.prover == "late" and len(early.turns) > 1
    assert Race([], LABELS, 10.0).join(early) is None


def test_who_is_done_is_offered_better_solutions():
    class Waiting(Made):
        def offer(self, labels, cost):
            super().offer(labels, cost)
            self.done = False

    waiting, finder = Waiting("waiting"), Made("finder", falls=0.1, least=5.0)
    waiting.done = True
    run([waiting, finder])
    assert waiting.turns and waiting.cost < 10.0
