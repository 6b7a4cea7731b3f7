"""``transformers serve`` with ``tool_choice`` and ``response_format``.

The handlers of chat completions and responses read the members of a request
that transformers ignores.  A request that has one of them is generated under
the structural tag of the model's own response template, so that the parser
which reads the response agrees with the masks which shaped it.

The members travel from the handler to the call of ``generate`` in a context
variable: both run in the task of the request.
"""

from __future__ import annotations

import contextvars
import functools
import weakref

from .. import Format, detect_format
from .._api import _configuration_of, _rendered_sample
from .._constraining import Compiler
from .._errors import Error, UsageError
from .._parlance import Vocabulary

# How the pointers of errors begin that are the client's.
_OF_REQUEST = ("/tools", "/tool_choice", "/response_format")

_LIMITS = {"steps": 2_000_000, "bytes": 64 << 20}

_request = contextvars.ContextVar("parlance_request", default=None)


class _Request:
    """What a request says about its response."""

    def __init__(self, body, *, response_format, tool_choice, pointers):
        self.tools = body.get("tools") or None
        self.tool_choice = "auto" if tool_choice is None else tool_choice
        self.parallel = body.get("parallel_tool_calls")
        self.response_format = response_format
        self._pointers = pointers
        self._format = None

    def is_constrained(self):
        """Whether the request asks for more than the model would do anyway."""
        kind = self.response_format
        if isinstance(kind, dict):
            kind = None if kind.get("type") == "text" else kind
        return bool(
            kind is not None
            or self.tool_choice != "auto"
            or (self.tools and self.parallel is False)
            or (self.tools and not isinstance(self.tools, list))  # refused then
            or any(_is_strict(tool) for tool in self.tools or ())
        )

    def format(self, candidates):
        """The format that reads and constrains the response.

        The first of ``candidates``, which are functions that return a format
        or ``None``, whose calls and content can be written.
        """
        if self._format is not None:
            return self._format
        reason = "this model has no response template"
        for candidate in candidates:
            format = candidate()
            if format is None:
                continue
            try:
                self.tag(format)
            except Error as error:
                if (error.path or "").startswith(_OF_REQUEST):
                    raise _refused(
                        error.message, self.pointer(error.path)
                    ) from error
                reason = error.message
            else:
                self._format = format
                return format
        raise _refused(
            "no format is known that says how this model writes its responses "
            f"({reason}); start the server with --format"
        )

    def tag(self, format, prefix=""):
        return format.structural_tag(
            self.tools,
            tool_choice=self.tool_choice,
            parallel_tool_calls=self.parallel is not False,
            response_format=self.response_format,
            prefix=prefix,
            max_white_space=16,
        )

    def pointer(self, path):
        """The pointer into the request for one into parlance's arguments."""
        for ours, theirs in self._pointers:
            if path == ours or path.startswith(ours + "/"):
                return theirs + path[len(ours) :]
        return path


def _is_strict(tool):
    if not isinstance(tool, dict):
        return False
    function = tool.get("function")
    return (function if isinstance(function, dict) else tool).get(
        "strict"
    ) is True


def _chat_request(body):
    return _Request(
        body,
        response_format=body.get("response_format"),
        tool_choice=body.get("tool_choice"),
        pointers=(),
    )


def _responses_request(body):
    text = body.get("text")
    choice = body.get("tool_choice")
    pointers = [("/response_format", "/text/format")]
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        # Chat completions have the same object one level deeper.
        choice = {"type": "allowed_tools", "allowed_tools": choice}
        pointers.append(("/tool_choice/allowed_tools", "/tool_choice"))
    return _Request(
        body,
        response_format=text.get("format") if isinstance(text, dict) else None,
        tool_choice=choice,
        pointers=pointers,
    )


_MEMBERS = {
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "text",
}


