"""Parsers for vLLM: of tools, of reasoning, and of both at once.

vLLM looks up ``--tool-call-parser`` and ``--reasoning-parser`` here: the class
``ToolParser_qwen3`` of this module is ``parlance_qwen3``, and ``ToolParser_`` is
``parlance``, which finds the family by the tokenizer.  ``ReasoningParser_...``
likewise.

When Parlance's are chosen, a ``ParlanceParser`` reads reasoning, content and
calls in one pass; it knows the prompt.  The two other classes tell vLLM's engine
where reasoning ends, and can be used alone.
"""

from __future__ import annotations

import functools
import re
import threading
import weakref

from pydantic import BaseModel
from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.parser.abstract_parser import Parser
from vllm.reasoning.abs_reasoning_parsers import ReasoningParser
from vllm.tool_parsers.abstract_tool_parser import ToolParser
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

from ... import ResponseParser
from ..._errors import Error
from .._stream import CALLS, REASONING, Model, Stream, joined
from ._requests import constrain, logger, markers_of, reads_calls, tool_dicts

__all__ = [
    "ParlanceParser",
    "ParlanceReasoningParser",
    "ParlanceToolParser",
    "parser_class",
    "reasoning_parser_class",
    "tool_parser_class",
]

# The window in which the end of reasoning is looked for.  The longest closing
# delimiter of a family has 40 bytes.
_WINDOW = 64

_models = weakref.WeakKeyDictionary()  # by tokenizer: by family
_models_lock = threading.Lock()


def model_of(tokenizer, family=None):
    """The ``Model`` of a tokenizer, made once."""
    with _models_lock:
        made = _models.setdefault(tokenizer, {})
        if family not in made:
            try:
                made[family] = Model(tokenizer, family)
            except Error as error:
                if family is not None:
                    raise
                raise TypeError(
                    f"no format is known for this tokenizer ({error.message}); "
                    "name one, as in --tool-call-parser parlance_qwen3"
                ) from error
            if family is None:
                logger.info("Parlance: the format is %s", made[family].format.name)
        return made[family]


def _constructor(cls):
    """A function that makes a model of pydantic from members that are valid.

    It does what ``cls.model_construct`` does, in a fifth of the time.
    """
    new = cls.__new__
    set_members, set_given, set_extra, set_private = (
        vars(BaseModel)[name].__set__
        for name in (
            "__dict__",
            "__pydantic_fields_set__",
            "__pydantic_extra__",
            "__pydantic_private__",
        )
    )

    def construct(members, given):
        made = new(cls)
        set_members(made, members)
        set_given(made, given)
        set_extra(made, {})
        set_private(made, None)
        return made

    return construct


_new_message, _new_call, _new_function = map(
    _constructor, (DeltaMessage, DeltaToolCall, DeltaFunctionCall)
)


def _constructed(delta):
    """The ``DeltaMessage`` of a delta, which has the message's shape."""
    calls = [
        _new_call(
            {
                "id": call.get("id"),
                "type": call.get("type"),
                "index": call["index"],
                "function": _new_function(
                    {"name": None, "arguments": None, **call["function"]},
                    set(call["function"]),
                ),
            },
            set(call),
        )
        for call in delta.get(CALLS, ())
    ]
    return _new_message(
        {
            "role": None,
            "content": delta.get("content"),
            "reasoning": delta.get(REASONING),
            "tool_calls": calls,
        },
        set(delta),
    )


def _validated(delta):
    return DeltaMessage(**delta)


def _is_constructed_well():
    """Whether ``_constructed`` makes what this version of vLLM validates."""
    call = {
        "index": 1,
        "id": "i",
        "type": "function",
        "function": {"name": "f", "arguments": "{"},
    }
    more = {"index": 1, "function": {"arguments": "}"}}
    for delta in ({"content": "c"}, {REASONING: "r"}, {CALLS: [call, more]}):
        made, wanted = _constructed(delta), _validated(delta)
        if made != wanted or made.model_dump_json() != wanted.model_dump_json():
            return False
        if vars(made) != vars(wanted):
            return False
    return True


# Most steps have a message for each row, and to validate one takes longer than to
# parse its tokens.
try:
    _delta_message = _constructed if _is_constructed_well() else _validated
except Exception:  # a pydantic with other insides
    _delta_message = _validated


