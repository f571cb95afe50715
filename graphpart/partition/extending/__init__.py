"""An old partition for a problem that has changed.

`extend` is the public function; it solves the problem near changes. `frozen` places new elements without changing old
clusters. `solver` runs the method on the problem that is left. `old` reads the old partition, finds what has changed,
and gives clusters their old labels.
"""
