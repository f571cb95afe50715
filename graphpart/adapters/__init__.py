"""Objects of other programs as arrays, and arrays as objects of other programs: one file for each program.

Nothing here knows problems or results; these call it: `FactorGraph.from_pgmpy`, `from_bqm` and `to_bqm`,
`PartitionResult.to_igraph`. A program is imported when it is needed, and only to make its objects: to read an object,
its own methods are enough.
"""
