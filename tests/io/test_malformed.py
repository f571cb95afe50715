"""One file for each way to be wrong: the error names the line, what was found and what was expected."""

import resource
from pathlib import Path

import pytest

import graphpart as gp

FOLDER = Path(__file__).resolve().parent.parent / "data" / "malformed"

# file, line, what the message says
WRONG = [
    ("empty.cplib", None, "the file is empty: expected the number of elements n"),
    ("blank.cplib", None, "the file is empty: expected the number of elements n"),
    ("word.cplib", 1, "found 'three': expected the number of elements n"),
    ("negative-n.cplib", 1, "found '-3': expected the number of elements n"),
    ("fraction-n.cplib", 1, "found '2.5': expected the number of elements n"),
    ("too-few.cplib", 3, "the file ends after 5 weights: expected 6"),
    ("too-many.cplib", 4, "found '4' after the last number: expected 3 weights for 3 elements"),
    ("nan.cplib", 3, "found 'nan': expected a number, inf or -inf"),
    ("overflow.cplib", 2, "found '1e400': expected a number of a magnitude below 1.8e308"),
    ("sum-overflow.cplib", None, "the sum of absolute costs overflows"),
    ("comma.cplib", 2, "found '1,2': expected a number"),
    ("hex.cplib", 2, "found '0x10': expected a number"),
    ("huge-header.cplib", 1, "found '1000000000000': expected the number of elements n, from 0 to"),
    ("large-header.cplib", 2, "the file ends after 3 weights: expected 1999999999000000000"),
    ("binary.cplib", 1, "expected the number of elements n"),
    ("empty.gr", None, "the file ends without a header: expected p cep n m"),
    ("comments-only.gr", None, "the file ends without a header"),
    ("no-header.gr", 1, "found '1 2': expected the header p cep n m"),
    ("tree-width.gr", 1, "found 'p tw 3 2': expected the header p cep n m"),
    ("header-short.gr", 2, "found 'p cep 3': expected the header p cep n m"),
    ("negative-m.gr", 1, "found 'p cep 3 -1': expected the header p cep n m"),
    ("impossible-m.gr", 1, "4 edges between 3 elements: expected at most 3"),
    ("huge-header.gr", 1, "1000000000000 elements announced: expected a problem that fits into memory"),
    ("too-few.gr", 1, "3 edges announced, 2 found: expected equal numbers"),
    ("too-many.gr", 4, "found an edge after the last of 1: expected the end of the file"),
    ("out-of-range.gr", 4, "found '4': expected an element from 1 to 3, in a line u v"),
    ("zero.gr", 2, "found '0': expected an element from 1 to 3"),
    ("loop.gr", 3, "found element '3' paired with itself: expected two different elements"),
    ("twice.gr", 6, "edge 2 1 is there twice: expected each edge once"),
    ("weight.gr", 2, "found '5' at the end of the line: expected u v and nothing else"),
    ("one-end.gr", 3, "the line ends early: expected u v"),
    ("fraction.gr", 3, "found '1.0': expected an element from 1 to 3"),
    ("empty.multicut", 1, "found the end of the file: expected the line MULTICUT"),
    ("no-header.multicut", 1, "found '0 1 2.0': expected the line MULTICUT"),
    ("other-header.multicut", 1, "found 'MULTICUTS': expected the line MULTICUT"),
    ("short-line.multicut", 3, "the line ends early: expected i j w"),
    ("long-line.multicut", 2, "found '7' at the end of the line: expected i j w and nothing else"),
    ("loop.multicut", 4, "found element '2' paired with itself"),
    ("negative.multicut", 2, "found '-1': expected an element from 0 to 2147483645, in a line i j w"),
    ("leading-zero.multicut", 2, "found '01': expected an element"),
    ("nan.multicut", 2, "found 'nan': expected a number, inf or -inf"),
    ("overflow.multicut", 2, "found '-1e309': expected a number of a magnitude below 1.8e308"),
    ("word.multicut", 2, "found 'one': expected a number"),
    ("huge-element.multicut", 2, "found '1000000000000': expected an element from 0 to"),
    ("very-huge-element.multicut", 2, "found '99999999999999999999999': expected an element"),
    ("gap.multicut", None, "1 pairs of elements up to 2000000000: expected elements without large gaps"),
    ("contradiction.multicut", None, "0 and 2 must be cut, but required joins connect them"),
    ("binary.multicut", 2, "expected an element"),
    ("endless-line.multicut", 2, "without an end within 65536 bytes: expected i j w"),
    ("sum-overflow.multicut", None, "the sum of weights overflows: expected weights of a smaller magnitude"),
    ("empty.metis", None, "the file ends without a header: expected n m 1"),
    ("comments-only.metis", None, "the file ends without a header"),
    ("unweighted.metis", 1, "found '3 2': expected weights of edges and none of elements"),
    ("element-weights.metis", 1, "found '2 1 11': expected weights of edges and none of elements"),
    ("header.metis", 1, "found '2 one 1': expected the header n m 1"),
    ("impossible-m.metis", 1, "2 elements with 5 edges"),
    ("huge-header.metis", 1, "1000000000000 elements with 1 edges"),
    ("large-header.metis", 1, "2000000000 elements announced, 2 lines found: expected one for each"),
    ("line-missing.metis", 1, "3 elements announced, 2 lines found: expected one for each"),
    ("line-more.metis", 7, "after the last number: expected 1 edges, each twice"),
    ("line-beyond.metis", 1, "2 elements with 2 edges"),
    ("row-beyond.metis", 5, "found a line after those of 3 elements: expected the end of the file"),
    ("weight-missing.metis", 3, "a neighbour without a weight: expected v w v w ..."),
    ("out-of-range.metis", 3, "found 3: expected a neighbour from 1 to 2"),
    ("zero.metis", 2, "found 0: expected a neighbour from 1 to 2"),
    ("fraction.metis", 3, "found 1.5: expected a neighbour from 1 to 2"),
    ("loop.metis", 2, "element 1 is its own neighbour: expected another element"),
    ("one-way.metis", 3, "element 2 has neighbour 3, but 3 does not have 2: expected each edge in both lines"),
    ("unequal.metis", 3, "neighbour 1 with weight 1.5, but 1 has 2 with weight 1: expected equal weights"),
    ("twice.metis", 2, "element 1 names 2 twice: expected each neighbour once"),
    ("count.metis", 1, "2 edges announced, 1 found: expected equal numbers"),
    ("nan.metis", 2, "found 'nan': expected a number, inf or -inf"),
    ("empty.csv", None, "the file is empty: expected the header u,v,cost or u,v,weight or u,v,sign"),
    ("no-header.csv", 1, "found 'a,b,2.5': expected the header"),
    ("other-header.csv", 1, "found 'u,v,distance': expected the header"),
    ("semicolon.csv", 1, "found 'u;v;cost': expected the header"),
    ("semicolon-later.csv", 3, "found 1 fields: expected u,v,number"),
    ("short-line.csv", 3, "found 2 fields: expected u,v,number"),
    ("long-line.csv", 3, "found 4 fields: expected u,v,number"),
    ("decimal-comma.csv", 2, "found 4 fields: expected u,v,number"),
    ("cost-missing.csv", 2, "found '': expected a number"),
    ("name-missing.csv", 3, "found an empty name"),
    ("word.csv", 3, "found 'two': expected a number"),
    ("underscore.csv", 2, "found '1_000': expected a number"),
    ("nan.csv", 4, "found 'NaN': expected a number"),
    ("overflow.csv", 2, "found '1e999': expected a number of a magnitude below 1.8e308"),
    ("loop.csv", 3, "1 is paired with itself: expected two different elements"),
    ("loop-names.csv", 3, "'b' is paired with itself: expected two different elements"),
    ("quote-open.csv", 4, "unexpected end of data: expected u,v,number"),
    ("quote-inside.csv", 2, "expected u,v,number"),
    ("contradiction.csv", None, "'a' and 'b' must be cut, but required joins connect them"),
    ("latin-1.csv", 2, r"found 'M\udcfcller': expected UTF-8 text"),
    ("sign.csv", 3, "found 0: expected the sign 1 or -1"),
    ("sign-later.csv", 3, "found 3: expected the sign 1 or -1"),
    ("sign-bom.csv", 2, "found 'one': expected a number"),
    ("sign-names.csv", 3, "found 0.5: expected the sign 1 or -1"),
    ("utf-16.csv", None, "the text is UTF-16: expected UTF-8"),
    ("empty.json", 1, "expected JSON; at column 1: no value"),
    ("truncated.json", 2, "expected JSON; at column"),
    ("list.json", None, "found a list: expected an object"),
    ("no-nodes.json", None, "nodes is missing: expected an object"),
    ("no-edges.json", None, "edges is missing: expected an object"),
    ("directed.json", None, "the graph is directed: expected an undirected one"),
    ("cost-missing.json", None, "the cost of edges[0] is missing: expected a number"),
    ("cost-text.json", None, "the cost of edges[0] is 'high': expected a number"),
    ("cost-true.json", None, "the cost of edges[0] is True: expected a number"),
    ("nan.json", None, "the cost of edges[0] is nan: expected a number"),
    ("overflow.json", None, "expected a number of a magnitude below 1.8e308"),
    ("loop.json", None, "edges[0] joins 1 with itself: expected different nodes"),
    ("twice.json", None, "edges[1] is there twice: expected each pair once"),
    ("unknown-node.json", None, "the target of edges[0] is 'b': expected the id of a node"),
    ("source-missing.json", None, "the source of edges[0] is missing: expected the id of a node"),
    ("edge-number.json", None, "edges[0] is a number: expected an object"),
    ("node-twice.json", None, "nodes[1] has the id 'a' of an earlier node"),
    ("node-object.json", None, "the id of nodes[0] is {'x': 1}: expected text or a number"),
    ("node-bare.json", None, "nodes[0] is 1: expected an object with id"),
    ("sense.json", None, "sense is 2: expected 1 (minimise) or -1 (maximise)"),
    ("deep.json", None, "expected JSON"),
    ("latin-1.json", 1, r"found b'\xfc': expected UTF-8 text"),
    ("empty.npy", None, "the file has no header of a NumPy array"),
    ("text.npy", None, "the file has no header of a NumPy array"),
    ("version.npy", None, "the file has version (9, 0) of the format: expected a NumPy array of numbers"),
    ("truncated-header.npy", None, "the file has no header of a NumPy array"),
    ("truncated.npy", None, "the file ends after 27 bytes of the array: expected 32"),
    ("surplus.npy", None, "found bytes after the array: expected the end of the file"),
    ("vector.npy", None, "the array has shape (2,): expected a square matrix"),
    ("not-square.npy", None, "the array has shape (2, 3): expected a square matrix"),
    ("asymmetric.npy", None, "matrix[0, 1] is 1.0 but matrix[1, 0] is 2.0: expected a symmetric matrix"),
    ("nan.npy", None, "matrix[0, 1] is nan: expected a number"),
    ("complex.npy", None, "the file has the dtype <c16: expected a NumPy array of numbers"),
    ("text-array.npy", None, "expected real numbers"),
    ("structured.npy", None, "the file has the dtype of a structure: expected a NumPy array of numbers"),
    ("objects.npy", None, "the file holds Python objects, which are not read: expected a NumPy array of numbers"),
    ("huge-header.npy", None, "a dense problem with 1000000000000 elements needs a matrix"),
    ("large-header.npy", None, "the file ends after 0 bytes of the array: expected 3200000000"),
    ("negative.npy", None, "the file has no header of a NumPy array"),
    ("code.npy", None, "the file has no header of a NumPy array"),
    ("empty.npz", None, "the archive is damaged (File is not a zip file"),
    ("text.npz", None, "the archive is damaged (File is not a zip file"),
    ("truncated.npz", None, "the archive is damaged"),
    ("flipped.npz", None, "the archive is damaged (Bad CRC-32"),
    ("none.npz", None, "found the arrays none: expected matrix, or n, u, v, cost"),
    ("missing.npz", None, "found the arrays n, u, v: expected matrix, or n, u, v, cost"),
    ("unknown.npz", None, "found the array 'weight': expected some of matrix, n, u, v, cost"),
    ("lengths.npz", None, "u, v, cost have 1, 1, 2 entries: expected equal numbers"),
    ("out-of-range.npz", None, "pair 0 is (0, 2): expected indices from 0 to 1"),
    ("loop.npz", None, "pair 0 is (1, 1): expected two different elements"),
    ("nan.npz", None, "pair 0 is (0, 1) with cost nan"),
    ("fractions.npz", None, "u has dtype float64: expected integers"),
    ("matrix-shape.npz", None, "matrix has shape (2, 3): expected (n, n)"),
    ("n-shape.npz", None, "n has shape (1,): expected ()"),
    ("n-negative.npz", None, "n is -1: expected 0 to"),
    ("huge-n.npz", None, "n is 1000000000000: expected 0 to"),
    ("nodes.npz", None, "2 nodes for 3 elements: expected one name for each"),
    ("nodes-twice.npz", None, "node 'a' is named twice"),
    ("join-range.npz", None, "must_join names elements 0 to 5: expected 0 to 1"),
    ("contradiction.npz", None, "0 and 1 must be cut, but required joins connect them"),
    ("sense.npz", None, "sense is 3: expected 1 (minimise) or -1 (maximise)"),
    ("offset.npz", None, "offset is inf: expected a finite number"),
    ("objects.npz", None, "matrix holds Python objects, which are not read: expected a NumPy array of numbers"),
    ("huge-header.npz", None, "u promises an array of 4e+03 GB: expected one that fits"),
    ("bomb.npz", None, "a dense problem with 1000000 elements needs a matrix of 8e+03 GB"),
    ("bomb-surplus.npz", None, "found bytes after the array matrix: expected its end"),
    ("truncated.multicut.gz", None, "the gzip data are damaged or truncated"),
    ("damaged.multicut.gz", None, "the gzip data are damaged or truncated"),
    ("text-in-gzip.gr.gz", 3, "found '9': expected an element from 1 to 2"),
    ("unknown.txt", None, "neither suffix nor content tell the format: expected one of npz"),
    ("empty.txt", None, "the file is empty"),
    ("binary.bin", None, "neither suffix nor content tell the format"),
    ("sniffed.txt", 2, "found 'x': expected a number"),
]


