# Nothing for Python: a kernel for `_search`.