def patch(replace, default):
    """Replaces what has to be replaced, each by ``replace(owner, name, value)``.

    ``default`` is a ``Format`` or ``None``.
    """
    try:
        from transformers.cli.serving import chat_completion, response, utils
    except ImportError as error:
        raise UsageError(
            "transformers serve needs packages that are not installed: pip "
            f"install transformers[serving] ({error})"
        ) from error
    for handler, read in (
        (chat_completion.ChatCompletionHandler, _chat_request),
        (response.ResponseHandler, _responses_request),
    ):
        replace(handler, "_unused_fields", handler._unused_fields - _MEMBERS)
        replace(
            handler,
            "handle_request",
            _with_request(handler.handle_request, read),
        )
    for manager, batches in (
        (utils.GenerateManager, False),
        (utils.CBGenerateManager, True),
    ):
        for name in ("generate_streaming", "generate_non_streaming"):
            replace(
                manager,
                name,
                _constrained(getattr(manager, name), utils, batches),
            )
    replace(
        utils,
        "get_response_template",
        _with_formats(utils.get_response_template, default),
    )


def _with_request(handle_request, read):
    @functools.wraps(handle_request)
    async def handle(self, body, request_id):
        token = _request.set(read(body))
        try:
            return await handle_request(self, body, request_id)
        finally:
            _request.reset(token)

    return handle


def _with_formats(get_response_template, default):
    """The template of a model, or the format that is used in its place.

    A response that is constrained is read by the format that constrains it.
    Some templates do not say how a call is written, because their transform
    takes it as it is; then the built-in format that the tokenizer is found to
    use does both.
    """

    @functools.wraps(get_response_template)
    def get(processor, model):
        template = get_response_template(processor, model)
        request = _request.get()
        if request is None or not request.is_constrained():
            return default if template is None else template
        tokenizer = getattr(processor, "tokenizer", processor)
        return request.format(
            [
                lambda: None if template is None else Format(template),
                lambda: default,
                lambda: _detected(tokenizer),
            ]
        )

    return get


def _detected(tokenizer):
    """The built-in format of a tokenizer, apart from its own template."""
    configuration = _configuration_of(tokenizer)
    for name in ("response_template", "response_schema"):
        configuration.pop(name, None)
    try:
        found = detect_format(
            configuration, rendered=_rendered_sample(tokenizer) or None
        )
        return Format(found.name)
    except Error:
        return None


def _constrained(generate, utils, batches):
    """A method of a generation manager, with a logits processor if needed."""

    @functools.wraps(generate)
    def call(self, model, processor, inputs, gen_config, *args, **options):
        request = _request.get()
        if request is not None and request.is_constrained():
            if batches:
                raise _refused(
                    "continuous batching cannot constrain a response; start "
                    "the server without it, or leave out tool_choice, "
                    "parallel_tool_calls, response_format and strict tools"
                )
            inputs = dict(inputs)
            inputs["logits_processor"] = [
                _processor(request, utils, model, processor, inputs, gen_config)
            ]
        return generate(
            self, model, processor, inputs, gen_config, *args, **options
        )

    return call


def _processor(request, utils, model, processor, inputs, gen_config):
    """The logits processor of a request."""
    from .transformers import LogitsProcessor

    format = utils.get_response_template(processor, model)
    tokenizer = getattr(processor, "tokenizer", processor)
    prefix = utils._decode_prefix(tokenizer, inputs["input_ids"])
    try:
        compiler = _compiler_of(tokenizer, gen_config.eos_token_id)
        constraint = compiler.compile_structural_tag(
            request.tag(format, prefix), limits=_LIMITS
        )
    except Error as error:
        raise _refused(
            error.message, request.pointer(error.path or "")
        ) from error
    return LogitsProcessor(constraint)


_compilers = weakref.WeakKeyDictionary()  # by tokenizer: by stop ids


def _compiler_of(tokenizer, stop_ids):
    if isinstance(stop_ids, int):
        stop_ids = (stop_ids,)
    elif stop_ids is not None:
        stop_ids = tuple(int(id) for id in stop_ids)
    made = _compilers.setdefault(tokenizer, {})
    if stop_ids not in made:
        vocabulary = Vocabulary.from_tokenizer(tokenizer, stop_ids=stop_ids)
        # An encoder may keep the tokenizer, by which the compiler is cached, alive;
        # masks need none.
        made[stop_ids] = Compiler(vocabulary.with_encoder(None))
    return made[stop_ids]


def _refused(message, pointer=None):
    from fastapi import HTTPException

    detail = {"message": message}
    if pointer is not None:
        detail["param"] = pointer
    return HTTPException(status_code=400, detail=detail)
