"""Nothing that code does with the package's objects ends, hangs or corrupts the
process: threads, finalizers, callbacks, exit, ``fork``, subinterpreters.

What could end a process runs in a child.
"""

import gc
import pathlib
import re
import subprocess
import sys
import textwrap
import weakref

import pytest
from changing_objects import MARKS, OBJECTS, TOGETHER

import parlance

MARK = {text.decode(): 256 + i for i, text in enumerate(MARKS)}
TESTS = pathlib.Path(__file__).parent
SECONDS = 60  # a child that takes longer hangs


def run(program, *arguments, seconds=SECONDS):
    """Runs a Python text in a child; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


# ---- One call at a time


@pytest.mark.parametrize("name", OBJECTS)
def test_every_method_has_a_call(name):
    one, calls, _ = OBJECTS[name]()
    constant = {"constraint", "mask_words"} if name == "Matcher" else set()
    methods = {m for m in dir(type(one)) if not m.startswith("_")} - constant
    assert methods == {c for c in calls if not c.startswith("_")}


def test_every_class_that_changes_is_here():
    """A new class that changes is an ExclusiveClass (exclusive.h)."""
    never_change = set(
        "ArrowMessages CompiledTag Compiler Constraint Encoder Format Grammar "
        "Jmespath ResponseSchema StructuralTag ToolSet View Vocabulary".split()
    )
    classes = {n for n, c in vars(parlance._parlance).items() if isinstance(c, type)}
    assert classes == never_change | {name.split()[0] for name in OBJECTS}


@pytest.mark.parametrize("name", [n for n in OBJECTS if OBJECTS[n]()[2]])
def test_a_call_during_a_call_is_refused(name):
    _, calls, during = OBJECTS[name]()
    seen = {}

    def then():
        for method, call in calls.items():
            try:
                call()
                seen[method] = None
            except parlance.UsageError as why:
                seen[method] = str(why)

    during(then)
    assert set(seen) == set(calls)
    for method, why in seen.items():
        if name == "MaskTable" and method in TOGETHER:
            assert why is None, (method, why)
        else:
            assert why is not None and "is in use" in why, (method, why)
    # The call that was disturbed has ended, and the object is free again.
    during(lambda: None)


def test_an_object_that_is_being_made():
    parser = parlance.ResponseParser.__new__(parlance.ResponseParser)
    vocabulary = parlance.Vocabulary([b"a"], stop_ids=[])
    seen = []

    class Index:
        def __index__(self):
            with pytest.raises(parlance.UsageError, match="is in use"):
                parser.__init__("qwen3", "", vocabulary=vocabulary)
            with pytest.raises(TypeError), pytest.warns(RuntimeWarning):
                parser.feed([0])
            seen.append(1)
            return 0

    parser.__init__("qwen3", [Index(), Index()], vocabulary=vocabulary)
    assert seen == [1, 1] and parser.feed([0])[-1]["text"] == "a"


def test_a_vocabulary_and_a_compiler_that_are_being_made():
    from parlance import _parlance

    made = parlance.Vocabulary([b"a"], stop_ids=[0])

    def make_vocabulary(one, ids):
        one.__init__([b"a"], stop_ids=ids)

    def make_compiler(one, ids):
        _parlance.Compiler.__init__(one, made, 0, 0, ids)

    def load(one, ids):
        one.__setstate__(made.__getstate__())

    for cls, make, again in (
        (parlance.Vocabulary, make_vocabulary, make_vocabulary),
        (parlance.Vocabulary, make_vocabulary, load),
        (_parlance.Compiler, make_compiler, make_compiler),
    ):
        one = cls.__new__(cls)
        seen = []

        class Index:
            def __index__(self):
                with pytest.raises(parlance.UsageError, match="is in use"):
                    again(one, [0])
                seen.append(1)
                return 0

        make(one, [Index()])
        assert seen == [1]


def test_a_batch_uses_its_rows():
    batch, calls, during = OBJECTS["Batch"]()
    matcher = parlance.Grammar.from_regex("a*").compile(
        parlance.Vocabulary([b"a", b"."], stop_ids=[1])
    ).matcher()
    row = batch.add(matcher)
    seen = []

    class Bad:
        def __index__(self):
            seen.append(matcher.steps())
            return 0

    # Before the rows of a step are known, they are not in use.
    batch.step([row], [Bad()])
    assert seen == [0] and matcher.steps() == 1


def test_a_delta_stream_uses_its_parser():
    parser = parlance.ResponseParser(
        "qwen3", "", vocabulary=parlance.Vocabulary([b"a"], stop_ids=[])
    )
    seen = []

    class Index:
        def __index__(self):
            with pytest.raises(parlance.UsageError, match="is in use"):
                parser.feed([0])
            seen.append(1)
            return 0

    from parlance import _parlance

    stream = _parlance.DeltaStream(
        parlance.Format("qwen3"),
        parser,
        parlance.Vocabulary([b"a"], stop_ids=[]),
        [],
        "reasoning",
    )
    stream.feed([Index()])
    assert seen == [1]


def test_texts_for_a_parser_in_use():
    """None is fed when one cannot be."""
    one = parlance.ResponseParser("qwen3", "")
    other = parlance.TagParser({"format": {"type": "any_text"}})
    assert parlance.feed_deltas([one, one], ["a", "b"]) == [
        (0, "region_chunk", "content", "a", -1),
        (1, "region_chunk", "content", "b", -1),
    ]
    seen = []

    class Text(str):
        pass

    class Garbage:
        def __init__(self):
            self.me = self

        def __del__(self):
            try:
                seen.append(parlance.feed_deltas([one, other], ["", "x"]))
            except parlance.UsageError as why:
                seen.append(str(why))

    threshold = gc.get_threshold()
    gc.collect()
    Garbage()
    gc.set_threshold(1)
    try:
        one.feed("a" + "<think>b</think>" * 50)
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert len(seen) == 1


THREADS = """
    import sys, threading, time
    import parlance
    from changing_objects import OBJECTS, TEXT
    sys.setswitchinterval(1e-6)
    allowed = (parlance.UsageError, parlance.StateError)
    refused = {}
    LONG = TEXT * 4000  # read without the GIL
    for name in sys.argv[1:]:
        one, calls, _ = OBJECTS[name]()
        # Long input, beside which the other threads run.
        if name in ("ResponseParser", "TagParser"):
            calls["feed long"] = lambda: one.feed(LONG)
        elif "ids" in name or name in ("HarmonyParser", "DeltaStream"):
            ids = list(LONG.encode())
            calls["feed long"] = lambda: one.feed(ids)
        elif name == "Matcher":
            calls["accept long"] = lambda: one.accept_bytes("ab" * 40000)
        end = time.monotonic() + 0.6
        wrong = []
        refused[name] = 0

        def work(offset):
            order = list(calls)
            order = order[offset:] + order[:offset]
            if "finalize" in order and offset:
                order = [m for m in order if "finalize" not in m]
            while time.monotonic() < end:
                for method in order:
                    try:
                        calls[method]()
                    except allowed as why:
                        refused[name] += "is in use" in str(why)
                    except Exception as why:
                        wrong.append((method, repr(why)))

        threads = [threading.Thread(target=work, args=(i * 3,)) for i in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not wrong, (name, wrong[:3])
    print(refused)
"""


def test_threads_that_share_an_object():
    refused = eval(run(THREADS, *OBJECTS))
    # Those whose calls release the GIL were found in use.
    for name in ("ResponseParser", "ResponseParser of ids", "TagParser", "Matcher"):
        assert refused[name] > 0, refused


FINALIZERS = """
    import gc, sys
    import parlance
    from changing_objects import OBJECTS, TEXT
    runs = 0

    class Garbage:
        def __init__(self, calls):
            self.me = self
            self.calls = calls
        def __del__(self):
            global runs
            runs += 1
            for method, call in self.calls.items():
                if "finalize" in method or method in ("end", "remove", "reset"):
                    continue
                try:
                    call()
                except (parlance.UsageError, parlance.StateError):
                    pass

    for name in OBJECTS:
        for method in OBJECTS[name]()[1]:
            one, calls, during = OBJECTS[name]()
            if hasattr(one, "feed") and "ids" not in name and "Parser" in name:
                if name != "HarmonyParser":
                    one.feed(TEXT)
                    calls["feed more"] = lambda: one.feed(TEXT)
            gc.collect()
            gc.set_threshold(1)
            for _ in range(5):
                # Collected at the next object that is allocated: in the call.
                Garbage(calls)
                try:
                    calls[method]()
                    calls.get("feed more", lambda: None)()
                except parlance.StateError:
                    pass
                except parlance.UsageError as why:
                    assert "no row" in str(why), (name, method, why)
            gc.set_threshold(700)
    assert runs > 200, runs
"""


def test_finalizers_that_use_the_object_that_allocates():
    run(FINALIZERS)


# ---- What is made when it is first needed, and what is dropped


def test_prototypes_that_a_finalizer_makes_first():
    run(
        """
        import gc
        import parlance
        TEMPLATE = parlance.Format("qwen3").template
        FIELDS = parlance.Format("qwen3").fields

        class Garbage:
            def __init__(self, use):
                self.me = self
                self.use = use
            def __del__(self):
                self.use()

        for i in range(100):
            format = parlance.Format(TEMPLATE)
            bare = parlance.ResponseTemplate(TEMPLATE)
            gc.collect()
            gc.set_threshold(1)
            Garbage(lambda: format.parser("").feed("a<think>b"))
            assert format.fields == FIELDS
            Garbage(lambda: bare.parser("").feed("a<think>b"))
            assert bare.parser("").feed("x")[0]["type"] == "region_open"
            gc.set_threshold(700)
        """
    )


def test_a_removed_row_dies_last():
    batch = parlance.Batch(threads=1)
    added = []

    class Parser(parlance.ResponseParser):
        def __del__(self):
            added.extend(batch.add() for _ in range(100))

    vocabulary = parlance.Vocabulary([b"a"], stop_ids=[])
    row = batch.add(None, Parser("qwen3", "", vocabulary=vocabulary))
    batch.remove(row)
    assert added == list(range(100)) and len(batch) == 100
    assert batch.step([5], [0]).accepted == [1]


class Canary:
    """Says by a weak reference whether its cycle was collected."""


def _in_format(canary):
    format = parlance.Format("qwen3")
    format.parser_of_it = format.parser("")
    format.canary = canary


def _in_initial_events(canary):
    parser = parlance.ResponseParser("qwen3", "<|im_start|>assistant\n<think>")
    parser.initial_events[0]["x"] = (parser, canary)


def _in_tag(canary):
    parser = parlance.TagParser({"format": {"type": "any_text"}}, prefix="a")
    parser.initial_events[0]["x"] = (parser, canary)


def _in_harmony(canary):
    parser = OBJECTS["HarmonyParser"]()[0]
    parser.feed([MARK["<|channel|>"], *b"final", MARK["<|message|>"], *b"x"])
    parser.finalize()
    parser.final_events[0]["x"] = (parser, canary)


def _in_constraint(canary):
    constraint = parlance.Grammar.from_regex("a").compile(CYCLE_VOCABULARY)
    constraint.held = (constraint.matcher(), canary)


def _in_batch(canary):
    constraint = parlance.Grammar.from_regex("a").compile(CYCLE_VOCABULARY)
    batch = parlance.Batch()
    batch.add(
        constraint.matcher(),
        parlance.ResponseParser("qwen3", "", vocabulary=CYCLE_VOCABULARY),
    )
    constraint.held = (batch, canary)


def _in_stream(canary):
    parser = parlance.ResponseParser("qwen3", "<think>")
    stream = parlance._parlance.DeltaStream(
        parlance.Format("qwen3"), parser, None, [], "reasoning"
    )
    parser.kept = (stream, canary)


class Tokenizer:
    def __init__(self, canary):
        self.canary = canary
        self.vocabulary = CYCLE_VOCABULARY.with_encoder(self.encode)

    def encode(self, text):
        return list(text.encode())


def _in_tokenizer(canary):
    tokenizer = Tokenizer(canary)
    tokenizer.other = tokenizer.vocabulary.with_stop_ids([0])
    tokenizer.spaced = tokenizer.vocabulary.with_space_after_marks(True)
    assert tokenizer.other.encode("a") == [97]


def _in_compiler(canary):
    tokenizer = Tokenizer(canary)
    constraint = parlance.Grammar.from_regex("abc").compile(tokenizer.vocabulary)
    tokenizer.matcher = constraint.matcher()
    tokenizer.again = constraint.vocabulary
    assert tokenizer.matcher.forced_tokens() == [97, 98, 99]


def _in_parsers(canary):
    tokenizer = Tokenizer(canary)
    v = tokenizer.vocabulary
    tokenizer.parsers = (
        parlance.ResponseParser("qwen3", "", vocabulary=v),
        parlance.TagParser({"format": {"type": "any_text"}}, vocabulary=v),
        parlance.MaskTable(parlance.Compiler(v)),
    )


CYCLE_VOCABULARY = parlance.Vocabulary(
    [*(bytes([b]) for b in range(256)), b"<|end|>"],
    control_ids=[256],
    stop_ids=[256],
)
CYCLES = [f for n, f in list(globals().items()) if n.startswith("_in_")]


@pytest.mark.parametrize("make", CYCLES, ids=lambda f: f.__name__[4:])
def test_a_cycle_is_collected(make):
    canary = Canary()
    gone = weakref.ref(canary)
    make(canary)
    del canary
    gc.collect()
    gc.collect()
    assert gone() is None


def test_an_encoder_lives_as_long_as_it_is_needed():
    called = []

    def encode(text):
        called.append(text)
        return list(text.encode())

    gone = weakref.ref(encode)
    vocabulary = CYCLE_VOCABULARY.with_encoder(encode)
    del encode
    matcher = parlance.Grammar.from_regex("ab").compile(vocabulary).matcher()
    del vocabulary
    gc.collect()
    assert matcher.forced_tokens() == [97, 98] and called == ["ab"]
    other = matcher.constraint.vocabulary
    del matcher
    gc.collect()
    assert other.encode("c") == [99]
    del other
    gc.collect()
    assert gone() is None


# ---- Signals, exit, fork, subinterpreters


def test_a_signal_handler_that_uses_the_parser():
    run(
        """
        import signal
        import parlance
        seen = []

        def handle(*_):
            try:
                parser.feed("x")
                seen.append("fed")
            except parlance.UsageError as why:
                seen.append(str(why))

        parser = parlance.ResponseParser("qwen3", "")
        text = "a" * (20 << 20)
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        parser.feed(text)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert any("is in use" in one for one in seen), seen
        """
    )


EXIT = """
    import sys, threading, time
    import parlance, parlance.jmespath
    V = parlance.Vocabulary([bytes([b]) for b in range(256)] + [b"<e>"], stop_ids=[256])
    QWEN = parlance.Format("qwen3")
    TEXT = "<think>a</think>" + "b " * 500_000
    MATCHER = parlance.Grammar.from_regex("(a|b)*").compile(V).matcher()
    ITEMS = list(range(100_000))

    class Slow:
        def __index__(self):
            time.sleep(0.001)
            return 97

    def slowly(*_):
        time.sleep(0.001)
        return []

    CODED = parlance.Grammar.from_regex("abc").compile(V.with_encoder(slowly))

    def wrong():
        try:
            MATCHER.rollback(-1)
        except TypeError:
            pass
        try:
            parlance.ResponseParser("qwen3", "").feed([1])
        except parlance.UsageError:
            pass

    calls = {
        "feed": lambda: parlance.ResponseParser(QWEN, "").feed(TEXT),
        "parse": lambda: parlance.parse_response(TEXT, QWEN, prefix=""),
        "many": lambda: parlance.parse_response([TEXT] * 9, QWEN, prefix=""),
        "compile": lambda: parlance.Grammar.from_json_schema(
            {"type": "object", "properties": {str(i): {} for i in range(99)}},
            cancelled=slowly),
        "accepts": lambda: parlance.Grammar.from_regex("(a|b)*").accepts("ab" * 9999),
        "matcher": lambda: (MATCHER.accept_bytes("ab" * 9999), MATCHER.reset()),
        "index": lambda: MATCHER.copy().accept_tokens([Slow()] * 50),
        "encoder": lambda: CODED.matcher().forced_tokens(),
        "search": lambda: parlance.jmespath.search("[?@ > `5`] | length(@)", ITEMS),
        "errors": wrong,
    }
    call = calls[sys.argv[1]]

    def work():
        while True:
            call()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
        if sys.argv[1] in ("matcher", "many"):
            break  # the others would be refused
    time.sleep(0.15)
"""
EXIT_CALLS = re.findall(r'^ +"(\w+)": (?:lambda|wrong)', EXIT, re.M)


@pytest.mark.parametrize("call", EXIT_CALLS)
def test_exit_while_a_daemon_thread_is_in_a_call(call):
    for _ in range(2):
        run(EXIT, call)


def test_ids_differ_after_fork():
    run(
        """
        import os
        from parlance.chat import ChatStream

        def ids():
            out = []
            for api in ("chat_completions", "responses", "messages"):
                stream = ChatStream("qwen3", api=api)
                call = {"type": "call_open", "call": 0, "name": "f", "start": 0,
                        "end": 1, "field": "tool_calls"}
                chunks = stream.begin() + stream.feed([call])
                out.append(repr(chunks))
            return out

        first = ids()
        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, repr(ids()).encode())
            os._exit(0)
        os.close(write)
        child = os.fdopen(read).read()
        mine = ids()
        os.wait()
        assert not any(repr(one) in child for one in [*mine, *first])
        """
    )


def test_fork_while_threads_use_the_same_compiler():
    run(
        """
        import os, signal, threading, time
        import parlance
        from changing_objects import COMPILER, CONSTRAINT, VOCABULARY, WORDS, mask
        SCHEMA = {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}}
        constraint = COMPILER.compile_json_schema(SCHEMA)
        stop = False
        made = 0

        def use(number):
            COMPILER.compile_json_schema({"anyOf": [SCHEMA, {"const": number}]})
            matcher = constraint.matcher()
            for byte in b'["ab", "cd"':
                matcher.fill_bitmask(mask())
                assert matcher.accept_token(byte)

        def work():
            global made
            while not stop:
                made += 1
                use(made)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        try:
            for number in range(12):
                time.sleep(0.003)
                child = os.fork()
                if child == 0:
                    signal.alarm(10)
                    use(-number)
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
        finally:
            stop = True
        for thread in threads: thread.join()
        """
    )


def test_a_batch_after_fork():
    run(
        """
        import os, signal
        from changing_objects import OBJECTS, CONSTRAINT, mask
        import parlance
        batch = parlance.Batch(threads=4)
        for _ in range(64):
            batch.add(CONSTRAINT.matcher())
        import numpy
        masks = numpy.zeros((64, CONSTRAINT.mask_words), numpy.int32)
        rows = list(range(64))
        first = batch.step(rows, [97] * 64, masks)
        child = os.fork()
        signal.alarm(20)
        again = batch.step(rows, [98] * 64, masks)
        assert again == first
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    )


