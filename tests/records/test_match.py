"""Records of persons with known truth, through Python and the command line; kinds of columns; mistakes."""

import json
import pickle
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import graphpart as gp
from graphpart.cli import main
from graphpart.records import matching, scoring
from graphpart.records.columns import Column, blocking_rules, kind_of
from graphpart.records.scoring import record_table

pytest.importorskip("splink")
pd = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

ON = ["given", "surname", "birth", "street", "phone"]


@pytest.fixture(scope="module")
def people():
    columns, person = gp.generate.person_records(400, seed=2)
    frame = pd.DataFrame(columns)
    frame["key"] = [f"r{k}" for k in range(len(frame))]
    frame["list"] = np.arange(len(frame)) % 2
    return frame, person


@pytest.fixture(scope="module")
def matched(people):
    return gp.match(people[0], ON, id="key")


def test_weights_are_learned_again_from_clusters(people, matched):
    """Fields of a family agree together; parts of the weight still add up to it."""
    person, r = people[1], matched
    assert "weights learned again from the clusters" in r.message
    parts = np.sum(
        [np.nan_to_num(r.scores.column(x).to_numpy()) for x in r.scores.column_names if x[:3] == "mw_"], axis=0
    )
    rest = r.scores.column("match_weight").to_numpy() - parts
    assert np.ptp(rest) < 1e-5
    assert gp.metrics.compare(person, r.labels).joins_f1 > 0.97
    u, v, cost = r.problem.pairs()
    weights = dict(
        zip(
            zip(*(r.scores.column(s).to_pylist() for s in ("left", "right")), strict=True),
            r.scores.column("match_weight").to_pylist(),
            strict=True,
        )
    )
    nodes = r.problem.nodes
    for a, b, c in zip(u.tolist(), v.tolist(), cost.tolist(), strict=True):
        one = weights.get((nodes[a], nodes[b]), weights.get((nodes[b], nodes[a])))
        assert c == pytest.approx(-one, abs=1e-9)


def test_answers_decide_and_questions_have_records(people, matched, tmp_path):
    frame, r = people[0], matched
    asked = gp.questions(r.problem, r, 5)
    assert list(asked.columns[:4]) == ["left", "right", "given_left", "given_right"] and "key_left" not in asked
    row = {name: k for k, name in enumerate(frame["key"])}
    assert asked["street_left"].tolist() == [frame["street"][row[name]] for name in asked["left"]]
    doubts = gp.partition.doubts(r.problem, r, method="local-search").to_frame()
    assert {"match_probability", "mw_given", "chance"} <= set(doubts.columns)
    said = asked.assign(answer=["apart" if word == "together" else "together" for word in asked["decision"]])
    said.to_csv(tmp_path / "answers.csv", index=False)
    s = gp.match(frame, ON, id="key", answers=tmp_path / "answers.csv")
    label = dict(zip(s.nodes, s.labels.tolist(), strict=True))
    for left, right, word in zip(said["left"], said["right"], said["answer"], strict=True):
        assert (label[left] == label[right]) == (word == "together")
    assert s.message.count("5 answers: ") == 1
    assert np.array_equal(
        s.labels, gp.solve(r.problem, answers=said, initial=r).labels
    )  # the weights are those without answers


def test_weights_are_learned_from_answers(people, matched):
    frame, person = people
    r = matched
    truth = dict(zip(frame["key"], person, strict=True))
    asked = gp.questions(r.problem, r, 30)
    same = [truth[a] == truth[b] for a, b in zip(asked["left"], asked["right"], strict=True)]
    said = asked.assign(answer=np.where(same, "together", "apart"))
    s = r.learned(said)
    f1 = [gp.metrics.compare(person, x.labels).joins_f1 for x in (r, s, gp.solve(r.problem, answers=said))]
    assert f1[1] > max(f1[0], f1[2] - 0.005) and "weights learned from answers; 30 answers" in s.message
    together = dict(zip(s.nodes, s.labels.tolist(), strict=True))
    for left, right, word in zip(said["left"], said["right"], said["answer"], strict=True):
        assert (together[left] == together[right]) == (word == "together")
    weights = s.scores.column("match_weight").to_numpy()
    free = s.problem.pairs()[2]
    assert np.isin(free[np.isfinite(free)].round(6), (-weights).round(6)).mean() > 0.99
    assert s.learned(said).cost == pytest.approx(s.cost)  # from the first weights, not twice
    again = gp.match(frame, ON, id="key", pairs=pyarrow.Table.from_pandas(said))
    assert again.cost == pytest.approx(s.cost) and again.first is not None
    with pytest.raises(gp.InvalidProblem, match="a result that was pickled is without its records"):
        pickle.loads(pickle.dumps(r)).learned(said)
    evidence = r.learned(said, error=0.05)
    assert np.isfinite(evidence.problem.pairs()[2]).all()
    none = r.learned({"left": [], "right": [], "answer": []})
    assert none.n_clusters == pytest.approx(r.n_clusters, rel=0.1)  # present weights are learned again


