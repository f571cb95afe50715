"""Files without problems: what reading and writing any format needs, and what solvers save and load themselves.

`source` opens, decompresses and replaces files; `text`, `stream` and the kernel `_text` are about numbers in texts,
`json_values` about JSON, `arrays` about NumPy's formats, `certificates` about proofs. `labels` reads and writes the
labels of a result. The formats of problems, in `graphpart.io`, build on this room; it imports neither them nor solvers.
"""
