"""llama-cpp-python, with a real model: its vocabulary and its generation loop.

And the sampler of examples/llama_cpp in the library that llama-cpp-python
brings, and the examples of the pages about llama.cpp and Outlines.
"""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

llama_cpp = pytest.importorskip("llama_cpp")
import parlance  # noqa: E402
from parlance.integrations.llama_cpp import (  # noqa: E402
    LogitsProcessor,
    vocabulary_of,
)

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
from smollm2 import ROOT, PROMPT, TOOLS, Weather, model_file  # noqa: E402


@pytest.fixture(scope="module")
def llama():
    return llama_cpp.Llama(model_path=str(model_file()), n_ctx=512, verbose=False)


@pytest.fixture(scope="module")
def vocabulary(llama):
    return vocabulary_of(llama)


def test_the_vocabulary_is_that_of_llama_cpp(llama, vocabulary):
    own = llama_cpp.llama_model_get_vocab(llama.model)
    assert len(vocabulary) == llama.n_vocab()
    room = ctypes.create_string_buffer(256)
    for token in range(llama.n_vocab()):
        special = token in vocabulary.special_ids
        size = llama_cpp.llama_token_to_piece(own, token, room, 256, 0, True)
        assert size >= 0
        if special:
            assert vocabulary.spelling(token) == room.raw[:size]
        else:
            assert vocabulary.bytes(token) == room.raw[:size], token
    ends = [t for t in range(llama.n_vocab()) if llama_cpp.llama_vocab_is_eog(own, t)]
    assert set(vocabulary.stop_ids) <= set(ends)
    assert llama.token_eos() in vocabulary.stop_ids


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_a_completion(llama, vocabulary, temperature):
    family = parlance.Format("hermes_qwen2_5")
    tag = family.structural_tag(TOOLS, tool_choice="required", max_white_space=1)
    processor = LogitsProcessor(parlance.Compiler(vocabulary).compile_structural_tag(tag))
    for seed in range(3):
        processor.reset()
        answer = llama(
            PROMPT,
            max_tokens=80,
            temperature=temperature,
            seed=seed,
            logits_processor=llama_cpp.LogitsProcessorList([processor]),
        )
        assert not processor.mismatches
        [choice] = answer["choices"]
        message = parlance.parse_response(choice["text"], family, prefix="")
        [call] = message["tool_calls"]
        Weather.model_validate(call["function"]["arguments"])


def test_a_chat_completion_in_a_stream(llama, vocabulary):
    schema = Weather.model_json_schema()
    constraint = parlance.Compiler(vocabulary).compile_json_schema(schema, closed=True)
    stream = llama.create_chat_completion(
        [{"role": "user", "content": "The weather in Oslo, please."}],
        max_tokens=80,
        temperature=0.0,
        stream=True,
        logits_processor=llama_cpp.LogitsProcessorList([LogitsProcessor(constraint)]),
    )
    pieces = [part["choices"][0]["delta"].get("content") or "" for part in stream]
    Weather.model_validate(json.loads("".join(pieces)))


def test_the_sampler_in_cpp(tmp_path):
    """Builds the example with the library that scripts/test install installs."""
    installed = ROOT / "build" / "install" / "release"
    if not installed.is_dir():
        pytest.skip("Parlance is not installed; see scripts/test install")
    packages = pathlib.Path(llama_cpp.__file__).resolve().parent.parent
    built = tmp_path / "built"
    found = f"-DCMAKE_PREFIX_PATH={installed};{packages}"
    for command in (
        ["cmake", "-S", ROOT / "examples" / "llama_cpp", "-B", built, found],
        ["cmake", "--build", built],
        ["ctest", "--test-dir", built, "--output-on-failure"],
        [built / "constrained", model_file()],
    ):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "LD_LIBRARY_PATH": os.path.join(packages, "lib")},
        )
        assert done.returncode == 0, done.stdout + done.stderr
    message = json.loads(done.stdout[done.stdout.index("\n{") :])
    [call] = message["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    assert 1 <= call["function"]["arguments"]["days"] <= 7


def examples():
    for name in ("outlines", "llama-cpp"):
        text = (ROOT / "docs" / "guide" / f"{name}.md").read_text("utf-8")
        for block in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
            line = text.count("\n", 0, block.start()) + 1
            yield pytest.param(block[1], id=f"{name}.md:{line}")


@pytest.mark.parametrize("code", examples())
def test_the_examples_of_the_pages(code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "MODEL": str(model_file())},
    )
    assert done.returncode == 0, done.stderr
    wanted = re.findall(r"^#> (.*)$", code, re.M)
    assert done.stdout.splitlines() == wanted