def test_kinds_of_columns():
    assert kind_of(["2001-02-03", None, "1999-12-31"]) == "date"
    assert kind_of(["12345", "0815 33"]) == "code"
    assert kind_of(["m", "f"] * 200) == "category"
    assert kind_of(["Ann", "Bob Miller"]) == "name"
    assert kind_of(["a very long description of some product"]) == "text"
    assert kind_of([None]) == "name"


def test_rules_give_few_candidates(people):
    frame, _ = people
    rules = blocking_rules(frame, [Column(name, kind_of(frame[name])) for name in ON])
    assert rules and all(1 <= len(rule) <= 2 for rule in rules)


def test_clusters_scores_and_sources(people):
    frame, person = people
    lines = []
    r = gp.records.match(frame, ON, id="key", progress=lines.append)
    assert gp.metrics.compare(person, r.labels).joins_f1 > 0.8
    assert list(r.nodes) == frame["key"].tolist() and "birth as date" in r.message
    assert "birth (date)" in lines[0] and "rules" in lines[1]
    assert {"left", "right", "match_weight", "match_probability", "mw_birth"} < set(r.scores.column_names)
    one = gp.records.match(frame, ON, id="key", source="list")
    for cluster in one.clusters:
        assert len({int(key[1:]) % 2 for key in cluster}) == len(cluster) <= 2
    same = gp.records.match(frame, ON, id="key", groups="list")  # the same model
    assert same.scores.equals(one.scores) and np.array_equal(same.labels, one.labels)
    price = gp.records.match(frame, ON, id="key", groups="list", group_cost=5.0)
    assert price.scores.num_rows > one.scores.num_rows  # two of a group may be in one cluster, so they are compared
    asked = gp.questions(one.problem, one, 40)
    assert all(int(a[1:]) % 2 != int(b[1:]) % 2 for a, b in zip(asked["left"], asked["right"], strict=True))


def test_labelled_pairs(people):
    frame, person = people
    u, v = np.triu_indices(200, 1)
    same = person[u] == person[v]
    rows = [(f"r{a}", f"r{b}", 1) for a, b in zip(u[same], v[same], strict=True)]
    r = gp.records.match(frame, ON, id="key", pairs=pd.DataFrame(rows))
    assert gp.metrics.compare(person, r.labels).joins_f1 > 0.8
    for one in ([("r1", "nobody", 1)], np.array([["r1", "nobody", 1]], object)):
        with pytest.raises(gp.InvalidProblem, match="'nobody' is in pairs, but is the name of no record"):
            gp.records.match(frame, ON, id="key", pairs=one)
    with pytest.raises(gp.InvalidProblem, match="pairs has 'match' in row 0: expected together or apart, yes or no"):
        gp.records.match(frame, ON, id="key", pairs=[("r1", "r2", "match")])


def test_the_command_line(people, tmp_path, capsys):
    frame, person = people
    frame.to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "clusters.csv"
    assert main(["match", str(tmp_path / "people.csv"), "--on", ",".join(ON), "--id", "key", "-o", str(out)]) == 0
    assert "400 records" in capsys.readouterr().err
    said = {"left": ["r0", "r2", "r4"], "right": ["r1", "r3", "r5"], "answer": ["together", "apart", ""]}
    pd.DataFrame(said).to_csv(tmp_path / "said.csv", index=False)
    more = ["--id", "key", "--answers", str(tmp_path / "said.csv")]
    for learn, words in (([], ""), (["--learn"], "weights learned from answers; ")):
        assert main(["match", str(tmp_path / "people.csv"), "--on", ",".join(ON), *more, *learn]) == 0
        assert f"{words}3 answers: 1 together, 1 apart, 1 not known" in capsys.readouterr().err
    table = pd.read_csv(out)
    assert list(table.columns) == ["element", "cluster", "size"] and table["element"].tolist() == frame["key"].tolist()
    assert gp.metrics.compare(person, table["cluster"].to_numpy()).joins_f1 > 0.8


