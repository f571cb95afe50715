"""Public instances from a local server into a folder: checksums, archives, no network, no pooch."""

import gzip
import hashlib
import io
import socket
import sys
import tarfile
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import graphpart as gp
from graphpart.datasets import registry

pytest.importorskip("pooch")

GRAPH = b"p cep 4 3\n1 2\n2 3\n3 4\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        self.server.asked.append(self.path)


@pytest.fixture
def site(tmp_path):
    """A server of a folder: (the folder, its address, what was asked for)."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}/", server.asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def known(monkeypatch):
    """Replaces the fields of a name of the registry."""
    table = dict(registry._table())
    monkeypatch.setattr(registry, "_table", lambda: table)

    def change(name, **fields):
        table[name] = replace(table[name], **fields)

    return change


def published(site, name, data):
    folder, address, _ = site
    (folder / name).write_bytes(data)
    return {"address": address + name, "sha256": hashlib.sha256(data).hexdigest()}


def test_the_registry():
    assert len(gp.datasets.names()) == len(set(gp.datasets.names())) > 100
    for name in gp.datasets.names():
        one = gp.datasets.info(name)
        assert one.address.startswith("https://") and one.licence and one.source
        assert len(one.sha256) == 64 or (one.elements and one.pairs)
        assert not one.proven or one.best is not None
        assert one.kind in ("lifted", "maxcut", "pace", "signs", "weights")
    with pytest.raises(gp.InvalidOption, match=r"no public instance is called 'gset-G01'.*did you mean 'gset-G1'"):
        gp.datasets.fetch("gset-G01")
    with pytest.raises(gp.InvalidOption, match=r"family is 'g-sets': expected one of .*did you mean 'G-set'"):
        gp.datasets.names("g-sets")


def test_downloaded_once_and_checked(site, known, tmp_path, monkeypatch):
    known("pace-heur001", **published(site, "heur001.gr", GRAPH))
    p = gp.datasets.fetch("pace-heur001", tmp_path / "kept")
    assert p.n == 4 and gp.solve(p).objective == 1
    monkeypatch.setenv("GRAPHPART_DATA", str(tmp_path / "kept"))
    assert gp.datasets.fetch("pace-heur001").n == 4
    assert gp.datasets.file("pace-heur001").read_bytes() == GRAPH
    assert len(site[2]) == 1
    (site[0] / "heur001.gr").write_bytes(GRAPH + b"1 3\n")
    with pytest.raises(gp.FormatError, match=r"the checksum of what http.* gives is not [0-9a-f]{64}: it is another"):
        gp.datasets.fetch("pace-heur001", tmp_path / "other")


def test_a_file_of_an_archive(site, known, tmp_path):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        entry = tarfile.TarInfo("some/folder/exact001.gr")
        entry.size = len(GRAPH)
        archive.addfile(entry, io.BytesIO(GRAPH))
    address = published(site, "exact.tar.gz", stream.getvalue())["address"]
    known("pace-exact001", address=address, sha256=hashlib.sha256(GRAPH).hexdigest())
    known("pace-exact003", address=address)
    assert gp.datasets.fetch("pace-exact001", tmp_path).n == 4
    with pytest.raises(gp.FormatError, match=r"has no file exact003\.gr: expected an archive with it"):
        gp.datasets.fetch("pace-exact003", tmp_path)
    assert len(site[2]) == 1
    (tmp_path / "exact001.gr").write_bytes(b"other")
    with pytest.raises(gp.FormatError, match=r"its checksum is .*: expected .*; remove it to load it anew"):
        gp.datasets.fetch("pace-exact001", tmp_path)


def test_other_kinds(site, known, tmp_path):
    known("gset-G1", address=published(site, "G1", b"3 2\n1 2 1\n2 3 -1\n")["address"], elements=3, pairs=2)
    f = gp.datasets.fetch("gset-G1", tmp_path)
    assert gp.solve(f).objective == 1
    known("gset-G1", elements=4)
    with pytest.raises(gp.FormatError, match="3 elements and 2 pairs: expected 4 and 2"):
        gp.datasets.fetch("gset-G1", tmp_path)
    rows = b"7,2,10,1289241911.7\n2,7,-1,1289241942\n2,9,-3,1\n9,9,1,1\n"
    known("signed-bitcoin-otc", **published(site, "otc.csv.gz", gzip.compress(rows)))
    p = gp.datasets.fetch("signed-bitcoin-otc", tmp_path)
    assert list(p.nodes) == [2, 7, 9] and p.evaluate([0, 0, 1]) == -9 and p.evaluate([0, 1, 0]) == 3
    known("signed-epinions", **published(site, "e.txt.gz", gzip.compress(b"# Nodes: 2\n0\t1\t-1\n")))
    assert gp.datasets.fetch("signed-epinions", tmp_path).evaluate([0, 0]) == 1
    known("multicut-A-small", **published(site, "download", b"0 1 2.5\n1 2 -1\n"))
    p = gp.datasets.fetch("multicut-A-small", tmp_path)
    assert p.objective(p.evaluate([0, 0, 1])) == -1
    stream = io.BytesIO()
    arrays = {"local_uvs": np.array([[0, 1], [1, 2]], np.uint64), "lifted_uvs": np.array([[0, 2]], np.uint64)}
    np.savez(stream, n_nodes=3, local_costs=np.array([1.0, 1.0]), lifted_costs=np.array([-3.0]), **arrays)
    known("lifted-multicut-2d", **published(site, "lifted", stream.getvalue()))
    p = gp.datasets.fetch("lifted-multicut-2d", tmp_path)
    assert p.objective(p.evaluate([0, 1, 1])) == -2 and gp.solve(p, method="brute-force").objective == -2


def test_without_a_network_or_pooch(known, tmp_path, monkeypatch):
    with socket.socket() as taken:  # nobody answers there
        taken.bind(("127.0.0.1", 0))
        known("pace-heur020", address=f"http://127.0.0.1:{taken.getsockname()[1]}/heur020.gr")
        with pytest.raises(gp.DownloadFailed, match=r"cannot load http.*heur020\.gr: .*put the file there as"):
            gp.datasets.fetch("pace-heur020", tmp_path)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(gp.MissingDependency, match=r"needs the package pooch: pip install 'graphpart\[datasets\]'"):
        gp.datasets.fetch("pace-heur020", tmp_path)
