"""Grammars, constraints and matchers: what the binding itself adds."""

import array
import itertools
import json
import threading

import numpy
import pytest

import parlance

CITY = {
    "type": "object",
    "required": ["city"],
    "properties": {"city": {"type": "string", "maxLength": 4}},
    "additionalProperties": False,
}
TOKENS = [b"{", b"}", b'"', b"city", b": ", b"Bern", b'"city": "', b'"}', b"!"]
END = len(TOKENS)


@pytest.fixture(scope="module")
def vocabulary():
    return parlance.Vocabulary(
        [*TOKENS, b"</s>", None], special_ids=[END], stop_ids=[END]
    )


@pytest.fixture
def constraint(vocabulary):
    return parlance.Grammar.from_json_schema(CITY).compile(vocabulary)


def row_of(matcher):
    row = numpy.zeros(1, numpy.int32)
    matcher.fill_bitmask(row)
    return {i for i in range(len(TOKENS) + 2) if int(row[0]) >> i & 1}


# ---- Grammar


def test_accepts_and_explains():
    grammar = parlance.Grammar.from_json_schema(CITY)
    assert grammar.accepts('{"city": "Bern"}')
    assert grammar.accepts(b'{"city":\n"Bern"}')
    assert grammar.explain('{"city": "Bern"}') is None
    assert grammar.explain('{"city": 3}')["offset"] == 9
    assert "string" in grammar.explain('{"city": 3}')["expected"]
    assert grammar.explain('{"city": "Be')["offset"] == 12
    assert grammar.report() == []
    assert not grammar.accepts(b'{"city": "\xff"}')
    assert not grammar.accepts('{"city": "\ud800"}')
    with pytest.raises(TypeError, match="text must be str or bytes, not int"):
        grammar.accepts(3)


@pytest.mark.parametrize("schema", [CITY, json.dumps(CITY)])
def test_schema_as_dict_and_text(schema):
    assert parlance.Grammar.from_json_schema(schema).accepts('{"city": "B"}')


def test_bool_schemas():
    assert parlance.Grammar.from_json_schema(True).accepts("[1, null]")
    with pytest.raises(parlance.SchemaError) as caught:
        parlance.Grammar.from_json_schema(False)
    assert caught.value.code == "unsatisfiable"


@pytest.mark.parametrize(
    ("schema", "code", "path"),
    [
        ("{", "invalid_json", ""),
        ({"type": "text"}, "unknown_name", "/type"),
        ({"properties": {"a/b": {"minLength": "x"}}}, "wrong_type",
         "/properties/a~1b/minLength"),
        ({"$ref": "#/$defs/x"}, "bad_reference", "/$ref"),
        ([1], "wrong_type", ""),
        ({"const": {1, 2}}, "wrong_type", "/const"),
    ],
)
def test_schema_errors(schema, code, path):
    with pytest.raises(parlance.SchemaError) as caught:
        parlance.Grammar.from_json_schema(schema)
    assert (caught.value.code, caught.value.path) == (code, path)


LAYOUTS = [
    ({}, {}),
    ({"compact": True}, {"separators": (",", ":")}),
    ({"separators": (", ", ": ")}, {}),
    ({"separators": (",", ":")}, {"separators": (",", ":")}),
    ({"indent": 2}, {"indent": 2}),
    ({"indent": 4, "separators": (",", ":")},
     {"indent": 4, "separators": (",", ":")}),
]


@pytest.mark.parametrize(("ours", "pythons"), LAYOUTS)
def test_layouts(ours, pythons):
    value = {"a": [1, {"b": []}], "c": {}}
    grammar = parlance.Grammar.from_json_schema(True, **ours)
    assert grammar.accepts(json.dumps(value, **pythons))
    for _, others in LAYOUTS:
        text = json.dumps(value, **others)
        same = text == json.dumps(value, **pythons)
        assert grammar.accepts(text) == (same or not ours)


def test_white_space_is_bounded():
    for longest, gap, accepted in [
        (2, 2, True), (2, 3, False), (None, 500, True), (64, 65, False)
    ]:
        grammar = parlance.Grammar.from_json_schema(
            True, max_white_space=longest
        )
        assert grammar.accepts("[" + " " * gap + "1]") == accepted