def test_mistakes(people, tmp_path, capsys):
    frame, _ = people
    with pytest.raises(gp.InvalidProblem, match=r"no column 'givn': expected one of .*did you mean 'given'"):
        gp.records.match(frame, ["givn"])
    with pytest.raises(gp.InvalidOption, match="on is 'given': expected the names of the columns"):
        gp.records.match(frame, "given")
    with pytest.raises(gp.InvalidOption, match="prior is 2: expected a share between 0 and 1"):
        gp.records.match(frame, ON, prior=2)
    halves = frame[::2], frame[1::2]
    for call in (lambda: gp.records.match(*halves), lambda: gp.records.match(list(halves), ON)):
        with pytest.raises(gp.InvalidOption, match=r"expected one table with a column of sources, .*pandas.concat"):
            call()
    with pytest.raises(gp.InvalidOption, match=r"on is None: expected the names .*; the table has 'given', 'surname'"):
        gp.records.match(frame)
    said = {"left": ["r1"], "right": ["r2"], "answer": ["maybe"]}
    with pytest.raises(gp.InvalidProblem, match="answers has 'maybe' in row 0"):
        gp.records.match(frame, ON, id="key", answers=said, progress=pytest.fail)  # before the comparison
    for wrong, message in (({"max_size": -1}, "max_size is -1"), ({"groups": "shop"}, "no column 'shop'")):
        with pytest.raises(gp.GraphPartError, match=message):
            gp.records.match(frame, ON, progress=pytest.fail, **wrong)
    begun = {"progress": sys.exit, "connected": True}  # no mistakes, although no pair is there before the comparison
    for right in ({"together": [("r1", "r2")]}, {"n_clusters": (1, 5)}):
        with pytest.raises(SystemExit):
            gp.records.match(frame, ON, id="key", **begun, **right)
    with pytest.raises(gp.InvalidOption, match=r"a list of texts: .* SetPartition.from_embeddings\(texts\)"):
        gp.records.match(["one title", "another"])
    (tmp_path / "empty.csv").write_text("")
    assert main(["match", str(tmp_path / "empty.csv"), "--on", "a"]) == 1
    assert "expected a CSV table with a header" in capsys.readouterr().err


def test_hints_of_the_command_line(people, tmp_path, capsys):
    path = str(tmp_path / "people.csv")
    people[0].rename(columns={"key": "id"}).to_csv(path, index=False)
    for wrong in (["--on", "givn"], ["--on", "given", "--id", "FILE"], ["--on", "given", "--source", "shop"]):
        assert main(["match", path, *wrong]) == 1
        error = capsys.readouterr().err
        assert f"no column '{wrong[-1]}': expected one of 'given', " in error and "__file" not in error
        assert "'FILE'" not in error.replace("no column 'FILE'", "")
    (tmp_path / "few.csv").write_text("id,given\nr1,Ann\n")  # too few, which is found after the hint
    assert main(["match", str(tmp_path / "few.csv"), "--on", "given"]) == 1
    assert "column 'id': --id id names records by it" in capsys.readouterr().err
    assert main(["match", str(tmp_path / "few.csv"), "--on", "given", "--id", "id"]) == 1
    assert "--id id" not in capsys.readouterr().err


def test_files_as_sources(tmp_path, capsys):
    columns, _ = gp.generate.person_records(120, seed=3)
    frame = pd.DataFrame(columns)
    paths = [str(tmp_path / f"{k}.csv") for k in range(2)]
    for k, path in enumerate(paths):
        frame[k::2].to_csv(path, index=False)
    out = tmp_path / "clusters.csv"
    assert main(["match", *paths, "--on", "given,surname,birth,street", "--source", "FILE", "-o", str(out)]) == 0
    capsys.readouterr()
    clusters = pd.read_csv(out)
    first = clusters["element"] < 60
    assert len(clusters) == 120 and clusters["size"].max() == 2
    assert not clusters[first]["cluster"].duplicated().any() and not clusters[~first]["cluster"].duplicated().any()