def _message(deltas):
    """A ``DeltaMessage``, or None if there is nothing in it."""
    if not deltas:
        return None
    if len(deltas) == 1:  # most steps: it has the message's shape
        (delta,) = deltas
        return _delta_message(delta) if delta else None
    reasoning, content, calls = joined(deltas)
    fields = {}
    if reasoning:
        fields["reasoning"] = reasoning
    if content:
        fields["content"] = content
    if calls:
        fields["tool_calls"] = [_delta_call(*call) for call in calls]
    return DeltaMessage(**fields) if fields else None


def _delta_call(index, id, name, arguments):
    function = DeltaFunctionCall(arguments=arguments)
    if name is None:
        return DeltaToolCall(index=index, function=function)
    function.name = name
    return DeltaToolCall(index=index, id=id, type="function", function=function)


def _show_special_tokens(request):
    """Special tokens delimit regions: the text must have them, as they are."""
    request.skip_special_tokens = False
    if hasattr(request, "spaces_between_special_tokens"):
        request.spaces_between_special_tokens = False


class ParlanceToolParser(ToolParser):
    """Reads calls.  Used alone, it takes reasoning for content.

    Args:
        tokenizer: a tokenizer of transformers.
        tools: the tools of the request.
    """

    family = None
    supports_required_and_named = False

    def __init__(self, tokenizer, tools=None):
        super().__init__(tokenizer, tools)
        self.model = model_of(tokenizer, self.family)
        self._stream = None

    def adjust_request(self, request):
        _show_special_tokens(request)
        return constrain(request, self.model, None, calls=True)

    def get_structural_tag(
        self, request, *, reasoning=False, strict_level=ToolStrictLevel.AUTO
    ):
        """The tag of a request as XGrammar's class.

        Raises:
            ValueError: XGrammar has no such class for a part of the tag.
        """
        from xgrammar import StructuralTag

        tag = self.model.format.structural_tag(
            tool_dicts(request.tools),
            tool_choice=request.tool_choice,
            parallel_tool_calls=request.parallel_tool_calls is not False,
            reasoning="allowed" if reasoning else "off",
        )
        return StructuralTag.model_validate(tag.to_dict())

    def _new_stream(self, request):
        tools = tool_dicts(self.tools or getattr(request, "tools", None))
        return Stream(self.model, None, tools, reasoning=False)

    def extract_tool_calls(self, model_output, request):
        deltas = self._new_stream(request).feed(model_output, finished=True)
        _, content, calls = joined(deltas)
        return ExtractedToolCallInformation(
            tools_called=bool(calls),
            tool_calls=[
                ToolCall(id=id, function=FunctionCall(name=name, arguments=arguments))
                for _, id, name, arguments in calls
            ],
            content=content,
        )

    def extract_tool_calls_streaming(
        self,
        previous_text,
        current_text,
        delta_text,
        previous_token_ids,
        current_token_ids,
        delta_token_ids,
        request,
    ):
        if self._stream is None:
            self._stream = self._new_stream(request)
        return _message(self._stream.feed(delta_text, list(delta_token_ids)))

    def finish_streaming(self):
        """What was held back at the end of the response."""
        if self._stream is None:
            return None
        return _message(self._stream.feed("", finished=True))


