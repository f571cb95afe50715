"""Brute force: all partitions of a few elements. Solvers that take a problem apart leave small pieces to it."""