def test_texts_by_words():
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(400)])
    truth = np.repeat(np.arange(80), 2)
    texts = []
    for k in range(80):
        mine = [*rng.choice(words, 5, replace=False), f"model{k}"]
        texts += [" ".join(rng.permutation([*mine, "common", other])) for other in ("red", "blue")]
    frame = pd.DataFrame({"text": texts, "price": [f"{10 + k}.5" for k in truth], "shop": ["a", "b"] * 80})
    assert kind_of(frame["text"]) == "text" and kind_of(frame["price"]) == "number"
    r = gp.records.match(frame, ["text", "price"], source="shop")
    assert gp.metrics.compare(truth, r.labels).joins_f1 > 0.9
    assert ("text__rare",) in r.settings["blocking"]


def test_names_are_those_of_the_frame(people):
    frame, person = people
    mixed = frame.sample(frac=1, random_state=0)
    r = gp.records.match(mixed, ON)
    assert list(r.nodes) == mixed.index.tolist()
    assert gp.metrics.compare(person, r.to_series().reindex(frame.index).to_numpy()).joins_f1 > 0.8
    assert set(r.scores.column("left").to_pylist()) <= set(frame.index.tolist())
    twice = pd.concat([frame[:4], frame[:4]])
    with pytest.warns(gp.GraphPartWarning, match="the index of frame has 0 twice: records are named by their row"):
        r = gp.records.match(twice, ON, groups="key")  # a column, in which both of each pair are equal
    assert list(r.nodes) == list(range(8)) and r.n_clusters == 8


def test_missing_values_of_any_kind():
    frame = pd.DataFrame(
        {"a": ["x", None, " "], "b": [1.0, np.nan, 2.0], "c": pd.to_datetime(["2001-02-03", None, None])}
    )
    for data in (frame, frame.convert_dtypes(), frame.convert_dtypes(dtype_backend="pyarrow")):
        table, _, sources = record_table(data, ["a", "b", "c"], None, "a")
        assert table["a"].tolist() == ["x", None, None] and table["b"].tolist() == ["1", None, "2"]
        assert [None if x is None else x[:10] for x in table["c"]] == ["2001-02-03", None, None]
        assert sources[1] is None and len(sources) == 3