@pytest.mark.parametrize(
    "options",
    [
        {"compact": True, "indent": 2},
        {"indent": 2, "max_white_space": 3},
        {"compact": True, "max_white_space": 3},
        {"key_order": "sorted"},
        {"spelling": "ascii"},
        {"draft": 3},
        {"limits": {"time": 3}},
        {"max_white_space": -1},
    ],
)
def test_options_that_do_not_fit(options):
    with pytest.raises(parlance.UsageError):
        parlance.Grammar.from_json_schema(True, **options)


def test_key_order():
    schema = {"properties": {"a": {}, "b": {}}, "additionalProperties": False}
    text = '{"b": 1, "a": 2}'
    from_json_schema = parlance.Grammar.from_json_schema
    assert from_json_schema(schema).accepts(text)
    assert not from_json_schema(schema, key_order="schema").accepts(text)


def test_spelling():
    schema = {
        "properties": {"kö\n": {"enum": ["é/", 1.0]}},
        "additionalProperties": False,
    }
    grammar = parlance.Grammar.from_json_schema(schema)
    lax = parlance.Grammar.from_json_schema(schema, spelling="any")
    for value in ("é/", 1.0):
        text = json.dumps({"kö\n": value}, ensure_ascii=False)
        assert grammar.accepts(text) and lax.accepts(text)
    for text in (
        '{"k\\u00f6\\n": 1.0}', '{"kö\\u000a": 1.0}', '{"kö\\n": 1}',
        '{"kö\\n": "é\\/"}', '{"kö\\n": "\\u00e9/"}',
    ):
        assert not grammar.accepts(text) and lax.accepts(text), text


def test_closed_lenient_drafts_formats_documents():
    from_json_schema = parlance.Grammar.from_json_schema
    assert from_json_schema({"properties": {"a": {}}}).accepts('{"b": 1}')
    assert not from_json_schema({"properties": {"a": {}}}, closed=True).accepts(
        '{"b": 1}'
    )
    backwards = {"type": "string", "pattern": r"(a)\1"}
    with pytest.raises(parlance.SchemaError) as caught:
        from_json_schema(backwards)
    assert caught.value.code == "unsupported_pattern"
    lenient = from_json_schema(backwards, lenient=True)
    assert lenient.accepts('"x"')
    assert [note["kind"] for note in lenient.report()] == ["ignored"]
    listed = {"items": [{"type": "integer"}], "additionalItems": False}
    assert not from_json_schema(listed, draft=7).accepts("[1, 2]")
    day = {"type": "string", "format": "date"}
    assert not from_json_schema(day).accepts('"x"')
    assert from_json_schema(day, assert_formats=False).accepts('"x"')
    remote = from_json_schema(
        {"$ref": "https://example.com/city"},
        documents={"https://example.com/city": CITY},
    )
    assert remote.accepts('{"city": "Bern"}')
    assert not remote.accepts('{"city": 1}')


def test_limits():
    with pytest.raises(parlance.SchemaError) as caught:
        parlance.Grammar.from_json_schema(CITY, limits={"steps": 1})
    assert caught.value.code == "too_large"


@pytest.mark.parametrize(
    "make",
    [
        lambda limits: parlance.Grammar.from_regex("ab+", limits=limits),
        lambda limits: parlance.Grammar.from_ebnf('root ::= "a" "b"+', limits=limits),
        lambda limits: parlance.Grammar.from_lark("start: /ab+/", limits=limits),
    ],
)
def test_a_grammar_that_leaves_no_room_for_a_text_is_an_error(make):
    refused = 0
    for size in [*range(0, 4000, 100), 1 << 16]:
        try:
            grammar = make({"bytes": size})
        except parlance.Error as error:
            assert error.code == "too_large"
            refused = size
        else:
            assert grammar.accepts("a" + "b" * 50), size
            assert not grammar.accepts("abba"), size
    assert 600 <= refused < 4000


# ---- Constraint and matcher


