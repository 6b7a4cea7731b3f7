"""Parsers for SGLang: of reasoning and of tool calls.

SGLang reads a response in two stages.  A reasoning parser takes the reasoning
out, and what it leaves goes through a tool parser.  Where both are Parlance's,
the first stage leaves the response as the model wrote it, except for the text of
the reasoning: the second stage reads it with the same prompt, and finds every
delimiter where it was.
"""

from __future__ import annotations

import codecs
import functools
import threading
import weakref

from sglang.srt.environ import envs
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.parser.reasoning_parser import (
    StreamingParseResult as ReasoningParseResult,
)
from sglang.srt.parser.response_template import (
    GRAMMAR_FROM_START,
    ResponseTemplateReasoningDetector,
    ResponseTemplateToolDetector,
)

from ... import ResponseParser
from ..._errors import Error
from .._stream import CALLS, REASONING, Model, Stream

__all__ = [
    "ParlanceReasoningDetector",
    "ParlanceToolDetector",
    "reasoning_detector_class",
    "tool_detector_class",
]

_models = weakref.WeakKeyDictionary()  # by tokenizer
_models_lock = threading.Lock()


@functools.cache
def _model_of_family(family):
    return Model(None, family, by_text=True)


def model_of(tokenizer, family=None):
    """The ``Model`` of a family, or of the one that a tokenizer uses."""
    if family is not None:
        return _model_of_family(family)
    if tokenizer is None:
        raise ValueError(
            "the parser parlance finds the format by the tokenizer, and there is "
            "none; name a format, as in --tool-call-parser parlance_qwen3"
        )
    with _models_lock:
        if tokenizer not in _models:
            try:
                _models[tokenizer] = Model(tokenizer, by_text=True)
            except Error as error:
                raise ValueError(
                    f"no format is known for this tokenizer ({error.message}); "
                    "name one, as in --tool-call-parser parlance_qwen3"
                ) from error
        return _models[tokenizer]


class Prompt(str):
    """The text of a prompt, and what SGLang does with its response.

    Attributes:
        has_reasoning: whether the tool parser reads the reasoning, because no
            reasoning parser has read it.
        is_paired: whether both parsers are Parlance's.
    """

    has_reasoning = True
    is_paired = False


def tool_dicts(tools):
    """The tools of a request as chat completions have them."""
    out = []
    for tool in tools or ():
        tool = tool if isinstance(tool, dict) else tool.model_dump()
        if tool.get("function"):
            out.append(tool)
    return out


def _literals(field, key):
    found = field.get(key) or []
    return [found] if isinstance(found, str) else list(found)


# ---- Reasoning.


class _Emptied:
    """Reads the reasoning of a response and leaves the rest as it was written."""

    def __init__(self, model, prompt, tools):
        self._parser = ResponseParser(
            model.format, prompt, tools=tools or None, recover=True
        )
        self._bytes = bytearray()  # of the response, from offset `_end`
        self._end = self._parser.prefix_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, text, *, finished=False):
        """Returns ``(reasoning, rest)``."""
        self._bytes += text.encode("utf-8", "surrogatepass")
        events = self._parser.feed(text) if text else []
        if finished:
            events += self._parser.finalize()[1]
        reasoning = []
        rest = bytearray()
        for event in events:
            if event["field"] == REASONING and event["type"] == "region_chunk":
                reasoning.append(event["text"])
                rest += self._taken(event["start"])
                self._taken(event["end"])
            else:
                rest += self._taken(event["end"])
        if finished:
            rest += self._bytes
            self._bytes.clear()
        return "".join(reasoning), self._decoder.decode(bytes(rest), finished)

    def _taken(self, end):
        count = max(0, end - self._end)
        taken = bytes(self._bytes[:count])
        del self._bytes[:count]
        self._end = max(self._end, end)
        return taken


class _Separated:
    """Reads the reasoning of a response; calls stay in the text."""

    def __init__(self, model, prompt, tools):
        self._stream = Stream(model, prompt, tools, calls=False)

    def feed(self, text, *, finished=False):
        """Returns ``(reasoning, rest)``."""
        reasoning = []
        rest = []
        for delta in self._stream.feed(text, finished=finished):
            reasoning.append(delta.get(REASONING) or "")
            rest.append(delta.get("content") or "")
        return "".join(reasoning), "".join(rest)


