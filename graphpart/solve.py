"""The front door: `solve(problem)`, over the one table of methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from graphpart.display import plural
from graphpart.errors import InvalidOption, InvalidProblem, check_callback, unknown_argument, warn, ways_of_weights
from graphpart.methods import find_method, methods_for
from graphpart.partition.certificates.kept import Kept, keeping
from graphpart.partition.inputs.arrays import advice, frozen
from graphpart.partition.inputs.unlisted import about_unlisted, hardly_compared
from graphpart.partition.problem import SetPartition, as_problem
from graphpart.partition.problem.misreadings import check_values
from graphpart.partition.problem.requirements import NAMES, OLDER
from graphpart.result import PartitionResult, Result, Status

__all__ = ["problem_kind", "solve", "with_certificate"]

ANSWERS = ("answers", "error")


def solve(
    problem: Any,
    method: str = "auto",
    *,
    time_limit: float | None = None,
    initial: Any = None,
    seed: int | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
    progress: bool = False,
    certificate: bool = False,
    **options: Any,
) -> Result:
    """Solve a problem of any kind by the method of this name.

    Parameters
    ----------
    problem : SetPartition, FactorGraph, LabeledPartition, networkx.Graph, or generated Instance
        A networkx graph is a set partition problem with its costs in the edge attribute ``cost``. A pair without an
        edge costs 0, so joining it is free.
    method : str
        A name in `graphpart.methods.METHODS`, or another name of the field for it, such as ``gaec``, ``klj``,
        ``alpha-expansion`` or ``trw-s``; the `method` of the result is the first name. ``auto``, the default, chooses
        by the kind and size of the problem, and says in the `message` of the result what it did; see
        :func:`graphpart.partition.auto`.
    time_limit : float, optional
        Seconds. ``auto`` uses all of them for search and proof, unless it proves its result optimal before. Other
        methods end when they are done; at the limit they return the best solution they have found, with the status
        ``time_limit``. Without a limit, ``auto`` ends by itself.
    initial : Result, labels, mapping or list of sets, optional
        The solution to start from. Elements may be left out: by a mapping without their names, by the label -1, or by
        the result of another problem that does not have them. An element that is left out starts in a cluster of its
        own; a variable that is left out starts with the label of least cost given the labels of the others. A partition
        that violates what the problem requires is repaired, and the `message` says so. If it is a result, clusters that
        do not change keep their numbers.
    seed : int, optional
        For methods that draw random numbers; the others are deterministic and ignore it.
    max_iterations : int, optional
        Iterations, as the method counts them.
    target : float, optional
        Stop as soon as the cost is at most this.
    callback : callable, optional
        Called about every 50 ms as ``callback(seconds, cost)``; a true return value stops the run.
    progress : bool
        Show seconds and cost while it runs, on a terminal or in a notebook.
    certificate : bool
        If the status is ``optimal``, prove this again such that anyone can check it: see `certificate` of the result,
        and :doc:`/explanation/certificates`. This takes at most as long as `time_limit` again; without a limit, at most
        60 s or ten times as long as the method, whichever is longer. If no certificate can be made, it is None, and the
        `message` says why.
    **options
        What clusters must obey: `together`, `apart`, `groups`, `group_cost`, `max_size`, `n_clusters`, `connected` and
        `lifted`, as :meth:`SetPartition.require` takes them; for a labelled partition, the first four of these. For a
        set partition problem, answers of people about pairs: `answers`, a table, and `error`, as
        :func:`graphpart.answers.answered` takes them. For a factor graph `evidence`: the
        labels of some variables, given beforehand, as a mapping. Also further options of the method. ``auto`` and
        ``search`` take two more: `checkpoint`, a labels file that they keep up to date, and resume from if it exists;
        and, for set partition problems, `parameters`, a `gp.partition.SearchParameters`.
        ``help(gp.partition.auto)`` and ``help(gp.crf.auto)`` have all of them.

    Returns
    -------
    Result
        The solution, its cost recomputed from the problem, a lower bound, and why the run ended.

    Raises
    ------
    InvalidOption
        If there is no such method, or it has no such option.
    InvalidProblem
        If the problem is of no known kind.

    Warns
    -----
    GraphPartWarning
        If all costs of a set partition problem have one sign, so that nothing is left to decide. If a cluster of 30 or
        more elements of a table of scores was hardly compared, and pairs that are not in the table cost nothing.

    Notes
    -----
    {methods}

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.Graph()
    >>> G.add_edge("a", "b", cost=-2.0)
    >>> G.add_edge("b", "c", cost=1.0)
    >>> r = solve(G)
    >>> sorted(sorted(subset) for subset in r.partition), r.cost, str(r.status)
    ([['a', 'b'], ['c']], -2.0, 'optimal')
    """
    if isinstance(problem, tuple) and hasattr(problem, "problem"):  # an Instance or FactorInstance
        problem = problem.problem
    told = ""
    if (kind := problem_kind(problem)) == "labeled":
        if "answers" in options:
            raise InvalidOption("answers is given for a labelled partition: expected together= and apart=")
        asked = {name: options.pop(name) for name in (*NAMES, *OLDER) if name in options}
        problem = problem.require(**asked) if asked else problem
    elif kind == "partition":
        asked = {name: options.pop(name) for name in (*NAMES, *OLDER) if name in options}
        answers = {name: options.pop(name) for name in ANSWERS if name in options}
        _check_options(problem, options, method)
        if hasattr(problem, "is_directed"):
            problem = SetPartition(problem, **asked)
        elif asked:
            problem = problem.require(**asked)
        if answers.get("answers") is not None:
            from graphpart.answers.applying import with_answers

            problem, given = with_answers(problem, **answers)
            told = str(given)
        elif "error" in answers:
            raise InvalidOption("error is given without answers: expected both")
        check_values(problem)
        from graphpart.partition.turned_signs import check_sign  # it needs local search, which constructors do not

        check_sign(problem)
    elif foreign := [name for name in (*NAMES, *OLDER, *ANSWERS) if name in options]:
        raise InvalidOption(f"{foreign[0]} is for clusters: a factor graph takes no requirements but evidence=")
    with keeping(certificate) as known:
        result = run(
            problem,
            method,
            time_limit=time_limit,
            initial=initial,
            seed=seed,
            max_iterations=max_iterations,
            target=target,
            callback=callback,
            progress=progress,
            **options,
        )
    if told:
        result = replace(result, message=f"{result.message}; {told}")
    if isinstance(problem, SetPartition) and (doubtful := hardly_compared(problem, result.labels)) is not None:
        warn(doubtful)
        result = replace(result, message=f"{result.message}; {doubtful}")
    if certificate and options.get("evidence"):
        return replace(result, message=f"{result.message}; no certificate: labels are given as evidence")
    return with_certificate(problem, result, time_limit, known) if certificate else result


def with_certificate(
    problem: Any, result: Result, time_limit: float | None = None, known: Sequence[Kept] = ()
) -> Result:
    """The result with a proof that anyone can check, or with a message that says why there is none.

    `known` is what the method has proven, if it ran within `keeping`: this makes the certificate faster.
    """
    from graphpart.common.proof_tree import Unproven

    kind = problem_kind(problem)
    if result.status is not Status.OPTIMAL:
        why = f"the result is not proven optimal: gp.{kind}.lower_bound makes one of a lower bound"
        return replace(result, message=f"{result.message}; no certificate, since {why}")
    seconds = max(60.0, 10.0 * result.seconds) if time_limit is None else time_limit
    try:
        if kind == "labeled":
            raise Unproven("there are none for labelled partitions")
        if kind == "partition":
            from graphpart.partition.proof_trees import prove

            proof: Any = prove(as_problem(problem), result.labels, result.method, seconds, known)
        else:
            from graphpart.crf.proof_trees import prove_labels

            proof = prove_labels(problem, result.labels, result.method, seconds)
    except Unproven as error:
        return replace(result, message=f"{result.message}; no certificate: {error}")
    return replace(result, certificate=proof)


def _check_options(problem: Any, options: Mapping[str, Any], method: str) -> None:
    """Raise InvalidOption if an option belongs to the problem: the message says where it is given."""
    is_graph = hasattr(problem, "is_directed")
    found = find_method(method, "partition")
    known = found.parameters
    for name, value in options.items():
        if is_graph and name in ("cost", "weight", "similarity", "probability", "threshold"):
            raise InvalidOption(f"{name} belongs to the problem: {ways_of_weights(value)}")
        for kind in (SetPartition,) if is_graph else (SetPartition, SetPartition.from_frame):
            if name not in known and name in inspect.signature(kind).parameters:
                call = "SetPartition(G" if is_graph else "SetPartition.from_frame(..."
                raise InvalidOption(f"{name} belongs to the problem: expected gp.solve({call}, {name}=...))")
        if name not in known:
            raise unknown_argument(f"method {found.name}", name, [*known, *NAMES])


def _described(kind: str) -> str:
    """The methods for one kind of problem, a line each."""
    return "\n".join(
        f"* ``{m.name}``{' (' + ', '.join(m.also) + ')' if m.also else ''}: {m.summary}" for m in methods_for(kind)
    )


if solve.__doc__ is not None:  # which python -OO leaves out
    listed = f"Methods for set partition problems:\n\n{_described('partition')}\n\n"
    listed += f"Methods for factor graphs:\n\n{_described('crf')}\n\n"
    listed += f"Methods for labelled partitions:\n\n{_described('labeled')}"
    solve.__doc__ = inspect.cleandoc(solve.__doc__).replace("{methods}", listed)


def run(
    problem: Any, method: str, *, callback: Callable[[float, float], object] | None = None, progress: bool = False,
    **options: Any,
) -> Result:  # fmt: skip
    """Like `solve`, but without the check for costs that were probably not meant."""
    check_callback(callback)  # here, since `progress` has a callback of its own
    found = find_method(method, problem_kind(problem))
    old, moved = options.get("initial"), 0
    solved = found.run
    if found.problem == "crf" and "evidence" in options:
        from graphpart.crf.evidence import solve_given

        solved = partial(solve_given, evidence=options.pop("evidence") or {}, method=found.name)
    if old is not None and found.problem == "partition" and "initial" in found.options:
        from graphpart.partition.results.starts import repaired_start

        problem = as_problem(problem)
        options["initial"], moved = repaired_start(problem, old)
    if not progress:
        result = solved(problem, callback=callback, **options)
    else:
        from graphpart.display.progress import showing

        title = repr(problem).partition("\n")[0].strip("<>")
        with showing(f"{found.name}, {title.partition(': ')[2] or title}", callback) as shown:
            result = solved(problem, callback=shown, **options)
    if found.name != str(method).lower().replace("_", "-"):
        result = replace(result, message=f"{result.message}; {method} is {found.name} here")
    if moved:
        text = f"the start violated what is required and was repaired: {plural(moved, 'element')} moved"
        result = replace(result, message=f"{result.message}; {text}")
    if (told := about_unlisted(problem)) is not None:
        result = replace(result, message=f"{result.message}; {told}")
    if isinstance(old, PartitionResult) and found.problem == "partition":
        from graphpart.partition.extending.old import old_labels, stable

        if "initial" in found.options:
            result = _near(problem, options["initial"], result)
        labels, numbers, _ = old_labels(problem, old)
        result = replace(result, labels=frozen(stable(result.labels, labels, numbers)))
    return result


def _near(p: SetPartition, start: Any, result: Result) -> Result:
    """The result, with parts of the start in place of parts of equal cost."""
    from graphpart.partition.problem.staying import near

    labels = near(p, start, result.labels)
    cost = p._evaluate_labels(labels)
    if not np.any(labels != result.labels):
        return result
    history = tuple(entry for entry in result.history if entry[1] > cost)
    history += ((result.history[-1][0] if result.history else result.seconds, cost),)
    bound = min(result.lower_bound, cost)
    return replace(result, labels=labels, cost=cost, objective=p.objective(cost), history=history, lower_bound=bound)


def problem_kind(problem: Any) -> str:
    """The kind of a problem in the table of methods: "partition", "crf" or "labeled".

    Raises
    ------
    InvalidProblem
        If it is none of these.
    """
    if isinstance(problem, SetPartition) or hasattr(problem, "is_directed"):
        return "partition"
    from graphpart.crf.problem import FactorGraph

    if isinstance(problem, FactorGraph):
        return "crf"
    from graphpart.labeled.labeled_partition import LabeledPartition

    if isinstance(problem, LabeledPartition):
        return "labeled"
    raise InvalidProblem(
        f"got {type(problem).__name__}: expected a SetPartition, a FactorGraph or a networkx graph{advice(problem)}"
    )
