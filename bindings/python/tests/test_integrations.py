"""Logits processors, in loops that are like their hosts' and unlike them.

The law: whatever the host did since the last call, a row gets the mask that a
new matcher has after reading the row's response; and where that reads it only
in part, or to an end, the row is left as it is.
"""

import importlib.util
import os
import pathlib
import pickle
import subprocess
import sys

import numpy
import pytest

import parlance
from parlance.integrations import llama_cpp, mlx, outlines, transformers

# mlx lies beside the environment, with the other engines.
PEERS = os.environ.get("PARLANCE_PEERS")
if PEERS and (pathlib.Path(PEERS) / "mlx").is_dir():
    sys.path.append(PEERS)
needs_mlx = pytest.mark.skipif(
    importlib.util.find_spec("mlx") is None, reason="mlx is not installed"
)

TOKENS = [b"[", b"]", b",", b" ", b"1", b"22", b"true", b"1,", b"x", b"]]"]
END = len(TOKENS)
SIZE = END + 1
PADDED = SIZE + 5  # as wide as the model's logits
VOCABULARY = parlance.Vocabulary(
    [*TOKENS, b"<end>"], special_ids=[END], stop_ids=[END]
)


def constraint_of(items):
    schema = {"type": "array", "items": items, "minItems": 1, "maxItems": 4}
    return parlance.Grammar.from_json_schema(schema, compact=True).compile(VOCABULARY)


NUMBERS = constraint_of({"type": "integer", "maximum": 30})
NESTED = constraint_of({"type": "array", "items": {"type": "boolean"}})


def model(ids):
    """Logits that depend on all the ids."""
    seed = [len(ids), *(int(i) + 1 for i in ids)]
    return numpy.random.default_rng(seed).normal(size=PADDED).astype("f")


def expected(constraint, response, scores):
    """What the law says, and how many tokens fit."""
    matcher = constraint.matcher()
    fitting = matcher.accept_tokens(response)
    if fitting < len(response) or matcher.is_terminated():
        return scores, None if matcher.is_terminated() else fitting
    mask = numpy.zeros(constraint.mask_words, numpy.int32)
    matcher.fill_bitmask(mask)
    scores = scores.copy()
    parlance.apply_bitmask(scores, mask)
    return scores, None


# The hosts' conventions: ids and scores of some rows, as each passes them.


def call_transformers(processor, ids, scores):
    given = scores.copy()
    out = processor(numpy.array(ids), given)
    assert (given == scores).all(), "the host's scores were changed"
    return out


def call_llama_cpp(processor, ids, scores):
    records = numpy.zeros(PADDED, [("id", "i4"), ("logit", "f4"), ("p", "f4")])
    records["logit"] = scores[0]
    out = processor(numpy.array(ids[0], numpy.intc), records["logit"])
    records["logit"][:] = out
    return records["logit"][None].copy()


def call_mlx(processor, ids, scores):
    import mlx.core as mx

    out = processor(mx.array(ids[0], mx.uint32), mx.array(scores))
    return numpy.array(out)


HOSTS = [
    pytest.param(transformers, call_transformers, id="transformers"),
    pytest.param(llama_cpp, call_llama_cpp, id="llama_cpp"),
    pytest.param(mlx, call_mlx, id="mlx", marks=needs_mlx),
    pytest.param(outlines, call_transformers, id="outlines-transformers"),
    pytest.param(outlines, call_llama_cpp, id="outlines-llama_cpp"),
    pytest.param(outlines, call_mlx, id="outlines-mlx", marks=needs_mlx),
]


@needs_mlx
def test_masks_of_mlx():
    """Masks as NumPy applies them, to any of the rows and to any width."""
    import mlx.core as mx

    generator = numpy.random.default_rng(5)
    for _ in range(200):
        rows = int(generator.integers(1, 5))
        words = int(generator.integers(1, 4))
        width = 32 * words + int(generator.integers(-31, 40))
        masks = generator.integers(
            -(2**31), 2**31, (rows, words), numpy.int32, endpoint=False
        )
        taken = [row for row in range(rows) if generator.random() < 0.7]
        logits = generator.normal(size=(rows, width)).astype("f")
        wanted = logits.copy()
        if taken:
            parlance.apply_bitmask(wanted, masks, taken)
        out = mlx.masked(mx.array(logits), memoryview(masks), taken)
        assert (numpy.array(out) == wanted).all()
        if rows == 1:
            out = mlx.masked(mx.array(logits[0]), memoryview(masks), taken)
            assert (numpy.array(out) == wanted[0]).all()


@pytest.mark.parametrize("module, call", HOSTS)
@pytest.mark.parametrize("prompt", [[8], [0, 4, 8, 8, 1]])
def test_greedy(module, call, prompt):
    processor = module.LogitsProcessor(NUMBERS)
    ids = list(prompt)
    while ids[-1] != END:
        scores = call(processor, [ids], model(ids)[None])
        assert not processor.mismatches and not processor.finished
        ids.append(int(scores[0].argmax()))
    text = b"".join(TOKENS[i] for i in ids[len(prompt) : -1])
    assert NUMBERS.matcher().accept_bytes(text)
    # Hosts call once more, or go on for other rows.
    for _ in range(2):
        before = model(ids)[None]
        assert (call(processor, [ids], before) == before).all()
        assert processor.finished and not processor.mismatches
        ids.append(3)


