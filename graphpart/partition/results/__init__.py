"""Where methods begin and end.

`starts` completes the partition that a method starts from, and repairs it. `finish` turns the labels of a method into
its result.
"""
