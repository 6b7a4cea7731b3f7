"""Arguments that are not what they should be, and what is said of them."""

import ctypes
import os
import pathlib
import stat

import numpy
import pytest

import parlance
import parlance.jmespath
from parlance import Grammar, UsageError, Vocabulary

TOKENS = [bytes([b]) for b in range(256)]
TEMPLATE = {"start_anchor": "<A>", "fields": {"content": {}}}


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(TOKENS, stop_ids=[0])


# ---- Token ids in other people's memory


@pytest.mark.parametrize(
    "ids",
    [
        (ctypes.c_int * 2)(97, 98),
        (ctypes.c_uint64 * 2)(97, 98),
        (ctypes.c_int.__ctype_be__ * 2)(97, 98),
        numpy.array([97, 98], ">i4"),
        numpy.array([97, 0, 98, 0])[::2],
        numpy.array([98, 97])[::-1],
        memoryview(b"ab"),
        memoryview(numpy.array([97, 98], "i2")),
        numpy.frombuffer(b"\0a\0\0\0b\0\0\0", "<i4", offset=1),
    ],
)
def test_ids_in_memory(vocabulary, ids):
    assert vocabulary.decode(ids) == "ab"
    parser = parlance.ResponseParser(TEMPLATE, ids, vocabulary=vocabulary)
    parser.feed(ids)
    assert parser.finalize()[0] == {"content": "abab"}


def test_ids_without_end(vocabulary):
    with pytest.raises(UsageError, match="more than 67108864"):
        vocabulary.decode(numpy.broadcast_to(numpy.int32(97), (2**40,)))
    with pytest.raises(UsageError, match="more than 67108864"):
        vocabulary.decode(range(2**40))

    class Short:
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return [97, 98][index]

    with pytest.raises(UsageError, match="says that it has 5 items, and has 2"):
        vocabulary.decode(Short())


@pytest.mark.parametrize("ids", [{0: 97}, numpy.zeros((1, 2), int), 97, "ab", [1.5]])
def test_no_ids(vocabulary, ids):
    with pytest.raises(TypeError, match="ids must be a flat sequence"):
        vocabulary.decode(ids)


def test_masks_in_memory(vocabulary):
    matcher = Grammar.from_regex("[ab]").compile(vocabulary).matcher()
    row = (ctypes.c_int * 8)()
    matcher.fill_bitmask(row)
    assert row[3] == 0b110
    logits = (ctypes.c_float * 256)()
    parlance.apply_bitmask(logits, row)
    finite = [i for i, x in enumerate(logits) if x == 0]
    assert finite == [97, 98]
    both = ((ctypes.c_float * 256) * 2)()
    parlance.apply_bitmask(both, row)
    assert [list(r) for r in both] == [list(logits)] * 2
    with pytest.raises(UsageError, match="no multiple of 4"):
        matcher.fill_bitmask(memoryview(bytearray(33))[1:].cast("i"))
    fixed = numpy.zeros(8, numpy.int32)
    fixed.flags.writeable = False
    with pytest.raises(TypeError, match="writable"):
        matcher.fill_bitmask(fixed)
    assert not fixed.any()


def test_matchers_that_nobody_else_holds(vocabulary):
    constraint = Grammar.from_regex("[ab]").compile(vocabulary)
    rows = numpy.zeros((3, constraint.mask_words), numpy.int32)
    parlance.fill_bitmasks((constraint.matcher() for _ in range(3)), rows)
    assert rows[:, 3].tolist() == [0b110] * 3


# ---- Dicts that contain themselves, or each other


def templates_without_end():
    once = {"fields": {}}
    once["fields"]["a"] = once
    twice = {}
    twice["fields"] = twice
    twice["a"] = twice
    listed = {"fields": {"a": {"open": []}}}
    listed["fields"]["a"]["open"].append(listed)
    return [once, twice, listed]


@pytest.mark.parametrize("spec", templates_without_end())
def test_templates_that_contain_themselves(spec):
    for read in (
        parlance.Format,
        parlance.ResponseTemplate,
        parlance.ResponseSchema,
        lambda spec: parlance.ResponseParser(spec, ""),
        lambda spec: parlance.parse_response("", spec, prefix=""),
    ):
        with pytest.raises(parlance.TemplateError, match="containing itself"):
            read(spec)


def shared(names, levels=64):
    value = {}
    for _ in range(levels):
        value = {name: value for name in names}
    return value


def test_tools_that_are_none():
    for tools, word in (([1], r"tools\[0\] .* not int"),
                        ([{"name": "f"}, "g"], r"tools\[1\] .* not str")):
        with pytest.raises(TypeError, match=word):
            parlance.ToolSet(tools)


def test_dicts_that_share_others():
    spec = shared(("fields", "a"))
    with pytest.raises(parlance.TemplateError, match="more than 1048576 values"):
        parlance.parse_response("", spec, prefix="")
    schema = shared(("not", "if"))
    with pytest.raises(parlance.SchemaError, match="more than 1048576 values"):
        Grammar.from_json_schema(schema)
    with pytest.raises(parlance.GrammarError, match="more than 1048576 values"):
        parlance.StructuralTag({"format": schema})
    with pytest.raises(parlance.Error, match="more than 1048576 values"):
        parlance.ToolSet([schema])
    with pytest.raises(parlance.jmespath.JmespathError, match="1048576 values"):
        parlance.jmespath.search("to_string(@)", schema)
    # What is shared a few times is as good as copies.
    field = {"open": "<a>", "close": "</a>", "repeats": True}
    spec = TEMPLATE | {"fields": {"a": field, "content": {}}}
    assert parlance.parse_response("<a>1</a>2", spec, prefix="") == {
        "a": ["1"],
        "content": "2",
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [(0.0, -0.0), (-0.0, 0.0), (1, True), (True, 1), (1, 1.0), (1.0, True), ("1", 1)],
)
def test_a_dict_that_changes_by_little(before, after):
    spec = TEMPLATE | {"defaults": {"n": before}}
    for value in (before, after, before):
        spec["defaults"]["n"] = value
        got = parlance.parse_response("", spec, prefix="")["n"]
        assert repr(got) == repr(value)


