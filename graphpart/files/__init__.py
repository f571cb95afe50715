"""Files, but not of problems: tools for reading and writing any format, and files of labels and certificates.

`source` opens, decompresses and replaces files. `text`, `stream` and the kernel `_text` read and write numbers in
texts, `json_values` reads JSON, `arrays` NumPy's formats. `certificates` reads and writes proofs, `labels` the labels
of a result, `checkpoint` these and a bound. The formats of problems, in `graphpart.io`, build on this room, which
imports neither them nor solvers.
"""
