"""The stages of one run, in the order of the statement in solve.py."""

from __future__ import annotations

import math
import os
from itertools import pairwise
from typing import Any

from graphpart.distributed import blocks as divisions
from graphpart.distributed import given, grouped, identifiers, labels, levels, pairs, parts, refinement
from graphpart.distributed.engine import Ended, Engine, OutOfMemory
from graphpart.distributed.folder import Folder
from graphpart.distributed.inputs import NAMED, Chunk, Columns, chunks_of
from graphpart.distributed.result import DistributedResult
from graphpart.errors import InvalidProblem, SolverError, warn
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["Run"]

BYTES_OF_ROW = 400  # while a chunk is read, its identifiers are looked up, and it is sorted
BYTES_OF_PAIR = 160  # while a task solves its part,
BYTES_OF_ELEMENT = 16  # and for each element of the whole problem, up to half of the memory
BYTES_OF_RANGE = 128  # for each pair, while a range is merged
PROCESS = 150_000_000  # bytes that a worker needs before its first task, at most half of its memory
LEAST = 1000  # rows and pairs, whatever the memory
LARGEST_CHUNK = 2**22  # rows
SMALL = 2**21  # rows that this process reads and solves in less time than workers need to start,
QUICK = {"greedy-joining", "greedy-moving", "kernighan-lin", "kernighan-lin-pairs"}  # by these methods
LEVELS = 30  # at most
PROGRESS = 0.98  # of the elements of a level, that the next one may have at most
FEWER = 0.25  # joins of a block, for each of its elements, where blocks had to be made: the rest is decided later
IMPROVING = {"kernighan-lin": "kernighan-lin-pairs"}  # methods by which labels are improved in refinements
WORTH = 3e-5  # of all attraction, by which a round of refinement has to lower the cost for another one to follow
SHARE = 0.5  # of all pairs; if fewer lie within the groups of a round, groups of whole subsets follow,
MEETINGS = 2  # times as many divisions as such a division has groups,
REGROUPED = 12  # at most
ROUNDING, TOLERANCE = 1e-12, 1e-11  # of sums of costs: what they may be wrong by; below it, a gap is none
MOST_ELEMENTS = 2**31 - 1