class ParlanceReasoningDetector(ResponseTemplateReasoningDetector):
    """Takes the reasoning out of responses.

    SGLang gives the prompt to subclasses of ``ResponseTemplateReasoningDetector``
    and keeps special tokens in their text; nothing else of it is used.

    Args:
        stream_reasoning: whether reasoning comes as it is written; otherwise at
            its end.
        tokenizer: a tokenizer of transformers, used to find the family.
        prefix: the prompt.
        force_reasoning: without a prompt, whether responses begin inside
            reasoning.
        force_nonempty_content: a response of nothing but reasoning is content.
        grammar_start: whether the response is bare JSON, as SGLang says it.
        tools: the tools of the request.
        tool_call_parser_active: whether a tool parser reads the rest.
    """

    family = None
    reasoning_default = "explicit_enable_thinking"

    def __init__(
        self,
        stream_reasoning=True,
        tokenizer=None,
        prefix="",
        force_reasoning=False,
        force_nonempty_content=False,
        grammar_start=None,
        tools=None,
        tool_call_parser_active=False,
        **_,
    ):
        model = self.model = model_of(tokenizer, self.family)
        field = model.reasoning_field
        openers = _literals(field, "open")
        closers = _literals(field, "close")
        self.stream_reasoning = stream_reasoning
        self.think_start_token = openers[0] if openers else ""
        self.think_end_token = closers[0] if closers else ""
        self.think_start_self_label = ""
        self.think_excluded_tokens = None
        self.message_start_think_openers = openers
        self.answer_started = False
        self._force_nonempty_content = force_nonempty_content
        self._verbatim = grammar_start == GRAMMAR_FROM_START
        if not prefix and force_reasoning:
            prefix = self.think_start_token
        self._prompt = prefix
        self._tools = tool_dicts(tools)
        self._is_emptied = tool_call_parser_active and getattr(
            prefix, "is_paired", False
        )
        self._reader = self._new_reader()
        self._held = []  # reasoning that waits for its end
        self._has_rest = False

    def _new_reader(self):
        reader = _Emptied if self._is_emptied else _Separated
        return reader(self.model, str(self._prompt), self._tools)

    def get_think_end_token_ids(self, tokenizer):
        if not self.think_end_token:
            return []
        return tokenizer.encode(self.think_end_token, add_special_tokens=False)

    def detect_and_parse(self, text):
        if self._verbatim:
            return ReasoningParseResult(text, "")
        reasoning, rest = self._new_reader().feed(text, finished=True)
        if self._force_nonempty_content and not rest:
            reasoning, rest = "", reasoning
        return ReasoningParseResult(rest, reasoning)

    def parse_streaming_increment(self, new_text):
        return self._step(new_text)

    def finish(self):
        return self._step("", finished=True)

    def _step(self, text, *, finished=False):
        if self._verbatim:
            return ReasoningParseResult(text, "")
        reasoning, rest = self._reader.feed(text, finished=finished)
        self._has_rest = self._has_rest or bool(rest)
        if not self.stream_reasoning or self._force_nonempty_content:
            self._held.append(reasoning)
            reasoning = ""
        if finished and self._force_nonempty_content and not self._has_rest:
            rest = "".join(self._held)
            self._held.clear()
        if self.stream_reasoning and self._force_nonempty_content and not finished:
            # It has been held only in case nothing follows.
            if self._has_rest:
                reasoning = self._released()
        elif finished or self._has_rest:
            reasoning += self._released()
        return ReasoningParseResult(rest, reasoning)

    def _released(self):
        out = "".join(self._held)
        self._held.clear()
        return out

    # ---- What SGLang asks of response templates.  _requests.py makes the tags.

    def starts_message(self, prefix):
        return False

    def answer_opener(self, prefix):
        return ""

    def answer_rest_structural_tag(self, prefix):
        return None

    def json_answer_structural_tag(self, json_schema, **_):
        return None

    def json_output_started(self, text):
        return self._verbatim or bool(self.detect_and_parse(text).normal_text)


# ---- Tool calls.


