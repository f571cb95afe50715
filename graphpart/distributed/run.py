"""The stages of one run, in the order of the statement in solve.py."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from itertools import accumulate, count, pairwise
from typing import Any

from graphpart.distributed import blocks as divisions
from graphpart.distributed import forests, given, grouped, identifiers, labels, levels, pairs, parts, refinement
from graphpart.distributed.engine import Ended, Engine, OutOfMemory
from graphpart.distributed.folder import Folder
from graphpart.distributed.grouped import Grouped
from graphpart.distributed.identifiers import Naming
from graphpart.distributed.inputs import NAMED, Chunk, Columns, chunks_of
from graphpart.distributed.pairs import Level
from graphpart.distributed.parts import Parts
from graphpart.distributed.refinement import Round
from graphpart.distributed.result import DistributedResult
from graphpart.errors import InvalidProblem, SolverError, warn
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["Run", "Settings"]

BYTES_OF_ROW = 400  # memory per row while a chunk is read, its identifiers are looked up, and it is sorted
BYTES_OF_PAIR = 160  # memory per pair while a task solves its part, or merges a range of pairs
BYTES_OF_ELEMENT = 16  # memory per element of the whole problem, up to half of the memory
PROCESS = 150_000_000  # bytes that a worker needs before its first task, up to half of its memory
LEAST = 1000  # smallest number of rows or pairs of a task, for any memory
LARGEST_CHUNK = 2**21  # largest number of rows that a task reads
QUICK = {"greedy-joining", "greedy-moving", "kernighan-lin", "kernighan-lin-pairs"}  # fast enough without workers
WORTH = 3e-5  # smallest decrease of the cost, as a share of all attraction, for another round of refinement
REGROUPED = 12  # largest number of divisions into groups of whole subsets in a round of refinement
TOLERANCE = 1e-11  # gaps below this share of all attraction are due to rounding


@dataclass(frozen=True)
class Settings:
    """How a run solves its problem; the fields are the arguments of `solve`, checked.

    Attributes
    ----------
    method, options
        The method for each part, and its options.
    bound : str or None
        The lower bound for each part.
    blocks, groups : list of str, callable, or None
        Parquet files, or a function of identifiers.
    lifted : list of str or None
        Parquet files of lifted pairs; None if clusters need not be connected.
    memory : int
        Memory of a worker, in bytes.
    """

    columns: Columns
    method: str
    options: dict[str, Any]
    bound: str | None
    blocks: Any
    groups: Any
    lifted: list[str] | None
    group_cost: float
    memory: int
    refine: int
    target: float | None

    @property
    def connected(self) -> bool:
        """Whether clusters must be connected by pairs that are not lifted."""
        return self.lifted is not None

    @property
    def improving(self) -> str:
        """The method by which the refinement improves labels."""
        return "kernighan-lin-pairs" if self.method == "kernighan-lin" else self.method


class Run:
    """One run: the order of stages, and the results so far."""

    def __init__(self, engine: Engine, folder: Folder, settings: Settings, stopping: Stopping) -> None:
        self.engine, self.folder, self.settings, self.stopping = engine, folder, settings, stopping
        self.grouped: list[Grouped | None] = [None]  # of each level
        self.free = free = settings.memory - min(PROCESS, settings.memory // 2)
        self.rows = max(LEAST, min(LARGEST_CHUNK, free // BYTES_OF_ROW))
        self.range = max(LEAST, free // BYTES_OF_PAIR)
        self.best: str | None = None  # the stage with the best labels of elements of the first level
        self.begun = "", 0  # before: the stage that solves parts of the first level, and how many there are
        self.named = True  # whether these are 0, 1, ...
        self.lower = -math.inf
        self.constant = 0.0  # beside the costs that the bounds of earlier divisions have left,
        self.left = ""  # which this stage has; none: as they are
        self.halved = ""  # for each time that parts were made smaller, "-half" in the names of stages
        self.first = ""  # the stage with the first division into blocks
        self.more = False  # whether another division follows
        self.proven = True
        self.levels: list[dict[str, Any]] = []

    def run(self, files: list[str], output: str) -> DistributedResult:
        """All stages."""
        status = Status.FEASIBLE
        self.engine.stopping = None  # without elements and pairs there is nothing to return
        self.input(files)
        self.engine.stopping = self.stopping
        try:
            self.search()
        except Ended:
            status = self.stopping.reason or Status.INTERRUPTED
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
            self.engine.alone = True
        self.engine.stopping = None  # the following steps must be done
        return self.result(status, output)

    @interruptible
    def search(self) -> None:
        """Steps 2 to 5."""
        self.solve_levels()
        self.refine_rounds()
        if self.engine.ended() and self.stopping.reason is Status.INTERRUPTED:
            raise Ended  # Ctrl-C during the last step

    # ---------------------------------------------------------------------------------------------------------- input

    def input(self, files: list[str]) -> None:
        """Step 1: elements and sorted pairs."""
        map_, columns, settings = self.engine.map, self.settings.columns, self.settings
        self.chunks = chunks = chunks_of(files, (columns.u, columns.v, columns.cost), self.rows)
        of_lifted = chunks_of(settings.lifted or [], (columns.u, columns.v, columns.cost), self.rows)
        chunks += [replace(chunk, lifted=True) for chunk in of_lifted]
        of_blocks = chunks_of(settings.blocks, given.NAMES, self.rows) if isinstance(settings.blocks, list) else []
        of_groups = chunks_of(settings.groups, grouped.NAMES, self.rows) if isinstance(settings.groups, list) else []
        small = min(self.rows, self.free // BYTES_OF_PAIR)
        if self.engine.client is None and settings.method in QUICK and sum(chunk.rows for chunk in chunks) <= small:
            self.engine.alone = True
        found = map_("range", identifiers.ranged, [(chunk, columns) for chunk in chunks])
        kinds = {answer["text"] for answer in found if answer["rows"]}
        if len(kinds) > 1:
            raise InvalidProblem("identifiers are integers in some files and strings in others: expected one type")
        rows = sum(answer["rows"] for answer in found)
        ranges = [(answer["low"], answer["high"]) for answer in found if answer["low"] is not None]
        low = min((r[0] for r in ranges), default=0)
        span = max((r[1] for r in ranges), default=-1) - low + 1
        direct = kinds != {True} and span <= max(forests.SPARSE * rows, LEAST)
        if direct:
            starts = [0, span]
        else:
            buckets = max(1, math.ceil(2 * rows * 64 / (self.rows * BYTES_OF_ROW)))
            map_("identifiers", identifiers.bucketed, [(chunk, columns, buckets) for chunk in chunks])
            merged = map_(identifiers.BUCKETS, identifiers.merged, [(len(chunks), "identifiers")] * buckets)
            starts = [0, *accumulate(merged)]
            self.folder.remove("identifiers")
        self.naming = Naming(low if direct else None, starts)
        self.n = starts[-1]
        if self.n > forests.MOST:
            raise InvalidProblem(f"there are {self.n} elements: expected at most {forests.MOST}")
        self.most = max(LEAST, (self.free - min(BYTES_OF_ELEMENT * self.n, self.free // 2)) // BYTES_OF_PAIR)
        arguments = [(chunk, columns, self.naming, settings.connected) for chunk in chunks]
        translated = map_("pairs", pairs.translate, arguments)
        self.wrong = sum(answer["wrong"] for answer in translated)
        self.warnings = [text for answer in translated for text in answer["named"]][:NAMED]
        self.pairs = sum(answer["pairs"] for answer in translated)
        if self.wrong:
            warn(f"{self.wrong} of {self.wrong + self.pairs} rows are left out, the first: {self.warnings[0]}")
        if direct:
            firsts = [answer["first"] for answer in translated]
            self.elements = map_("seen", labels.seen, [(self.n, "pairs", firsts)])[0]
        else:
            self.elements = self.n
        self.level = Level("pairs", self.n, len(chunks), settings.connected)
        self.magnitude = -math.fsum(answer["negative"] for answer in translated)
        text = kinds == {True}
        if settings.blocks is not None:
            self.look_up("given", settings.blocks, of_blocks, text, given.NAMES)
        if settings.groups is not None:
            self.look_up("given-groups", settings.groups, of_groups, text, grouped.NAMES)
            map_("groups-0", grouped.memberships, [(self.n, "given-groups")])
            self.folder.remove("given-groups")
            self.grouped = [Grouped("groups-0", settings.group_cost)]

    def look_up(self, stage: str, source: Any, chunks: list[Chunk], text: bool, names: tuple[str, str]) -> None:
        """The given block or group of each element."""
        parts_of = f"{stage}-parts"
        if callable(source):
            arguments = [(source, a, b, self.naming.low) for a, b in pairwise(self.starts_of_files())]
            answers = self.engine.map(parts_of, given.called, arguments)
        else:
            of_chunks = [(chunk, self.naming, text, names) for chunk in chunks]
            answers = self.engine.map(parts_of, given.looked_up, of_chunks)
        self.engine.map(stage, given.gathered, [(self.n, parts_of, len(answers))])
        self.folder.remove(parts_of)

    def starts_of_files(self) -> list[int]:
        """First elements of files of labels, and n: of buckets of identifiers, where there are any."""
        if self.naming.low is None:
            return self.naming.starts
        return [*range(0, self.n, LARGEST_CHUNK), self.n] if self.n else [0, 0]

    def merge(
        self, stage: str, parts_of: str, answers: list[dict[str, Any]], n: int
    ) -> tuple[Level, list[dict[str, Any]]]:
        """Turn sorted parts into a level of `n` elements; the level, and the answer of each of its ranges."""
        total = sum(answer["pairs"] for answer in answers)
        bounds = pairs.boundaries(answers, n, max(1, math.ceil(total / self.range)))
        connected = self.settings.connected
        arguments = [(parts_of, len(answers), a, b, connected) for a, b in pairwise(bounds)]
        merged = self.engine.map(stage, pairs.merge, arguments)
        self.folder.remove(parts_of)
        return Level(stage, n, len(merged), connected), merged

    # --------------------------------------------------------------------------------------------------------- levels

    def solve_levels(self) -> None:
        """Steps 2 and 3."""
        level = self.level
        ranges: list[dict[str, Any]] = []
        for k in count():
            while True:
                name, divided_by, division = self.divide(k, level)
                if k == 0:
                    level = self.level
                self.more = division["divided"] and self.settings.refine > 0 and not self.settings.connected
                try:
                    subsets = self.part(k, name, level, divided_by, division)
                    break
                except OutOfMemory as error:
                    self.halve(error)
            found = self.pairs if k == 0 else sum(answer["pairs"] for answer in ranges)
            self.levels.append({"elements": level.n, "pairs": found, **division, "subsets": subsets})
            if not division["divided"]:
                break
            self.proven = False
            if self.grouped[k] is not None:
                of_level = f"groups-{k + 1}"
                self.engine.map(of_level, grouped.contracted, [(f"groups-{k}", f"labels-{name}", subsets)])
                self.grouped.append(Grouped(of_level, self.settings.group_cost))
            else:
                self.grouped.append(None)
            arguments = [(level.stage, divided_by, f"labels-{name}", False)] * level.ranges
            contracted = self.engine.map(f"contract-{k}", levels.contract, arguments)
            below = level
            level, ranges = self.merge(f"level-{k + 1}", f"contract-{k}", contracted, subsets)
            # a level that keeps nearly all elements of the previous one is the last
            if subsets > 0.98 * below.n:
                break  # further levels would hardly be smaller
            if k:
                self.folder.remove(below.stage)

    def divide(self, k: int, level: Level) -> tuple[str, str, dict[str, Any]]:
        """The division of level k: its name, its stage and its answer. If components are too large, rows are sorted."""
        name = f"{k}{self.halved}"
        if self.level.stage == level.stage == "pairs":
            stage = f"components{self.halved}"
            found = self.engine.map(stage, divisions.whole, [(level, self.most)])[0]
            if not found["divided"]:
                return name, stage, found
            self.engine.stopping = None  # a result needs either rows or pairs
            ordered = self.engine.map("ordered", pairs.ordered, [(level.stage,)] * level.ranges)
            self.folder.remove(level.stage)
            level, ranges = self.merge("level-0", "ordered", ordered, level.n)
            self.level = level
            self.pairs = sum(answer["pairs"] for answer in ranges)
            self.magnitude = -math.fsum(answer["negative"] for answer in ranges)
            self.engine.stopping = self.stopping
        stage = f"divide-{name}"
        if k == 0:
            self.first = stage
        argument = (level, self.most, "given" if self.settings.blocks is not None and k == 0 else "")
        return name, stage, self.engine.map(stage, divisions.divide, [argument])[0]

    def halve(self, error: OutOfMemory) -> None:
        """Make parts half as large from now on, since a worker had too little memory for one."""
        if self.most < 2 * LEAST:
            raise error
        self.most //= 2
        self.halved += "-half"
        warn(f"{str(error).split(':')[0]}: a part did not fit into memory: from now on, parts have {self.most} pairs")

    def part(self, k: int, name: str, level: Level, division: str, found: dict[str, Any]) -> int:
        """Solve the parts of the division of level k, which gives labels: how many subsets; at first also the bound.

        Tasks after the whole ones have blocks of larger components, which are completed at the next level.
        """
        map_, settings, tasks = self.engine.map, self.settings, found["tasks"]
        of_level = Parts(f"route-{name}", level.ranges, level.n, self.grouped[k], settings.connected)
        routed = map_(of_level.routes, parts.route, [(level.stage, division, tasks)] * level.ranges)
        arguments = [(of_level, settings.method, settings.options, task >= found["whole"]) for task in range(tasks)]
        if k == 0:
            self.begun = f"solve-{name}", tasks
        solved = map_(f"solve-{name}", parts.solved, arguments)
        try:
            subsets = self.label(k, name, level.n, [answer["clusters"] for answer in solved])
        except OutOfMemory as error:  # smaller parts would not help
            raise SolverError(str(error)) from error
        if level.stage == "pairs":
            self.pairs = sum(answer["others"] for answer in routed) + sum(answer["pairs"] for answer in solved)
        if k == 0:
            self.proven = all(answer["optimal"] for answer in solved)
            bounds = [answer["bound"] for answer in solved]
            between = [answer["between"] for answer in routed]
            if settings.connected and not found["divided"]:
                between = []  # no base pairs link what is in different parts
            self.raised(math.fsum([*between, *bounds]))  # those of the method
            if settings.bound is not None:
                better = self.raise_bound(name, division, routed, [a["seconds"] for a in solved])
                bounds = [max(a, b) for a, b in zip(bounds, better, strict=True)]
                self.raised(math.fsum([*between, *bounds]))
        self.folder.remove(of_level.routes)
        return subsets

    def label(self, k: int, name: str, n: int, sizes: list[int]) -> int:
        """Labels by parts, given the number of subsets of each, even if the time is over; returns the number of
        subsets."""
        self.engine.stopping = None
        stage = f"labels-{name}"
        subsets: int = self.engine.map(stage, levels.numbered, [(n, f"solve-{name}", sizes)])[0]
        if k:
            assert self.best is not None
            composed = f"composed-{k}"
            self.engine.map(composed, levels.renumbered, [(self.best, stage)])
            stage = composed
        self.best = stage
        self.engine.stopping = self.stopping
        return subsets

    def raised(self, bound: float) -> None:
        """A lower bound that sums of rounded costs have given."""
        self.lower = max(self.lower, bound - TOLERANCE / 10 * abs(bound))

    def raise_bound(self, name: str, division: str, routed: list[Any], seconds: list[float]) -> list[float]:
        """Step 5 for one division of the first level. `seconds` says how long solving each part took.

        The bounds of its parts, for the costs that earlier divisions have left, are added to the lower bound of the
        problem. The costs that these bounds leave are saved for the next division.
        """
        map_, left, level = self.engine.map, self.left, self.level
        share = 1 / (1 + self.settings.refine) if left or self.more else 1.0
        of_level = Parts(f"route-{name}", level.ranges, level.n, self.grouped[0], self.settings.connected)
        given = [(of_level, self.settings.bound, one, share, bool(left), self.more) for one in seconds]
        better = map_(f"bound-{name}", parts.bounded, given)
        if left:
            self.raised(math.fsum([self.constant, *(a["left"] for a in routed), *(b["bound"] for b in better)]))
        if self.more:
            arguments = [(level.stage, division, of_level.routes, f"bound-{name}", len(seconds), left)] * level.ranges
            map_(f"left-{name}", parts.left_over, arguments)
            self.constant = math.fsum([self.constant, *(b["constant"] for b in better)])
            self.left = f"left-{name}"
            self.folder.remove(f"bound-{name}")
        if left:
            self.folder.remove(left)
        return [answer["bound"] for answer in better]

    # ----------------------------------------------------------------------------------------------------- refinement

    def refine_rounds(self) -> None:
        """Step 4, repeated until it gains little. If a round fails, the result is kept as it is."""
        before = self.first
        for k in range(self.settings.refine):
            if self.reached():
                return
            try:
                while True:
                    try:
                        before, gain = self.refine(k, before)
                        break
                    except OutOfMemory as error:
                        self.halve(error)
                if gain <= WORTH * self.magnitude:
                    return
            except SolverError as error:
                rounds = self.settings.refine
                warn(f"refinement ended in round {k + 1} of {rounds}, the labels before it are kept: {error}")
                return

    def reached(self) -> bool:
        """Whether there is a target, and the cost of the best labels meets it."""
        return self.settings.target is not None and self.cost() <= self.settings.target

    def refine(self, k: int, before: str) -> tuple[str, float]:
        """One round of step 4: the stage of its division, and the decrease of the cost."""
        if not any(level["divided"] for level in self.levels if "divided" in level):
            return before, 0.0
        if self.settings.connected:
            return before, -self.rearrange(k)
        map_, name, level = self.engine.map, f"refine-{k}{self.halved}", self.level
        found = self.grouping(name, refinement.group, before)
        assert self.best is not None
        settings, tasks = self.settings, found["tasks"]
        self.more = k + 1 < settings.refine
        division, routes, around = f"group-{name}", f"route-{name}", f"around-{name}"
        left = self.left if settings.bound is not None else ""
        routed = map_(routes, parts.route, [(level.stage, division, tasks, left, around)] * level.ranges)
        how = settings.improving, settings.options, self.grouped[0], settings.connected
        of_round = Round(routes, around, level.ranges, division, *how)
        gain, seconds = 0.0, [0.0] * tasks
        waves = found.pop("waves")
        for wave, mine in enumerate(waves):
            offers = f"offered.{wave}" if len(mine) > 1 else ""
            stage = f"solve-{name}-{wave}"
            answers = map_(stage, refinement.improved, [(of_round, self.best, offers, task) for task in mine])
            last = wave + 1 == len(waves)
            after = f"labels-{name}" if last else f"labels-{name}-{wave}"
            sizes = [answer["new"] for answer in answers]
            subsets = map_(after, refinement.relabelled, [(self.best, stage, sizes, last)])[0]["subsets"]
            self.best, self.named = after, last
            gain += math.fsum(answer["gain"] for answer in answers)
            for task, answer in zip(mine, answers, strict=True):
                seconds[task] = answer["seconds"]
        self.folder.remove(around)
        if settings.bound is not None:
            bounds = self.raise_bound(name, division, routed, seconds)
            if not left:
                self.raised(math.fsum([*(answer["between"] for answer in routed), *bounds]))
        self.folder.remove(routes)
        self.levels.append({"elements": self.n, **found, "subsets": subsets, "gain": gain})
        if 2 * found["within"] < self.pairs:
            gain += self.rearrange(k)
        return division, -gain

    def rearrange(self, k: int) -> float:
        """Solve groups of whole subsets again, with pairs within, so often that most subsets meet; returns the change
        of the cost."""
        total, again = 0.0, 1
        while again <= REGROUPED:
            try:
                gain, tasks = self.regrouped(f"regroup-{k}-{again}{self.halved}", [k, again])
            except OutOfMemory as error:  # only this is repeated: the bound of the round has used up what was left
                self.halve(error)
                continue
            total += gain
            if again >= 2 * tasks or -gain <= WORTH * self.magnitude:
                break
            again += 1
        return total

    def regrouped(self, name: str, seed: list[int]) -> tuple[float, int]:
        """The change of the cost by one division into groups of whole subsets, and the number of solved groups."""
        map_, settings, level = self.engine.map, self.settings, self.level
        found = self.grouping(name, refinement.regroup, seed)
        division, routes, tasks = f"group-{name}", f"route-{name}", found["tasks"]
        map_(routes, parts.route, [(level.stage, division, tasks)] * level.ranges)
        how = settings.improving, settings.options, self.grouped[0], settings.connected
        of_round = Round(routes, "", level.ranges, division, *how)
        answers = map_(f"solve-{name}", refinement.improved, [(of_round, self.best, "", k) for k in range(tasks)])
        argument = (self.best, f"solve-{name}", [answer["new"] for answer in answers], True)
        subsets = map_(f"labels-{name}", refinement.relabelled, [argument])[0]["subsets"]
        self.best = f"labels-{name}"
        self.folder.remove(routes)
        gain = math.fsum(answer["gain"] for answer in answers)
        self.levels.append({"elements": self.n, **found, "subsets": subsets, "gain": gain})
        return gain, tasks

    def grouping(self, name: str, task: Any, before: Any) -> dict[str, Any]:
        """Groups of subsets for a round of the refinement, by one of its tasks."""
        self.rename()
        arguments = [(self.level.stage, "", self.best, True)] * self.level.ranges
        contracted = self.engine.map(f"border-pairs-{name}", levels.contract, arguments)
        borders, _ = self.merge(f"borders-{name}", f"border-pairs-{name}", contracted, self.n)
        argument = (self.level, borders, self.best, before, self.most)
        found: dict[str, Any] = self.engine.map(f"group-{name}", task, [argument])[0]
        self.folder.remove(borders.stage)
        return found

    def sizes(self) -> list[int | None]:
        """The number of subsets that each part of the first level has, None if it is not solved."""
        stage, tasks = self.begun
        answers = [self.folder.answer(stage, k) or self.engine.early.get((stage, k)) for k in range(tasks)]
        return [answer and answer["clusters"] for answer in answers]

    def rename(self) -> None:
        """Renumber the best labels as 0, 1, ..., if a wave has found them."""
        if not self.named:
            stage = f"named-{self.best}"
            self.engine.map(stage, refinement.relabelled, [(self.best, "", [], True)])
            self.best, self.named = stage, True

    # --------------------------------------------------------------------------------------------------------- result

    def cost(self) -> float:
        """The cost of the best labels, from a pass over all pairs."""
        self.rename()
        arguments = [(self.level.stage, self.best)] * self.level.ranges
        evaluated = self.engine.map(f"cost-{self.best}", labels.evaluated, arguments)
        if self.grouped[0] is not None:
            stage = f"group-cost-{self.best}"
            evaluated = [*evaluated, *self.engine.map(stage, grouped.evaluated, [(self.grouped[0], self.best)])]
        return math.fsum(evaluated) + 0.0

    def result(self, status: Status, output: str) -> DistributedResult:
        """Labels are evaluated and written."""
        map_ = self.engine.map
        if self.best is None:
            self.best = "early"
            self.folder.forget(self.best)
            self.folder.forget(f"cost-{self.best}")
            self.folder.forget(f"group-cost-{self.best}")
            map_(self.best, levels.numbered, [(self.n, self.begun[0], self.sizes())])
        cost = self.cost()
        self.raised(-self.magnitude)
        lower = min(self.lower, cost)
        if status is Status.FEASIBLE and (self.proven or cost - lower <= TOLERANCE * self.magnitude):
            status, lower = Status.OPTIMAL, cost
        elif self.settings.target is not None and cost <= self.settings.target:
            status = Status.TARGET
        os.makedirs(output, exist_ok=True)
        arguments = [(output, self.best, a, b, self.naming.low) for a, b in pairwise(self.starts_of_files())]
        written = f"written-{self.best}"
        self.folder.forget(written)  # an earlier run may have had another output
        map_(written, labels.written, arguments)
        label = self.folder.load(self.best, "labels")
        subsets = int(label.max(initial=-1)) + 1
        if self.naming.low is not None and self.elements < self.n:
            subsets -= self.n - self.elements  # numbers that do not occur are alone
        message = {
            Status.OPTIMAL: "proven optimal, part by part",
            Status.FEASIBLE: f"solved in parts by {self.settings.method}, "
            f"levels and rounds of refinement: {len(self.levels)}",
        }.get(status, "stopped before its end; the best labels so far")
        self.stopping.record(cost)
        self.stopping.raise_bound(lower)
        history, bounds = self.stopping.ended(cost, lower)
        return DistributedResult(
            labels=output,
            cost=cost,
            lower_bound=lower,
            status=status,
            message=message,
            elements=self.elements,
            pairs=self.pairs,
            n_clusters=subsets,
            levels=tuple(self.levels),
            seconds=self.stopping.seconds,
            history=history,
            bounds=bounds,
            stages=dict(self.engine.stages),
            bytes=self.folder.size(),
            wrong_rows=self.wrong,
            warnings=tuple(self.warnings),
        )