class ParlanceReasoningParser(ReasoningParser):
    """Tells where reasoning ends.  Used alone, it takes calls for content.

    Args:
        tokenizer: a tokenizer of transformers.
    """

    family = None

    def __init__(self, tokenizer, *args, **kwargs):
        super().__init__(tokenizer, *args, **kwargs)
        self.model = model_of(tokenizer, self.family)
        arguments = kwargs.get("chat_template_kwargs") or {}
        self._off = any(
            arguments.get(name) is False for name in ("enable_thinking", "thinking")
        )
        self._prompt = None
        self._stream = None

    @property
    def reasoning_start_str(self):
        return self._literal("open")

    @property
    def reasoning_end_str(self):
        return self._literal("close")

    def _literal(self, key):
        found = self.model.reasoning_field.get(key)
        return found[0] if isinstance(found, list) else found

    def is_reasoning_end(self, input_ids):
        """Whether a response to this prompt begins after its reasoning."""
        model = self.model
        if not model.has_reasoning:
            return True
        ids = list(input_ids)
        by_id = model.vocabulary is not None
        parser = ResponseParser(
            model.format,
            ids if by_id else model.text(ids),
            vocabulary=model.vocabulary,
            recover=True,
        )
        inside = None
        for event in parser.initial_events:
            if event["type"] == "region_open":
                inside = event["field"]
            elif event["type"] in ("region_close", "region_malformed"):
                if event["field"] == REASONING:
                    return True
                inside = None
        if inside is None:
            return self._off
        return inside != REASONING

    def is_reasoning_end_streaming(self, input_ids, delta_ids):
        """Whether reasoning ends in ``delta_ids``, the last of ``input_ids``.

        Complexity: O(tokens in ``delta_ids``).
        """
        new = len(list(delta_ids))
        if not self.model.has_reasoning:
            return True
        length = len(input_ids)
        begin = max(0, length - new - _WINDOW)
        window = list(input_ids[begin:length])
        before = self._text(window[: len(window) - new])
        known = {match.span() for match in self._closers.finditer(before)}
        text = before + self._text(window[len(window) - new :])
        return any(m.span() not in known for m in self._closers.finditer(text))

    def extract_content_ids(self, input_ids):
        """The ids after the last end of reasoning."""
        ids = list(input_ids)
        texts = [self._text([id]) for id in ids]
        ends = [match.end() for match in self._closers.finditer("".join(texts))]
        if not ends:
            return []
        at = 0
        for i, text in enumerate(texts):
            if at >= ends[-1]:
                return ids[i:]
            at += len(text)
        return []

    def _text(self, ids):
        model = self.model
        if model.vocabulary is None:
            return model.text(ids)
        # Any map from bytes to characters would do: delimiters are looked for.
        return b"".join(map(model.spelling, ids)).decode("latin-1")

    @functools.cached_property
    def _closers(self):
        field = self.model.reasoning_field
        closers = field.get("close") or []
        patterns = [
            re.escape(one)
            for one in ([closers] if isinstance(closers, str) else closers)
        ]
        if field.get("close_pattern"):
            patterns.append(field["close_pattern"])
        text = "|".join(patterns) or r"(?!)"
        if self.model.vocabulary is not None:
            text = text.encode().decode("latin-1")
        return re.compile(text)

    def set_prompt_token_ids(self, prompt_token_ids):
        self._prompt = list(prompt_token_ids)

    def count_reasoning_tokens(self, token_ids):
        stream = Stream(self.model, self._prompt, calls=False)
        if stream.read_ids(token_ids):
            return stream.reasoning_tokens
        return 0

    def extract_reasoning(self, model_output, request):
        stream = Stream(self.model, self._prompt, calls=False)
        reasoning, content, _ = joined(stream.feed(model_output, finished=True))
        return reasoning, content

    def extract_reasoning_streaming(
        self,
        previous_text,
        current_text,
        delta_text,
        previous_token_ids,
        current_token_ids,
        delta_token_ids,
    ):
        if self._stream is None:
            self._stream = Stream(self.model, self._prompt, calls=False)
        return _message(self._stream.feed(delta_text, list(delta_token_ids)))

    def finish_streaming(self):
        """What was held back at the end of the response."""
        if self._stream is None:
            return None
        return _message(self._stream.feed("", finished=True))


