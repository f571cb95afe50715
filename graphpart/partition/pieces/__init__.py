"""Smaller problems that together are the whole one.

`components` are connected by pairs with a cost, `blocks` share no more than one element with each other, and a
`contraction` makes one element of each set of elements.
"""