def test_masks_say_what_is_accepted(constraint):
    matcher = constraint.matcher()
    for token in [0, 6, 5, 7]:
        allowed = row_of(matcher)
        assert allowed == {
            i for i in range(END + 2) if matcher.copy().accept_token(i)
        }
        assert token in allowed and END not in allowed
        assert matcher.accept_token(token)
    assert matcher.can_end() and row_of(matcher) == {END}
    assert matcher.accept_token(END) and matcher.is_terminated()
    row = numpy.zeros(1, numpy.int32)
    assert matcher.fill_bitmask(row) is False and row[0] == -1
    assert matcher.steps() == 5
    assert matcher.rollback(2) and matcher.steps() == 3
    assert not matcher.rollback(4) and matcher.steps() == 3
    assert 7 in row_of(matcher)
    matcher.reset()
    assert matcher.steps() == 0 and row_of(matcher) == {0}


def test_tokens_and_bytes(constraint):
    matcher = constraint.matcher()
    assert matcher.accept_tokens([0, 6, 5, 8, 7]) == 3  # "Bern!" is too long
    assert matcher.accept_bytes('"') and matcher.accept_bytes(b"}")
    assert not matcher.accept_bytes("}") and matcher.steps() == 5
    assert not matcher.accept_token(-1) and not matcher.accept_token(1 << 40)


def test_forced(vocabulary):
    grammar = parlance.Grammar.from_json_schema({"const": "city"}, compact=True)
    matcher = grammar.compile(vocabulary).matcher()
    assert matcher.forced_bytes() == b'"city"'
    assert matcher.forced_tokens() == [2, 3, 2]
    lax = parlance.Grammar.from_json_schema(
        {"const": "city"}, compact=True, spelling="any"
    )
    assert lax.compile(vocabulary).matcher().forced_bytes() == b'"'


def test_copies_are_independent(constraint):
    matcher = constraint.matcher()
    matcher.accept_token(0)
    copy = matcher.copy()
    assert copy.accept_token(6) and copy.steps() == 2
    assert matcher.steps() == 1


@pytest.mark.parametrize(
    "buffer",
    [
        numpy.zeros(1, numpy.int32),
        numpy.zeros(3, numpy.uint32),
        numpy.zeros((1, 2), numpy.int32),
        array.array("i", [7]),
        memoryview(bytearray(4)).cast("i"),
    ],
)
def test_buffers(constraint, buffer):
    assert constraint.matcher().fill_bitmask(buffer)
    row = numpy.asarray(buffer).reshape(-1)
    assert row[0] == 1 and not row[1:].any()


@pytest.mark.parametrize(
    ("buffer", "error", "words"),
    [
        ([0], TypeError, "not list"),
        (b"0000", TypeError, "not bytes"),
        (numpy.zeros(1), parlance.UsageError, "int32"),
        (numpy.zeros(0, numpy.int32), parlance.UsageError, "mask_words"),
        (numpy.zeros((2, 4), numpy.int32)[:, ::2], TypeError, "contiguous"),
        (numpy.zeros((1, 1, 1), numpy.int32), parlance.UsageError, "dimensions"),
    ],
)
def test_buffers_that_do_not_fit(constraint, buffer, error, words):
    with pytest.raises(error, match=words):
        constraint.matcher().fill_bitmask(buffer)


def test_rows(constraint):
    rows = numpy.full((3, 2), 5, numpy.int32)
    matcher = constraint.matcher()
    matcher.fill_bitmask(rows, 1)
    assert rows.tolist() == [[5, 5], [1, 0], [5, 5]]
    for row in (3, -1):
        with pytest.raises(parlance.UsageError, match="3 rows"):
            matcher.fill_bitmask(rows, row)


def test_batches(constraint):
    matchers = [constraint.matcher() for _ in range(20)]
    for i, matcher in enumerate(matchers):
        matcher.accept_tokens([0, 6, 5, 7][: i % 5])
    rows = numpy.zeros((20, 3), numpy.int32)
    for threads in (0, 1, 3):
        rows[:] = 9
        parlance.fill_bitmasks(matchers, rows, threads=threads)
        for row, matcher in zip(rows, matchers):
            one = numpy.zeros(3, numpy.int32)
            matcher.fill_bitmask(one)
            assert row.tolist() == one.tolist()
    with pytest.raises(parlance.UsageError, match="twice"):
        parlance.fill_bitmasks([matchers[0]] * 2, rows)
    with pytest.raises(parlance.UsageError, match="19 rows"):
        parlance.fill_bitmasks(matchers, rows[:19])
    with pytest.raises(TypeError, match="must be a Matcher, not int"):
        parlance.fill_bitmasks([3], rows)