class ParlanceParser(Parser):
    """Reads reasoning, content and calls of one response, in one pass.

    What is not asked for stays in the content, with its delimiters: reasoning
    without ``--reasoning-parser``, calls without ``--tool-call-parser`` or with
    ``tool_choice="none"``.

    Args:
        tokenizer: a tokenizer of transformers.
        tools: the tools of the request.
    """

    family = None
    reasoning_parser_cls = ParlanceReasoningParser
    tool_parser_cls = ParlanceToolParser
    always_adjust_request = True
    auto_tools = True  # --enable-auto-tool-choice

    def __init__(self, tokenizer, tools=None, *args, **kwargs):
        super().__init__(tokenizer, tools, *args, **kwargs)
        self.model = model_of(tokenizer, self.family)
        self._tools = tools
        self._prompt = None
        self._stream = None

    def set_prompt_token_ids(self, prompt_token_ids):
        self._prompt = list(prompt_token_ids)
        if self._reasoning_parser is not None:
            self._reasoning_parser.set_prompt_token_ids(self._prompt)

    def adjust_request(self, request):
        _show_special_tokens(request)
        return constrain(
            request,
            self.model,
            self._prompt,
            calls=self._reads_calls(request, self.auto_tools),
            strict_level=self.tool_strict_level,
        )

    def _reads_calls(self, request, auto_tools):
        return self._tool_parser is not None and reads_calls(request, auto_tools)

    def is_reasoning_end(self, input_ids):
        return self._reasoning_parser is None or (
            self._reasoning_parser.is_reasoning_end(input_ids)
        )

    def _new_stream(self, request, auto_tools):
        return Stream(
            self.model,
            self._prompt,
            tool_dicts(self._tools or getattr(request, "tools", None)),
            reasoning=self._reasoning_parser is not None,
            calls=self._reads_calls(request, auto_tools),
            markers=markers_of(request),
        )

    def parse(
        self,
        model_output,
        request,
        enable_auto_tools=False,
        model_output_token_ids=(),
    ):
        self._stream = self._new_stream(request, enable_auto_tools)
        reasoning, content, calls = joined(
            self._stream.feed(model_output, list(model_output_token_ids), finished=True)
        )
        calls = [
            FunctionCall(id=id, name=name, arguments=arguments)
            for _, id, name, arguments in calls
        ]
        return reasoning, content, calls or None

    def parse_delta(
        self,
        delta_text,
        delta_token_ids,
        request,
        prompt_token_ids=None,
        *,
        finished,
    ):
        if self._stream is None:
            if self._prompt is None and prompt_token_ids is not None:
                self.set_prompt_token_ids(prompt_token_ids)
            self._stream = self._new_stream(request, self.auto_tools)
        deltas = self._stream.feed(delta_text, delta_token_ids, finished=finished)
        if not request.include_reasoning:
            for delta in deltas:
                delta.pop(REASONING, None)
        return _message(deltas)

    def count_reasoning_tokens(self, token_ids):
        if self._reasoning_parser is None:
            return 0
        stream = self._stream
        if stream is not None and stream.seen == len(token_ids):
            return stream.reasoning_tokens
        return self._reasoning_parser.count_reasoning_tokens(token_ids)


# ---- Classes by family.

_BASES = {
    "ToolParser_": ParlanceToolParser,
    "ReasoningParser_": ParlanceReasoningParser,
}


@functools.cache
def _class(kind, family):
    name = f"{kind}{family or ''}"
    return type(name, (_BASES[kind],), {"family": family, "__module__": __name__})


def tool_parser_class(family=None):
    """The tool parser of a family; ``None`` for the tokenizer's."""
    return _class("ToolParser_", family)


def reasoning_parser_class(family=None):
    """The reasoning parser of a family; ``None`` for the tokenizer's."""
    return _class("ReasoningParser_", family)


def parser_class(
    reasoning_parser_cls, tool_parser_cls, *, strict_level=None, auto_tools=True
):
    """The unified parser for what vLLM was started with.

    Args:
        reasoning_parser_cls, tool_parser_cls: classes of this module, or
            ``None``.
        strict_level: ``--tool-strict-level``, a ``ToolStrictLevel`` or ``None``.
        auto_tools: ``--enable-auto-tool-choice``.

    Raises:
        TypeError: a class is another library's, or the two are of different
            families.
    """
    chosen = [cls for cls in (reasoning_parser_cls, tool_parser_cls) if cls]
    bases = tuple(_BASES.values())
    if not all(issubclass(cls, bases) for cls in chosen):
        raise TypeError(
            "a parser of Parlance reads reasoning and calls together, and cannot "
            "be combined with another: give --reasoning-parser and "
            "--tool-call-parser the same name, or leave one out"
        )
    families = {cls.family for cls in chosen}
    if len(families) > 1:
        raise TypeError(
            "--reasoning-parser and --tool-call-parser name two families: "
            + " and ".join(sorted(str(family) for family in families))
        )
    return type(
        "ParlanceParser",
        (ParlanceParser,),
        {
            "family": families.pop(),
            "reasoning_parser_cls": reasoning_parser_cls,
            "tool_parser_cls": tool_parser_cls,
            "tool_strict_level": strict_level,
            "auto_tools": auto_tools,
            "__module__": __name__,
        },
    )


def __getattr__(name):
    for kind in _BASES:
        if name.startswith(kind):
            return _class(kind, name[len(kind) :] or None)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