# ---- Wrong kinds of arguments

SURROGATE = "half of a surrogate pair"


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: Grammar.from_json_schema({}, indent="x"), TypeError, "indent"),
        (lambda: Grammar.from_json_schema({}, indent=-1), UsageError, "indent"),
        (lambda: Grammar.from_json_schema({}, indent=2**64), UsageError, "indent"),
        (
            lambda: Grammar.from_json_schema({}, separators=[1, 2]),
            TypeError,
            "an item of separators must be a str, not int",
        ),
        (
            lambda: Grammar.from_json_schema({}, separators="abc"),
            TypeError,
            "separators must be a pair of str",
        ),
        (
            lambda: Grammar.from_json_schema({}, documents=5),
            TypeError,
            "documents must be a dict, not int",
        ),
        (
            lambda: Grammar.from_json_schema({}, documents={1: {}}),
            TypeError,
            "a key of documents must be a str, not int",
        ),
        (
            lambda: Grammar.from_json_schema({}, documents={"u": "\ud800"}),
            parlance.SchemaError,
            SURROGATE,
        ),
        (lambda: Grammar.from_json_schema("\ud800"), parlance.SchemaError, SURROGATE),
        (
            lambda: Grammar.from_json_schema({}, draft=10**5000),
            UsageError,
            "a very large int",
        ),
        (
            lambda: Grammar.from_json_schema({"const": 10**5000}),
            parlance.SchemaError,
            "more digits",
        ),
        (
            lambda: Grammar.from_json_schema({}, closed=numpy.zeros(2)),
            TypeError,
            "closed must be True or False, not ndarray",
        ),
        (
            lambda: Grammar.from_lark("start: @x", grammars=5),
            TypeError,
            "grammars must be a dict, not int",
        ),
        (
            lambda: Grammar.from_lark("start: @x", grammars={"x": "\ud800"}),
            parlance.GrammarError,
            SURROGATE,
        ),
        (lambda: Grammar.from_ebnf("\ud800"), parlance.GrammarError, SURROGATE),
        (lambda: Grammar.from_regex(5), TypeError, "pattern must be a str, not int"),
        (
            lambda: Grammar.from_regex("a", limits=[1]),
            TypeError,
            "limits must be a dict, not list",
        ),
        (lambda: Grammar.from_regex("a").captures("a", "x"), TypeError, "Vocabulary"),
        (lambda: parlance.Format("\ud800"), parlance.TemplateError, SURROGATE),
        (
            lambda: parlance.parse_response("", TEMPLATE, prefix="", markers="\ud800"),
            parlance.Error,
            SURROGATE,
        ),
        (
            lambda: parlance.parse_response(
                "", TEMPLATE, prefix="", recover=numpy.zeros(2)
            ),
            TypeError,
            "recover must be True, False or None, not ndarray",
        ),
        (
            lambda: parlance.ToolSet(iter(lambda: {}, None)),
            UsageError,
            "tools has more than 65536 items",
        ),
        (lambda: Vocabulary.from_file("a\0b"), UsageError, "NUL"),
        (lambda: Vocabulary.from_text("\ud800"), parlance.Error, SURROGATE),
        (
            lambda: parlance.Format(pathlib.Path("a\0b")),
            parlance.TemplateError,
            "cannot be a path",
        ),
    ],
)
def test_what_is_said(call, error, said):
    with pytest.raises(error, match=said) as caught:
        call()
    assert caught.type is error


def test_files_that_are_not_in_utf8(tmp_path, vocabulary):
    path = os.fsencode(tmp_path) + b"/\xff"
    with pytest.raises(parlance.Error, match=r"\\xff"):
        parlance.Compiler(vocabulary, tables_file=path)


# ---- Files that are none


def memory_device(path, minor):
    """A device like /dev/full (7) or /dev/zero (5), where one may be made."""
    try:
        os.mknod(path, 0o020666, os.makedev(1, minor))
    except OSError:
        pytest.skip("making a device is not allowed here")
    return path


def test_tables_replace_only_files(tmp_path, vocabulary):
    compiler = parlance.Compiler(vocabulary)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "tables")
    size = compiler.save_tables(link)
    assert link.is_symlink() and (tmp_path / "tables").stat().st_size == size
    with pytest.raises(parlance.Error, match="it is a folder"):
        compiler.save_tables(tmp_path)
    with pytest.raises(UsageError, match="NUL"):
        compiler.save_tables("a\0b")
    full = memory_device(tmp_path / "full", 7)
    with pytest.raises(parlance.Error, match="No space left on device"):
        compiler.save_tables(full)
    assert stat.S_ISCHR(full.stat().st_mode)


def test_files_without_end(tmp_path):
    zero = memory_device(tmp_path / "zero.json", 5)
    with pytest.raises(parlance.TemplateError, match="more than 268435456 bytes"):
        parlance.Format(zero)