@pytest.mark.parametrize("module, call", HOSTS)
@pytest.mark.parametrize("seed", range(20))
def test_any_history(module, call, seed):
    """Ids come and go; some do not fit."""
    generator = numpy.random.default_rng(seed)
    reported = []
    processor = module.LogitsProcessor(NUMBERS, on_mismatch=reported.append)
    prompt = [int(i) for i in generator.integers(0, SIZE, 3)]
    ids = list(prompt)
    known = None
    for _ in range(60):
        scores = model(ids)[None]
        wanted, fitting = expected(NUMBERS, ids[3:], scores[0])
        reported.clear()
        out = call(processor, [ids], scores)
        assert (out[0] == wanted).all(), ids
        mismatches = [] if fitting is None else [(0, fitting, ids[3 + fitting])]
        assert processor.mismatches == mismatches
        assert reported == [m for m in mismatches if m != known]
        known = mismatches[0] if mismatches else None
        if generator.random() < 0.3:  # a shorter history
            del ids[int(generator.integers(3, len(ids) + 1)) :]
        elif generator.random() < 0.2:  # one of equal length, or longer
            at = int(generator.integers(3, len(ids) + 1))
            ids[at:] = [int(i) for i in generator.integers(0, SIZE, len(ids) + 1 - at)]
        if generator.random() < 0.1:
            ids.append(int(generator.integers(0, SIZE)))
        else:
            ids.append(int(out[0].argmax()))


@pytest.mark.parametrize("seed", range(10))
def test_beams(seed):
    """Rows take the place of others, in batches with a constraint each."""
    generator = numpy.random.default_rng(seed)
    constraints = [NUMBERS, None, NESTED]
    beams = 3
    processor = transformers.LogitsProcessor(constraints)
    prompts = [[8, 8, number] for number in range(3) for _ in range(beams)]
    rows = [list(prompt) for prompt in prompts]
    for _ in range(25):
        scores = numpy.stack([model(ids) for ids in rows])
        out = call_transformers(processor, rows, scores)
        for index, ids in enumerate(rows):
            constraint = constraints[index // beams]
            wanted = scores[index]
            if constraint is not None:
                wanted, fitting = expected(constraint, ids[3:], wanted)
                assert fitting is None
            assert (out[index] == wanted).all()
        picked = []
        for index in range(len(rows)):
            # A beam goes on from any of its prompt.
            first = index - index % beams
            source = first + int(generator.integers(0, beams))
            ended = END in rows[source][3:]
            noise = generator.normal(size=PADDED) * 3
            token = 0 if ended else int((out[source] + noise).argmax())
            picked.append(rows[source] + [token])
        rows = picked
    assert [matcher is None for matcher in processor.matchers] == (
        [False] * 3 + [True] * 3 + [False] * 3
    )


def test_draft_tokens():
    """Speculation: the draft is asked ahead, then the model, then it goes on."""
    processor = transformers.LogitsProcessor(NUMBERS)
    plain, ids = [8], [8]
    while plain[-1] != END:
        scores = expected(NUMBERS, plain[1:], model(plain))[0]
        plain.append(int(scores.argmax()))
    while ids[-1] != END:
        draft = list(ids)
        for _ in range(4):
            guess = call_transformers(processor, [draft], model(draft[-2:])[None])
            draft.append(int(guess[0].argmax()))
        for at in range(len(ids), len(draft) + 1):
            scores = call_transformers(processor, [draft[:at]], model(draft[:at])[None])
            token = int(scores[0].argmax())
            ids = draft[:at] + [token]
            if token == END or at == len(draft) or token != draft[at]:
                break
    assert ids == plain


def test_prompt():
    ids = [[4, 8, 0, 4]]
    scores = model(ids[0])[None]
    # Given: the response has begun already.
    processor = transformers.LogitsProcessor(NUMBERS, prompt_tokens=2)
    wanted = expected(NUMBERS, [0, 4], scores[0])[0]
    assert (processor(numpy.array(ids), scores)[0] == wanted).all()
    # The first call says it; fewer ids, and reset(), begin a new response.
    begin = expected(NUMBERS, [], scores[0])[0]
    processor = transformers.LogitsProcessor(NUMBERS)
    for prompt in (4, 4, 3, 3, 2, 1):
        assert (processor(numpy.array(ids)[:, :prompt], scores)[0] == begin).all()
        assert not processor.mismatches
    processor.reset()
    assert (processor(numpy.array(ids), scores)[0] == begin).all()


def test_a_matcher_that_has_read_a_prefix():
    matcher = NUMBERS.matcher()
    assert matcher.accept_bytes("[1,")
    processor = llama_cpp.LogitsProcessor(matcher)
    for response in ([], [4], [5, 1], [4], [2], []):
        ids = numpy.array([8, *response], numpy.intc)
        scores = model(ids)
        wanted, _ = expected(NUMBERS, [0, 7, *response], scores)
        assert (processor(ids, scores.copy()) == wanted).all()
    assert matcher.steps() == 1, "the caller's matcher is a model, not in use"


def test_a_mismatch_can_be_read():
    processor = llama_cpp.LogitsProcessor(NUMBERS)
    processor(numpy.array([8], "i4"), model([8]))
    processor(numpy.array([8, 0, 6], "i4"), model([8]))
    (mismatch,) = processor.mismatches
    assert (mismatch.row, mismatch.position, mismatch.token) == (0, 1, 6)
    assert str(mismatch) == (
        "token 6 at position 1 of row 0 does not fit the constraint"
    )
    # The state is the one before it.
    assert processor.matchers[0].accept_token(4)


def test_refused():
    with pytest.raises(TypeError, match="constraint must be a Constraint, a Matcher"):
        llama_cpp.LogitsProcessor("schema")
    with pytest.raises(ValueError, match="no constraint in the list"):
        transformers.LogitsProcessor([])
    with pytest.raises(ValueError, match="prompt_tokens must be between 0"):
        transformers.LogitsProcessor(NUMBERS, prompt_tokens=-1)
    with pytest.raises(TypeError, match="prompt_tokens must be an integer, not str"):
        transformers.LogitsProcessor(NUMBERS, prompt_tokens="1")
    processor = transformers.LogitsProcessor([NUMBERS, NESTED])
    with pytest.raises(ValueError, match="batch has 3 rows, which cannot be shared"):
        processor(numpy.zeros((3, 1), "i8"), numpy.zeros((3, PADDED), "f"))


@pytest.mark.parametrize("name", ["transformers", "llama_cpp", "mlx"])
def test_alone(name):
    """Each is imported without its host, the others' and NumPy."""
    program = (
        "import sys\n"
        f"from parlance.integrations.{name} import LogitsProcessor, Mismatch\n"
        "hosts = {'torch', 'transformers', 'llama_cpp', 'mlx', 'numpy'}\n"
        "print(sorted(hosts & set(sys.modules)))\n"
        "print(sorted(m for m in sys.modules if 'integrations.' in m))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(pathlib.Path(parlance.__file__).parent.parent),
        },
    ).stdout.splitlines()
    assert out[0] == "[]"
    assert out[1] == str(
        sorted(f"parlance.integrations.{m}" for m in ("_follow", name))
    )


