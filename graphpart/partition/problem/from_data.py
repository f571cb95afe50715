"""Constructors of problems from data that are not yet arrays: data frames, similarities, grids, other graphs.

Each is a class method of :class:`SetPartition`; `frames`, `matrices`, `grids` and `probabilities` do the work.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from graphpart.errors import InvalidOption, InvalidProblem, warn
from graphpart.partition.inputs.arrays import Places, arrays_of_graph, names_of, node_attribute
from graphpart.partition.inputs.probabilities import Meaning
from graphpart.partition.problem.lifted import lifted_pairs
from graphpart.partition.problem.misreadings import check_kind, check_lifted, check_name, check_requirements
from graphpart.partition.problem.networks import FromNetworks
from graphpart.partition.problem.requirements import FrameOptions, GridOptions, ProblemOptions, with_options

__all__ = ["FromData"]

KINDS = ("cost", "weight", "similarity", "probability")


class FromData(FromNetworks):
    """Constructors of :class:`SetPartition` from data of other kinds."""

    __slots__ = ()

    @classmethod
    @with_options(FrameOptions)
    def from_frame(
        cls,
        frame: Any,
        left: Hashable,
        right: Hashable,
        *,
        duplicates: str | None = None,
        nodes: Iterable[Hashable] | None = None,
        elements: Any = None,
        id: Hashable | None = None,
        **options: Unpack[FrameOptions],
    ) -> Self:
        """Build a problem from a table with a row for each pair: two identifiers and a cost, score or probability.

        A pair without a row costs `missing`. By default this is 0 for costs. For scores, it is derived from the table,
        such that clusters do not grow by single wrong scores, see :doc:`/how-to/scored-pairs`.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, Table of Arrow, or mapping from names to arrays
            Any other object with the Arrow protocol ``__arrow_c_stream__`` is read through pyarrow.
        left, right : str
            The columns of the two identifiers: integers, texts, dates, or anything else that can be hashed.
        cost, weight, similarity, probability : str
            The column with the values. Exactly one of these is given:

            * `cost`: negative attracts, positive repels;
            * `weight`: positive attracts; the cost is ``-weight``;
            * `similarity`: the cost is ``threshold - similarity``;
            * `probability`: the probability that both belong together; see :func:`graphpart.costs_from_probabilities`
              for the cost.
        threshold : float
            The similarity or probability above which a pair attracts. Required with `similarity`; with `probability`
            the default is 1/2.
        prior, clip : float
            For probabilities, see :func:`graphpart.costs_from_probabilities`.
        duplicates : {"error", "sum", "mean", "max"}, optional
            How to treat rows with the same two elements, in either order: raise an error that names the first one, add
            their costs, or make one row with the mean or the largest of their values. Default: the sum, with a warning.
        nodes : iterable of hashables, optional
            All elements, in order, including elements that are in no row. By default, integers are in ascending order,
            other identifiers in the order of their first appearance in the rows.
        dense, missing, background, together, apart
            As in the constructor. `missing` is always a cost, also if the rows have similarities or probabilities. For
            weights, similarities and probabilities, the default None derives it from the set of listed pairs. It is 0
            if there are few rows, all pairs have one, the others together cost next to nothing, or with `background`,
            `connected` or `lifted`, `groups` or `apart` of all pairs of groups, or both `max_size` and `n_clusters`,
            whether here or by :meth:`require`. The problem's ``repr`` and the message of its results tell it. With 0,
            joining a pair without a row is free.
        elements : data frame of any kind, optional
            A table with a row for each element. Elements that no pair names are part of the problem, too. Elements
            are in the order of its rows.
        id : str
            The column of `elements` that holds the identifiers; each occurs once.
        groups : str or list of str, or as in the constructor
            The columns of `elements` that hold the groups, such as the source of each record. An array needs `elements`
            or `nodes`, unless the identifiers are 0, 1, ..., n - 1: rows of pairs do not tell the order of elements.
        group_cost, max_size, n_clusters
            As in the constructor. Like `missing`, `group_cost` is a cost: for probabilities ``log2((1 - q) / q)``,
            where q is the share of elements that have a duplicate in their own group; 4.25 if this is 5%.
        lifted : data frame of any kind, optional
            A table with the same columns and a row for each lifted pair. With it, every cluster has to be connected by
            the pairs of `frame`, while lifted pairs only have a cost.
        connected : bool
            Whether every cluster has to be connected by the pairs of `frame`, also without lifted pairs.

        Returns
        -------
        SetPartition

        Raises
        ------
        InvalidProblem
            If there is no such column, a value is null, NaN or no number, an identifier is null or empty, or a row
            pairs an element with itself, or repeats a pair with ``duplicates="error"``; the message names the row,
            counted from 0.
        InvalidOption
            If not exactly one kind of values is given, or a threshold is missing or has no meaning for this kind.
        MissingDependency
            If the table is of another library and pyarrow is not installed.

        Warns
        -----
        GraphPartWarning
            If a column that is called a weight, sign, similarity, score or probability is read as a cost, or
            probabilities of 0 or 1 are clipped and `clip` is not given, or many costs are infinite, or rows repeat a
            pair and `duplicates` is not given, or a number and its text are two identifiers, such as 7 and "7". If the
            table has no rows, and neither `nodes` nor `elements` name elements.

        Notes
        -----
        O(rows), without a Python loop, and a hash table of the distinct identifiers. 10^7 rows take seconds.

        Examples
        --------
        >>> import graphpart as gp
        >>> matches = {"a": ["ann", "bob", "ann"], "b": ["anne", "anne", "bob"], "score": [0.9, 0.2, 0.3]}
        >>> p = gp.SetPartition.from_frame(matches, "a", "b", probability="score")
        >>> [sorted(cluster) for cluster in gp.solve(p).clusters]
        [['ann', 'anne'], ['bob']]

        At most one record of each source in a cluster:

        >>> people = {"id": ["ann", "anne", "bob", "eve"], "source": ["crm", "shop", "crm", "shop"]}
        >>> q = gp.SetPartition.from_frame(
        ...     matches, "a", "b", probability="score", elements=people, id="id", groups="source"
        ... )
        >>> [sorted(cluster) for cluster in gp.solve(q).clusters]
        [['ann', 'anne'], ['bob'], ['eve']]
        """
        from graphpart.partition.inputs.duplicates import check_choice, once
        from graphpart.partition.inputs.frames import elements_of, pairs_of_table, table_of
        from graphpart.partition.inputs.origin import Origin
        from graphpart.partition.problem.groups import check_named

        named = {kind: options.get(kind) for kind in KINDS}
        kinds = [kind for kind, column in named.items() if column is not None]
        if len(kinds) != 1:
            found = " and ".join(kinds) + " given" if kinds else "no column of values is named"
            raise InvalidOption(f"{found}: expected one of cost=, weight=, similarity= and probability=")
        check_choice(duplicates)
        table, column = table_of(frame), named[kinds[0]]
        attribute = None
        if elements is not None or id is not None:
            if nodes is not None:
                raise InvalidOption("both nodes and elements given: expected one of them")
            nodes, attribute = elements_of(elements, id)
        names, u, v, values = pairs_of_table(table, left, right, column, nodes)
        if nodes is None and not isinstance(names, range) and options.get("groups") is not None:
            check_named(options["groups"])
        if not names:
            warn("the table has no rows: expected one for each pair; the problem has no elements")
        if kinds[0] == "cost":
            check_name(column, "column")
        meaning = Meaning(kinds[0], options.get("threshold"), options.get("prior"), options.get("clip"))
        costs_of = partial(meaning.costs, place=f"column {column!r} has {{1}} in row {{0}}".format)
        u, v, costs = once(names, u, v, values, duplicates, costs_of)
        own = costs is not values or table.own
        del values
        lifted = None
        if (other := options.get("lifted")) is not None:
            try:
                _, a, b, values = pairs_of_table(table_of(other), left, right, column, names)
                lifted = once(names, a, b, values, duplicates, costs_of)
            except InvalidProblem as error:
                raise InvalidProblem(f"in lifted, {error}") from None
        p = cls.__new__(cls)._build(names, (u, v, costs), options, lifted, attribute, kinds[0] != "cost", own)
        p._origin = Origin(meaning.kind, column, left, right, meaning.limit, meaning.odds, None, table)
        if meaning.kind != "probability":
            check_requirements(p, costs)
        return p

    @classmethod
    @with_options(ProblemOptions, "connected", "lifted")
    def from_similarity(
        cls,
        data: Any,
        weight: str = "weight",
        threshold: float | None = None,
        nodes: Iterable[Hashable] | None = None,
        *,
        left: Hashable | None = None,
        right: Hashable | None = None,
        elements: Any = None,
        id: Hashable | None = None,
        **options: Unpack[ProblemOptions],
    ) -> Self:
        """Build a problem from similarities: the cost of a pair is ``threshold - similarity``.

        Parameters
        ----------
        data : networkx.Graph or MultiGraph, igraph.Graph, matrix, or data frame
            Pairs without an edge, and pairs that a sparse matrix does not store, cost `missing`: 0 by default, so
            joining them is free. The rows and columns of a square data frame are elements; with `left` and `right` each
            row is a pair, and the default of `missing` is that of :meth:`from_frame`.
        weight : str
            The edge attribute, or column, that holds the similarity.
        threshold : float, optional
            Pairs with a larger similarity attract, pairs with a smaller one repel. Required if not all pairs have a
            similarity. For a matrix of all pairs, the default is chosen such that similar pairs are separated from
            others best, as by :meth:`from_embeddings`; ``repr`` of the problem tells it.
        nodes : iterable of n hashables, optional
            Names of the elements of a matrix, see :meth:`from_matrix`, or all elements of a data frame.
        left, right : str, optional
            The columns of a data frame that hold the two elements.
        dense, missing, background, together, apart, groups, group_cost, max_size, n_clusters
            As in the constructor.
        elements, id
            As for :meth:`from_frame`.

        Warns
        -----
        GraphPartWarning
            If the values of a matrix look like distances, or its threshold is far from the one that separates near
            pairs from far pairs best, so that clusters chain together or split.

        Examples
        --------
        >>> import graphpart as gp
        >>> S = [[1.0, 0.75, 0.25], [0.75, 1.0, 0.5], [0.25, 0.5, 1.0]]
        >>> p = gp.SetPartition.from_similarity(S, threshold=0.5)
        >>> p.evaluate([0, 0, 0]), p.evaluate([0, 0, 1])
        (0.0, -0.25)
        """
        from graphpart.partition.inputs.thresholds import (
            distances_of_similarities,
            given_threshold,
            threshold_of_points,
        )

        threshold = given_threshold(threshold)
        if threshold is None and (left is not None or hasattr(data, "is_directed") or hasattr(data, "tocoo")):
            raise InvalidOption(
                "similarity without threshold: expected the similarity from which on a pair attracts, such as "
                "threshold=0 for values of both signs"
            )
        below = 0.0 if threshold is None else threshold  # None is for matrices alone
        self = cls.__new__(cls)
        if left is not None or right is not None:
            table: dict[str, Any] = {"nodes": nodes, "elements": elements, "id": id, **options}
            return cls.from_frame(data, left, right, similarity=weight, threshold=threshold, **table)
        if hasattr(data, "is_directed") or hasattr(data, "weighted_edge_list"):
            names, u, v, costs = arrays_of_graph(data, weight, lambda similarity: below - float(similarity))
            self._build(names, (u, v, costs), options, None, partial(node_attribute, data))
            check_requirements(self, costs)
            return self
        from graphpart.partition.inputs.far_thresholds import told_threshold
        from graphpart.partition.inputs.frames import is_frame
        from graphpart.partition.inputs.matrices import matrix_and_names, sparse_pairs, symmetric

        if elements is not None or id is not None:
            raise InvalidOption("elements describes the rows of a data frame: expected left and right, too")
        if hasattr(data, "tocoo"):
            n, (u, v, values) = sparse_pairs(data)
            return self._build(names_of(nodes, n), (u, v, below - values), options)
        if options.get("missing") or options.get("background") is not None:
            raise InvalidOption("a matrix lists all pairs: expected no missing or background beside it")
        if is_frame(data) and weight in list(data.columns) and len(data.columns) != len(data):
            raise InvalidOption(
                "the data frame has a row for each pair: name the columns of its elements by left, right"
            )
        given, nodes = matrix_and_names(data, nodes)
        costs, _ = symmetric(given, copy=True, of="similarities")
        check_kind(costs, similarity=True)
        rows, distances, top = distances_of_similarities(costs, np.diagonal(np.asarray(given)))
        if threshold is None:
            limit = top - threshold_of_points(rows, distances, lambda some: top - costs[np.ix_(some, some)])
            words = f"{limit:.4g} (from the data)"
        else:
            limit, words = threshold, told_threshold(threshold, distances, top)
        np.subtract(limit, costs, out=costs)
        np.fill_diagonal(costs, 0.0)
        if options.get("dense") is None:
            options["dense"] = True
        p = cls._of_symmetric(names_of(nodes, len(costs)), costs, options, zeros=True)
        p._told = {"threshold": words}
        return p

    @classmethod
    @with_options(ProblemOptions)
    def from_scipy(
        cls, matrix: Any, nodes: Iterable[Hashable] | None = None, **options: Unpack[ProblemOptions]
    ) -> Self:
        """Build a problem from a scipy.sparse matrix of costs, symmetric or with one triangle only.

        A pair that is not stored costs `missing`: 0 by default, so joining it is free. The diagonal is ignored.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array, shape (n, n)
            The costs. For similarities, pass ``threshold - similarity`` of the stored entries (``matrix.data``).
        nodes
            As for :meth:`from_matrix`.
        dense, missing, background, together, apart, groups, group_cost, max_size, n_clusters
            As in the constructor.
        lifted : scipy.sparse matrix or array, shape (n, n), optional
            Costs of lifted pairs. With them, every cluster has to be connected by pairs that `matrix` stores.
        connected : bool
            Whether every cluster has to be connected by pairs that `matrix` stores, also without lifted pairs.

        Raises
        ------
        InvalidProblem
            If it has entries in both triangles and is not symmetric, or `lifted` has another shape.

        Examples
        --------
        >>> from scipy.sparse import coo_array
        >>> import graphpart as gp
        >>> upper = coo_array(([-2.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
        >>> gp.solve(gp.SetPartition.from_scipy(upper)).labels.tolist()
        [0, 0, 1]
        """
        from graphpart.partition.inputs.matrices import sparse_pairs

        if not hasattr(matrix, "tocoo"):
            raise InvalidProblem(f"got {type(matrix).__name__}: expected a scipy.sparse matrix; see also from_matrix")
        n, pairs = sparse_pairs(matrix, triangle=True)
        lifted = None
        if (other := options.get("lifted")) is not None:
            if getattr(other, "shape", None) != (n, n) or not hasattr(other, "tocoo"):
                raise InvalidProblem(f"lifted is no scipy.sparse matrix of shape ({n}, {n}): expected one")
            lifted = sparse_pairs(other, triangle=True)[1]
        p = cls.__new__(cls)._build(names_of(nodes, n), pairs, options, lifted)
        check_requirements(p, pairs[2])
        return p

    @classmethod
    @with_options(ProblemOptions)
    def from_igraph(cls, graph: Any, cost: str = "cost", **options: Unpack[ProblemOptions]) -> Self:
        """Build a problem from an igraph.Graph with a cost in an edge attribute.

        Parameters
        ----------
        graph : igraph.Graph
            The names of the elements are the vertex attribute ``name`` or, without it, 0, ..., n - 1. A pair without an
            edge costs `missing`.
        cost : str
            The edge attribute; for similarities see :meth:`from_similarity`.
        dense, missing, background, together, apart, groups, group_cost, max_size, n_clusters, connected, lifted
            As in the constructor.
        """
        from graphpart.partition.inputs.frames import library

        if library(graph) != "igraph":
            raise InvalidProblem(f"got {type(graph).__name__}: expected an igraph.Graph")
        check_name(cost, "attribute")
        names, u, v, costs = arrays_of_graph(graph, cost, float)
        other = options.get("lifted")
        lifted = None if other is None else lifted_pairs(other, len(names), Places(names), cost)
        p = cls.__new__(cls)._build(names, (u, v, costs), options, lifted, partial(node_attribute, graph))
        check_lifted(p, lifted)
        check_requirements(p, costs)
        return p

    @classmethod
    @with_options(GridOptions, "background", "lifted")
    def from_affinities(
        cls,
        affinities: ArrayLike,
        offsets: ArrayLike,
        *,
        kind: str = "probability",
        far: str | None = None,
        lifted_offsets: ArrayLike | None = None,
        **options: Unpack[GridOptions],
    ) -> Self:
        """Build a problem over the pixels of an image or the voxels of a volume, from affinities of near ones.

        Parameters
        ----------
        affinities : array_like, shape (k, height, width) or (k, depth, height, width)
            ``affinities[i][x]`` is the affinity of the elements at x and at ``x + offsets[i]``; if the latter is
            outside of the grid, the value is ignored.
        offsets : array_like of int, shape (k, 2) or (k, 3)
            In the order of the axes, such as ``[(1, 0), (0, 1)]`` for the neighbours below and to the right. Any number
            of dimensions is allowed.
        kind : {"probability", "similarity", "weight", "cost"}
            The meaning of the affinities, see :meth:`from_frame`.
        threshold, prior, clip : float
            As for :meth:`from_frame`.
        far : {"repel", "all"}, optional
            Whether pairs at offsets beyond the neighbours may attract. With "repel", affinities that would attract cost
            0, if there are offsets to neighbours, too: such a pair is joined directly, and affinities that know only
            its two ends join what a thin boundary separates. Default: "repel" for probabilities and similarities, "all"
            for weights and costs.
        dense, missing, together, apart, groups, group_cost, max_size, n_clusters
            As in the constructor; elements are numbers.
        lifted_offsets : array_like of int, shape (l, 2) or (l, 3), optional
            Offsets of lifted pairs, whose affinities follow those of `offsets`: ``affinities[k + i]`` belongs to
            ``lifted_offsets[i]``. With them, every segment has to be connected by pairs at `offsets`. So a lifted pair
            may attract without being joined directly, and `far` does not matter for it.
        connected : bool
            Whether every segment has to be connected by pairs at `offsets`, also without lifted pairs.

        Returns
        -------
        SetPartition
            Its elements are 0, ..., n - 1 in the order of the grid, the last axis fastest:
            ``result.labels.reshape(shape)`` is the segmentation. Pairs at no offset cost `missing`: 0 by default, so
            joining them is free. Use offsets of several pixels for repulsion over larger distances. Pixels on
            boundaries, which repel all of their neighbours, become clusters of one pixel each:
            :func:`graphpart.images.segment` partitions regions instead.

        Warns
        -----
        GraphPartWarning
            If many pixels repel all of their neighbours, or, with ``far="all"``, many pairs attract across neighbours
            that repel.

        Examples
        --------
        >>> import numpy as np
        >>> import graphpart as gp
        >>> right = np.array([[0.9, 0.1, 0.0], [0.8, 0.3, 0.0]])  # with the pixel to the right
        >>> below = np.array([[0.9, 0.7, 0.8], [0.0, 0.0, 0.0]])
        >>> p = gp.SetPartition.from_affinities([right, below], [(0, 1), (1, 0)])
        >>> gp.solve(p).labels.reshape(2, 3)
        array([[0, 0, 1],
               [0, 0, 1]], dtype=int32)
        """
        from graphpart.partition.inputs.far_pairs import costs_of_far_pairs
        from graphpart.partition.inputs.grids import joined_offsets, pairs_at, pairs_of_grid
        from graphpart.partition.inputs.origin import Origin

        every = offsets if lifted_offsets is None else joined_offsets(offsets, lifted_offsets)
        shape, u, v, values = pairs_of_grid(affinities, every)
        meaning = Meaning(kind, options.get("threshold"), options.get("prior"), options.get("clip"))
        costs = meaning.costs(values, "an affinity is {1}".format)
        base = len(u) if lifted_offsets is None else pairs_at(shape, offsets)
        costs[:base] = costs_of_far_pairs(shape, offsets, costs[:base], far, kind in ("cost", "weight"))
        lifted = None
        if lifted_offsets is not None:
            lifted = u[base:], v[base:], costs[base:]
            options["lifted"] = lifted_offsets
        p = cls.__new__(cls)._build(range(math.prod(shape)), (u[:base], v[:base], costs[:base]), options, lifted)
        p._origin = Origin(kind, threshold=meaning.limit, prior=meaning.odds, shape=shape)
        if kind != "probability":
            check_requirements(p, costs)
        return p