def test_batches_into_chosen_rows(constraint):
    matchers = [constraint.matcher(), constraint.matcher()]
    matchers[1].accept_token(0)
    rows = numpy.full((5, 1), 9, numpy.int32)
    parlance.fill_bitmasks(matchers, rows, rows=[3, 0])
    assert rows[[1, 2, 4], 0].tolist() == [9, 9, 9]
    for place, matcher in ((3, matchers[0]), (0, matchers[1])):
        one = numpy.zeros(1, numpy.int32)
        matcher.fill_bitmask(one)
        assert rows[place].tolist() == one.tolist()
    for wrong, match in (([1], "names 1 rows"), ([1, 1], "row 1 twice"),
                         ([1, 5], "row 5 of a buffer with 5 rows")):
        with pytest.raises(parlance.UsageError, match=match):
            parlance.fill_bitmasks(matchers, rows, rows=wrong)


class Tensor:
    """What torch and jax share, and numpy's buffers do not have to."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device, 0


def test_tensors(constraint):
    array = numpy.full((2, 1), 9, numpy.int32)
    matcher = constraint.matcher()
    assert matcher.fill_bitmask(Tensor(array), 1)
    assert array.tolist() == [[9], [1]]
    assert matcher.fill_bitmask(Tensor(array[0]))
    assert array.tolist() == [[1], [1]]
    for wrong in (array.astype(numpy.int64), array.astype(numpy.float32)):
        with pytest.raises(parlance.UsageError, match="32-bit integers"):
            matcher.fill_bitmask(Tensor(wrong))
    with pytest.raises(TypeError, match="C-contiguous"):
        matcher.fill_bitmask(Tensor(numpy.zeros((2, 4), numpy.int32)[:, ::2]))
    with pytest.raises(parlance.UsageError, match="3 dimensions"):
        matcher.fill_bitmask(Tensor(array[None]))


def test_stop_tokens_of_one_text(vocabulary, constraint):
    # "!" ends this text, and "</s>" does not.
    matcher = constraint.matcher(stop_ids=[8])
    other = constraint.matcher()
    for each in (matcher, other, matcher.copy()):
        each.accept_tokens([0, 6, 5, 7])
    assert (row_of(matcher), row_of(other)) == ({8}, {END})
    rows = numpy.zeros((2, 1), numpy.int32)
    parlance.fill_bitmasks([matcher, other], rows)
    assert rows.ravel().tolist() == [1 << 8, 1 << END]
    assert not matcher.accept_token(END) and not matcher.is_terminated()
    assert matcher.accept_token(8) and matcher.is_terminated()
    assert matcher.rollback(3) and other.rollback(2)
    # In a string "!" is text, but for a text that it ends.
    assert 8 in row_of(other)
    assert 8 not in row_of(matcher) and not matcher.accept_token(8)
    with pytest.raises(parlance.UsageError, match="stop_ids"):
        constraint.matcher(stop_ids=[END + 2])


def test_without_stop_tokens_a_text_is_over_where_nothing_may_follow(
    constraint,
):
    matcher = constraint.matcher(stop_ids=[])
    assert matcher.accept_tokens([0, 6, 5, 7])
    assert matcher.is_terminated()
    row = numpy.zeros(1, numpy.int32)
    assert not matcher.fill_bitmask(row) and row[0] == -1
    assert matcher.rollback() and not matcher.is_terminated()


def test_stop_tokens_have_to_be_known():
    vocabulary = parlance.Vocabulary([b"a", b"b"])
    grammar = parlance.Grammar.from_regex("a+b")
    with pytest.raises(parlance.Error, match="stop_ids") as caught:
        grammar.compile(vocabulary)
    assert caught.value.code == "missing_stop_ids"
    matcher = grammar.compile(vocabulary, stop_ids=[]).matcher()
    assert matcher.accept_tokens([0, 1]) == 2 and matcher.is_terminated()


MARKED = {
    "format": {
        "type": "triggered_tags",
        "triggers": ["<call>"],
        "tags": [
            {
                "begin": "<call>\n",
                "end": "</call>",
                "content": {"type": "json_schema", "json_schema": True},
            }
        ],
    }
}


def test_markers_are_tokens():
    texts = [bytes([byte]) for byte in range(256)]
    call, close, end = 256, 257, 258
    vocabulary = parlance.Vocabulary(
        [*texts, b"<call>", b"</call>", b"<end>"],
        added_ids=[call, close],
        control_ids=[end],
        stop_ids=[end],
    )
    tag = parlance.StructuralTag(MARKED)
    spelled = b"<call>"

    matcher = tag.grammar().compile(vocabulary).matcher()
    assert not matcher.copy().accept_token(close)
    assert matcher.copy().accept_tokens(list(spelled)) == 5
    assert matcher.accept_token(call)
    assert matcher.forced_bytes() == b"\n"
    assert matcher.accept_bytes("\n1")
    assert matcher.accept_bytes("</call>") and matcher.can_end()

    either = tag.grammar().compile(vocabulary, markers="either").matcher()
    assert either.copy().accept_tokens(list(spelled)) == 6
    assert either.accept_token(call)

    text = parlance.Compiler(vocabulary).compile_structural_tag(
        tag, markers="text"
    )
    matcher = text.matcher()
    assert matcher.copy().accept_token(close)  # not an end here: text
    assert matcher.accept_tokens([*spelled, *b"\n1", close, end]) == 10
    with pytest.raises(parlance.UsageError, match="markers"):
        tag.grammar().compile(vocabulary, markers="tokens")


def test_tree(constraint):
    #   0 "{"  ->  1 '"city": "'  ->  3 "Bern";  2 "!" beside 1
    matcher = constraint.matcher()
    matcher.accept_token(0)
    rows = numpy.zeros((4, 1), numpy.int32)
    assert matcher.fill_tree(
        [1, 3, -1, -1], [-1, 2, -1, -1], numpy.array([0, 6, 8, 5]), rows
    )
    walked = matcher.copy()
    assert rows[2][0] == 0
    for node, token in [(0, None), (1, 6), (3, 5)]:
        if token is not None:
            walked.accept_token(token)
        assert {i for i in range(32) if int(rows[node][0]) >> i & 1} == row_of(
            walked
        )
    assert matcher.steps() == 1
    for lists, what in (
        (([1], [-1], [0, 6]), "1 children, 1 siblings and 2 tokens"),
        (([0, -1], [-1, -1], [0, 6]), "node 0 of the draft tree is reached twice"),
        (([-1, -1], [-1, -1], [0, 6]), "node 1 of the draft tree is not reached"),
        (([7, -1], [-1, -1], [0, 6]), "node 0 refers to 7"),
        (([1, -1], [1, -1], [0, 6]), "The root of the draft tree has a sibling"),
    ):
        with pytest.raises(parlance.UsageError, match=what):
            matcher.fill_tree(*lists, rows)
    with pytest.raises(parlance.UsageError, match="nodes"):
        matcher.fill_tree([-1] * 5, [-1] * 5, [0] * 5, rows)


@pytest.mark.parametrize("kind", [numpy.int32, numpy.int64, numpy.uint16, list])
def test_a_tree_in_arrays(constraint, kind):
    matcher = constraint.matcher()
    matcher.accept_token(0)
    lists = [[1, 2, -1], [-1, -1, -1], [0, 6, 5]]
    want = numpy.zeros((3, 1), numpy.int32)
    assert matcher.fill_tree(*lists, want) == 3
    if kind is numpy.uint16:
        arrays = [lists[0], lists[1], numpy.array(lists[2], kind)]
    else:
        arrays = [
            # Not contiguous.
            numpy.repeat(numpy.array(part, kind), 2)[::2] if kind is not list else part
            for part in lists
        ]
    rows = numpy.full((3, 3), 7, numpy.int32)
    assert matcher.fill_tree(*arrays, rows) == 3
    assert (rows[:, :1] == want).all() and (rows[:, 1:] == 0).all()


def test_temperatures_and_the_end_of_a_tree(vocabulary):
    compiler = parlance.Compiler(vocabulary)
    matcher = compiler.compile_ebnf(
        'root ::= "{" v\nv[temperature=0.5] ::= "!"'
    ).matcher()
    tree = ([1, 2, 3, -1], [-1] * 4, [0, 0, 8, END])
    heat = numpy.full(5, 7, numpy.float32)
    rows = numpy.zeros((4, matcher.mask_words), numpy.int32)
    assert matcher.fill_tree(*tree, rows, temperatures=heat) == 4
    assert heat[1] == 0.5 and numpy.isnan(heat[[0, 2, 3]]).all() and heat[4] == 7
    assert (rows[3] == -1).all()
    assert matcher.fill_tree(*tree, rows, clear_ended=True) == 4
    assert (rows[3] == 0).all()
    for wrong in (numpy.zeros(3, numpy.float32), numpy.zeros(4), rows[0]):
        with pytest.raises(parlance.UsageError, match="temperatures"):
            matcher.fill_tree(*tree, rows, temperatures=wrong)
    with pytest.raises(TypeError, match="temperatures"):
        matcher.fill_tree(*tree, rows, temperatures=[0.0] * 4)


def test_a_tree_with_a_limit_of_time(constraint):
    matcher = constraint.matcher()
    size = 20_000
    tree = ([*range(1, size), -1], [-1] * size, [0] * size)
    rows = numpy.full((size, 1), 7, numpy.int32)
    filled = matcher.fill_tree(*tree, rows, time_limit=1e-9)
    assert 1 <= filled < size
    assert (rows[filled:] == 7).all()
    assert matcher.fill_tree(*tree, rows, time_limit=1e300) == size
    for wrong in (0, -1.0, float("nan"), 10**400):
        with pytest.raises(parlance.UsageError, match="time_limit"):
            matcher.fill_tree(*tree, rows, time_limit=wrong)
    with pytest.raises(TypeError):
        matcher.fill_tree(*tree, rows, time_limit="1")


# ---- Compiler


def test_compilers(vocabulary):
    compiler = parlance.Compiler(vocabulary, cache_bytes=1 << 20)
    grammar = parlance.Grammar.from_json_schema(CITY)
    constraint = grammar.compile(compiler)
    assert constraint.mask_words == compiler.mask_words == 1
    row_of(constraint.matcher())
    assert compiler.cache_statistics()["tables_bytes"] > 0
    assert constraint.memory_bytes > 0
    compiler.clear_cache()
    assert row_of(constraint.matcher()) == {0}
    with pytest.raises(TypeError, match="a Vocabulary or a Compiler, not str"):
        grammar.compile("qwen3")


def test_stop_ids(vocabulary):
    compiler = parlance.Compiler(vocabulary, stop_ids=[END, 8])
    matcher = parlance.Grammar.from_json_schema(CITY).compile(compiler).matcher()
    matcher.accept_bytes('{"city": ""}')
    assert row_of(matcher) == {END, 8}
    with pytest.raises(parlance.UsageError, match="stop_ids contains 99"):
        parlance.Compiler(vocabulary, stop_ids=[99])


def test_one_compiler_per_vocabulary(vocabulary):
    first = parlance.Grammar.from_json_schema(CITY).compile(vocabulary)
    compiler = vocabulary._compiler
    second = parlance.Grammar.from_json_schema(True).compile(vocabulary)
    assert vocabulary._compiler is compiler
    assert first.mask_words == second.mask_words


# ---- Threads


def test_threads_share_a_constraint(vocabulary):
    constraint = parlance.Grammar.from_json_schema(True).compile(vocabulary)
    expected = {}
    for tokens in itertools.product(range(4), repeat=3):
        matcher = constraint.matcher()
        matcher.accept_tokens(list(tokens))
        expected[tokens] = row_of(matcher)
    fresh = parlance.Grammar.from_json_schema(True).compile(
        parlance.Compiler(vocabulary)
    )
    wrong = []

    def work():
        for tokens, allowed in expected.items():
            matcher = fresh.matcher()
            matcher.accept_tokens(list(tokens))
            if row_of(matcher) != allowed:
                wrong.append(tokens)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---- Compiler keeps what it makes


@pytest.fixture
def letters():
    return parlance.Vocabulary(
        [bytes([byte]) for byte in range(256)], stop_ids=[]
    )


def tag(*names):
    return {
        "format": {
            "type": "triggered_tags",
            "triggers": ["<"],
            "tags": [
                {
                    "type": "tag",
                    "begin": f"<{name}>",
                    "end": "</>",
                    "content": {
                        "type": "json_schema",
                        "json_schema": {"required": [name]},
                    },
                }
                for name in names
            ],
        }
    }


def test_compilers_keep_what_they_make(letters):
    compiler = parlance.Compiler(letters)
    source = json.dumps(tag("a", "b"))
    for spec in (source, tag("a", "b"), parlance.StructuralTag(source)):
        matcher = compiler.compile_structural_tag(spec).matcher()
        assert matcher.accept_bytes('<a>{"a": 1}</>')
    statistics = compiler.grammar_statistics()
    assert statistics["grammars"] == 1 and statistics["parts"] == 2
    assert statistics["grammar_hits"] == 2
    compiler.compile_structural_tag(tag("a", "c"))
    statistics = compiler.grammar_statistics()
    assert statistics["part_hits"] == 1 and statistics["part_misses"] == 3
    assert statistics["bytes"] > 0 and statistics["evictions"] == 0
    compiler.clear_cache()
    assert compiler.grammar_statistics()["bytes"] == 0


def test_compilers_take_every_source(letters):
    compiler = parlance.Compiler(letters)

    def takes(constraint, text):
        return constraint.matcher().accept_bytes(text)

    for _ in range(2):
        assert takes(compiler.compile_json_schema({"enum": ["a"]}), '"a"')
        assert takes(compiler.compile_json_schema(True, compact=True), "[1]")
        assert not takes(compiler.compile_json_schema(True, compact=True), "[ 1]")
        assert takes(compiler.compile_ebnf('x ::= "a"', "x"), "a")
        assert takes(compiler.compile_regex("[ab]+"), "ab")
        assert takes(compiler.compile_lark('start: "a"'), "a")
    assert compiler.grammar_statistics()["grammar_hits"] == 7
    with pytest.raises(parlance.SchemaError):
        compiler.compile_json_schema({"type": 3})
    with pytest.raises(parlance.GrammarError) as raised:
        compiler.compile_structural_tag('{"format": {"type": "x"}}')
    assert raised.value.path == "/format/type"
    with pytest.raises(TypeError):
        compiler.compile_json_schema(True, no_such_option=1)


def test_compilers_without_room_keep_nothing(letters):
    compiler = parlance.Compiler(letters, grammar_bytes=0)
    for _ in range(2):
        compiler.compile_regex("a")
    statistics = compiler.grammar_statistics()
    assert statistics["grammar_hits"] == 0 and statistics["bytes"] == 0


def test_errors_of_a_tag_are_placed_in_its_request(letters):
    tools = [
        {
            "type": "function",
            "function": {
                "name": "f",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"type": "string", "enum": [1]}},
                    "required": ["a"],
                },
            },
        }
    ]
    structural = parlance.Format("qwen3").structural_tag(
        tools, tool_choice="required"
    )
    with pytest.raises(parlance.GrammarError) as caught:
        parlance.Compiler(letters).compile_structural_tag(structural)
    assert caught.value.path == "/tools/0/function/parameters"


def test_parsers_share_the_compiler_of_their_vocabulary(letters):
    structural = parlance.StructuralTag(tag("a", "b"))
    structural.grammar().compile(letters)
    compiler = letters._compiler
    compiler.compile_structural_tag(structural)
    before = compiler.grammar_statistics()["part_misses"]
    text = '<a>{"a": 1}</>'
    tree = structural.parse([ord(c) for c in text], vocabulary=letters)
    assert tree["complete"]
    assert compiler.grammar_statistics()["part_misses"] == before


# ---- Temperatures


def test_captures_of_a_matcher():
    data = [b"a", b"b1", b"2", b";", b"</s>", b"<x>"]
    vocabulary = parlance.Vocabulary(
        data, added_ids=[5], control_ids=[4], stop_ids=[4]
    )
    grammar = parlance.Grammar.from_lark(
        'start: (pair ";")* <x>?\npair[capture]: /[a-z]+/ n\nn[capture]: /[0-9]+/',
        vocabulary,
    )
    constraint = grammar.compile(vocabulary)
    matcher = constraint.matcher()
    assert matcher.captures() == []
    assert matcher.accept_tokens([0, 1, 2, 3, 5, 4]) == 6
    two = [
        {"name": "n", "text": b"12", "span": (2, 4)},
        {"name": "pair", "text": b"ab12", "span": (0, 4)},
    ]
    assert matcher.captures() == two == grammar.captures([0, 1, 2, 3, 5], vocabulary)
    other = matcher.copy()
    assert matcher.rollback(4)
    assert matcher.captures() == [
        {"name": "n", "text": b"1", "span": (2, 3)},
        {"name": "pair", "text": b"ab1", "span": (0, 3)},
    ]
    assert matcher.accept_bytes(b"2;") and matcher.captures() == two
    assert other.captures() == two
    plain = parlance.Grammar.from_regex("a*").compile(vocabulary).matcher()
    assert plain.accept_token(0) and plain.captures() == []


def test_captures_read_an_added_token_by_its_bytes():
    vocabulary = parlance.Vocabulary([b"<x>", b"</s>"], added_ids=[0], stop_ids=[1])
    grammar = parlance.Grammar.from_lark("start: r\nr[capture]: /[<>x]+/")
    matcher = grammar.compile(vocabulary).matcher()
    assert matcher.accept_token(0)
    assert matcher.captures() == [{"name": "r", "text": b"<x>", "span": (0, 3)}]
    assert grammar.captures([0], vocabulary) == matcher.captures()


def test_the_temperature_of_the_next_token():
    vocabulary = parlance.Vocabulary([b"a", b"x", b"z", b"</s>"], stop_ids=[3])
    grammar = parlance.Grammar.from_ebnf(
        'root ::= "a" v "z"\nv[temperature=0.5] ::= "x"+'
    )
    constraint = grammar.compile(vocabulary)
    matcher = constraint.matcher(default_temperature=1)
    seen = [matcher.temperature]
    for token in (0, 1, 2, 3):
        assert matcher.accept_token(token)
        seen.append(matcher.temperature)
    assert seen == [1, 0.5, 0.5, 1, 1]
    assert matcher.rollback(2) and matcher.temperature == 0.5
    assert constraint.matcher().temperature is None
    for wrong in (-1, float("nan"), float("inf"), 10**400):
        with pytest.raises(parlance.UsageError, match="finite"):
            constraint.matcher(default_temperature=wrong)
    with pytest.raises(TypeError):
        constraint.matcher(default_temperature="hot")


@pytest.mark.parametrize("name", parlance._constraining._LIMITS)
def test_the_grammar_of_a_constraint_has_its_limits(name):
    tokens = [bytes([byte]) for byte in range(256)] + [b"<end>"]
    compiler = parlance.Compiler(parlance.Vocabulary.from_tokens(tokens, stop_ids=[256]))
    limits = {name: 2**40}
    grammar = compiler.compile_regex("a", limits=limits).grammar
    assert grammar.to_bytes() == parlance.Grammar.from_regex("a", limits=limits).to_bytes()
    assert grammar.to_bytes() != parlance.Grammar.from_regex("a").to_bytes()


def test_what_a_constraint_and_a_matcher_are_made_of(tmp_path):
    tokens = [bytes([byte]) for byte in range(256)] + [b"</s>", b"<end>"]
    vocabulary = parlance.Vocabulary.from_tokens(tokens, stop_ids=[256])
    compiler = parlance.Compiler(vocabulary)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for constraint, text, other in [
        (compiler.compile_json_schema(schema), '{"a": 1}', '{"a": "1"}'),
        (compiler.compile_ebnf('root ::= "x" [0-9]+'), "x12", "12"),
        (compiler.compile_regex("a{200}", limits={"alternatives": 4096}), "a" * 200, "a"),
        (
            compiler.compile_structural_tag(
                {"type": "structural_tag", "format": {"type": "const_string", "value": "v"}}
            ),
            "v",
            "w",
        ),
    ]:
        grammar = constraint.grammar
        assert type(grammar) is parlance.Grammar
        assert grammar.accepts(text) and not grammar.accepts(other)
        assert constraint.vocabulary.stop_ids == vocabulary.stop_ids
        assert len(constraint.vocabulary) == 258
        matcher = constraint.matcher(stop_ids=[257, 256, 257])
        assert matcher.constraint is constraint
        assert matcher.copy().constraint is constraint
        assert matcher.stop_ids == matcher.copy().stop_ids == [256, 257]
        assert constraint.matcher().stop_ids == [256]