@needs_mlx
def test_mlx_logits_that_are_too_narrow():
    import mlx.core as mx

    tokens = [bytes([b]) for b in range(256)] + [b"<end>"]
    vocabulary = parlance.Vocabulary(tokens, special_ids=[256], stop_ids=[256])
    grammar = parlance.Grammar.from_regex("a")
    processor = mlx.LogitsProcessor(grammar.compile(vocabulary))
    with pytest.raises(ValueError, match="logits has 256 columns"):
        processor(mx.array([1]), mx.zeros((1, 256)))


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
def test_tensors_of_torch():
    import torch

    rows = [[8, 0], [8, 6]]
    scores = numpy.stack([model(ids) for ids in rows])
    processor = transformers.LogitsProcessor(NUMBERS, prompt_tokens=1)
    given = torch.from_numpy(scores)
    out = processor(torch.tensor(rows), given)
    for index, ids in enumerate(rows):
        wanted, _ = expected(NUMBERS, ids[1:], scores[index])
        assert (out[index].numpy() == wanted).all()
    assert given.equal(torch.from_numpy(scores)), "scores were changed"
    assert processor.mismatches == [(1, 0, 6)]


# ---- Files that are replaced


def test_a_vocabulary_is_known_by_its_content(tmp_path):
    from parlance.integrations import arrow

    file = tmp_path / "vocabulary"
    parlance.Vocabulary([b"a", b"b"]).save(file)
    parse = arrow.Parse("qwen3", vocabulary=file)
    pickled = pickle.dumps(parse)
    parlance.Vocabulary([b"c", b"d"]).save(file)
    other = arrow.Parse("qwen3", vocabulary=file)
    assert parse.vocabulary_digest != other.vocabulary_digest
    for one, token in ((parse, b"a"), (other, b"c"), (pickle.loads(pickled), b"a")):
        assert arrow._vocabulary(one._vocabulary).bytes(0) == token
    arrow._vocabularies.clear()  # as in another process
    assert arrow._vocabulary(other._vocabulary).bytes(0) == b"c"
    with pytest.raises(parlance.UsageError, match="another vocabulary"):
        arrow._vocabulary(pickle.loads(pickled)._vocabulary)
    with pytest.raises(OSError):
        arrow.Parse("qwen3", vocabulary=tmp_path / "nosuch")