class ParlanceToolDetector(ResponseTemplateToolDetector):
    """Reads the calls of responses, as they are written.

    SGLang gives the prompt to subclasses of ``ResponseTemplateToolDetector`` and
    keeps special tokens in their text; nothing else of it is used.

    Args:
        tokenizer: a tokenizer of transformers, used to find the family.
        prefix: the prompt.
        tools: the tools of the request.
        constrained: not used; a response is read the same way.

    Raises:
        ValueError: the family has no calls, or is not known.
    """

    family = None

    def __init__(self, tokenizer=None, prefix="", tools=None, constrained=False):
        BaseFormatDetector.__init__(self)
        self.model = model_of(tokenizer, self.family)
        if not self.model.has_calls:
            raise ValueError(f"{self.model.format.name} has no tool calls")
        self._prompt = prefix
        self._tools = tools
        self.tool_close_literals = _literals(
            self.model.format.template["fields"][CALLS], "close"
        )
        if self.tool_close_literals:
            self.eot_token = self.tool_close_literals[0]
        self.incomplete_tool_call_indices = set()
        self._reading = None
        self._whole = None  # the text that was read last, and what it gave

    def _new_reading(self, tools):
        return _Reading(self.model, self._prompt, tools)

    def has_tool_call(self, text):
        """Whether ``detect_and_parse`` gives something else than the text."""
        result = self._read_whole(text, self._tools)
        return bool(result.calls) or result.normal_text != text

    def detect_and_parse(self, text, tools):
        result = self._read_whole(text, tools)
        return StreamingParseResult(
            normal_text=result.normal_text, calls=list(result.calls)
        )

    def _read_whole(self, text, tools):
        names = [tool["function"]["name"] for tool in tool_dicts(tools)]
        if self._whole is not None and self._whole[:2] == (text, names):
            return self._whole[2]
        reading = self._new_reading(tools)
        result = reading.feed(text, finished=True)
        self.incomplete_tool_call_indices = reading.incomplete
        calls = {}
        for item in result.calls:
            if item.tool_index in calls:
                calls[item.tool_index].append(item.parameters)
            else:
                calls[item.tool_index] = [item.name, item.parameters]
        result.calls = [
            ToolCallItem(tool_index=index, name=one[0], parameters="".join(one[1:]))
            for index, one in calls.items()
        ]
        self._whole = (text, names, result)
        return result

    def parse_streaming_increment(self, new_text, tools):
        return self._step(new_text, tools)

    def finish(self, tools):
        return self._step("", tools, finished=True)

    def _step(self, text, tools, *, finished=False):
        if self._reading is None:
            self._reading = self._new_reading(tools)
        result = self._reading.feed(text, finished=finished)
        self.incomplete_tool_call_indices = self._reading.incomplete
        return result

    # ---- What SGLang asks of response templates.  _requests.py makes the tags.

    def supports_structural_tag(self):
        return False

    def parses_required_natively(self):
        return True

    def get_structural_tag(self, *args, **options):
        return None

    def validate_structure_constraint_request(self, *args, **options):
        return None

    def open_call_closer(self, text):
        return None


class _Reading:
    """Reads one response for a tool parser."""

    def __init__(self, model, prompt, tools):
        tools = tool_dicts(tools)
        self._names = {tool["function"]["name"] for tool in tools}
        if envs.SGLANG_FORWARD_UNKNOWN_TOOLS.get():
            self._names = None
        paired = getattr(prompt, "is_paired", False)
        separate = not getattr(prompt, "has_reasoning", True)
        self._drops_reasoning = paired and separate
        if separate and not paired:
            prompt = ""  # another reasoning parser has read up to its end
        self._stream = Stream(
            model, str(prompt), tools, reasoning=self._drops_reasoning
        )
        self._numbers = {}  # of SGLang, by the number of the call
        self.incomplete = set()

    def feed(self, text, *, finished=False):
        out = StreamingParseResult()
        content = []
        for delta in self._stream.feed(text, finished=finished):
            content.append(delta.get("content") or "")
            for call in delta.get(CALLS) or ():
                item = self._item(call)
                if item is not None:
                    out.calls.append(item)
        out.normal_text = "".join(content)
        self.incomplete = {
            self._numbers[call]
            for call in self._stream.open_calls
            if self._numbers.get(call) is not None
        }
        return out

    def _item(self, call):
        index = call["index"]
        function = call["function"]
        name = function.get("name")
        if index not in self._numbers:
            known = self._names is None or name in self._names
            count = sum(one is not None for one in self._numbers.values())
            self._numbers[index] = count if known else None
        number = self._numbers[index]
        if number is None:
            return None
        return ToolCallItem(
            tool_index=number, name=name, parameters=function.get("arguments") or ""
        )


@functools.cache
def tool_detector_class(family):
    """The tool parser of a family; of ``None``, of the tokenizer's family."""
    name = f"ToolDetector_{family or 'parlance'}"
    return type(name, (ParlanceToolDetector,), {"family": family})


@functools.cache
def reasoning_detector_class(family):
    """The reasoning parser of a family; of ``None``, of the tokenizer's."""
    name = f"ReasoningDetector_{family or 'parlance'}"
    return type(name, (ParlanceReasoningDetector,), {"family": family})
