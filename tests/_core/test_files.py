"""Thresholds on disk: every bit comes back, nonsense is refused, nothing is half-written."""

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surroundings import locked

import halfmax as hm
from halfmax._core import files

pytestmark = pytest.mark.kernels

INF, NAN = float("inf"), float("nan")
LABELS = ("cat", "dog")


def tuned(labels=LABELS):
    return hm.tune([[0, 1], [1, 0], [1, 1]], [[0.1, 0.5], [0.9, 0.6], [0.3, 0.7]], labels=labels)


def one_classifier():
    return hm.tune([0, 1, 1], [0.1, 0.5, 0.9])


def with_values(thresholds, **changes):
    """Thresholds that were never tuned, with any numbers in them."""
    size = len(thresholds)
    fields = {
        "score": 0.5,
        "metric": "f1",
        "average": "macro",
        "labels": None,
        "shared": False,
        "zero_division": 0.0,
        "label_scores": np.full(size, 0.5),
        "precision": np.full(size, 0.5),
        "recall": np.full(size, 0.5),
        "specificity": np.full(size, 0.5),
        "support": np.full(size, 3),
        "predicted": np.full(size, 4),
    }
    return hm.Thresholds(thresholds=np.array(thresholds, float), **(fields | changes))


ARRAYS = (
    "thresholds",
    "label_scores",
    "precision",
    "recall",
    "specificity",
    "support",
    "predicted",
)
PLAIN = ("metric", "average", "labels", "shared")
FLOATS = ("score", "zero_division")


def bits(t):
    """All that a result holds, with floats to the last bit (and NaN as one value)."""
    return (
        {name: [float(v).hex() for v in getattr(t, name)] for name in ARRAYS}
        | {name: float(getattr(t, name)).hex() for name in FLOATS}
        | {name: getattr(t, name) for name in PLAIN}
        | {f"dtype of {name}": getattr(t, name).dtype for name in ARRAYS}
    )