@pytest.fixture(scope="module")
def numbered():
    """Records of two sources with a year and a number, of which a few are wrong; the persons."""
    rng = np.random.default_rng(5)
    parts = np.array(["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "pa", "de"])
    n, person = 400, np.concatenate([np.arange(350), rng.choice(350, 150, replace=False)])
    names = {
        c: np.array(["".join(x) for x in rng.choice(parts, (n, k))], object) for c, k in (("first", 2), ("last", 3))
    }
    frame = pd.DataFrame({c: x[person] for c, x in names.items()})
    for c, low, high in (("year", 1930, 2005), ("phone", 10_000, 99_999)):
        known, wrong = rng.integers(low, high, n)[person], rng.random(len(person)) < 0.05
        frame[c] = np.where(wrong, rng.integers(low, high, len(person)), known)
    return frame.assign(list=np.where(np.arange(len(person)) < 350, "A", "B")), person


@pytest.fixture(scope="module")
def by_number(numbered):
    return gp.records.match(numbered[0], [*numbered[0]][:4], source="list")


def test_weights_are_bounded_by_what_the_counts_support(numbered, by_number):
    """No pair of one person has some levels; expectation maximisation alone gives them 10**-25 to 10**-400."""
    frame, person = numbered
    columns = {x: by_number.scores.column(x).to_numpy() for x in by_number.scores.column_names if x[:3] == "mw_"}
    least = np.log2(0.5 / (len(frame) + 2))  # half a pair in as many pairs as records, whatever random pairs have
    assert all(np.nanmin(part) > 1.5 * least for part in columns.values())  # factors are at most this large
    assert by_number.scores.column("match_weight").to_numpy().min() > 4 * least
    found = gp.metrics.compare(person, by_number.labels)
    assert found.joins_precision > 0.98 and found.joins_recall > 0.9


def test_levels_get_half_a_pair():
    """The estimate of Krichevsky and Trofimov, level by level; a fixed or unknown probability stays."""
    level = [SimpleNamespace(m_probability=m, _fix_m_probability=False) for m in (0.75, 0.25, 0.0, None, 0.5)]
    level[4]._fix_m_probability = True
    one = SimpleNamespace(_comparison_levels_excluding_null=level)
    settings = SimpleNamespace(core_model_settings=SimpleNamespace(comparisons=[one]))
    scoring._smooth(SimpleNamespace(_settings_obj=settings), 40)
    assert [x.m_probability for x in level] == [30.5 / 42.5, 10.5 / 42.5, 0.5 / 42.5, None, 0.5]


@pytest.mark.parametrize("kind", ["float", "text", "text with .0", "gaps", "shell"])
def test_whole_numbers_are_whole_however_they_are_written(numbered, by_number, tmp_path, capsys, kind):
    frame, on = numbered[0].copy(), [*numbered[0]][:4]
    if kind != "text":
        frame[on[2:]] = frame[on[2:]].astype(float)
    if kind[:4] == "text":
        frame[on[2:]] = frame[on[2:]].astype(str)
    if kind == "gaps":
        frame = pd.concat([frame, pd.DataFrame({"first": ["qq"], "last": ["xx"], "list": ["A"]})], ignore_index=True)
    if kind != "shell":
        r = gp.records.match(frame, on, source="list")
        assert r.settings["columns"] == by_number.settings["columns"]
        assert r.labels[:500].tolist() == by_number.labels.tolist() and (kind == "gaps" or r.cost == by_number.cost)
        return
    frame.to_csv(tmp_path / "people.csv", index=False)
    assert ".0," in (tmp_path / "people.csv").read_text()
    assert main(["match", str(tmp_path / "people.csv"), "--on", ",".join(on), "--source", "list", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["clusters"] == by_number.n_clusters and facts["cost"] == pytest.approx(by_number.cost)


def test_texts_of_columns():
    for given, wanted in (
        ([1.0, 2.5], ["1.0", "2.5"]), (["1.0", "2.00"], ["1.0", "2.00"]), (["1.0", "x"], ["1.0", "x"]),
        ([1973.0, 2001.0], ["1973", "2001"]), (["1973.0", " 2001", None], ["1973", "2001", None]),
        ([-1.0, np.nan], ["-1", None]), ([True, False], ["True", "False"]), ([None, None], [None, None]),
    ):  # fmt: skip
        assert scoring._texts(pd.Series(given)) == wanted


def test_nullable_columns_and_capitals_give_the_same_clusters(people):
    frame = people[0][:150][[*ON, "list"]]
    expected = gp.records.match(frame, ON, source="list").labels
    capitals = frame.convert_dtypes().assign(surname=frame["surname"].str.upper())
    for data in (capitals, frame.convert_dtypes(dtype_backend="pyarrow")):
        assert (gp.records.match(data, ON, source="list").labels == expected).all()


def test_one_column_few_rows_and_nothing_to_learn_from(people):
    titles = [
        f"{noun} {k} of {k * 7 % 101} long tales by {k % 13} writers" for k in range(100) for noun in ("book", "Book")
    ]
    with pytest.warns(gp.GraphPartWarning, match=r"from_embeddings\(frame\['title'\]\) compares all texts"):
        r = gp.records.match(pd.DataFrame({"title": titles}), ["title"])
    assert "too few columns or records to learn from" in r.message
    assert gp.metrics.compare(np.repeat(np.arange(100), 2), r.labels).joins_f1 > 0.9
    for n in (2, 3, 7):
        assert len(gp.records.match(people[0][:n], ON).labels) == n
        assert len(gp.records.match(people[0][:n], ["surname"]).labels) == n
    empty = pd.DataFrame({"a": [None] * 3, "b": [""] * 3})
    assert gp.records.match(empty, ["a", "b"]).n_clusters == 3
    apart = gp.records.match(pd.DataFrame({"a": ["x", "y"], "b": ["1", "2"]}), ["a", "b"])
    assert apart.n_clusters == 2 and len(apart.scores) == 0
    said = {"left": [0], "right": [1], "answer": ["yes"]}
    assert len(gp.questions(apart.problem, apart, answers=said)) == 0
    assert apart.learned(said).n_clusters == 1
    frame, how = pd.DataFrame({"a": ["x", "y"]}), "mutex-watershed"  # which takes no start
    assert gp.records.match(frame, ["a"], answers=said, method=how).n_clusters == 1


COPIES = np.repeat(np.arange(200), 3)
OF_ONE = {
    "email": [f"user{k}@x.com" for k in COPIES],
    "code": [100_000 + 7919 * int(k) % 900_000 for k in COPIES],
    "phone": [f"+49 {170 + k % 9} {k * 7654321 % 10**7:07d}" for k in COPIES],
    "title": [f"lamp model m{k} in s{k * 7 % 101} with t{k * 13 % 211} feet" for k in COPIES],
    "name": [f"lamp {k}" for k in COPIES],
    "brand": [f"brand {k % 40}" for k in COPIES],
    "price": [f"{10 + 0.75 * k:.2f}" for k in COPIES],
    "sex": ["mf"[k % 2] for k in COPIES],
}


@pytest.mark.filterwarnings("ignore:of one column of texts")
@pytest.mark.parametrize(
    "on", ["email", "code", "phone", "title", "name", "title brand", "title price", "name price", "email sex"]
)
def test_exact_copies_are_of_one_entity(on):
    """How rare a value is says nothing against its copies."""
    r = gp.records.match(pd.DataFrame(OF_ONE), on.split())
    assert gp.metrics.compare(COPIES, r.labels).joins_f1 == 1


def test_few_copies_among_many_records_are_of_one_entity():
    of = np.concatenate([np.arange(550), np.arange(50)])
    frame = pd.DataFrame({"mail": [f"p{k * 7919 % 99991}@m.de" for k in of], "sex": ["mf"[k % 2] for k in of]})
    for on in (["mail"], ["mail", "sex"]):
        assert gp.metrics.compare(of, gp.records.match(frame, on).labels).joins_f1 == 1


@pytest.mark.parametrize(("least", "email", "name"), [(0.8, 5, 7), (0.97, 20, 30), (0.99, 10**6, 10**6)])
def test_copies_of_which_values_are_missing(least, email, name):
    """Copies that lack a value do not say that different records agree often; nor does a column without values."""
    frame = pd.DataFrame(OF_ONE)[["email", "name"]]
    frame.loc[::email, "email"], frame.loc[::name, "name"] = None, None
    assert gp.metrics.compare(COPIES, gp.records.match(frame, ["email", "name"]).labels).joins_f1 >= least
    if least == 0.99:
        assert gp.records.match(frame.assign(fax=None), ["email", "fax"]).n_clusters == 201


def test_copies_against_all_pairs_of_rows():
    rng = np.random.default_rng(0)
    for n, columns, values in ((12, 2, 2), (30, 3, 3), (40, 4, 2)):
        frame = pd.DataFrame(rng.integers(values, size=(n, columns)).astype(str), columns=list("abcd")[:columns])
        frame = frame.mask(rng.random(frame.shape) < 0.3)
        rows = [{c: x for c, x in row.items() if isinstance(x, str)} for row in frame.to_dict("records")]
        found = matching._copies(frame)
        for k, row in enumerate(rows):
            within = [j for j, other in enumerate(rows) if row.items() <= other.items() and j != k]
            assert found[k] == (bool(row) and any(len(rows[j]) > len(row) or j < k for j in within))


@pytest.mark.parametrize("on", [["sex"], ["brand"], ["sex", "brand"]])
def test_equal_values_of_few_are_kept_apart_with_a_warning(on):
    with pytest.warns(gp.GraphPartWarning, match=f"equal in {', '.join(on)} are more probably different: add a column"):
        r = gp.records.match(pd.DataFrame(OF_ONE), on)
    assert r.n_clusters == 600


def test_errors_in_a_column_and_people_of_one_or_two_columns(people):
    rng = np.random.default_rng(0)
    mails = [f"{a}.{b}@example.org" for a in ("anna", "bert", "carla", "david", "emil", "frida", "gustav", "hanna")
             for b in ("bergmann", "dvorak", "hamilton", "lindqvist", "petrov", "moreau", "okonkwo")]  # fmt: skip
    truth = np.repeat(np.arange(len(mails)), 4)
    cut = np.where(rng.random(len(truth)) < 0.2, rng.integers(10, size=len(truth)), 99)
    frame = pd.DataFrame({"mail": [mails[k][:c] + mails[k][c + 1 :] for k, c in zip(truth, cut, strict=True)]})
    found, equal = (
        gp.metrics.compare(truth, labels)
        for labels in (gp.records.match(frame, ["mail"]).labels, pd.factorize(frame["mail"])[0])
    )
    assert found.joins_precision > 0.95 and found.joins_recall >= equal.joins_recall
    frame, person = people
    for on, least in ((["surname"], 0.6), (["birth"], 0.8), (["given", "surname"], 0.8), (["surname", "birth"], 0.8)):
        assert gp.metrics.compare(person, gp.records.match(frame, on).labels).joins_f1 > least, on


def test_values_that_are_known_once_are_rarer_than_one_record():
    chance = scoring.frequencies(pd.Series(["a", "b", "c", "d", "e", "e", "f", "f", "f", "f"])).to_dict()
    assert chance["e"] == 0.2 and chance["f"] == 0.4 and chance["a"] == pytest.approx(0.05)
    assert scoring.frequencies(pd.Series([*"abcd"]))["a"] == pytest.approx(1 / 16)


def test_mistakes_that_splink_finds_are_one_line(people):
    frame = people[0][:50]
    with pytest.raises(gp.InvalidOption, match=r'^splink refuses this: Binder Error: [^\n]*"foo"[^\n]*$'):
        gp.records.match(frame, ON, blocking=["foo"])
    with pytest.raises(gp.InvalidOption, match=r"comparison is 'givn': expected one of given, .*did you mean 'given'"):
        gp.records.match(frame, ON, comparisons=["givn"])
    assert len(gp.records.match(frame, ON, blocking=["birth", ["given", "surname"]], comparisons=ON[:3]).labels) == 50
    with pytest.raises(gp.InvalidProblem, match="a column is called 7: expected a text that begins with a letter"):
        gp.records.match(frame.rename(columns={"given": 7}), [7])
    with pytest.raises(gp.InvalidProblem, match="0 records: expected at least two"):
        gp.records.match(frame[:0], ON)
    with pytest.raises(gp.InvalidProblem, match="no column 'title': the table is empty"):
        gp.records.match(pd.DataFrame(), ["title"])


def test_doubts_show_both_records_and_the_chance(people, tmp_path, capsys):
    """The same columns in Python, in the shell and in a report; records are read as texts by the shell."""
    frame, _ = people
    frame = frame.head(80).astype({"key": str})
    r = gp.records.match(frame, ON[:3], id="key")
    table = gp.partition.doubts(r.problem, r).to_frame()
    row = table.iloc[0]
    for side in ("left", "right"):
        own = frame.set_index("key").loc[row[side]]
        assert all(row[f"{name}_{side}"] == own[name] or own[name] is None for name in ON[:3])
    assert {"match_weight", "match_probability", "mw_given", "decision", "doubt", "chance", "bound"} <= set(table)
    assert row["chance"] == pytest.approx(1 / (1 + 2 ** row["doubt"]))
    frame.to_csv(tmp_path / "people.csv", index=False)
    files = [str(tmp_path / "people.csv"), "--on", ",".join(ON[:3]), "--id", "key"]
    assert main(["match", *files, "--doubts", str(tmp_path / "d.csv"), "--report", str(tmp_path / "r.html")]) == 0
    assert list(pd.read_csv(tmp_path / "d.csv").columns) == list(table.columns)
    assert "given_left" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert main(["match", *files, "--doubts", "-", "--json"]) == 2
    assert "--doubts - and --json both write to standard output" in capsys.readouterr().err


def test_ctrl_c_within_a_query_is_an_interruption():
    """DuckDB raises an error of its own in place of the KeyboardInterrupt."""
    import duckdb

    connection = duckdb.connect()
    threading.Timer(0.2, connection.interrupt).start()
    with pytest.raises(KeyboardInterrupt), scoring._in_one_line():
        connection.execute("SELECT count(*) FROM range(10000000000) a WHERE a.range % 7 = 3").fetchall()