@pytest.mark.parametrize("first", ["main", "sub"])
def test_a_subinterpreter_is_refused(first):
    pytest.importorskip("_xxsubinterpreters")
    run(
        """
        import sys
        import _xxsubinterpreters as interpreters

        def use_main():
            import parlance
            parser = parlance.ResponseParser("qwen3", "")
            assert parser.feed("a")[1]["text"] == "a"
            try:
                parser.feed([1])
            except parlance.UsageError:
                pass

        def use_sub():
            sub = interpreters.create()
            interpreters.run_string(sub, '''if True:
                for _ in range(2):
                    try:
                        import parlance
                    except ImportError as why:
                        assert "main interpreter" in str(why), why
                    else:
                        raise AssertionError("imported")
            ''')
            interpreters.destroy(sub)

        for _ in range(2):
            if sys.argv[1] == "main":
                use_main()
            use_sub()
            use_main()
        """,
        first,
    )


def test_no_static_of_a_function_calls_python():
    """Its lock would be held while Python code runs; see binding.h."""
    found = []
    for path in sorted(TESTS.parent.glob("*.cc")) + sorted(TESTS.parent.glob("*.h")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r"\s+static (?!constexpr)[^()]*= ?[^;]*[(\[]", line):
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert found == []


NO_MEMORY = """
    import gc
    import _testcapi
    import parlance
    from changing_objects import *

    ROWS = numpy.zeros((1, WORDS), numpy.int32)
    LOGITS = numpy.zeros((1, 32 * WORDS), numpy.float32)

    def attempts(name, make, expected):
        gc.disable()
        failed = passed = 0
        while passed < 3:
            call, *arguments = make()
            _testcapi.set_nomemory(failed + passed, failed + passed + 1)
            try:
                got = call(*arguments)
            except MemoryError:
                got = MemoryError
            finally:
                _testcapi.remove_mem_hooks()
            if got is MemoryError:
                failed += 1
                passed = 0
                call, *arguments = make()
                assert call(*arguments) == expected, (name, failed)
            else:
                assert got == expected, (name, failed, got)
                passed += 1
        return failed

    def fed(kind, **options):
        one = parlance.ResponseParser(FORMAT, "", **options)
        return getattr(one, kind), (TEXT if not options else [256, *b"b a", 257])

    def ended():
        parser = parlance.ResponseParser(FORMAT, "")
        parser.feed(TEXT)
        return parser.finalize,

    def stepped():
        batch = parlance.Batch(threads=1)._batch
        batch.add(CONSTRAINT.matcher(),
                  parlance.ResponseParser(FORMAT, "", vocabulary=VOCABULARY))
        return batch.step, [0], [97], None, None, None, None, None, None

    CALLS = {
        "feed": lambda: fed("feed"),
        "feed_deltas": lambda: fed("feed_deltas"),
        "feed ids": lambda: fed("feed", vocabulary=VOCABULARY),
        "finalize": ended,
        "step": stepped,
        "forced": lambda: (COMPILER.compile_regex("abc").matcher().forced_tokens,),
        "mask": lambda: (CONSTRAINT.matcher().fill_bitmask, ROWS),
        "apply": lambda: (
            parlance._parlance.apply_bitmask, LOGITS, ROWS, None, False),
        "ids": lambda: (CONSTRAINT.matcher().accept_tokens, ROWS[0, :1]),
        "chat": lambda: (
            parlance.chat.ChatStream(FORMAT, id="a")._stream.feed,
            [{"type": "text_unclaimed", "text": "a", "start": 0, "end": 1}]),
        "parse": lambda: (parlance._parlance.parse_text, FORMAT, TEXT, ""),
        "fields": lambda: (
            lambda f: parlance.Format.fields.__get__(f), parlance.Format(FORMAT)),
    }
    count = 0
    for name, make in CALLS.items():
        call, *arguments = make()
        count += attempts(name, make, call(*arguments))
    assert count > 50, count
"""


def test_python_has_no_memory():
    """Each allocation of a call fails once; then the call works."""
    pytest.importorskip("_testcapi")
    run(NO_MEMORY)