def strict(text):
    """Parse as RFC 8259 has it, without the NaN and Infinity that Python adds."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "thresholds.json"


@pytest.fixture
def content(path):
    """What a valid file holds, to be spoilt."""
    tuned().save(path)
    return json.loads(path.read_text("utf-8"))


# What comes back.

finite = st.floats(allow_nan=False, allow_infinity=False)
share = st.floats(0, 1) | st.just(NAN)
EXTREMES = [5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -0.0, 0.1, INF]


@st.composite
def any_thresholds(draw):
    size = draw(st.integers(1, 4))

    def column(values):
        return np.array(draw(st.lists(values, min_size=size, max_size=size)))

    names = st.none() | st.lists(st.text(), min_size=size, max_size=size, unique=True)
    names |= st.lists(st.integers(), min_size=size, max_size=size, unique=True)
    labels = draw(names)
    counts = draw(st.sampled_from([st.integers(0, 2**63 - 1), st.floats(0, 1e300)]))
    return with_values(
        column(finite | st.sampled_from(EXTREMES)),
        score=draw(finite | st.just(NAN)),
        metric=draw(st.text(min_size=1)),
        average=draw(st.sampled_from(["macro", "micro", "samples"])),
        labels=None if labels is None else tuple(labels),
        zero_division=draw(share),
        label_scores=column(finite | st.just(NAN)),
        precision=column(share),
        recall=column(share),
        specificity=column(share),
        support=column(counts),
        predicted=column(counts),
    )


@given(t=any_thresholds())
def test_every_bit_comes_back(t, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "every_bit.json"
    t.save(path)
    assert bits(hm.Thresholds.load(path)) == bits(t)
    strict(path.read_text("utf-8"))


@pytest.mark.parametrize(
    "labels",
    [
        None,
        ("cat", "dog"),
        (7, -3),
        (10**30, 0),
        ("7", 7),
        ("é", "猫\N{CAT FACE}"),
        ('"quoted"', "back\\slash"),
        ("two\nlines", "tab\t\x00\x1b"),
        ("", " "),
        ("null", "label"),
        ("\u2028", "</script>"),
    ],
    ids=repr,
)
def test_labels_come_back_with_their_type(path, labels):
    tuned(labels).save(path)
    back = hm.Thresholds.load(path).labels
    assert back == labels
    assert labels is None or list(map(type, back)) == list(map(type, labels))


@pytest.mark.parametrize(
    "labels", [np.array(["a", "b"]), list(np.array(["a", "b"])), np.arange(2), list(np.arange(2))]
)
def test_labels_of_numpy_types_are_saved_as_plain_ones(path, labels):
    tuned(labels).save(path)
    assert hm.Thresholds.load(path).labels == tuple(np.asarray(labels).tolist())


@pytest.mark.parametrize("labels", [(1.5, 2.5), (True, False), (("a", 1), ("b", 2)), (None, "x")])
def test_labels_that_json_cannot_name_are_refused_before_anything_is_written(path, labels):
    with pytest.raises(TypeError, match=r"labels must be strings or integers to be saved"):
        tuned(labels).save(path)
    assert not path.exists()


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("per_label", [True, False])
def test_thresholds_predict_the_same_after_a_round_trip(path, average, per_label):
    rng = np.random.default_rng(0)
    y_true, y_score = rng.random((50, 3)) < 0.3, rng.random((50, 3)).round(2)
    t = hm.tune(y_true, y_score, average=average, per_label=per_label, sample_weight=rng.random(50))
    t.save(path)
    back = hm.Thresholds.load(path)
    assert bits(back) == bits(t)
    assert (back.predict(y_score) == t.predict(y_score)).all()


def test_one_classifier_comes_back_with_its_threshold(path):
    one_classifier().save(path)
    back = hm.Thresholds.load(path)
    assert (back.threshold, back.score, back.average) == (0.5, 1.0, "binary")
    assert back.predict([0.4, 0.5]).tolist() == [0, 1]


def test_a_path_may_be_a_string(path):
    one_classifier().save(str(path))
    assert hm.Thresholds.load(str(path)).threshold == 0.5


def test_the_specificity_of_earlier_files_is_not_known(path, content):
    before = tuned()
    for row in content["labels"]:
        del row["specificity"]
    path.write_text(json.dumps(content))
    back = hm.Thresholds.load(path)
    assert np.isnan(back.specificity).all()
    assert bits(back) | {"specificity": None} == bits(before) | {"specificity": None}


# What the file looks like.


def test_the_header_is_at_the_top_level(path):
    t = hm.tune([0, 0], [0.1, 0.2], zero_division=NAN)  # +inf and NaN in it
    t.save(path)
    content = strict(path.read_text("utf-8"))
    assert content["format"] == "halfmax.thresholds"
    assert content["version"] == 1
    assert list(content)[:2] == ["format", "version"]


def test_the_file_is_readable_by_people(path):
    tuned().save(path)
    lines = path.read_text("utf-8").splitlines()
    assert sum('"label": "cat"' in line and '"threshold": 0.3,' in line for line in lines) == 1
    assert path.read_bytes().endswith(b"}\n")


# What is not read.


def refused(path, *words):
    """Loading must fail with a ValueError that says which file and what is wrong with it."""
    with pytest.raises(ValueError, match=r"not a halfmax thresholds file") as caught:
        hm.Thresholds.load(path)
    where, reason = str(caught.value).split(" is not a halfmax thresholds file: ")
    assert where == str(path)
    assert 0 < len(reason) < 500
    for word in words:
        assert word in reason


FOREIGN = {
    "empty": b"",
    "blank": b" \n",
    "text": b"threshold = 0.5",
    "null": b"null",
    "a list": b"[]",
    "a number": b"0.5",
    "an empty object": b"{}",
    "another object": b'{"name": "halfmax", "version": 1}',
    "another format": b'{"format": "halfmax.decision", "version": 1, "labels": []}',
    "two values": b"{} {}",
    "not UTF-8": b'{"format": "halfmax.thresholds\xff"}',
    "UTF-16": '{"format": "halfmax.thresholds"}'.encode("utf-16"),
    "a pickle": b"\x80\x04K\x01.",
    "zeros": bytes(100),
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"format":' * 100_000,
    "a constant": b'{"format": NaN}',
    "5,000 digits": b"1" * 5000,
    "5,000 digits of version": b'{"format": "halfmax.thresholds", "version": ' + b"1" * 5000 + b"}",
}


@pytest.mark.parametrize("raw", FOREIGN.values(), ids=FOREIGN)
def test_foreign_and_hostile_files_are_refused(path, raw):
    path.write_bytes(raw)
    refused(path)


@pytest.mark.parametrize("numbers", [{"cat": 0.5}, {"cat": float("inf"), "dog": 1}])
def test_a_plain_dictionary_is_refused_with_what_reads_it(path, numbers):
    path.write_text(json.dumps(numbers))
    refused(path, "a plain dictionary of labels and numbers", "Thresholds.from_dict(json.load(")


def test_a_truncated_file_is_refused_wherever_it_ends(path):
    tuned().save(path)
    raw = path.read_bytes().rstrip()
    for end in range(0, len(raw), 37):
        path.write_bytes(raw[:end])
        refused(path)


def test_a_file_with_text_after_its_end_is_refused(path):
    tuned().save(path)
    path.write_bytes(path.read_bytes() * 2)
    refused(path)


@pytest.mark.parametrize("version", [2, 10**6])
def test_a_newer_version_says_upgrade(path, content, version):
    path.write_text(json.dumps({"format": content["format"], "version": version, "new": {}}))
    refused(path, f"version {version}", "upgrade halfmax")


@pytest.mark.parametrize("key", ["format", "version", "score", "labels", "threshold", "label"])
def test_a_duplicate_key_is_refused(path, content, key):
    text = json.dumps(content)
    at = text.index(f'"{key}":')
    path.write_text(f'{text[:at]}"{key}": 0.25, {text[at:]}')
    refused(path, "twice")


MISSING = "missing"  # stands for leaving the field out
WRONG_NUMBERS = [None, True, [], {}, "", "0.5", "infinity", [0.5], MISSING]
WRONG_COUNTS = [*WRONG_NUMBERS, "inf", "nan", -1, -0.5]

WRONG_IN_HEAD = {
    "version": [None, 0, -1, 1.0, 1.5, "1", True, [1], MISSING],
    "metric": [None, 1, True, [], {}, "", MISSING],
    "average": [None, 1, "", "mean", "Macro", "binary", ["macro"], MISSING],
    "shared": [None, 0, 1, "true", [], True, MISSING],
    "zero_division": [*WRONG_NUMBERS, "inf", 2, -0.1],
    "score": [*WRONG_NUMBERS, "-inf"],
    "labels": [None, {}, [], "ab", 2, [1, 2], [[], []], [None], [{}], MISSING],
}
WRONG_IN_ROW = {
    "label": [1.5, True, [], {}, None, "dog", MISSING],
    "threshold": [*WRONG_NUMBERS, "nan", "-inf", "Inf"],
    "score": WRONG_NUMBERS,
    "precision": [*WRONG_NUMBERS, 1.5, -0.1, "inf"],
    "recall": [*WRONG_NUMBERS, 1.5, -0.1, "inf"],
    "specificity": [value for value in WRONG_NUMBERS if value != MISSING] + [1.5, -0.1, "inf"],
    "support": WRONG_COUNTS,
    "predicted": WRONG_COUNTS,
}


def cases(table):
    return [
        pytest.param(field, value, id=f"{field}={value!r}")
        for field, values in table.items()
        for value in values
    ]


def spoil(holder, field, value):
    if value is MISSING:
        del holder[field]
    else:
        holder[field] = value


@pytest.mark.parametrize(("field", "value"), cases(WRONG_IN_HEAD))
def test_a_wrong_value_in_the_head_is_refused_by_name(path, content, field, value):
    spoil(content, field, value)
    path.write_text(json.dumps(content))
    refused(path, "missing" if value == [{}] else field)


@pytest.mark.parametrize(("field", "value"), cases(WRONG_IN_ROW))
def test_a_wrong_value_of_a_label_is_refused_by_name(path, content, field, value):
    spoil(content["labels"][0], field, value)
    path.write_text(json.dumps(content))
    refused(path, field)


TOKENS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, "1" * 5000]


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:10])
@pytest.mark.parametrize("field", ["zero_division", "score"])
def test_numbers_that_are_none_in_the_head_are_refused(path, content, field, token):
    content[field] = "@"
    path.write_text(json.dumps(content).replace('"@"', token))
    refused(path)


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:10])
@pytest.mark.parametrize("field", ["threshold", "score", "precision", "recall", "support"])
def test_numbers_that_are_none_of_a_label_are_refused(path, content, field, token):
    content["labels"][1][field] = "@"
    path.write_text(json.dumps(content).replace('"@"', token))
    refused(path)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_invalid_json_is_refused_even_in_unused_keys(path, content, token):
    path.write_text(json.dumps(content | {"note": "@"}).replace('"@"', token))
    refused(path, token)


@pytest.mark.parametrize("field", ["support", "predicted"])
@pytest.mark.parametrize("count", [2**63, 2**64, 10**30])
def test_a_count_beyond_64_bits_never_becomes_an_array_of_objects(path, content, field, count):
    content["labels"][0][field] = count
    path.write_text(json.dumps(content))
    with contextlib.suppress(ValueError):  # refusing it is as good
        assert getattr(hm.Thresholds.load(path), field).dtype in (np.int64, np.float64)


def test_one_classifier_has_one_threshold_which_is_shared(path):
    one_classifier().save(path)
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content | {"shared": False}))
    refused(path, "shared")
    path.write_text(json.dumps(content | {"labels": content["labels"] * 2}))
    refused(path, "binary")


def test_a_missing_file_is_a_missing_file(path):
    with pytest.raises(FileNotFoundError):
        hm.Thresholds.load(path)


# Whole or not at all.


def fail(error):
    def failing(*_, **__):
        raise error

    return failing


def no_links(monkeypatch):
    monkeypatch.setattr(os, "link", fail(OSError(95, "Operation not supported")))


def named_drafts(monkeypatch):
    monkeypatch.setattr(files, "_open_nameless", lambda _: None)


SYSTEMS = {
    "as it is": (),
    "named drafts": (named_drafts,),
    "no links": (no_links,),
    "named drafts, no links": (named_drafts, no_links),
}


@pytest.fixture(params=SYSTEMS.values(), ids=SYSTEMS)
def system(request, monkeypatch):
    """What the system can do; drafts without a name are what Linux has."""
    for lacking in request.param:
        lacking(monkeypatch)
    return request.param


BREAKS = ["fsync", "replace"]
ERRORS = [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("before", [True, False], ids=["over a file", "a new file"])
def test_a_save_that_breaks_leaves_things_as_they_were(
    path, monkeypatch, system, name, error, before
):
    if before:
        one_classifier().save(path)
    old = path.read_bytes() if before else None
    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail(error))
        if name == "replace" and not before and not system:  # it gets its name without
            tuned().save(path)
            return
        with pytest.raises(type(error)):
            tuned().save(path)
    assert files_in(path.parent) == ([path.name] if before else [])
    assert not before or path.read_bytes() == old


def write(path, do=lambda _: None, **how):
    """Write a file; `do` is called with the draft before it is whole."""
    with files.whole_file(path, **how) as draft:
        draft.write_text("mine")
        do(draft)


@pytest.mark.usefixtures("system")
def test_files_that_may_and_may_not_be_replaced(tmp_path):
    here, late, new = (tmp_path / name for name in ("here", "late", "new"))
    for _ in range(2):
        write(here)
    here.write_text("older")
    with pytest.raises(FileExistsError, match=r"here already exists"):
        write(here, lambda _: pytest.fail("it was not refused at once"), overwrite=False)
    with pytest.raises(FileExistsError, match=r"late already exists"):
        write(late, lambda _: late.write_text("theirs"), overwrite=False)
    write(new, overwrite=False)
    contents = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert contents == {"here": "older", "late": "theirs", "new": "mine"}


@pytest.mark.usefixtures("system")
def test_the_system_names_the_file_that_the_caller_knows(path, monkeypatch):
    def run_full(draft):
        raise OSError(28, "No space left on device", str(draft))

    with pytest.raises(OSError, match=r"No space.*thresholds\.json"):
        write(path, run_full)
    monkeypatch.setattr(os, "open", fail(PermissionError(13, "Permission denied", "some part")))
    with pytest.raises(PermissionError, match=r"denied.*thresholds\.json"):
        tuned().save(path)


# kill -9.

KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
import halfmax as hm
from halfmax._core import files

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

folder = Path(sys.argv[1])
"""
TUNED = "t = hm.tune([0, 1, 1], [0.1, 0.5, 0.9])\n"
PARQUET = """
import pyarrow as pa
from halfmax.tables.writing import table_file
table = pa.table({"score": np.arange(1000.0)})
with table_file(folder / "new.parquet", table.schema, overwrite=True) as writer:
    for batch in table.to_batches(max_chunksize=100):
        writer.write_batch(batch)
    die()
"""
SHELL = """
from halfmax.cli import app
t.save(folder / "t.json")
(folder / "s.csv").write_text("label,score\\n0,0.5\\n")
hm.Thresholds.load = lambda _: hm.tune([[0], [1]], [[0.1], [0.5]])
"""
NAMED = "files._open_nameless = lambda _: None\n"
APPLY = 'app(["apply", *(str(folder / name) for name in ("t.json", "s.csv")), "--out", {}])\n'
TO_FILE, TO_PIPE = APPLY.format('str(folder / "new.parquet")'), APPLY.format('"-"')
LEAVES_NOTHING = {
    "JSON": TUNED + "os.fsync = die\nt.save(folder / 'new.json')",
    "JSON over another": TUNED + "os.fsync = die\nt.save(folder / 'old.json')",
    "Parquet": PARQUET,
    "apply": TUNED + SHELL + "os.fsync = die\n" + TO_FILE,
    "apply to a pipe": TUNED + SHELL + "sys.stdout.buffer.flush = die\n" + TO_PIPE,
}
LEAVES_A_DRAFT = {
    "while a file is replaced": TUNED + "os.replace = die\nt.save(folder / 'old.json')",
    "JSON": NAMED + TUNED + "os.fsync = die\nt.save(folder / 'new.json')",
    "Parquet": NAMED + PARQUET,
}
nameless = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="every file has a name here")
signals = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")