@pytest.mark.parametrize(("name", "line", "text"), WRONG, ids=[name for name, _, _ in WRONG])
def test_file(name: str, line: int | None, text: str) -> None:
    path = FOLDER / name
    with pytest.raises((gp.FormatError, gp.InfeasibleProblem)) as caught:
        gp.read(path)
    place = str(path) if line is None else f"{path}:{line}"
    message = str(caught.value)
    assert message.startswith(f"{place}: ")
    assert text in message
    assert "\n" not in message


def test_every_file_is_in_the_table() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(name for name, _, _ in WRONG)


@pytest.mark.parametrize("name", [name for name, _, _ in WRONG if "huge" in name or "large" in name or "bomb" in name])
def test_no_header_makes_memory(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(gp.FormatError):
        gp.read(FOLDER / name)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10  # KiB


def test_a_feather_file_is_no_table_of_texts(tmp_path):
    (tmp_path / "pairs.feather").write_bytes(b"ARROW1\0\0\xff\xff\xff\xff\x88\x03")
    with pytest.raises(gp.FormatError, match=r"a Feather file: expected CSV or Parquet, as pandas\.read_feather"):
        gp.read(tmp_path / "pairs.feather", left="a", right="b", cost="c")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
@pytest.mark.parametrize("columns", [{}, {"probability": "p"}])
def test_other_encodings_and_lists_name_the_way_out(tmp_path, encoding: str, columns: dict[str, str]) -> None:
    path = tmp_path / "pairs.csv"
    mark = "\ufeff".encode(encoding) * (encoding == "utf-16-be")
    path.write_bytes(mark + "a,b,p\nx,y,0.9\n".encode(encoding))
    with pytest.raises(gp.FormatError, match=r"is UTF-16: expected UTF-8.*pandas.read_csv\(path, encoding=.utf-16"):
        gp.read(path, **columns)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (
            "pairs.tsv",
            "a\tb\tp\nx\ty\t0.9\n",
            r"separated by tabs: expected commas.*read_csv\(path, sep=..t.\)",
        ),
        (
            "edges.txt",
            "x y\ny z\n",
            r"name its columns: gp.read\(path, left=.*; networkx.read_edgelist reads lists of edges",
        ),
        ("pairs.dat", "a,b,p\nx,y,0.9\n", r"of a table of pairs, name its columns: gp.read\(path, left=..., "),
    ],
)
def test_tables_of_other_suffixes(tmp_path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(gp.FormatError, match=f"neither suffix nor content tell the format.*{says}"):
        gp.read(tmp_path / name)
    if "," in text:
        assert gp.read(tmp_path / name, probability="p").n == 2
