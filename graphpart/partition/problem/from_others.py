"""Constructors of problems from points and from the predictions of splink, and costs for SciPy."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from graphpart.errors import InvalidProblem, no_column
from graphpart.partition.inputs.arrays import names_of
from graphpart.partition.problem.from_data import FromData
from graphpart.partition.problem.requirements import RequirementOptions, with_options

if TYPE_CHECKING:
    from graphpart.partition.inputs.frames import Table

__all__ = ["FromOthers"]


class FromOthers(FromData):
    """Constructors of :class:`SetPartition` from points and from other programs."""

    __slots__ = ()

    @classmethod
    @with_options(RequirementOptions, "connected", "lifted")
    def from_embeddings(
        cls,
        X: Any,
        threshold: float | None = None,
        n_neighbors: int | None = None,
        metric: str = "cosine",
        nodes: Iterable[Hashable] | None = None,
        **options: Unpack[RequirementOptions],
    ) -> Self:
        """Build a problem from points, such as embeddings: pairs nearer than a threshold attract, others repel.

        The cost of a pair is its distance - `threshold`.

        Parameters
        ----------
        X : array_like, data frame or sparse matrix, shape (n, d), or sequence of n str
            A row for each element. Texts are compared by the pieces of two and three characters in them, so that
            typing errors change little (:doc:`/how-to/near-duplicates`).
        threshold : float, optional
            The distance below which a pair attracts. If you know which distance counts as near in your data, give it.
            Default: chosen from the distances of at most 500 elements to all, such that near pairs are separated from
            far pairs best (:func:`graphpart.estimators.path_threshold`), or, if clusters are so small that these hardly
            contain two elements of one, in the valley between the distances at which clusters grow and those at which
            they meet others. Of 100 texts or more, and as many rows of a sparse matrix, it is always the latter.
            ``repr`` of the problem tells it. :func:`graphpart.records.near_duplicates` with the same threshold is
            another problem: there, a pair beyond it costs at most the threshold, however far apart its elements are.
        n_neighbors : int, optional
            List only pairs in which one element is among this many nearest neighbours of the other, and as many pairs
            that are drawn from all pairs. Default: all pairs of up to 50,000 elements count, see below; above, 30
            neighbours.
        metric : {"cosine", "euclidean"}
            The cosine distance is 1 - the cosine of the angle, from 0 to 2, which does not see lengths.
            :class:`graphpart.estimators.CorrelationClustering` has the Euclidean distance by default, as all estimators
            of scikit-learn: to get the same clusters, give both the same metric.
        nodes : iterable of n hashables, optional
            Names of the elements; default: the index of a data frame of pandas, else 0, ..., n - 1.
        together, apart, groups, group_cost, max_size, n_clusters
            As in the constructor.

        Raises
        ------
        InvalidProblem
            If X has not the shape (n, d), or a number is not finite, or a row is 0 and the metric is the cosine
            distance; the message names the row.
        InvalidOption
            If the metric is unknown, or `threshold` or `n_neighbors` has no meaning.

        Warns
        -----
        GraphPartWarning
            If the threshold is far from the one that separates near pairs from far pairs best, so that clusters chain
            together or split. Thresholds for near copies, of which there are few, are not warned of.

        Notes
        -----
        All pairs take O(n^2 d) time. Up to 3000 elements, they are one matrix. Of more, near pairs are listed, and
        others cost a constant, or less in large clusters. Of an element with many near pairs, some tens are drawn,
        always the same ones, and cost so much more that the expected cost within clusters is that of all pairs. With
        `n_neighbors`, the drawn pairs represent all pairs that are not listed. Neighbours are found by a tree in up to
        12 dimensions; in more, by all distances, or approximately by pynndescent, if it is installed, from 50,000
        elements on.

        Bounds of more than 3000 elements are far below the cost: they look at few pairs at once, and are as low as if
        each near pair were half joined. This says nothing against the clusters. To see how good these are, look at
        :func:`graphpart.partition.doubts`, or compare with known classes.

        Examples
        --------
        >>> import graphpart as gp
        >>> X = [[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1], [1.0, 0.05]]
        >>> gp.solve(gp.SetPartition.from_embeddings(X)).labels.tolist()
        [0, 0, 1, 1, 1]
        """
        from graphpart.partition.inputs.embeddings import costs_of_points, count_of

        if nodes is None and hasattr(getattr(X, "index", None), "tolist"):
            nodes = X.index.tolist()
        matrix, listed, others, words = costs_of_points(X, threshold, n_neighbors, metric)
        if matrix is not None:
            p = cls._of_symmetric(names_of(nodes, len(matrix)), matrix, {"dense": True, **options}, zeros=True)
        else:
            names = names_of(nodes, count_of(X))
            p = cls.__new__(cls)._build(names, listed, {"dense": False, **others, **options})
        p._told = {"threshold": words}
        return p

    @classmethod
    def from_splink(cls, predictions: Any, *, missing: float | None = None, **options: Any) -> Self:
        """Build a problem from the predictions of splink: the cost of a pair is the negative match weight.

        Parameters
        ----------
        predictions : SplinkDataFrame, or data frame of any library
            What ``linker.inference.predict()`` returns. If there are columns of source datasets, an element is the
            tuple of the name of its dataset and its identifier.
        missing : float, optional
            The cost of a pair without a prediction. By default it is derived from the predictions, see
            :meth:`from_frame`.
        **options
            Further options of :meth:`from_frame`, such as `nodes`, `together` and `apart`.

        Raises
        ------
        InvalidProblem
            If a column is missing.

        Notes
        -----
        The match weight is the base-2 logarithm of the odds of a match, as are the costs of
        :func:`graphpart.costs_from_probabilities`, up to the sign. Predict with a low threshold, such as
        ``threshold_match_weight=-10``: pairs that probably do not match keep clusters apart.

        Examples
        --------
        >>> import graphpart as gp
        >>> scored = {"unique_id_l": [1, 1, 2], "unique_id_r": [2, 3, 3], "match_weight": [5.0, 1.0, -4.0]}
        >>> gp.solve(gp.SetPartition.from_splink(scored)).labels.tolist()
        [0, 0, 1]
        """
        from graphpart.partition.inputs.frames import table_of

        if hasattr(predictions, "as_pyarrow_table"):
            predictions = predictions.as_pyarrow_table()
        table = table_of(predictions)
        ends = [next((x for x in table.columns if str(x).endswith(side)), "") for side in ("id_l", "id_r")]
        for name in ("match_weight", "unique_id_l" if not all(ends) else "match_weight"):
            if name not in table.columns:
                raise InvalidProblem(f"{no_column(name, table.columns)}; predictions of splink have it")
        if "source_dataset_l" not in table.columns:
            return cls.from_frame(predictions, *ends, weight="match_weight", missing=missing, **options)
        left, right = (
            list(zip(*(_values(table, column) for column in (f"source_dataset_{side}", end)), strict=True))
            for side, end in zip("lr", ends, strict=True)
        )
        rows = {"left": left, "right": right, "match_weight": table.numbers("match_weight")}
        return cls.from_frame(rows, "left", "right", weight="match_weight", missing=missing, **options)

    def to_scipy(self) -> Any:
        """The costs of the listed pairs as a symmetric ``scipy.sparse`` array in rows, of shape (n, n).

        Required pairs have the cost ``inf`` (apart) or ``-inf`` (together). The costs of a background are in listed
        pairs only. ``SetPartition.from_scipy`` takes it back.

        Examples
        --------
        >>> import graphpart as gp
        >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0])
        >>> p.to_scipy().toarray().tolist()
        [[0.0, -2.0, 0.0], [-2.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        from scipy.sparse import coo_array

        u, v, cost = self._listed()
        joins = self.must_join
        if len(joins):
            required = np.isin(u * np.int64(self.n) + v, joins[:, 0] * np.int64(self.n) + joins[:, 1])
            u, v, cost = u[~required], v[~required], cost[~required]
            u, v = np.concatenate([u, joins[:, 0]]), np.concatenate([v, joins[:, 1]])
            cost = np.concatenate([cost, np.full(len(joins), -np.inf)])
        rows, columns = np.concatenate([u, v]), np.concatenate([v, u])
        return coo_array((np.concatenate([cost, cost]), (rows, columns)), shape=(self.n, self.n)).tocsr()


def _values(table: Table, column: Hashable) -> list[Hashable]:
    """The values of a column."""
    codes, _, names = table.encode(column, column)
    return [names[k] for k in codes.tolist()]