def kill_while_writing(program, folder):
    """Run a program that kills itself in the middle of a write beside other files."""
    one_classifier().save(folder / "old.json")
    (folder / "temp").mkdir()
    environment = {**os.environ, "TMPDIR": str(folder / "temp")}
    command = [sys.executable, "-c", KILLED + program, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert hm.Thresholds.load(folder / "old.json").threshold == 0.5
    left = [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()]
    return sorted({*left} - {"old.json", "t.json", "s.csv"})


@nameless
@pytest.mark.parametrize("program", LEAVES_NOTHING.values(), ids=LEAVES_NOTHING)
def test_a_writer_that_is_killed_leaves_nothing(tmp_path, program):
    assert kill_while_writing(program, tmp_path) == []


@signals
@pytest.mark.parametrize("program", LEAVES_A_DRAFT.values(), ids=LEAVES_A_DRAFT)
def test_drafts_of_a_killed_writer_are_removed_by_the_next_write(tmp_path, program):
    [left] = kill_while_writing(program, tmp_path)
    assert re.fullmatch(r"\.halfmax\.[0-9a-f]{16}\.part", left)
    tuned().save(tmp_path / "other.json")
    assert files_in(tmp_path) == ["old.json", "other.json", "temp"]


@signals
def test_drafts_of_living_writers_and_files_of_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_open_nameless", lambda _: None)
    foreign = [".halfmax.part", ".halfmax.0.part", ".halfmax.json", "halfmax.0123456789abcdef.part"]
    for name in foreign:
        (tmp_path / name).touch()
    stale = tmp_path / ".halfmax.0123456789abcdef.part"
    stale.touch()
    with files.whole_file(tmp_path / "a") as one, files.whole_file(tmp_path / "b") as other:
        assert not stale.exists()
        tuned().save(tmp_path / "t.json")
        assert sorted([*foreign, one.name, other.name, "t.json"]) == files_in(tmp_path)
        one.write_text("a")
        other.write_text("b")
    assert [(tmp_path / name).read_text() for name in "ab"] == ["a", "b"]
    assert sorted([*foreign, "a", "b", "t.json"]) == files_in(tmp_path)


@signals
def test_a_draft_removed_before_it_is_locked_is_created_again(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_open_nameless", lambda _: None)
    lock, removed = files._lock, []

    def late(file):
        if not removed:  # another writer comes first, and takes the draft for one of the dead
            [draft] = tmp_path.iterdir()
            files._remove_if_stale(str(draft))
            removed.append(draft)
        return lock(file)

    monkeypatch.setattr(files, "_lock", late)
    files.write_whole(tmp_path / "a", "all")
    assert removed
    assert (tmp_path / "a").read_text() == "all"
    assert files_in(tmp_path) == ["a"]


def test_a_label_that_cannot_be_encoded_never_spoils_the_old_file(path):
    one_classifier().save(path)
    lone_surrogate = tuned(("\ud800", "dog"))
    with contextlib.suppress(ValueError):
        lone_surrogate.save(path)
    assert hm.Thresholds.load(path).labels in (None, lone_surrogate.labels)
    assert files_in(path.parent) == [path.name]


def test_saving_again_replaces_the_whole_file(path):
    tuned(("a" * 5000, "b")).save(path)
    one_classifier().save(path)
    assert hm.Thresholds.load(path).threshold == 0.5
    assert files_in(path.parent) == [path.name]


def test_a_directory_is_not_overwritten(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        tuned().save(tmp_path / "folder")
    assert files_in(tmp_path) == ["folder"]


def test_a_missing_directory_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        tuned().save(tmp_path / "nowhere" / "thresholds.json")


def test_a_read_only_directory_is_an_error(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    with locked(folder), pytest.raises(PermissionError):
        tuned().save(folder / "thresholds.json")
    assert files_in(folder) == []


def test_a_link_stays_and_the_file_behind_it_changes(tmp_path):
    behind, link = tmp_path / "behind.json", tmp_path / "link.json"
    behind.write_text("old")
    link.symlink_to(behind)
    tuned().save(link)
    assert link.is_symlink()
    assert hm.Thresholds.load(behind).labels == LABELS


def test_only_a_file_can_be_replaced(tmp_path):
    with pytest.raises(OSError, match="it is a folder; choose another name"):
        tuned().save(tmp_path)


def test_names_stay_readable(path):
    tuned(("café", "狗")).save(path)
    assert "café" in path.read_text(encoding="utf-8")


def test_a_long_file_name_is_legal(tmp_path):
    path = tmp_path / ("x" * 245 + ".json")
    tuned().save(path)
    assert hm.Thresholds.load(path).labels == LABELS


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    new, plain = tmp_path / "new.json", tmp_path / "plain"
    tuned().save(new)
    plain.touch()
    assert stat.S_IMODE(new.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    new.chmod(0o640)
    tuned().save(new)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