class Run:
    """One run: the order of stages, and the results so far."""

    def __init__(
        self,
        engine: Engine,
        folder: Folder,
        columns: Columns,
        method: str,
        options: dict[str, Any],
        bound: str | None,
        blocks: Any,
        memory: int,
        stopping: Stopping,
        groups: Any = None,
        group_cost: float = math.inf,
    ) -> None:
        self.engine, self.folder, self.columns, self.stopping = engine, folder, columns, stopping
        self.method, self.options, self.bound = method, options, bound
        self.blocks = blocks
        self.groups, self.group_cost = groups, group_cost
        self.grouped: list[tuple[str, float] | None] = [None]  # of each level
        self.free = free = memory - min(PROCESS, memory // 2)
        self.rows = max(LEAST, min(LARGEST_CHUNK, free // BYTES_OF_ROW))
        self.range = max(LEAST, free // BYTES_OF_RANGE)
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

    def run(self, files: list[str], refine: int, target: str) -> DistributedResult:
        """All stages."""
        status = Status.FEASIBLE
        self.rounds = refine
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
        self.engine.stopping = None  # what follows has to be done
        return self.result(status, target)

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
        map_, columns = self.engine.map, self.columns
        self.chunks = chunks = chunks_of(files, (columns.u, columns.v, columns.cost), self.rows)
        of_blocks = chunks_of(self.blocks, given.NAMES, self.rows) if isinstance(self.blocks, list) else []
        of_groups = chunks_of(self.groups, grouped.NAMES, self.rows) if isinstance(self.groups, list) else []
        small = min(SMALL, self.rows, self.free // BYTES_OF_PAIR)
        if self.engine.client is None and self.method in QUICK and sum(chunk.rows for chunk in chunks) <= small:
            self.engine.alone = True
        found = map_("range", identifiers.ranged, [(chunk, columns) for chunk in chunks])
        kinds = {answer["text"] for answer in found if answer["rows"]}
        if len(kinds) > 1:
            raise InvalidProblem("identifiers are integers in some files and strings in others: expected one type")
        rows = sum(answer["rows"] for answer in found)
        ranges = [(answer["low"], answer["high"]) for answer in found if answer["low"] is not None]
        low = min((r[0] for r in ranges), default=0)
        span = max((r[1] for r in ranges), default=-1) - low + 1
        direct = kinds != {True} and span <= max(identifiers.SPARSE * 2 * rows, 1000)
        self.low = low if direct else None
        if direct:
            self.starts = [0, span]
        else:
            buckets = max(1, math.ceil(2 * rows * 64 / (self.rows * BYTES_OF_ROW)))
            map_("identifiers", identifiers.bucketed, [(chunk, columns, buckets) for chunk in chunks])
            merged = map_("buckets", identifiers.merged, [(len(chunks), "identifiers")] * buckets)
            self.starts = [0]
            for count in merged:
                self.starts.append(self.starts[-1] + count)
            self.folder.remove("identifiers")
        self.n = self.starts[-1]
        if self.n > MOST_ELEMENTS:
            raise InvalidProblem(f"there are {self.n} elements: expected at most {MOST_ELEMENTS}")
        self.most = max(LEAST, (self.free - min(BYTES_OF_ELEMENT * self.n, self.free // 2)) // BYTES_OF_PAIR)
        arguments = [(chunk, columns, "buckets", self.starts, self.low) for chunk in chunks]
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
        self.level, self.ranges = "pairs", translated
        self.magnitude = -math.fsum(answer["negative"] for answer in translated)
        text = kinds == {True}
        if self.blocks is not None:
            self.look_up("given", self.blocks, of_blocks, text, given.NAMES)
        if self.groups is not None:
            self.look_up("given-groups", self.groups, of_groups, text, grouped.NAMES)
            map_("groups-0", grouped.memberships, [(self.n, "given-groups")])
            self.folder.remove("given-groups")
            self.grouped = [("groups-0", self.group_cost)]

    def look_up(self, stage: str, source: Any, chunks: list[Chunk], text: bool, names: tuple[str, str]) -> None:
        """The given block or group of each element."""
        parts_of = f"{stage}-parts"
        if callable(source):
            found = [("buckets", a, b, self.low) for a, b in pairwise(self.starts_of_files())]
            answers = self.engine.map(parts_of, given.called, [(source, *one) for one in found])
        else:
            arguments = [(chunk, "buckets", self.starts, self.low, text, names) for chunk in chunks]
            answers = self.engine.map(parts_of, given.looked_up, arguments)
        self.engine.map(stage, given.gathered, [(self.n, parts_of, len(answers))])
        self.folder.remove(parts_of)

    def starts_of_files(self) -> list[int]:
        """First elements of files of labels, and n: of buckets of identifiers, where there are any."""
        if self.low is None:
            return self.starts
        return [*range(0, self.n, LARGEST_CHUNK), self.n] if self.n else [0, 0]

    def merge(self, stage: str, parts_of: str, answers: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
        """Sorted parts become ranges of a level."""
        total = sum(answer["pairs"] for answer in answers)
        bounds = pairs.boundaries(answers, n, max(1, math.ceil(total / self.range)))
        arguments = [(parts_of, len(answers), a, b) for a, b in pairwise(bounds)]
        merged = self.engine.map(stage, pairs.merge, arguments)
        self.folder.remove(parts_of)
        return merged

    # --------------------------------------------------------------------------------------------------------- levels

    def solve_levels(self) -> None:
        """Steps 2 and 3."""
        n, ranges = self.n, self.ranges
        for k in range(LEVELS):
            level = f"level-{k}" if k else self.level
            while True:
                name, divided_by, division = self.divide(k, n, level, ranges)
                if k == 0:
                    level, ranges = self.level, self.ranges
                self.more = division["divided"] and self.rounds > 0
                try:
                    subsets = self.part(k, name, n, level, len(ranges), divided_by, division)
                    break
                except OutOfMemory as error:
                    self.halve(error)
            count = self.pairs if k == 0 else sum(answer["pairs"] for answer in ranges)
            self.levels.append({"elements": n, "pairs": count, **division, "subsets": subsets})
            if not division["divided"]:
                break
            self.proven = False
            if self.grouped[k] is not None:
                of_level = f"groups-{k + 1}"
                self.engine.map(of_level, grouped.contracted, [(f"groups-{k}", f"labels-{name}", subsets)])
                self.grouped.append((of_level, self.group_cost))
            else:
                self.grouped.append(None)
            arguments = [(level, divided_by, f"labels-{name}", False)] * len(ranges)
            contracted = self.engine.map(f"contract-{k}", levels.contract, arguments)
            ranges = self.merge(f"level-{k + 1}", f"contract-{k}", contracted, subsets)
            if subsets > PROGRESS * n:
                break  # joins are found no more that would make it smaller
            n = subsets
            if k:
                self.folder.remove(level)

    def divide(self, k: int, n: int, level: str, ranges: list[Any]) -> tuple[str, str, dict[str, Any]]:
        """The division of level k: its name, its stage and its answer. If components are too large, rows are sorted."""
        name = f"{k}{self.halved}"
        if self.level == level == "pairs":
            stage = f"components{self.halved}"
            found = self.engine.map(stage, divisions.whole, [(n, level, len(ranges), self.most)])[0]
            if not found["divided"]:
                return name, stage, found
            self.engine.stopping = None  # a result needs either rows or pairs
            ordered = self.engine.map("ordered", pairs.ordered, [(level,)] * len(ranges))
            self.folder.remove(level)
            self.level = level = "level-0"
            self.ranges = ranges = self.merge(level, "ordered", ordered, n)
            self.pairs = sum(answer["pairs"] for answer in ranges)
            self.magnitude = -math.fsum(answer["negative"] for answer in ranges)
            self.engine.stopping = self.stopping
        stage = f"divide-{name}"
        if k == 0:
            self.first = stage
        argument = (n, level, len(ranges), self.most, "given" if self.blocks is not None and k == 0 else "")
        return name, stage, self.engine.map(stage, divisions.divide, [argument])[0]

    def halve(self, error: OutOfMemory) -> None:
        """Make parts half as large from now on, since a worker had too little memory for one."""
        if self.most < 2 * LEAST:
            raise error
        self.most //= 2
        self.halved += "-half"
        warn(f"{str(error).split(':')[0]}: a part did not fit into memory: from now on, parts have {self.most} pairs")

    def part(self, k: int, name: str, n: int, level: str, ranges: int, division: str, found: dict[str, Any]) -> int:
        """Solve the parts of the division of level k, which gives labels: how many subsets; at first also the bound.

        Tasks after the whole ones have blocks of larger components, which are completed at the next level.
        """
        map_ = self.engine.map
        routes, tasks, of_level = f"route-{name}", found["tasks"], self.grouped[k]
        routed = map_(routes, parts.route, [(level, division, tasks, "")] * ranges)
        arguments = [
            (routes, ranges, n, self.method, self.options, FEWER if task >= found["whole"] else None, of_level)
            for task in range(tasks)
        ]
        if k == 0:
            self.begun = f"solve-{name}", tasks
        solved = map_(f"solve-{name}", parts.solved, arguments)
        try:
            subsets = self.label(k, name, n, [answer["clusters"] for answer in solved])
        except OutOfMemory as error:  # smaller parts would not help
            raise SolverError(str(error)) from error
        if level == "pairs":
            self.pairs = sum(answer["others"] for answer in routed) + sum(answer["pairs"] for answer in solved)
        if k == 0:
            self.proven = all(answer["optimal"] for answer in solved)
            bounds = [answer["bound"] for answer in solved]
            between = [answer["between"] for answer in routed]
            self.raised(math.fsum([*between, *bounds]))  # those of the method
            if self.bound is not None:
                better = self.raise_bound(name, level, ranges, division, routed, [a["seconds"] for a in solved])
                bounds = [max(a, b) for a, b in zip(bounds, better, strict=True)]
                self.raised(math.fsum([*between, *bounds]))
        self.folder.remove(routes)
        return subsets

    def label(self, k: int, name: str, n: int, sizes: list[int]) -> int:
        """Labels by parts with so many subsets each, even if the time is over by now: how many subsets there are."""
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
        self.lower = max(self.lower, bound - ROUNDING * abs(bound))

    def raise_bound(
        self, name: str, level: str, ranges: int, division: str, routed: list[Any], seconds: list[float]
    ) -> list[float]:
        """Step 5 for one division, whose parts took so many seconds.

        The bounds of its parts, for the costs that earlier divisions have left, are added to the lower bound of the
        problem. The costs that these bounds leave are saved for the next division.
        """
        map_, left = self.engine.map, self.left
        share = 1 / (1 + self.rounds) if left or self.more else 1.0
        given = [
            (f"route-{name}", ranges, self.n, self.bound, one, share, bool(left), self.more, self.grouped[0])
            for one in seconds
        ]
        better = map_(f"bound-{name}", parts.bounded, given)
        if left:
            self.raised(math.fsum([self.constant, *(a["left"] for a in routed), *(b["bound"] for b in better)]))
        if self.more:
            arguments = [(level, division, f"route-{name}", f"bound-{name}", len(seconds), left)] * ranges
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
        for k in range(self.rounds):
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
                warn(f"refinement ended in round {k + 1} of {self.rounds}, the labels before it are kept: {error}")
                return

    def refine(self, k: int, before: str) -> tuple[str, float]:
        """One round of step 4: the stage of its division, and by how much the cost has fallen."""
        if not any(level["divided"] for level in self.levels if "divided" in level):
            return before, 0.0
        map_, name, ranges = self.engine.map, f"refine-{k}{self.halved}", len(self.ranges)
        found = self.grouping(name, refinement.group, before)
        assert self.best is not None
        self.more = k + 1 < self.rounds
        division, routes, around = f"group-{name}", f"route-{name}", f"around-{name}"
        tasks, of_level = found["tasks"], self.grouped[0]
        left = self.left if self.bound is not None else ""
        routed = map_(routes, parts.route, [("level-0", division, tasks, left, around)] * ranges)
        method = IMPROVING.get(self.method, self.method)
        gain, seconds = 0.0, [0.0] * tasks
        waves = found.pop("waves")
        for wave, mine in enumerate(waves):
            offers = f"offered.{wave}" if len(mine) > 1 else ""
            given = [
                (routes, around, ranges, division, offers, task, self.best, method, self.options, of_level)
                for task in mine
            ]
            stage = f"solve-{name}-{wave}"
            answers = map_(stage, refinement.improved, given)
            last = wave + 1 == len(waves)
            after = f"labels-{name}" if last else f"labels-{name}-{wave}"
            sizes = [answer["new"] for answer in answers]
            subsets = map_(after, refinement.relabelled, [(self.best, stage, sizes, last)])[0]["subsets"]
            self.best, self.named = after, last
            gain += math.fsum(answer["gain"] for answer in answers)
            for task, answer in zip(mine, answers, strict=True):
                seconds[task] = answer["seconds"]
        self.folder.remove(around)
        if self.bound is not None:
            bounds = self.raise_bound(name, "level-0", ranges, division, routed, seconds)
            if not left:
                self.raised(math.fsum([*(answer["between"] for answer in routed), *bounds]))
        self.folder.remove(routes)
        self.levels.append({"elements": self.n, **found, "subsets": subsets, "gain": gain})
        if found["within"] < SHARE * self.pairs:
            gain += self.rearrange(k)
        return division, -gain

    def rearrange(self, k: int) -> float:
        """Solve groups of whole subsets again, with pairs within, so often that most subsets meet: what it changes."""
        total, again = 0.0, 1
        while again <= REGROUPED:
            try:
                gain, tasks = self.regrouped(f"regroup-{k}-{again}{self.halved}", [k, again])
            except OutOfMemory as error:  # only this is repeated: the bound of the round has used up what was left
                self.halve(error)
                continue
            total += gain
            if again >= MEETINGS * tasks or -gain <= WORTH * self.magnitude:
                break
            again += 1
        return total

    def regrouped(self, name: str, seed: list[int]) -> tuple[float, int]:
        """What one division into groups of whole subsets changes, and how many groups are solved."""
        map_, ranges = self.engine.map, len(self.ranges)
        found = self.grouping(name, refinement.regroup, seed)
        division, routes, tasks = f"group-{name}", f"route-{name}", found["tasks"]
        map_(routes, parts.route, [("level-0", division, tasks)] * ranges)
        method = IMPROVING.get(self.method, self.method)
        arguments = [
            (routes, "", ranges, division, "", task, self.best, method, self.options, self.grouped[0])
            for task in range(tasks)
        ]
        answers = map_(f"solve-{name}", refinement.improved, arguments)
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
        ranges = len(self.ranges)
        arguments = [("level-0", "", self.best, True)] * ranges
        contracted = self.engine.map(f"border-pairs-{name}", levels.contract, arguments)
        borders = self.merge(f"borders-{name}", f"border-pairs-{name}", contracted, self.n)
        argument = (self.n, "level-0", ranges, f"borders-{name}", len(borders), self.best, before, self.most)
        found: dict[str, Any] = self.engine.map(f"group-{name}", task, [argument])[0]
        self.folder.remove(f"borders-{name}")
        return found

    def sizes(self) -> list[int | None]:
        """The number of subsets that each part of the first level has, None if it is not solved."""
        stage, tasks = self.begun
        answers = [self.folder.answer(stage, k) or self.engine.early.get((stage, k)) for k in range(tasks)]
        return [answer and answer["clusters"] for answer in answers]

    def rename(self) -> None:
        """Make the best labels 0, 1, ..., if they are those of a wave."""
        if not self.named:
            stage = f"named-{self.best}"
            self.engine.map(stage, refinement.relabelled, [(self.best, "", [], True)])
            self.best, self.named = stage, True

    # --------------------------------------------------------------------------------------------------------- result

    def result(self, status: Status, target: str) -> DistributedResult:
        """Labels are evaluated and written."""
        map_ = self.engine.map
        if self.best is None:
            self.best = "early"
            self.folder.forget(self.best)
            self.folder.forget(f"cost-{self.best}")
            self.folder.forget(f"group-cost-{self.best}")
            map_(self.best, levels.numbered, [(self.n, self.begun[0], self.sizes())])
        self.rename()
        evaluated = map_(f"cost-{self.best}", labels.evaluated, [(self.level, self.best)] * len(self.ranges))
        if self.grouped[0] is not None:
            stage = f"group-cost-{self.best}"
            evaluated = [*evaluated, *map_(stage, grouped.evaluated, [(*self.grouped[0], self.best)])]
        cost = math.fsum(evaluated) + 0.0
        self.raised(-self.magnitude)
        lower = self.lower
        lower = min(lower, cost)
        if status is Status.FEASIBLE and (self.proven or cost - lower <= TOLERANCE * self.magnitude):
            status, lower = Status.OPTIMAL, cost
        os.makedirs(target, exist_ok=True)
        names = "buckets" if self.low is None else "seen"
        arguments = [(target, self.best, names, a, b, self.low) for a, b in pairwise(self.starts_of_files())]
        written = f"written-{self.best}"
        self.folder.forget(written)  # an earlier run may have had another output
        map_(written, labels.written, arguments)
        label = self.folder.load(self.best, "labels")
        subsets = int(label.max(initial=-1)) + 1
        if self.low is not None and self.elements < self.n:
            subsets -= self.n - self.elements  # numbers that do not occur are alone
        message = {
            Status.OPTIMAL: "proven optimal, part by part",
            Status.FEASIBLE: f"solved in parts by {self.method}, levels and rounds of refinement: {len(self.levels)}",
        }.get(status, "stopped before its end; the best labels so far")
        self.stopping.record(cost)
        self.stopping.raise_bound(lower)
        history, bounds = self.stopping.ended(cost, lower)
        return DistributedResult(
            labels=target,
            cost=cost,
            lower_bound=lower,
            status=status,
            message=message,
            elements=self.elements,
            pairs=self.pairs,
            subsets=subsets,
            levels=tuple(self.levels),
            seconds=self.stopping.seconds,
            history=history,
            bounds=bounds,
            stages=dict(self.engine.stages),
            bytes=self.folder.size(),
            wrong_rows=self.wrong,
            warnings=tuple(self.warnings),
        )
