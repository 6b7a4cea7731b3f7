from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from re import error
from typing import Any, Literal, NamedTuple, TypeAlias, overload

from ._arguments import NOT_GIVEN

__version__: str
__all__: list[str]

_Ids: TypeAlias = Sequence[int] | Any  # a list, a tuple, a 1-D array of integers
_Text: TypeAlias = str | bytes | bytearray
_Bytes: TypeAlias = bytes  # where a method has the name
_Spec: TypeAlias = dict[str, Any] | str | PathLike[str] | Format | ResponseSchema
_Schema: TypeAlias = dict[str, Any] | bool | str | type  # JSON text, a model of pydantic
# Of dicts, functions and models of pydantic; JSON text.
_Tools: TypeAlias = Iterable[object] | str | ToolSet
_Tag: TypeAlias = StructuralTag | dict[str, Any] | str | PathLike[str]
_Limits: TypeAlias = Mapping[str, int] | None
_Cancelled: TypeAlias = Callable[[], bool] | None

class Error(ValueError):
    """The base class of all errors of the package: an input cannot be used.

    Attributes:
        code: a stable name of the error, such as ``"unknown_key"``.
        message: what was found, and what would be accepted.
        path: the JSON pointer into the source, ``""`` for its root.
        span: ``(begin, end)`` in the UTF-8 bytes of ``source`` (of the stream
            for a response), half-open, or ``None``.
        source: the text that ``path`` and ``span`` refer to, or ``None``.
        events: the events of the call that failed, a list of ``dict``.
        item: the index of the failed response in a batch, or ``None``.

    ``line`` and ``column`` are computed from ``span`` and ``source``.
    """

    code: str
    message: str
    path: str
    span: tuple[int, int] | None
    source: str | None
    events: list[dict[str, Any]]
    item: int | None
    @property
    def line(self) -> int | None:
        """The line in ``source`` where ``span`` begins, counted from 1.

        ``None`` without a span or a source.
        """

    @property
    def column(self) -> int | None:
        """The column where ``span`` begins, in characters, counted from 1.

        ``None`` without a span or a source.
        """

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "usage",
        path: str = "",
        span: tuple[int, int] | None = None,
        source: str | None = None,
        events: list[dict[str, Any]] | None = None,
        item: int | None = None,
    ) -> None: ...

class UsageError(Error):
    """An argument is missing, or arguments do not fit each other."""

class StateError(Error, RuntimeError):
    """A parser was used after ``finalize``.  Also a ``RuntimeError``."""

class TemplateError(Error):
    """A response template or format cannot be used, or no format has the name."""

class SchemaError(Error):
    """A JSON Schema or a response schema cannot be used."""

class GrammarError(Error):
    """A grammar or a structural tag cannot be used."""

class ResponseError(Error):
    """A response that is parsed without recovery does not fit its template.

    ``span`` is in bytes of the stream.
    """

class MissingPlaceholderError(ResponseError, KeyError):
    """A transform names a value that does not exist.  Also a ``KeyError``."""

class UnknownNameError(ResponseError, KeyError):
    """A value needs an unknown content parser.  Also a ``KeyError``."""

class ContentTypeError(ResponseError, TypeError):
    """A value has a type that the field cannot use.  Also a ``TypeError``."""

class ContentAttributeError(ResponseError, AttributeError):
    """A value lacks a method that is needed.  Also an ``AttributeError``."""

class TooDeepError(ResponseError, RecursionError):
    """A value is nested too deeply.  Also a ``RecursionError``."""

class PatternError(ResponseError, error):
    """A response schema has an invalid pattern, and a text had to be matched.

    Also an ``re.error``.
    """

    @property
    def msg(self) -> str:
        """The message, under the name that ``re.error`` has for it."""

class Format:
    """The description of how a model family writes its responses.

        Format("qwen3")        # a built-in format
        Format(template)       # a bare response template, a dict
        Format("mine.json")    # a file

    Parsers of a format file recover from damage by default; parsers of a bare
    template raise where ``transformers`` raises (see ``recovers``).  Immutable;
    may be shared between threads and pickled.

    Args:
        spec: a response template or format file (``dict``), its JSON text, the
            path of its file, the name of a built-in format, or a ``Format``.
        names: other names of fields in events, messages and structural tags:
            the name of the field of reasoning (``"reasoning_content"``), or a
            ``dict`` from names to new names.

    Raises:
        TemplateError: the template cannot be used, or no format has the name;
            ``names`` refers to a field that does not exist.
        OSError: the file cannot be opened.
    """

    def __init__(
        self, spec: _Spec, *, names: str | dict[str, str] | None = None
    ) -> None: ...
    @property
    def name(self) -> str:
        """The name of a format file, such as ``"qwen3"``; ``""`` for a bare template."""

    @property
    def aliases(self) -> list[str]:
        """Other names of the format, a list of ``str``."""

    @property
    def variants(self) -> list[str]:
        """The names of the variants that the format's file describes, a list of
        ``str``.  ``Format(name)`` takes those of built-in formats.
        """

    @property
    def models(self) -> list[str]:
        """The models that a format file lists, a list of ``str``; ``[]`` for a bare
        template.
        """

    @property
    def recovers(self) -> bool:
        """Whether parsers of this format recover from damage by default: ``True`` for a
        format file, ``False`` for a bare template.
        """

    @property
    def fields(self) -> list[str]:
        """The names of the message's fields, a list of ``str``, in the order of the
        template.
        """

    @property
    def source(self) -> str:
        """The JSON text that the format was read from; of a variant, that of its file
        with the variant's changes.
        """

    @property
    def template(self) -> dict[str, Any]:
        """The response template alone, a ``dict`` that can be put into a tokenizer's
        configuration; fields without ``close`` are closed by the texts of ``turn_end``.
        Every access builds a new ``dict``.
        """

    def lint(self) -> list[dict[str, str]]:
        """Lists what is legal in this format and probably not meant.

        Returns:
            A list of ``dict`` with ``"code"`` (a stable name), ``"message"`` and
            ``"path"`` (the JSON pointer into the template or format file); ``[]`` if
            there is nothing to say.
        """

    def parser(
        self,
        prefix: _Text | _Ids = "",
        *,
        tools: _Tools | None = None,
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        recover: bool | None = None,
        stream_calls: bool = False,
        attempts: bool = False,
    ) -> ResponseParser:
        """Returns a ``ResponseParser`` for one response in this format.

        Args:
            prefix: the prompt, as text or token ids; ``""`` for none.
            tools, vocabulary, markers, recover, stream_calls, attempts: as of
                ``ResponseParser``.
        """

    def verify(
        self,
        tools: _Tools | None = None,
        *,
        vocabulary: Vocabulary | None = None,
        walks: int = 0,
        seed: int = 0,
    ) -> list[dict[str, Any]]:
        """Finds what the format writes and its own parser does not read.

            for finding in Format("mine.json").verify():
                print(finding["path"], finding["message"])

        Calls of the tools are written as the structural tag has them, with
        names and values at the edges of what it accepts, and are read.  With
        ``walks``, so are random responses: cut anywhere, in single bytes,
        rendered, damaged.

        Args:
            tools: the tools of a request; ``None``: a sample with arguments of
                every type.
            vocabulary: a ``Vocabulary`` in whose tokens the calls are written as
                well, and the random responses instead.
            walks: how many random responses are written, with and without
                calls, reasoning and a document, if nothing is found of calls; at
                most a million.
            seed: of the first of them.

        Returns:
            A list of ``dict`` with ``"code"``, ``"message"``, ``"path"`` (the
            JSON pointer into the format file, or into ``tools``), ``"text"`` (a
            shortest response that is misread, or ``""``), ``"meant"`` and
            ``"read"`` (the arguments of its call; of a random response, the
            messages); ``[]`` if nothing is found.
        """

    def render(
        self,
        message: dict[str, Any],
        *,
        tools: _Tools | None = None,
        prefix: str = "",
        verify: bool = True,
    ) -> str:
        """Writes a message as models of the family write it.

            Format("qwen3").render({"content": "Hello."})

        The text has the markers, line feeds and order that the models were
        trained on.  Parsing it gives the message.

        Args:
            message: a ``dict`` as parsers return it or as the chat completions
                API has it; reasoning may be called ``"thinking"``,
                ``"reasoning"`` or ``"reasoning_content"``, and arguments may be
                a ``dict`` or its JSON text.
            tools: the tools of the request, as of ``ResponseParser``.
            prefix: the prompt; what it already wrote of this response is left
                out.
            verify: read the text back, and refuse a message that would not come
                back equal.

        Returns:
            The text, a ``str``.

        Raises:
            TemplateError: the format does not say how a response is written,
                the message is malformed (``path`` is a JSON pointer into it), or
                the format cannot express it.
        """

    def structural_tag(
        self,
        tools: _Tools | None = None,
        *,
        tool_choice: str | dict[str, Any] | None = "auto",
        parallel_tool_calls: bool = True,
        text_with_calls: str = "optional",
        reasoning: Literal["required", "allowed", "off"] | bool = "allowed",
        response_format: dict[str, Any] | None = None,
        prefix: _Text | _Ids = "",
        vocabulary: Vocabulary | None = None,
        max_reasoning_tokens: int | None = None,
        any_order: bool = False,
        max_white_space: int | None = None,
    ) -> StructuralTag:
        """Returns the ``StructuralTag`` of what a model may write to a request.

            tag = Format("qwen3").structural_tag(tools, prefix=prompt)
            matcher = tag.grammar().compile(vocabulary).matcher()

        Whatever the tag allows, a parser of this format reads without a
        diagnostic, as calls of these tools with valid arguments.

        Args:
            tools: as of ``ToolSet``; ``None`` for no tools.  Of a tool with
                ``"strict": False`` the arguments may be any object.
            tool_choice: ``"auto"``, ``"none"``, ``"required"``, or, as a dict,
                the one tool that must be called or the tools that are allowed,
                as in requests to chat-completion servers.
            parallel_tool_calls: whether a response may have several calls.
            text_with_calls: where text may stand beside calls: ``"optional"``,
                before calls that need not come (``tool_choice="auto"``);
                ``"before"``, also before a call that must come;
                ``"between"``, also between two calls.  It is content and has
                no opener of a call.  Formats without a place for such text
                have none.
            reasoning: ``"required"`` (or ``True``), ``"allowed"``, or ``"off"``
                (or ``False``): no reasoning, or the empty block that the family
                writes instead.  Formats without reasoning ignore it.
            response_format: the content is JSON: ``{"type": "json_schema",
                "json_schema": {"schema": ...}}``, ``{"type": "json_object"}``,
                a schema, or a model of pydantic.  With tools, the response is a
                document or calls.
            prefix: the prompt, or its end, as text or token ids.  The tag
                begins where the prompt ends: inside reasoning, or inside a
                string of an argument, a marker or a character.  What the
                prompt has written need not be what the tag would have:
                regions that have ended are as they are, and the region that
                is open goes on in its notation, without its schema where it
                cannot become valid, which ``report()`` says.  Calls that the
                request does not permit, such as a second one without
                ``parallel_tool_calls``, are an error.
            vocabulary: the ``Vocabulary`` of a prefix of ids.
            max_reasoning_tokens: the most tokens of reasoning.
            any_order: whether members of arguments may be in any order.
            max_white_space: the largest number of characters of white space
                between two parts of JSON, from 1 on; ``None`` for no limit.

        Raises:
            GrammarError: ``path`` begins with the argument's name, as in
                ``/tools/0/function/name``.  Also for a format that does not say
                how it is written and whose template cannot be inverted, and for
                a tool whose calls the format would not read back.
        """

    def grammar(
        self,
        tools: _Tools | None = None,
        *,
        tool_choice: str | dict[str, Any] | None = "auto",
        parallel_tool_calls: bool = True,
        text_with_calls: str = "optional",
        reasoning: Literal["required", "allowed", "off"] | bool = "allowed",
        response_format: dict[str, Any] | None = None,
        prefix: _Text | _Ids = "",
        vocabulary: Vocabulary | None = None,
        max_reasoning_tokens: int | None = None,
        any_order: bool = False,
        max_white_space: int | None = None,
    ) -> Grammar:
        """Returns the ``Grammar`` of ``structural_tag`` with these arguments."""

def tool_calling(
    tools: _Tools | None,
    family: Format | str | dict[str, Any] | os.PathLike[str],
    *,
    tool_choice: str | dict[str, Any] | None = "auto",
    parallel_tool_calls: bool = True,
    text_with_calls: str = "optional",
    reasoning: Literal["required", "allowed", "off"] | bool = "allowed",
    response_format: dict[str, Any] | None = None,
    prefix: _Text | _Ids = "",
    vocabulary: Vocabulary | None = None,
    max_reasoning_tokens: int | None = None,
    any_order: bool = False,
    max_white_space: int | None = None,
) -> StructuralTag:
    """Returns the ``StructuralTag`` of responses that may or must call tools.

    The same as ``Format(family).structural_tag(tools, ...)``.

    Args:
        tools: as of ``ToolSet``; ``None`` for no tools.
        family: the name of a built-in format, one of its aliases or variants,
            or anything else that ``Format`` takes, or a ``Format``.
        tool_choice, parallel_tool_calls, text_with_calls, reasoning,
            response_format, prefix, vocabulary, max_reasoning_tokens,
            any_order, max_white_space: as of ``Format.structural_tag``.

    Raises:
        TemplateError: there is no such family.
        GrammarError: as of ``Format.structural_tag``.
    """

class ResponseTemplate(Format):
    """A bare response template, checked as strictly as ``transformers`` does.

    Args:
        spec: the template as a ``dict``, JSON text, the path of a file, or a
            template that ``transformers`` has loaded.

    Raises:
        TemplateError: the template cannot be used, or ``spec`` is a format
            file or the name of a format.
        OSError: the file cannot be opened.
    """

    def __init__(self, spec: _Spec) -> None: ...

class ResponseSchema:
    """The older description of a response: a JSON Schema with ``x-`` keys.

    It has the meaning that the recursive parser of ``transformers`` gives it;
    ``lint()`` lists problems that this parser would report only for some
    responses.  Only ``parse_response`` takes it: such a response cannot be
    streamed.  Immutable; may be shared between threads and pickled.

    Args:
        spec: the schema as a ``dict``, JSON text, the path of a file, or a
            ``ResponseSchema``.

    Raises:
        SchemaError: the schema can never work.
        OSError: the file cannot be opened.
    """

    def __init__(self, spec: dict[str, Any] | str | PathLike[str] | ResponseSchema) -> None: ...
    @property
    def source(self) -> str:
        """The JSON text that the schema was read from."""

    def lint(self) -> list[dict[str, str]]:
        """Lists what is legal in this schema and probably not meant, including what
        ``transformers`` would report only when it parses a response.

        Returns:
            A list of ``dict`` with ``"code"`` (a stable name), ``"message"`` and
            ``"path"`` (the JSON pointer into the schema); ``[]`` if there is nothing
            to say.
        """

class ToolSet:
    """Declared tools, read once.  May be passed wherever ``tools`` is expected.

    Immutable; may be shared between threads.

    Args:
        tools: the tools as chat templates take them: a list, its JSON text, or
            a ``ToolSet``.  A tool is a ``dict``; a class of pydantic, whose name
            is the tool's and whose schema that of the arguments; an object of
            pydantic that is such a dict; or a Python function, which is read by
            ``get_json_schema`` of ``transformers``.  At most 2**16 of them.

    Raises:
        Error: a tool cannot be used, or the text is no JSON.
        UsageError: a function is given, and ``transformers`` is not installed.
        TypeError: ``tools`` is no list, or one of them is none of these.
    """

    def __init__(self, tools: _Tools) -> None: ...
    def __len__(self) -> int:
        """Returns the number of tools."""

    def __contains__(self, tool: str) -> bool:
        """Returns whether a tool of the name ``tool`` (a ``str``) is in the set."""

class Vocabulary:
    """The tokens of a model: which bytes each token adds to the text.

        vocabulary = parlance.Vocabulary.from_pretrained("models/Qwen3-8B")
        vocabulary.bytes(42)    # b"K"
        vocabulary.stop_ids     # [151645, 151643]

    The bytes of a token need not be whole UTF-8 characters.  Immutable; may be
    shared between threads.

    Args:
        tokens: a list or tuple with the ``bytes`` of each token, by id; ``None``
            for an id without a token.
        added_ids: ids of added tokens that plain text shows, such as
            ``<tool_call>``.
        control_ids: ids of control tokens, which plain text leaves out, such as
            ``<|im_end|>``.
        stop_ids: ids of the tokens that end a response.  ``None``: unknown;
            ``[]``: there are none.
        special_ids: the older name of ``control_ids``.

    Raises:
        UsageError: an id is not in ``tokens``.
        Error: the tokens cannot be used (``code`` is ``"bad_vocabulary"`` or
            ``"too_large"``).
        TypeError: ``tokens`` is not a list or tuple of ``bytes`` and ``None``.
    """

    def __init__(
        self,
        tokens: Sequence[_Bytes | None],
        *,
        added_ids: _Ids = (),
        control_ids: _Ids = (),
        stop_ids: _Ids | None = None,
        special_ids: _Ids = (),
    ) -> None: ...
    @staticmethod
    def from_file(path: str | PathLike[str]) -> Vocabulary:
        """Reads a vocabulary from disk.

        Args:
            path: a model's folder (see ``from_pretrained``), or a file: GGUF (of which
                only the header is read), ``tokenizer.json``, ``tekken.json``,
                SentencePiece's ``tokenizer.model``, tiktoken ranks, or a saved
                vocabulary (see ``load``).

        Raises:
            OSError: there is nothing at ``path``.
            Error: the file cannot be read (``"io"``) or used.
        """

    @staticmethod
    def from_pretrained(folder: str | PathLike[str]) -> Vocabulary:
        """Reads the vocabulary of a model's folder.

        Args:
            folder: the path of a folder with ``tokenizer.json``, or else
                ``tekken.json`` or ``tokenizer.model``.  Stop ids and the number of ids
                come from ``tokenizer_config.json``, ``generation_config.json`` and
                ``config.json`` where these exist.

        Raises:
            OSError: there is nothing at ``folder``.
            Error: a file cannot be read (``"io"``) or used; the message names it.
        """

    @staticmethod
    def load(path: str | PathLike[str]) -> Vocabulary:
        """Maps a file that ``save`` wrote, in about half a millisecond.

        A ``Compiler`` of the vocabulary takes its tables from the file instead of
        building them, if they are not damaged.  Processes that load a file share its
        memory.

        Args:
            path: the path of the file.

        Raises:
            OSError: there is nothing at ``path``.
            Error: the file cannot be read (``"io"``), is that of another version of the
                library (``"unsupported_version"``), is damaged, or is no saved
                vocabulary (``"bad_vocabulary"``).
        """

    def save(self, path: str | PathLike[str]) -> int:
        """Writes a file for ``load``: the tokens and the tables of masks.

        The file is for the version of the library that wrote it.  A file that exists is
        replaced; processes that have loaded it are not affected.

        Args:
            path: the path of the file.

        Returns:
            The size of the file in bytes.

        Raises:
            Error: the file cannot be written (``"io"``).
        """

    @staticmethod
    def from_bytes(data: _Bytes) -> Vocabulary:
        """Reads what ``to_bytes`` returned.

        Args:
            data: ``bytes``, or the content of a file that ``save`` wrote.

        Raises:
            Error: the bytes are those of another version of the library
                (``"unsupported_version"``), are damaged, or are no saved vocabulary
                (``"bad_vocabulary"``).
        """

    def to_bytes(self) -> _Bytes:
        """Returns the tokens and all properties except the encoder, for ``from_bytes``.

        The bytes are for the version of the library that wrote them.  ``pickle`` uses
        them.
        """

    @staticmethod
    def from_model_files(
        tokenizer_json: str | _Bytes,
        *,
        tokenizer_config: str | _Bytes = "",
        generation_config: str | _Bytes = "",
        config: str | _Bytes = "",
    ) -> Vocabulary:
        """As ``from_pretrained``, with the contents of the files.

        Args:
            tokenizer_json: the content of ``tokenizer.json``, ``tekken.json`` or
                ``tokenizer.model``, ``str`` or ``bytes``.
            tokenizer_config: that of ``tokenizer_config.json``; ``""`` for none.
            generation_config: that of ``generation_config.json``; ``""`` for none.
            config: that of ``config.json``; ``""`` for none.

        Raises:
            Error: a file cannot be used; the message names it.
        """

    @staticmethod
    def from_tokenizer(
        tokenizer: object, *, stop_ids: _Ids | None = None
    ) -> Vocabulary:
        """Makes a vocabulary of a tokenizer object.

        Args:
            tokenizer: a tokenizer of ``transformers``, a ``tokenizers.Tokenizer``, a
                ``tiktoken.Encoding``, a ``sentencepiece.SentencePieceProcessor`` or a
                tokenizer of ``mistral_common``, whose file is read again.  Its
                ``encode`` becomes the vocabulary's.
            stop_ids: ids of the tokens that end a response.  Default: those that the
                tokenizer, and the ``generation_config.json`` in its folder, name.

        Raises:
            TypeError: the object is none of these.
            UsageError: a slow tokenizer does not tell how its tokens spell bytes.
        """

    @staticmethod
    def from_tokens(
        tokens: Sequence[str | _Bytes | None],
        vocab_type: Literal["raw", "byte_fallback", "byte_level"] = "raw",
        *,
        vocab_size: int | None = None,
        added_ids: _Ids = (),
        control_ids: _Ids = (),
        stop_ids: _Ids | None = None,
    ) -> Vocabulary:
        """Makes a vocabulary of a tokenizer's list of tokens.

        Args:
            tokens: a list or tuple of ``str`` or ``bytes`` by id; ``None`` or an empty
                text for an id without a token.
            vocab_type: how tokens are spelled: ``"raw"``, as their bytes;
                ``"byte_fallback"``, as in SentencePiece (U+2581 is a space,
                ``<0x0A>`` a byte); ``"byte_level"``, by GPT-2's characters for bytes.
            vocab_size: the number of ids that the model writes.  Ids beyond
                ``tokens`` have no token; tokens beyond ``vocab_size`` are dropped.
                Default: one id for each token.
            added_ids, control_ids, stop_ids: as of ``Vocabulary``.

        Raises:
            UsageError: ``vocab_type`` is another name.
            Error: the tokens cannot be used (``"bad_vocabulary"``, ``"too_large"``).
        """

    @staticmethod
    def from_text(text: str | _Bytes) -> Vocabulary:
        """Reads the content of a vocabulary file.

        Args:
            text: ``str`` or ``bytes``: a ``tokenizer.json``, Mistral's
                ``tekken.json``, SentencePiece's ``tokenizer.model``, tiktoken ranks, a
                GGUF file or a saved vocabulary.  The contents tell them apart.

        Raises:
            Error: the text is none of these, or cannot be used.
        """

    @staticmethod
    def from_tokenizer_json(text: str | _Bytes) -> Vocabulary:
        """Reads the content of a Hugging Face ``tokenizer.json``.

        Args:
            text: ``str`` or ``bytes`` (UTF-8).

        Raises:
            Error: the text is not a tokenizer's JSON, or its decoder does more than
                map each token to bytes (``"bad_vocabulary"``).
        """

    @staticmethod
    def from_tiktoken(
        ranks: str | _Bytes, special: Mapping[str, int] = {}
    ) -> Vocabulary:
        """Reads tiktoken ranks.

        Args:
            ranks: ``str`` or ``bytes``: lines of a token in base64, a space and its
                rank, which is its id.
            special: a ``dict`` from spellings to ids: the control tokens, which the
                ranks do not have.

        Raises:
            Error: the ranks cannot be used (``"bad_vocabulary"``).
        """

    def __len__(self) -> int:
        """Returns the number of ids: one more than the highest id."""

    def bytes(self, id: int) -> _Bytes:
        """Returns the ``bytes`` that the tokenizer's decoder writes for the token alone;
        ``b""`` for an id without a token.
        """

    def spelling(self, id: int) -> _Bytes:
        """Returns how an added or control token is written in a prompt, as UTF-8
        ``bytes``.  For any other token these are its bytes.
        """

    def kind(
        self, id: int
    ) -> Literal["ordinary", "added", "control", "unused"]:
        """Returns the kind of a token: ``"ordinary"``; ``"added"``, which plain text
        shows; ``"control"``, which plain text leaves out; ``"unused"`` for an id
        without a token.
        """

    def special(self, text: str) -> int | None:
        """Returns the id of the added or control token that is spelled ``text`` (``str``
        or UTF-8 ``bytes``), or ``None``.  Of several it is the lowest id.
        """

    def decode(self, ids: _Ids) -> str:
        """Returns the text of token ids, special tokens included.

        Bytes that are not UTF-8, and ids without a token, become U+FFFD.  ``ids`` is any
        sequence or 1-D array of integers.
        """

    @property
    def special_ids(self) -> list[int]:
        """The ids of all added and control tokens, ascending, a list of ``int``."""

    @property
    def stop_ids(self) -> list[int]:
        """The ids of the tokens that end a response, a list of ``int``; ``[]`` if there
        are none or they are unknown (see ``has_stop_ids``).
        """

    @property
    def has_stop_ids(self) -> bool:
        """Whether the source says which tokens end a response.  It may say that none
        does.
        """

    @property
    def strip_leading_space(self) -> bool:
        """Whether the tokenizer's own decoder removes one space at the beginning of a
        text.  It is never removed here: a response continues a prompt.
        """

    @property
    def space_after_marks(self) -> bool:
        """Whether one space after an added or control token belongs to the token: the
        tokenizer puts a space before each text that follows such a token.
        """

    @property
    def has_encoder(self) -> bool:
        """Whether the vocabulary has an encoder, which ``encode`` needs."""

    def encode(self, text: str) -> list[int]:
        """Returns the token ids of a text, as the encoder writes them.

        Args:
            text: ``str``, or UTF-8 ``bytes``.

        Raises:
            UsageError: the vocabulary has no encoder.
        """

    def with_stop_ids(self, ids: _Ids) -> Vocabulary:
        """Returns a copy with other stop ids.  The tokens are shared.

        Args:
            ids: ids of the tokens that end a response; ``[]`` for none.

        Raises:
            Error: an id has no token (``"bad_vocabulary"``).
        """

    def with_encoder(
        self, encoder: Callable[[str], Sequence[int]] | None
    ) -> Vocabulary:
        """Returns a copy with another encoder.  The tokens are shared.

        Args:
            encoder: a function from a ``str`` to its token ids, with the spellings of
                special tokens read as text; ``None`` for no encoder.
                ``Matcher.forced_tokens`` calls it for text that is certain to come.
                Ids that do not spell the text are ignored.  What it raises is raised
                by the function that called it.
        """

    def with_space_after_marks(self, space: bool) -> Vocabulary:
        """Returns a copy with another value of ``space_after_marks`` (a ``bool``).  The
        tokens are shared.
        """

class Grammar:
    """A language of texts.  Immutable; may be shared between threads.

    Made by the functions that begin with ``from_``, by ``union`` and
    ``concat``, and by ``StructuralTag.grammar``.  Every text that the grammar
    of a JSON Schema accepts is valid under the schema; ``report()`` lists where
    the grammar accepts fewer texts, and which keywords have no effect.

    All of these functions take two arguments that bound the compile:

    * ``limits``, a mapping with any of ``"alternatives"`` (how many
      combinations of alternatives one value may have to follow at once, 512 by
      default), ``"steps"`` (of reasoning about a schema, 4,000,000),
      ``"depth"`` (levels of arrays and objects of the text, 1000),
      ``"bytes"`` (of automata, 256 MiB) and ``"work"`` (steps of one call of a
      ``Matcher``, 4,000,000).  A grammar beyond a limit is an error with the
      code ``"too_large"``; for the work, and for the steps of one call, see
      ``Matcher.error``.
    * ``cancelled``, a function without arguments that is called about every
      20 ms.  When it returns a true value, the compile ends with an error
      (``"too_large"``).  Ctrl-C ends it with ``KeyboardInterrupt``.
    """

    def __init__(self) -> None: ...
    @staticmethod
    def from_json_schema(
        schema: _Schema,
        *,
        max_white_space: int | None = 64,
        compact: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        key_order: Literal["any", "schema"] = "any",
        spelling: Literal["canonical", "any", "raw"] = "canonical",
        draft: str | int | None = None,
        closed: bool = False,
        lenient: bool = False,
        assert_formats: bool = True,
        documents: Mapping[str, _Schema] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the grammar of the JSON texts that are valid under a schema.

        Args:
            schema: a JSON Schema: a ``dict``, a ``bool``, JSON text, or a class or
                ``TypeAdapter`` of pydantic, which stands for its schema.
            max_white_space: the largest number of bytes of white space between
                two parts of the text; ``None`` for no limit.
            compact: no white space at all.
            indent, separators: the layout is exactly the one that
                ``json.dumps`` writes for these arguments.  Excludes
                ``compact`` and ``max_white_space``.
            key_order: ``"any"``, or ``"schema"``: declared properties in the
                order of the schema, which makes smaller automata.  One
                whose turn is over cannot come any more.
            spelling: how names and values that the schema fixes are written:
                ``"canonical"``, as ``json.dumps(..., ensure_ascii=False)``
                does, so that an integer is digits; ``"any"``, in every
                spelling that JSON has; ``"raw"``: the texts are the strings of
                the schema, without quotes and escapes.
            draft: ``"4"``, ``"6"``, ``"7"``, ``"2019-09"`` or ``"2020-12"``.
                Default: what ``"$schema"`` says, otherwise 2020-12.
            closed: properties and items that the schema does not list are
                forbidden unless it says otherwise.
            lenient: keywords that cannot be enforced are ignored and reported
                instead of being an error.
            assert_formats: enforce ``"format"`` for the known names.
            documents: a mapping from absolute URLs to the schemas that
                ``"$ref"`` may refer to.
            limits, cancelled: see the class.

        Raises:
            SchemaError: the schema is malformed, cannot be enforced, has no
                valid text (``"unsatisfiable"``), or exceeds a limit
                (``"too_large"``).  ``path`` is the JSON pointer.
            UsageError: the options do not fit each other.
        """

    @staticmethod
    def from_ebnf(
        text: str,
        root_rule: str = "root",
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the grammar of an EBNF text.

        Args:
            text: the EBNF, a ``str``, in the dialect of XGrammar.  For the
                GBNF of llama.cpp see ``from_gbnf``.
            root_rule: the name of the rule that a whole text matches.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the text is malformed or cannot be used; ``span`` is
                in the UTF-8 bytes of ``text``.
        """

    @staticmethod
    def from_gbnf(
        text: str,
        vocabulary: Vocabulary | None = None,
        root_rule: str = "root",
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the grammar of a GBNF text, as llama.cpp reads it.

        Args:
            text: the GBNF, a ``str``.
            vocabulary: a ``Vocabulary``.  Required if the grammar names tokens
                by their text (``<think>``).
            root_rule: the name of the rule that a whole text matches.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the text is malformed or cannot be used; ``span`` is
                in the UTF-8 bytes of ``text``.
        """

    @staticmethod
    def from_regex(
        pattern: str, *, limits: _Limits = None, cancelled: _Cancelled = None
    ) -> Grammar:
        """Returns the grammar of the texts that a pattern matches as a whole.

        Args:
            pattern: a regular expression, a ``str``.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the pattern is malformed (``"bad_pattern"``) or not
                supported (``"unsupported_pattern"``).
        """

    @staticmethod
    def from_lark(
        text: str,
        vocabulary: Vocabulary | None = None,
        *,
        start: str = "start",
        grammars: Mapping[str, Grammar | StructuralTag | str] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the grammar of a Lark text.

        Args:
            text: the grammar, a ``str``, as Lark and llguidance read it.
            vocabulary: a ``Vocabulary``.  Required if the grammar names tokens
                by their text.
            start: the name of the rule that a whole text matches.
            grammars: a mapping from ``name`` to what ``@name`` stands for: a
                ``Grammar``, a ``StructuralTag``, or a Lark text.
                ``%import name.X`` imports from a Lark text.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the text is malformed or cannot be used; ``span`` is
                in the UTF-8 bytes of ``text``.
        """

    @staticmethod
    def from_structural_tag(
        spec: _Tag,
        vocabulary: Vocabulary | None = None,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the grammar of the texts that a structural tag describes.

        Args:
            spec: a ``StructuralTag``, or a ``dict``, JSON text or the path of
                a file to make one of.
            vocabulary: a ``Vocabulary``.  Required if the tag names tokens by
                their text.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the tag, or a schema, pattern or grammar in it, cannot
                be used; ``path`` is the JSON pointer into ``spec``.
        """

    @staticmethod
    def union(
        grammars: Iterable[Grammar | StructuralTag],
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the grammar of the texts of any of ``grammars``.

        Args:
            grammars: an iterable of ``Grammar`` or ``StructuralTag`` (which
                stands for its grammar), at least one and at most 2**20.
            limits, cancelled: see the class.

        Raises:
            GrammarError: there are no grammars, or the union exceeds a limit.
        """

    @staticmethod
    def concat(
        grammars: Iterable[Grammar | StructuralTag],
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the grammar of concatenations: a text of each of ``grammars``,
        one after the other.

        Args:
            grammars, limits, cancelled: as of ``union``.

        Raises:
            GrammarError: as of ``union``.
        """

    def accepts(self, text: _Text) -> bool:
        """Returns whether the whole text is in the language.

        Args:
            text: ``str``, or UTF-8 ``bytes`` or ``bytearray``.

        Complexity: O(bytes of the text) for JSON Schemas and almost all grammars; at
        most cubic.  Ctrl-C ends the call.

        Raises:
            GrammarError: with the code ``too_large`` if a byte takes more steps than
                the limit ``work``, or ``steps``: it was not decided.
        """

    def explain(self, text: _Text) -> dict[str, Any] | None:
        """Tells where and why a text is not in the language.

        Args:
            text: as of ``accepts``.

        Returns:
            ``None`` if the text is accepted.  Otherwise a ``dict`` with ``"offset"``
            (the number of bytes that could be read) and ``"expected"`` (what may come
            there, in words).
        """

    def report(self) -> list[dict[str, str]]:
        """Lists where the language differs from what the source says.

        Returns:
            A list of ``dict`` with ``"kind"`` (``"narrowed"``: some valid texts are
            not in the language; ``"ignored"``: a keyword has no effect),
            ``"keyword"``, ``"path"`` (the JSON pointer of the schema with the
            keyword) and ``"message"``.  ``[]`` if the grammar is exact.

        The first call may take as long as a compile.
        """

    def to_ebnf(self) -> str:
        """Returns an EBNF text of the same language, which ``from_ebnf`` reads.  Schemas
        stand in it as ``JsonSchema("...")``; limits are not part of it.
        """

    def captures(
        self, text: _Text | _Ids, vocabulary: Vocabulary | None = None
    ) -> list[dict[str, Any]]:
        """Finds the parts of a text that rules with a capture matched.

        Args:
            text: ``str``, ``bytes`` or ``bytearray``; with ``vocabulary``, token ids.
                It may be the beginning of a text of the language.
            vocabulary: the ``Vocabulary`` of the ids.

        Returns:
            A list of ``dict`` with ``"name"``, ``"text"`` (``bytes``) and ``"span"``
            (a half-open range of bytes), in the order of their ends, inner captures
            first.

        Raises:
            Error: the text does not fit (``"invalid_content"``, ``span`` at the first
                byte that does not), or takes too much memory (``"too_large"``).
            UsageError: the vocabulary has no token with one of the ids.

        Complexity: O(bytes of the text) for most grammars, in time and memory.
        """

    @staticmethod
    def from_bytes(
        data: bytes,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Makes a grammar of what ``to_bytes`` returned.

        Args:
            data: ``bytes``.
            limits: the largest limits that the grammar may have been made with.
                Default: those that grammars have by default.
            cancelled: see the class.

        Raises:
            GrammarError: the bytes are damaged or no grammar
                (``"invalid_value"``), or of another version
                (``"unsupported_version"``); the grammar was made with a limit
                beyond ``limits`` (``"too_large"``); and the errors of the
                function that made the grammar.
        """

    def to_bytes(self) -> bytes:
        """Returns what the grammar was made from, for ``from_bytes``.

        ``pickle`` uses it.  Automata are not part of it.
        """

    def compile(
        self,
        vocabulary: Vocabulary | Compiler,
        *,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
    ) -> Constraint:
        """Returns the ``Constraint`` of this grammar for a vocabulary.

        Args:
            vocabulary: a ``Vocabulary``, or a ``Compiler``.  The compiler of a
                vocabulary is made when it is first needed, and cached in the
                vocabulary.
            markers: how a text that a structural tag itself spells is written
                if the vocabulary has a token for it: ``"token"``, as this
                token; ``"either"``, also spelled by other tokens; ``"text"``,
                spelled by any tokens, added tokens being ordinary text.
            stop_ids: ids of the tokens that may end a text.  Default: those of
                the vocabulary.  With an empty list a text ends where nothing
                may follow.  Not allowed with a ``Compiler``.

        Raises:
            Error: the vocabulary does not know its stop ids, and none are given
                (``"missing_stop_ids"``), or the name of a tool cannot be
                written (``"conflict"``).
            UsageError: ``stop_ids`` with a compiler, or not in the vocabulary.

        What masks need is built when masks are asked for.
        """

class StructuralTag:
    """A description of responses, both for constraining a model and for parsing.

    Immutable; may be shared between threads and pickled.  Tags are equal, and
    have the same hash, when their canonical forms are equal.

    Args:
        spec: ``{"type": "structural_tag", "format": {...}}`` as a ``dict``,
            JSON text, the path of a file, or a ``StructuralTag``.

    Raises:
        GrammarError: the tag is malformed; ``path`` is the JSON pointer into
            ``spec``.  Schemas, patterns and grammars inside, and names of
            tokens, are checked when the tag is compiled.
        OSError: the file cannot be opened.
    """

    def __init__(self, spec: _Tag) -> None: ...
    @staticmethod
    def from_tags(
        tags: Sequence[dict[str, Any]], triggers: Sequence[str]
    ) -> StructuralTag:
        """Makes a tag of the older pair of lists: free text, and tags in it.

        Args:
            tags: a list of ``{"begin", "schema", "end"}``; ``"schema"`` is a
                JSON Schema as a ``dict`` or JSON text.
            triggers: a list of ``str`` with which the tags begin.

        Raises:
            GrammarError: ``path`` begins with ``/tags`` or ``/triggers``.
        """

    def report(self) -> list[dict[str, str]]:
        """Lists what the tag leaves out of what was asked for, without compiling it.

        Returns:
            A list of ``dict`` as of ``Grammar.report``.  Paths of a tag that
            ``Format.structural_tag`` or ``tool_calling`` made lead into the format
            file or into the request (``/tools/0/function/parameters``): texts that
            strings cannot contain, listed values that cannot be written, calls that
            cannot be repeated.  Paths of any other tag lead into the tag: unknown
            keys, triggers that are never found.  ``Grammar.report`` has these entries
            as well, and those that need a compile.
        """

    def to_dict(self) -> dict[str, Any]:
        """Returns the canonical form of the tag as a new ``dict``."""

    def to_json(self) -> str:
        """Returns the canonical form of the tag as JSON text.  Tags are equal when their
        canonical forms are.
        """

    @property
    def source(self) -> str:
        """The JSON text that the tag was read from.  Paths and spans of errors refer to
        it.
        """

    def grammar(
        self,
        vocabulary: Vocabulary | None = None,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar:
        """Returns the ``Grammar`` of these responses.

        The same as ``Grammar.from_structural_tag(self, ...)``, which see for
        arguments and errors.
        """

    def parse(
        self,
        response: _Text | _Ids,
        *,
        prefix: _Text | _Ids = "",
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
        recover: bool = True,
    ) -> dict[str, Any]:
        """Parses a whole response and returns its tree, a ``dict``.

        Args:
            response: ``str``, ``bytes``, ``bytearray``, or, with
                ``vocabulary``, token ids.
            prefix, vocabulary, markers, stop_ids, recover: as of
                ``TagParser``.

        Returns:
            The tree as of ``TagParser.tree``: ``"complete"`` (whether the tag
            fits the whole response), ``"format"`` (what the outermost format
            has read), ``"rest"`` (the text that does not fit),
            ``"diagnostics"`` (why it does not) and ``"message"``.

        Raises:
            GrammarError: the tag cannot be compiled.
            UsageError: ids without a vocabulary.
        """

    def parser(
        self,
        prefix: _Text | _Ids = "",
        *,
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
        recover: bool = True,
        stream_calls: bool = False,
        attempts: bool = False,
    ) -> TagParser:
        """Returns a ``TagParser`` for one response.

        Arguments and errors: see ``TagParser``.
        """

class TagParser:
    """Parses one response by a structural tag, while a model writes it.

    Events and messages are those of a ``ResponseParser``; ``tree`` has in
    addition what each format has read.  A response is never an error: text that
    does not fit is in the field ``"rest"``, with a diagnostic.  One stream, one
    parser, one thread.

    Args:
        tag: a ``StructuralTag``, or a ``dict``, JSON text or the path of a file
            to make one of.
        prefix: the part of the response that the prompt already wrote, as text
            or token ids; ``""`` for none.
        vocabulary: a ``Vocabulary``.  The parser then reads token ids, and
            without it, text.
        markers: how ids write a marker of the tag for which the vocabulary has
            an added or control token: ``"token"``, as this token; ``"either"``,
            also spelled by other tokens; ``"text"``, spelled by any tokens,
            added tokens being ordinary text.
        stop_ids: ids of the tokens that end the response.  Such a token is no
            text, unless the tag names it.  Default: those of the vocabulary.
        recover: if a tag of ``triggered_tags`` does not fit, such as a call of
            a tool that is not listed, parsing continues after it.  ``False``:
            all text that follows is the rest.
        stream_calls: whether ``feed`` returns the events of calls while they
            are written, as of ``ResponseParser``.
        attempts: as of ``ResponseParser``.

    Raises:
        GrammarError: the tag cannot be used or compiled.
        UsageError: a prefix of ids without a vocabulary.
    """

    def __init__(
        self,
        tag: _Tag,
        prefix: _Text | _Ids = "",
        *,
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
        recover: bool = True,
        stream_calls: bool = False,
        attempts: bool = False,
    ) -> None: ...
    def feed(self, text: _Text | _Ids | None) -> list[dict[str, Any]]:
        """Consumes the next piece of the response and returns the events it completes.

        Args:
            text: ``str``, ``bytes`` or ``bytearray`` (which may end inside a UTF-8
                sequence), or, for a parser with a vocabulary, token ids: a list, a
                tuple or a 1-D array of integers, at most 2**26 of them.  ``None``
                and empty text are valid and add nothing.

        Returns:
            The events as a list of ``dict``, oldest first.  How a response is cut
            into pieces changes only how chunk events are cut.  Each event has
            ``"type"``, ``"field"``, ``"start"`` and ``"end"`` (a half-open range of
            bytes of the stream, counted from the first of ``prefix_bytes``), and,
            with a vocabulary, ``"tokens"`` (a half-open range of the tokens fed).
            With ``stream_calls``, the events of calls have ``"call"`` (its number,
            from 0) and ``"name"`` and ``"id"`` (``"call_open"``; ``"id"`` only if
            the model wrote one) or ``"text"`` (``"call_arguments"``: a piece of the
            arguments as JSON text).

        Raises:
            StateError: ``finalize`` was called before.
            ResponseError: the parser does not recover, and the response does not
                fit; ``events`` has the events of this call.
            UsageError: ids for a parser without a vocabulary, or text for a parser
                with one.
            TypeError: the argument is none of the above.

        Complexity: O(bytes of the piece).  Pieces of more than 32 KiB are parsed
        without the GIL; Ctrl-C ends the call between pieces of 8 MiB.
        """

    def feed_deltas(
        self, text: _Text | _Ids | None
    ) -> list[tuple[str, str, str, int]]:
        """Consumes the next piece of the response and returns what text became certain.

        It does what ``feed`` does, and costs less: a piece of a response is a tuple and
        no ``dict``.  Both may be used for one response.

        Args:
            text: as of ``feed``.

        Returns:
            A list of tuples ``(kind, field, text, call)``, oldest first: the events of
            ``feed`` that carry text, or are of calls.  ``kind`` is the ``"type"`` of the
            event: ``"region_chunk"``, ``"region_malformed"`` or ``"text_unclaimed"``, or,
            with ``stream_calls``, ``"call_open"`` (the text is the name),
            ``"call_arguments"`` or ``"call_close"`` (no text).  ``call`` is the number of
            the call, -1 for the other kinds.

        Raises:
            The same errors as ``feed``; ``ResponseError.events`` has such tuples.

        Complexity: as of ``feed``.
        """

    def finalize_deltas(
        self,
    ) -> tuple[dict[str, Any], list[tuple[str, str, str, int]]]:
        """Ends the response; returns ``(message, deltas)``.

        It does what ``finalize`` does, and returns the rest of the text as ``feed_deltas``
        does.

        Raises:
            The same errors as ``finalize``.
        """

    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Ends the response and returns ``(message, events)``.

        Releases the bytes that were held back and closes every open region.
        ``message`` is the final message (a ``dict``), ``events`` are the last events.

        Raises:
            StateError: ``finalize`` was called before.
            ResponseError: the parser does not recover, and the response does not fit,
                or lacks a required field.
        """

    @property
    def initial_events(self) -> list[dict[str, Any]]:
        """The events that the prefix caused, a list of ``dict`` as ``feed`` returns."""

    @property
    def message(self) -> dict[str, Any]:
        """The message that the events so far add up to, a ``dict``; final after
        ``finalize``.

        Every access builds a new ``dict``.  Complexity: O(size of the message).
        """

    @property
    def chat_message(self) -> dict[str, Any]:
        """The message as servers of chat completions send it, a ``dict``.

        Members: ``"role"``; ``"content"``, ``None`` where there is none;
        ``"reasoning"``; ``"tool_calls"`` where there are any, each with ``"id"``,
        ``"index"`` and arguments as JSON text; other fields as they are.  What
        cannot be read as a call is left out.
        """

    @property
    def tree(self) -> dict[str, Any]:
        """How the response was read, format by format, a ``dict``.

        Members: ``"type"``, ``"complete"``, ``"format"`` (the node of the outermost
        format), ``"rest"`` (text that does not fit), ``"diagnostics"`` and
        ``"message"``.  Every node has ``"type"``, ``"path"`` (the JSON pointer of the
        format in the tag) and ``"span"`` (a half-open range of bytes).  Before
        ``finalize`` the tree has what is already certain.

        Complexity: O(size of the text), at every access.
        """

    @property
    def attempted_calls(self) -> list[dict[str, Any]]:
        """With ``attempts``: every call that the model attempted, in the order written, a
        list of ``dict``.

        Each has ``"status"`` (``"ok"``, ``"invalid_arguments"``, ``"unknown_tool"``,
        ``"no_name"``, ``"malformed"`` or ``"cut_off"``), ``"id"`` and ``"name"`` (``""`` where
        none was read), ``"arguments"`` (JSON text; of the last three a beginning),
        ``"text"`` (as it was written), ``"bytes"`` and ``"tokens"`` (half-open ranges, as of
        events), and ``"why"`` it is not ok.  The first three are the calls of the message.
        """

    @property
    def calls(self) -> list[dict[str, Any]]:
        """With ``stream_calls``: the calls of the regions that have closed, in the
        order in which they were announced, a list of ``dict``.

        Each has ``"id"`` (``None`` if the model wrote none), ``"name"``,
        ``"arguments"`` (JSON text; of a call that is not complete, its beginning) and
        ``"complete"``.
        """

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Every region of the response in the order written, a list of ``dict``.

        Each has ``"field"``, ``"value"`` (``None`` if malformed), ``"malformed"``,
        ``"cut"`` (the response ended before the closing delimiter), ``"start"`` and
        ``"end"`` (bytes of the stream, from the beginning of the opening delimiter to
        the end of the closing delimiter).
        """

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """What did not fit so far, in order, a list of ``dict``.

        Each has ``"code"`` (a stable name), ``"message"``, ``"field"`` (``None``
        where no field is concerned) and ``"span"`` (a half-open range of bytes of the
        stream).
        """

    @property
    def complete(self) -> bool:
        """Whether the tag fits all of the text so far."""

    @property
    def turn_ended(self) -> bool:
        """Whether the end of the turn was seen: a text or a token that ends the response,
        or a stop token, and nothing of the response after it.  ``False`` until ``finalize``
        was called, and where the host has removed what ends a response.
        """

    @property
    def tokens(self) -> dict[str, int]:
        """How many of the tokens fed so far are part of what, a ``dict``.

        ``"reasoning"``, ``"content"`` (and all other fields), ``"tool_calls"``, and
        ``"markup"``: delimiters with what they capture, ends of turn, and all others.  They
        add up to the tokens that were fed; all are zero if the parser reads text.  A token that
        is held is markup until it is known what it is part of.
        """

    @property
    def held(self) -> bytes:
        """The bytes at the end of the input that are held back, because they may still
        become a delimiter.
        """

    @property
    def prefix_bytes(self) -> int:
        """The number of bytes of the prefix.  Offsets of events count from its
        beginning.
        """

class BatchStep(NamedTuple):
    """What a step did, with an item for each row that it was given.

    Attributes:
        accepted: how many of the row's tokens the matcher accepted.
        terminated: whether the matcher has ended.
        constrained: whether masks were written that must be applied.
        deltas: the text that became certain.
        mask_ids: with a ``MaskTable``, the numbers of the masks.
        filled: how many masks it got.
        failed: whether the matcher has an ``error``.
    """

    accepted: list[int]
    terminated: list[bool]
    constrained: list[bool]
    deltas: list[tuple[int, str, str, str, int]]
    mask_ids: list[int]
    filled: list[int]
    failed: list[bool]

class MaskTable:
    """Masks by number, for engines that keep masks on their device.

        table = MaskTable(compiler)
        step = batch.step(rows, tokens, masks, table=table)
        sent += table.copy_rows(staging, sent)     # rows that are new

    Thousands of requests need few distinct masks.  A mask gets a row of the
    table when it is first needed, and then its number is all that a step sends.
    ``apply_mask_ids`` applies them.  Several batches may share a table.

    Args:
        compiler: the ``Compiler`` of the matchers; the masks of others have no
            row.
        rows: the largest number of rows, at most 1,048,576, of ``mask_words`` words
            of 4 bytes each.  Memory is used as rows are added.

    Raises:
        UsageError: ``rows`` is out of range.
    """

    def __init__(self, compiler: Compiler, rows: int = 1024) -> None: ...
    def id_of(self, matcher: Matcher) -> int:
        """The number of the mask of a matcher's next token.

        Args:
            matcher: a ``Matcher``.

        Returns:
            The row of the table, which is added if it is new; -1 if the mask
            excludes nothing; -2 if it has no row, because the table is full or
            the compiler does not keep the mask.

        Raises:
            TypeError: the matcher is none.
            UsageError: the matcher is in use.
        """

    def copy_rows(self, buffer: Any, begin: int = 0) -> int:
        """Copies the rows from ``begin`` on to a buffer.

        Args:
            buffer: as of ``Matcher.fill_bitmask``; row ``begin`` goes to its first
                row.
            begin: the first row to copy, for example the number of rows that
                the device has.

        Returns:
            How many rows were copied.

        Raises:
            UsageError: the table has fewer rows than ``begin``, or the buffer has
                too few.
            TypeError: the buffer is none.
        """

    def __len__(self) -> int:
        """The number of rows so far.  A row never changes, until ``clear``."""

    @property
    def max_rows(self) -> int:
        """The largest number of rows."""

    @property
    def mask_words(self) -> int:
        """The 32-bit words of a row."""

    @property
    def version(self) -> int:
        """How often the table was cleared.  Numbers of another version mean
        nothing.
        """

    def clear(self) -> None:
        """Removes all rows, for example when the table is full.

        Raises:
            UsageError: the table is in use.
        """

class Batch:
    """Matchers and parsers of many requests, which make their steps together.

        batch = Batch()
        row = batch.add(constraint.matcher(), ResponseParser(format, ...))
        step = batch.step([row], [token], masks)

    A step runs on several threads, without the GIL: on fewer if the system has no
    more to give.  After ``os.fork`` the child may use the batch, unless a step was
    being made.

    Args:
        threads: the threads of a step at most; 0 means one for each core.
    """

    def __init__(self, *, threads: int = 0) -> None: ...
    def add(
        self,
        matcher: Matcher | None = None,
        parser: ResponseParser | TagParser | None = None,
    ) -> int:
        """Adds a row and returns its number.

        Args:
            matcher: a ``Matcher``, which constrains the row; ``None`` for a row
                without a constraint.
            parser: a ``ResponseParser`` or ``TagParser`` made with a
                vocabulary, which reads the row's tokens; ``None`` for none.

        Between two steps both can be used as ever, for example to read the
        message or to undo steps.

        Returns:
            The number, the smallest that is free or new.

        Raises:
            TypeError: an argument is of another class.
            UsageError: the parser reads text.
        """

    def remove(self, row: int) -> None:
        """Removes a row.  Its number may be given to a later one.

        Raises:
            UsageError: there is no such row.
        """

    def __len__(self) -> int:
        """The number of rows."""

    def step(
        self,
        rows: Sequence[int],
        tokens: Sequence[int] | Sequence[Sequence[int]],
        buffer: Any = None,
        *,
        mask_rows: Sequence[int] | None = None,
        drafts: Sequence[
            tuple[Sequence[int], Sequence[int], Sequence[int]] | None
        ]
        | None = None,
        table: MaskTable | None = None,
        temperatures: Any = None,
        time_limit: float | None = None,
    ) -> BatchStep:
        """Accepts the tokens of rows, feeds their parsers, fills their masks.

        Args:
            rows: the rows that take part, each once.
            tokens: what was generated for each of them since the last step: one
                id a row, in a list or an array, or a list of lists of ids (none,
                or several where draft tokens were accepted).
            buffer: receives the masks of the next tokens, as of
                ``Matcher.fill_bitmask``.  ``None``: no masks are needed.
            mask_rows: the row of the buffer for each row; -1 for none.  Default:
                one after another.
            drafts: for each row ``None`` or a draft tree ``(first_child,
                next_sibling, tokens)``, as of ``Matcher.fill_tree``; its masks
                take as many rows of the buffer as the tree has nodes.
            table: a ``MaskTable``.  Masks that it has, or can take, are given by
                ``BatchStep.mask_ids`` and not written to the buffer, except those
                of draft trees.
            temperatures: an array of float32 in main memory with an item for each
                row of the buffer, which gets ``Matcher.temperature`` of the token
                that the mask is for; NaN where that is ``None``, where the row has
                no matcher, and where a token of a draft does not fit.
            time_limit: seconds that each draft tree may take, as of
                ``Matcher.fill_tree``.

        Returns:
            A ``BatchStep``.

        Raises:
            UsageError: a row does not exist or stands twice, lengths differ, a
                draft is no tree, the buffer has too few rows, a row of the buffer
                is given twice, a matcher or parser is in use, or a parser is
                finalized.  Nothing was done.
            TypeError: an argument is of another kind.
        """

class Compiler:
    """Compiles grammars for one vocabulary, and caches grammars and masks.

    The ``compile_...`` functions cache what they compile: the same source and
    options give the same automata at no cost, and in a new source the schemas
    that were compiled before are not compiled again.  May be shared between
    threads.

    Args:
        vocabulary: a ``Vocabulary``.
        cache_bytes: memory for the masks that constraints share, in bytes
            (default 32 MiB).  Beyond it, the least recently used masks are
            evicted, and computed again when they are needed.
        grammar_bytes: memory for cached grammars, in bytes (default 128 MiB);
            0 caches none.
        stop_ids: ids of the tokens that may end a text.  Default: those of the
            vocabulary; if it does not know them, compiling raises
            ``"missing_stop_ids"``.  With an empty list a text ends where
            nothing may follow.

    The tables of the vocabulary are those of the file that it was loaded from
    (``Vocabulary.load``); else they are built, in about 0.1 s for 128,000
    tokens.

    A compiler that is pickled takes its vocabulary and options along, without
    what it has cached.

    Raises:
        UsageError: a stop id is not in the vocabulary, or a size is negative.
        Error: the tables of the vocabulary would be too large
            (``"too_large"``).
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        cache_bytes: int = 33554432,
        grammar_bytes: int = 134217728,
        stop_ids: _Ids | None = None,
    ) -> None: ...
    def compile(
        self,
        grammar: Grammar,
        *,
        markers: Literal["token", "either", "text"] = "token",
    ) -> Constraint:
        """Returns the ``Constraint`` of a grammar for this vocabulary.

        Args:
            grammar: a ``Grammar``.
            markers: as of ``Grammar.compile``.

        Raises:
            Error: the stop ids are unknown (``"missing_stop_ids"``), or the name of a
                tool cannot be written (``"conflict"``).

        What masks need is built when masks are asked for.
        """

    def compile_json_schema(
        self,
        schema: _Schema,
        *,
        max_white_space: int | None = 64,
        compact: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        key_order: Literal["any", "schema"] = "any",
        spelling: Literal["canonical", "any", "raw"] = "canonical",
        draft: str | int | None = None,
        closed: bool = False,
        lenient: bool = False,
        assert_formats: bool = True,
        documents: Mapping[str, _Schema] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint:
        """Compiles a JSON Schema into a ``Constraint``, using the cache.

        Arguments and errors: see ``Grammar.from_json_schema`` and ``compile``.
        """

    def compile_ebnf(
        self,
        text: str,
        root_rule: str = "root",
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint:
        """Compiles an EBNF text into a ``Constraint``, using the cache.

        Arguments and errors: see ``Grammar.from_ebnf`` and ``compile``.
        """

    def compile_regex(
        self, pattern: str, *, limits: _Limits = None, cancelled: _Cancelled = None
    ) -> Constraint:
        """Compiles a regular expression into a ``Constraint``, using the cache.

        Arguments and errors: see ``Grammar.from_regex`` and ``compile``.
        """

    def compile_gbnf(
        self,
        text: str,
        root_rule: str = "root",
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint:
        """Compiles a GBNF text into a ``Constraint``, using the cache.

        Tokens that the text names are looked up in the compiler's vocabulary.
        Arguments and errors: see ``Grammar.from_gbnf`` and ``compile``.
        """

    def compile_lark(
        self,
        text: str,
        *,
        start: str = "start",
        grammars: Mapping[str, Grammar | StructuralTag | str] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint:
        """Compiles a Lark text into a ``Constraint``, using the cache.

        Tokens that the text names are looked up in the compiler's vocabulary.
        Arguments and errors: see ``Grammar.from_lark`` and ``compile``.
        """

    def compile_structural_tag(
        self,
        spec: _Tag,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
        markers: Literal["token", "either", "text"] = "token",
    ) -> Constraint:
        """Compiles a structural tag into a ``Constraint``, using the cache.

        Tokens that the tag names are looked up in the compiler's vocabulary.
        JSON text that is in the cache is not read again.

        Args:
            spec, limits, cancelled: as of ``Grammar.from_structural_tag``.
            markers: as of ``Grammar.compile``.

        Raises:
            GrammarError: the tag cannot be used or compiled.
        """

    @property
    def mask_words(self) -> int:
        """The number of 32-bit words of one mask: the size of the vocabulary / 32,
        rounded up.
        """

    def cache_statistics(self) -> dict[str, int]:
        """Returns the state of the cache of masks, a ``dict`` of ``int``.

        ``"bytes"`` and ``"entries"`` (masks) are held now; ``"hits"``, ``"misses"``
        and ``"evictions"`` are counts of masks since the compiler was made;
        ``"tables_bytes"`` is the size of the vocabulary's tables.
        """

    def grammar_statistics(self) -> dict[str, int]:
        """Returns the state of the cache of grammars, a ``dict`` of ``int``.

        ``"bytes"``, ``"grammars"`` and ``"parts"`` (schemas inside grammars) are held
        now; ``"grammar_hits"``, ``"grammar_misses"``, ``"part_hits"``,
        ``"part_misses"`` and ``"evictions"`` are counts since the compiler was made.
        """

    def clear_cache(self) -> None:
        """Drops every cached mask and grammar.  Constraints and matchers keep working."""

    def constraint_from_bytes(
        self,
        data: bytes,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint:
        """Compiles what ``Constraint.to_bytes`` returned.

        Args:
            data: ``bytes``.
            limits, cancelled: as of ``Grammar.from_bytes``.

        Raises:
            Error: the constraint was compiled for another vocabulary
                (``"bad_vocabulary"``), the bytes are damaged or no constraint
                (``"invalid_value"``), and as of ``Grammar.from_bytes``.
        """

class Constraint:
    """A grammar compiled for a vocabulary.  Immutable; may be shared between threads.

    Made by ``Grammar.compile`` and by the functions of ``Compiler``.
    """

    def to_bytes(self) -> bytes:
        """Returns what the constraint was compiled from, for
        ``Compiler.constraint_from_bytes``.

        ``pickle`` uses it, and adds the compiler with its vocabulary, once for all
        constraints of a compiler that are pickled together.  Automata and masks are not
        part of it.
        """

    def matcher(
        self,
        *,
        stop_ids: _Ids | None = None,
        default_temperature: float | None = None,
    ) -> Matcher:
        """Returns a new ``Matcher`` at the beginning of a text.

        Args:
            stop_ids: the tokens that end this text.  Default: those of the compiler.
                With an empty list the matcher is terminated where nothing may follow.
            default_temperature: ``Matcher.temperature`` where no rule sets one.

        Raises:
            UsageError: an id is not in the vocabulary, or ``default_temperature`` is
                negative or not finite.
        """

    @property
    def mask_words(self) -> int:
        """The number of 32-bit words of one mask: the size of the vocabulary / 32,
        rounded up.
        """

    @property
    def grammar(self) -> Grammar:
        """The ``Grammar`` that the constraint was compiled from, compiled again at each
        access.
        """

    @property
    def vocabulary(self) -> Vocabulary:
        """The ``Vocabulary`` that the constraint was compiled for."""

    @property
    def memory_bytes(self) -> int:
        """The memory of the automata built so far, in bytes, without the tables that
        constraints share.
        """

class HarmonyParser:
    """Reads Harmony, the protocol of gpt-oss, from token ids.

        parser = HarmonyParser(vocabulary, role="assistant")
        for ids in stream:
            for event in parser.feed(ids):
                show(event)
        messages = parser.finalize()
        parser.message()     # {"role": "assistant", "thinking": ..., ...}

    The markers, such as ``<|channel|>``, are tokens of the vocabulary; their
    spelling in ordinary tokens is text, in contents and in headers.  By default the
    parser recovers: no response is an error, no text is lost, and ``diagnostics``
    says what was wrong.  One stream, one parser, one thread.

    Args:
        vocabulary: a ``Vocabulary`` with tokens for ``<|start|>``, ``<|channel|>``,
            ``<|message|>`` and ``<|end|>``.
        role: the role whose header the prompt has opened, ``"assistant"`` after
            ``<|start|>assistant``.  ``None``: the ids begin with ``<|start|>``, as
            in a transcript.
        strict: read as openai-harmony does and raise at the first error.

    Raises:
        Error: the vocabulary has no such tokens (``code`` is ``"bad_vocabulary"``).
        UsageError: there is no such role.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        role: Literal["system", "developer", "user", "assistant", "tool"]
        | None = None,
        strict: bool = False,
    ) -> None: ...
    def feed(self, ids: _Ids) -> list[dict[str, Any]]:
        """Consumes token ids and returns the events that they complete.

        Args:
            ids: a list, a tuple or a 1-D array of integers, at most 2**26 of them.  An
                id without a token reads as U+FFFD.

        Returns:
            The events as a list of ``dict``, oldest first.  Each has ``"type"``,
            ``"index"`` (of the message) and ``"tokens"`` (a half-open range of the
            tokens fed).  The types are ``"message_open"`` (with ``"role"``,
            ``"name"``, ``"channel"``, ``"recipient"`` and ``"content_type"``, each
            ``None`` if absent), ``"message_chunk"`` (``"text"``), ``"message_close"``
            (``"content"``, ``"end"``), and before ``"message_open"``, if it is certain
            earlier, ``"message_channel"`` (``"channel"``).  The texts of a message,
            joined, are its content; how the ids are cut into calls changes only how
            chunks are cut.

        Raises:
            StateError: ``finalize`` was called before.
            ResponseError: in the strict mode; ``code`` is the kind of the error, such
                as ``"expected_start"``, and ``events`` has the events of this call.

        Complexity: O(bytes of the tokens).
        """

    def finalize(self) -> list[dict[str, Any]]:
        """Ends the stream and returns the messages, a list of ``dict``.

        Each has ``"role"``, ``"name"``, ``"channel"``, ``"recipient"`` and
        ``"content_type"`` (``None`` if absent), ``"content"``, ``"end"`` (what ended
        the message: ``"end"``, ``"call"``, ``"return"``, ``"eos_token"``, ``"eos"`` for
        the end of the stream, ``"implicit"`` for the next message), ``"tokens"`` and
        ``"content_tokens"`` (half-open ranges of the tokens fed).

        Raises:
            StateError: ``finalize`` was called before.
            ResponseError: in the strict mode, if the stream ends in a header.
        """

    def message(
        self, *, names: str = "thinking", cut: bool = False
    ) -> dict[str, Any]:
        """One message of the assistant that the messages so far add up to, a ``dict``.

        Reasoning is what stands on the channel ``analysis``, tool calls are the
        messages to a tool on any channel, and everything else is content.  Several
        texts are joined by a line feed.  Reading ends before the first message by
        another role and after a message that ``<|return|>`` ended.

        Args:
            names: the name of the member with the reasoning.
            cut: generation was cut off: a call without a stop token is left out.

        Returns:
            ``"role"`` and, where there are any, the reasoning, ``"content"`` and
            ``"tool_calls"``.  The arguments of a call are a ``dict`` if its content is
            a JSON object, else the content.

        Raises:
            UsageError: ``names`` is the name of another member.
        """

    def chat_message(
        self, *, names: str = "reasoning", cut: bool = False
    ) -> dict[str, Any]:
        """The same message as servers of chat completions send it, a ``dict``.

        ``"content"`` is ``None`` where there is none; calls have ``"id"``, ``"index"``
        and arguments as the model wrote them.

        Args:
            names, cut: as of ``message``.

        Raises:
            UsageError: as ``message``.
        """

    def response_items(self, *, cut: bool = False) -> list[dict[str, Any]]:
        """The same message as the output items of the Responses API, a list of ``dict``.

        One item for each message, in order, of the types ``"reasoning"``,
        ``"message"`` and ``"function_call"``; ids and statuses are left to the caller.

        Args:
            cut: as of ``message``.
        """

    @property
    def final_events(self) -> list[dict[str, Any]]:
        """The events that ``finalize`` caused, a list of ``dict`` as ``feed`` returns."""

    @property
    def turn_ended(self) -> bool:
        """Whether the end of the turn was seen: a token other than ``<|end|>`` has ended
        the last message, and nothing has begun after it.
        """

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages so far, a list of ``dict`` as ``finalize`` returns; the ``"end"``
        of the message that is still being written is ``"open"``.

        Complexity: O(size of the messages), at every access.
        """

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """What was wrong so far, in order, a list of ``dict``.

        Each has ``"code"`` (a stable name such as ``"missing_end"``), ``"message"``,
        ``"tokens"`` (a half-open range of the tokens fed), ``"at"`` (the token that
        decided) and ``"warning"`` (whether the deviation has no consequences).
        """

class Matcher:
    """Follows one text while a model writes it, and tells which tokens may come next.

        row = numpy.zeros(constraint.mask_words, numpy.int32)
        matcher = constraint.matcher()
        while not matcher.is_terminated():
            matcher.fill_bitmask(row)
            matcher.accept_token(choose(row))

    Made by ``Constraint.matcher``.  One text, one matcher, one thread at a time:
    a call during another call raises ``UsageError``.
    """

    @property
    def constraint(self) -> Constraint:
        """The ``Constraint`` that made the matcher."""

    @property
    def stop_ids(self) -> list[int]:
        """The ids of the stop tokens of the text, ascending, a list."""

    @property
    def mask_words(self) -> int:
        """The number of 32-bit words of one mask: the size of the vocabulary / 32,
        rounded up.
        """

    def fill_bitmask(self, buffer: Any, row: int = 0) -> bool:
        """Writes the mask of the next token into one row of a buffer.

        Token ``t`` is bit ``t % 32`` of word ``t // 32``, lowest bit first; 1 means
        that the token may come next.  Bits beyond the vocabulary are 0.

        Args:
            buffer: 32-bit integers, 1-D (one row) or 2-D (a row for each text), rows
                of ``mask_words`` words or more, C-contiguous, writable and in main
                memory: anything with the buffer protocol, such as a NumPy array, or
                with DLPack's.
            row: the index of the row to write.

        Returns:
            ``False`` if the row constrains nothing, so that it need not be applied:
            the matcher is terminated, or every token may come.

        Raises:
            TypeError: ``buffer`` is no such object.
            UsageError: its items, dimensions or width do not fit, or there is no such
                row.
        """

    def accept_token(self, id: int) -> bool:
        """Appends a token to the text if it fits.

        A stop token fits where the text may end, and terminates the matcher.

        Args:
            id: the token's id, an ``int``.

        Returns:
            Whether the token fits.  If not, the matcher is unchanged.
        """

    def accept_tokens(self, ids: _Ids) -> int:
        """Appends tokens up to the first that does not fit.

        Args:
            ids: token ids: a list, a tuple or a 1-D array of integers.

        Returns:
            The number of tokens appended.  Each is one step of ``rollback``.
        """

    def accept_bytes(self, text: _Text) -> bool:
        """Appends all of a text as one step, or nothing.

        Args:
            text: ``str``, or ``bytes`` or ``bytearray``.  Markers are written as their
                spelling.

        Returns:
            Whether the text fits.  If not, the matcher is unchanged.
        """

    def rollback(self, steps: int = 1) -> bool:
        """Undoes the last ``steps`` steps, a terminating stop token included.

        A step is an accepted token, or the text of one ``accept_bytes``.

        Returns:
            ``False``, with the matcher unchanged, if there are fewer steps.

        Complexity: O(1).
        """

    def reset(self) -> None:
        """Returns to the beginning of the text, with no steps to undo."""

    def copy(self) -> Matcher:
        """Returns an independent matcher in the same state, with the same history."""

    def steps(self) -> int:
        """Returns the number of steps that ``rollback`` can undo."""

    def is_terminated(self) -> bool:
        """Returns whether the text has ended: a stop token was accepted, or, without
        stop tokens, nothing may follow.
        """

    def can_end(self) -> bool:
        """Returns whether the text may end here."""

    @property
    def error(self) -> GrammarError | None:
        """Why it cannot be decided what may follow, or ``None``.

        A ``GrammarError`` with the code ``"too_large"``: a call took more than
        ``limits["work"]`` or ``limits["steps"]`` of the grammar; or ``"unsatisfiable"``:
        no token of the vocabulary begins with a byte that must come, which a call for a
        mask finds.  Then only stop tokens are allowed, wherever the text is, and end it;
        every other token is refused, and without stop tokens the matcher is terminated.
        ``rollback`` to an earlier step, and ``reset``, remove the error, and any
        ``rollback`` that of a token that was tried and not accepted; other matchers are not
        concerned.
        """

    @property
    def temperature(self) -> float | None:
        """The temperature at which to sample the next token, or ``None``.

        The ``temperature`` of the innermost open rule that has one; where the text can
        be read in several ways, the largest of the ways in which something can follow.
        Where no rule sets one, the ``default_temperature`` of the matcher.
        """

    def captures(self) -> list[dict[str, Any]]:
        """Returns the parts of the accepted text that rules with a capture matched.

        They are those of ``Grammar.captures`` for the same text, also after
        ``rollback``.  A token that is read by its id counts as its spelling; a stop
        token does not belong to the text, unless it is a marker that ends it.

        A call reads only what was accepted since the last one; the first one, and the
        first one of a copy, reads the whole text.  Without a call nothing is read.

        Returns:
            A list of ``dict``, as of ``Grammar.captures``; empty if the grammar has no
            captures.

        Raises:
            Error: ``"too_large"``: the text takes too much memory.
        """

    def forced_bytes(self, limit: int = 4096) -> bytes:
        """Returns the text that must come next, whatever the model chooses, as ``bytes``.

        It ends before the first choice, or where the text may end; it never ends
        inside a UTF-8 character.  Markers are spelled.  ``accept_bytes`` accepts it.

        Args:
            limit: the largest number of bytes to return.
        """

    def forced_tokens(self) -> list[int]:
        """Returns the tokens that the text which must come next begins with, a list of
        ``int``.

        ``accept_tokens`` accepts all of them.  Text is written as the vocabulary's
        encoder writes it.  Tokens at the end that a longer token could replace are left
        out.  Without an encoder, and after a token that ends inside a character up to its
        end, the list has only markers and tokens that have no alternative.
        """

    def fill_tree(
        self,
        first_child: Sequence[int],
        next_sibling: Sequence[int],
        tokens: Sequence[int],
        buffer: Any,
        *,
        temperatures: Any = None,
        time_limit: float | None = None,
        clear_ended: bool = False,
    ) -> int:
        """Writes the masks of a tree of draft tokens in one call.

        Node ``i`` is token ``tokens[i]``.  Node 0 is the root; its token has already
        been accepted.  Row ``i`` gets the mask after node ``i``, or no bit if a token
        between the root and the node does not fit.  The matcher is unchanged.

        Args:
            first_child: by node, the index of its first child, or -1: a list, a tuple or
                an array of integers.
            next_sibling: by node, the index of its next sibling, or -1.
            tokens: by node, its token id.
            buffer: as of ``fill_bitmask``, with a row for each node.
            temperatures: an array of float32 in main memory with an item for each node,
                which gets ``temperature`` after it; NaN where that is ``None``, where a
                token does not fit, and where no mask was written.
            time_limit: seconds after which no further mask is begun; that of the root
                always is.  Nodes are visited depth first: a node, what is below its
                first child, and then its next sibling.  The rows of the others stay as
                they are.
            clear_ended: whether the row of a node after the end of the text has no bit,
                and not every bit.

        Returns:
            How many masks were written: one for each node, unless the time ran out.

        Raises:
            TypeError, UsageError: as of ``fill_bitmask``; the lists are not of equal
                length or are not a tree; ``time_limit`` is not positive.
        """

def feed_deltas(
    parsers: Iterable[ResponseParser | TagParser],
    texts: Iterable[str | bytes | bytearray | None],
) -> list[tuple[int, str, str, str, int]]:
    """Feeds a piece of text to each of many parsers.

        for row, kind, field, text, call in feed_deltas(parsers, pieces):
            ...

    The same as ``feed_deltas`` of each parser, for servers whose requests make
    their steps together: one call costs a third less than one for each.  Where
    there are token ids, ``Batch.step`` feeds them.

    Args:
        parsers: ``ResponseParser`` and ``TagParser`` made without a vocabulary.
        texts: for each of them a ``str``, ``bytes`` or ``bytearray``, or
            ``None`` for no text.  Iterators give at most 1,048,576.

    Returns:
        A list of ``(row, kind, field, text, call)``, as ``BatchStep.deltas``;
        ``row`` is the index of the parser.

    Raises:
        UsageError: the lengths differ, or a parser has a vocabulary, is
            finalized, or is in use.  Nothing was fed.
        TypeError: an item is of another class.  Nothing was fed.

    A response that does not fit, without recovery, ends its own row: ``finalize``
    of its parser raises the error.
    """

def fill_bitmasks(
    matchers: Sequence[Matcher],
    buffer: Any,
    *,
    rows: _Ids | None = None,
    threads: int = 0,
) -> None:
    """Writes the next masks of many matchers, on several threads.

    Args:
        matchers: ``Matcher`` objects, each at most once.
        buffer: as of ``Matcher.fill_bitmask``, with a row for each matcher.
        rows: the index of the row of each matcher.  Default: row ``i`` for
            matcher ``i``.  Other rows are left unchanged.
        threads: how many threads to use; 0 means one for each core.

    Raises:
        UsageError: a matcher or row is given twice, a row does not exist, the
            numbers of rows and matchers differ, or a matcher is in use.
        TypeError: ``buffer`` is no such array.
    """

def apply_bitmask(logits: Any, mask: Any, rows: _Ids | None = None) -> None:
    """Sets the logits of the tokens that a mask refuses to minus infinity, in
    place.

    Args:
        logits: a writable array of float32, float16, bfloat16 or float64 in
            main memory, of shape (columns,) or (rows, columns), with any
            strides; or a torch tensor on any device, which stays there.
            Columns are token ids; columns beyond the mask are refused.
        mask: 32-bit integers as ``Matcher.fill_bitmask`` writes them, of shape
            (words,), one mask for all rows, or (rows, words).
        rows: the indices of the rows of ``logits`` and ``mask`` to use; other
            rows are left unchanged.  Default: all.

    Raises:
        TypeError: an argument is no such array.
        UsageError: the types of items or the shapes do not fit, or a row does
            not exist.

    Complexity: O(rows * columns / 32) plus the number of logits written.
    """

def apply_mask_ids(
    logits: Any, ids: Iterable[int], table: Any, masks: Any = None
) -> None:
    """Sets the logits of refused tokens to minus infinity, in place, by the
    numbers of masks.

    Args:
        logits: as in ``apply_bitmask``, of shape (rows, columns).
        ids: for each row of ``logits`` the number of its mask
            (``BatchStep.mask_ids``, ``MaskTable.id_of``): a row of ``table``, -1 for
            no mask, or -2 for the same row of ``masks``.
        table: the rows of a ``MaskTable`` (``MaskTable.copy_rows``), of shape
            (rows, words); a torch tensor on the device of ``logits``, if these
            are one.
        masks: the buffer with the masks that have no number.  Default: none of
            the numbers is -2.

    Raises:
        TypeError: an argument is no such array.
        UsageError: types or shapes do not fit, or a number is out of range.

    Complexity: O(rows * columns), in one pass over the logits of the rows that
    have a mask.
    """

class ResponseParser:
    """Parses one response while a model writes it.

    Events are emitted as early as the text allows: text that may still become
    a delimiter is held back until it cannot.  One stream, one parser, one
    thread.

    Args:
        spec: the format of the response: a response template or format file
            (``dict``), its JSON text, the path of its file, the name of a
            built-in format, or a ``Format``.
        prefix: the prompt, as text or token ids.  Required, because chat
            templates write the beginning of a response; ``""`` for none.
            Delimiters in a prefix of ids are only where their ids are.
        tools: the tools of the chat template, as of ``ToolSet``.  Arguments of
            calls get the types that the schemas of the tools declare.
        vocabulary: a ``Vocabulary``.  The parser then reads token ids, and
            without it, text.
        markers: how ids write a delimiter for which the vocabulary has an
            added or control token: ``"token"``, as this token; ``"either"``,
            also spelled by other tokens; ``"text"``, spelled by any tokens.
        recover: ``True`` keeps damage in its region, ``False`` raises,
            ``None`` does what the format says.
        stream_calls: whether ``feed`` returns the events of calls while they
            are written: ``"call_open"``, ``"call_arguments"``,
            ``"call_close"``.
        attempts: whether ``attempted_calls`` has every call that the model
            attempted, and ``feed`` returns an event ``"call_attempt"`` for each,
            before the event that ends its region.
        response_template: the name of ``spec`` in ``transformers``.

    Raises:
        TemplateError: ``spec`` cannot be used.
        ResponseError: the prefix does not fit, without recovery.
        UsageError: ``prefix`` is missing, or is ids without a vocabulary.
    """

    def __init__(
        self,
        spec: _Spec = NOT_GIVEN,
        prefix: _Text | _Ids | None = None,
        *,
        tools: _Tools | None = None,
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        recover: bool | None = None,
        stream_calls: bool = False,
        attempts: bool = False,
        response_template: _Spec = NOT_GIVEN,
    ) -> None: ...
    def feed(self, text: _Text | _Ids | None) -> list[dict[str, Any]]:
        """Consumes the next piece of the response and returns the events it completes.

        Args:
            text: ``str``, ``bytes`` or ``bytearray`` (which may end inside a UTF-8
                sequence), or, for a parser with a vocabulary, token ids: a list, a
                tuple or a 1-D array of integers, at most 2**26 of them.  ``None``
                and empty text are valid and add nothing.

        Returns:
            The events as a list of ``dict``, oldest first.  How a response is cut
            into pieces changes only how chunk events are cut.  Each event has
            ``"type"``, ``"field"``, ``"start"`` and ``"end"`` (a half-open range of
            bytes of the stream, counted from the first of ``prefix_bytes``), and,
            with a vocabulary, ``"tokens"`` (a half-open range of the tokens fed).
            With ``stream_calls``, the events of calls have ``"call"`` (its number,
            from 0) and ``"name"`` and ``"id"`` (``"call_open"``; ``"id"`` only if
            the model wrote one) or ``"text"`` (``"call_arguments"``: a piece of the
            arguments as JSON text).

        Raises:
            StateError: ``finalize`` was called before.
            ResponseError: the parser does not recover, and the response does not
                fit; ``events`` has the events of this call.
            UsageError: ids for a parser without a vocabulary, or text for a parser
                with one.
            TypeError: the argument is none of the above.

        Complexity: O(bytes of the piece).  Pieces of more than 32 KiB are parsed
        without the GIL; Ctrl-C ends the call between pieces of 8 MiB.
        """

    def feed_deltas(
        self, text: _Text | _Ids | None
    ) -> list[tuple[str, str, str, int]]:
        """Consumes the next piece of the response and returns what text became certain.

        It does what ``feed`` does, and costs less: a piece of a response is a tuple and
        no ``dict``.  Both may be used for one response.

        Args:
            text: as of ``feed``.

        Returns:
            A list of tuples ``(kind, field, text, call)``, oldest first: the events of
            ``feed`` that carry text, or are of calls.  ``kind`` is the ``"type"`` of the
            event: ``"region_chunk"``, ``"region_malformed"`` or ``"text_unclaimed"``, or,
            with ``stream_calls``, ``"call_open"`` (the text is the name),
            ``"call_arguments"`` or ``"call_close"`` (no text).  ``call`` is the number of
            the call, -1 for the other kinds.

        Raises:
            The same errors as ``feed``; ``ResponseError.events`` has such tuples.

        Complexity: as of ``feed``.
        """

    def finalize_deltas(
        self,
    ) -> tuple[dict[str, Any], list[tuple[str, str, str, int]]]:
        """Ends the response; returns ``(message, deltas)``.

        It does what ``finalize`` does, and returns the rest of the text as ``feed_deltas``
        does.

        Raises:
            The same errors as ``finalize``.
        """

    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Ends the response and returns ``(message, events)``.

        Releases the bytes that were held back and closes every open region.
        ``message`` is the final message (a ``dict``), ``events`` are the last events.

        Raises:
            StateError: ``finalize`` was called before.
            ResponseError: the parser does not recover, and the response does not fit,
                or lacks a required field.
        """

    @property
    def initial_events(self) -> list[dict[str, Any]]:
        """The events that the prefix caused, a list of ``dict`` as ``feed`` returns."""

    @property
    def message(self) -> dict[str, Any]:
        """The message that the events so far add up to, a ``dict``; final after
        ``finalize``.

        Every access builds a new ``dict``.  Complexity: O(size of the message).
        """

    @property
    def chat_message(self) -> dict[str, Any]:
        """The message as servers of chat completions send it, a ``dict``.

        Members: ``"role"``; ``"content"``, ``None`` where there is none;
        ``"reasoning"``; ``"tool_calls"`` where there are any, each with ``"id"``,
        ``"index"`` and arguments as JSON text; other fields as they are.  What
        cannot be read as a call is left out.
        """

    @property
    def attempted_calls(self) -> list[dict[str, Any]]:
        """With ``attempts``: every call that the model attempted, in the order written, a
        list of ``dict``.

        Each has ``"status"`` (``"ok"``, ``"invalid_arguments"``, ``"unknown_tool"``,
        ``"no_name"``, ``"malformed"`` or ``"cut_off"``), ``"id"`` and ``"name"`` (``""`` where
        none was read), ``"arguments"`` (JSON text; of the last three a beginning),
        ``"text"`` (as it was written), ``"bytes"`` and ``"tokens"`` (half-open ranges, as of
        events), and ``"why"`` it is not ok.  The first three are the calls of the message.
        """

    @property
    def calls(self) -> list[dict[str, Any]]:
        """With ``stream_calls``: the calls of the regions that have closed, in the
        order in which they were announced, a list of ``dict``.

        Each has ``"id"`` (``None`` if the model wrote none), ``"name"``,
        ``"arguments"`` (JSON text; of a call that is not complete, its beginning) and
        ``"complete"``.
        """

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Every region of the response in the order written, a list of ``dict``.

        Each has ``"field"``, ``"value"`` (``None`` if malformed), ``"malformed"``,
        ``"cut"`` (the response ended before the closing delimiter), ``"start"`` and
        ``"end"`` (bytes of the stream, from the beginning of the opening delimiter to
        the end of the closing delimiter).
        """

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """What did not fit so far, in order, a list of ``dict``.

        Each has ``"code"`` (a stable name), ``"message"``, ``"field"`` (``None``
        where no field is concerned) and ``"span"`` (a half-open range of bytes of the
        stream).
        """

    @property
    def complete(self) -> bool:
        """Whether every region that a delimiter opened was closed.  ``False`` until
        ``finalize`` was called.
        """

    @property
    def turn_ended(self) -> bool:
        """Whether the end of the turn was seen: a text or a token that ends the response,
        or a stop token, and nothing of the response after it.  ``False`` until ``finalize``
        was called, and where the host has removed what ends a response.
        """

    @property
    def tokens(self) -> dict[str, int]:
        """How many of the tokens fed so far are part of what, a ``dict``.

        ``"reasoning"``, ``"content"`` (and all other fields), ``"tool_calls"``, and
        ``"markup"``: delimiters with what they capture, ends of turn, and all others.  They
        add up to the tokens that were fed; all are zero if the parser reads text.  A token that
        is held is markup until it is known what it is part of.
        """

    @property
    def held(self) -> bytes:
        """The bytes at the end of the input that are held back, because they may still
        become a delimiter.
        """

    @property
    def prefix_bytes(self) -> int:
        """The number of bytes of the prefix after its last start anchor, where the
        response begins.  Offsets of events count from the first of these bytes.
        """

class ParseResult(NamedTuple):
    """The result for one response of ``parse_response(..., details=True)``.

    Attributes:
        message: the message, or ``None`` if there is an ``error``.
        complete: whether every region that was opened was closed.
        diagnostics: what did not fit, as ``ResponseParser.diagnostics``.
        error: the exception that ``parse_response`` would have raised, or
            ``None``.
        turn_ended: whether the end of the turn was seen.
        attempted_calls: every call that the model attempted, as
            ``ResponseParser.attempted_calls``.
        prefix_bytes: where the response begins in the places of diagnostics and
            calls, as ``ResponseParser.prefix_bytes``.
    """

    message: dict[str, Any] | None
    complete: bool
    diagnostics: list[dict[str, Any]]
    error: Exception | None
    turn_ended: bool
    attempted_calls: list[dict[str, Any]]
    prefix_bytes: int = 0

class ArrowMessages:
    """A column of messages, which ``parse_arrow`` returns.

    It has the methods of the Arrow PyCapsule interface, so that every Arrow library
    takes it without a copy: ``pyarrow.chunked_array(messages)``,
    ``pyarrow.table(messages)`` with a column for each member of a message.

    Immutable, and safe to share between threads.
    """

    def __len__(self) -> int:
        """The number of responses."""

    def __arrow_c_schema__(self) -> object:
        """The type of the column: a capsule ``"arrow_schema"``."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple:
        """The column as one array: a pair of capsules, ``"arrow_schema"`` and
        ``"arrow_array"``.

        Args:
            requested_schema: not used; the type is always the same.

        Raises:
            UsageError: the responses came in several chunks; take them by
                ``__arrow_c_stream__``.
        """

    def __arrow_c_stream__(
        self, requested_schema: object | None = None
    ) -> object:
        """The column chunk by chunk: a capsule ``"arrow_array_stream"``.  Every call
        begins a new stream.

        Args:
            requested_schema: not used; the type is always the same.
        """

def parse_arrow(
    column: Any,
    format: Any,
    *,
    prefix: Any = None,
    tools: Any = None,
    vocabulary: Vocabulary | None = None,
    markers: Literal["token", "either", "text"] = "token",
    threads: int = 0,
) -> ArrowMessages:
    """Parses a column of stored responses into a column of messages.

        messages = parlance.parse_arrow(table["response"], "qwen3")
        table = table.append_column("message", pyarrow.chunked_array(messages))

    Args:
        column: the responses: any object with ``__arrow_c_stream__`` or
            ``__arrow_c_array__``, such as arrays of pyarrow, series of Polars
            and columns of DuckDB.  Texts, or lists of token ids.
        format: as ``spec`` of ``Format``; or a column of names of built-in
            formats, or of format files as JSON text.
        prefix: what the prompt already wrote of the responses, for all of
            them; or a column of texts.
        tools: as of ``parse_response``, for all responses; or a column of JSON
            texts of lists of tools.
        vocabulary: a ``Vocabulary``.  Required for ids.
        markers: how ids write delimiters, as of ``ResponseParser``.
        threads: how many to use; 0: one for each core.

    Returns:
        ``ArrowMessages``, a column of structs: ``reasoning``, ``content``,
        ``tool_calls`` (``id``, ``name``, ``arguments`` as JSON text,
        ``complete``), ``other`` (fields with other names, as JSON text),
        ``complete``, and ``diagnostics`` (``offset`` and ``end`` in bytes of the
        response, ``code``, ``field``, ``message``).  Responses that are null are
        null.  Columns by row have a row for each response; where they are null,
        nothing is given.

    Raises:
        TypeError: an argument is no such column.
        TemplateError: ``format`` cannot be used.  A format or tools of a row
            that cannot be used are in the ``diagnostics`` of the row.
        UsageError: columns have different lengths, or ids come without a
            vocabulary.

    Complexity: that of ``parse_response``, without the GIL.  Memory: the
    messages, and less than as much again while they are put together.
    """

@overload
def parse_response(
    response: str | bytes | bytearray = NOT_GIVEN,
    spec: _Spec = NOT_GIVEN,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    markers: Literal["token", "either", "text"] = "token",
    recover: bool | None = None,
    details: Literal[False] = False,
    text: _Text = NOT_GIVEN,
    response_template: _Spec = NOT_GIVEN,
    schema: _Spec = NOT_GIVEN,
) -> dict[str, Any]:
    """Parses whole responses: one, or a batch on all cores.

    Args:
        response: ``str``, ``bytes``, ``bytearray``, a flat sequence or 1-D
            array of token ids, or ``None`` (no text); or a batch: a list,
            tuple or iterator of these, a column of texts or of lists of ids
            (NumPy, pandas, Polars, Arrow), or a 2-D array of ids, at most 2**22
            responses.  A list or column that begins with an integer is ids.  A
            missing value of a column is ``None``.
        spec: a response template or format file (``dict``), its JSON text, the
            path of its file, the name of a built-in format, a ``Format``, or a
            response schema.
        prefix: the prompt, as text or ids: one for all responses, or a list
            with one for each.  Required with a template, because chat
            templates write the beginning of a response; ``""`` for none.  Not
            allowed with a response schema.
        tools: the tools of the chat template, as of ``ToolSet``: arguments of
            calls get the types that the schemas of the tools declare.  Not
            allowed with a response schema.
        vocabulary: a ``Vocabulary``.  Required for ids.
        markers: how ids write delimiters, as of ``ResponseParser``.
        recover: ``True`` keeps damage in its region, ``False`` raises,
            ``None`` does what the format says.
        details: return a ``ParseResult`` in the place of each message.
        text, response_template, schema: the names of ``response`` and ``spec``
            in ``transformers``.

    Returns:
        The message, a ``dict``; for a batch a list of messages, in order.

    Raises:
        ResponseError: a response does not fit, without recovery; ``item`` is
            its index in the batch.  With ``details`` such an error is in the
            result of this response, and the others are parsed.
        TemplateError, SchemaError: ``spec`` cannot be used.
        UsageError: ``prefix`` or ``vocabulary`` is missing, or arguments do
            not fit each other.

    Complexity: O(bytes of the responses), without the GIL for a batch or a
    long response.  A ``spec`` is read once and cached by its content.
    """

@overload
def parse_response(
    response: list[str] | list[bytes] | tuple[str, ...] | tuple[bytes, ...] = NOT_GIVEN,
    spec: _Spec = NOT_GIVEN,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    markers: Literal["token", "either", "text"] = "token",
    recover: bool | None = None,
    details: Literal[False] = False,
    text: Any = NOT_GIVEN,
    response_template: _Spec = NOT_GIVEN,
    schema: _Spec = NOT_GIVEN,
) -> list[dict[str, Any]]: ...
@overload
def parse_response(
    response: Any = NOT_GIVEN,
    spec: _Spec = NOT_GIVEN,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    markers: Literal["token", "either", "text"] = "token",
    recover: bool | None = None,
    details: bool = False,
    text: Any = NOT_GIVEN,
    response_template: _Spec = NOT_GIVEN,
    schema: _Spec = NOT_GIVEN,
) -> Any: ...
class View:
    """What became of a response: a page for a browser, and its facts.

    ``view`` makes it.  Notebooks show its page.
    """

    @property
    def facts(self) -> dict[str, Any]:
        """The facts as a ``dict``: which bytes went where, and why, the tokens, the
        message and the diagnostics.  docs/guide/explain.md has the shape.
        """

    @property
    def hints(self) -> list[dict[str, Any]]:
        """What was probably meant, a list with a ``dict`` for each hint.

        ``kind`` is one of ``"opener_in_text"``, ``"call_in_reasoning"``,
        ``"missing_opener"``, ``"json_call"`` and ``"other_format"``; ``message``
        says what was found and what to do; ``start`` and ``end`` are bytes of what
        was read; ``field`` and ``format`` are there if one is concerned.  Empty
        unless a format reads the response.
        """

    @property
    def html(self) -> str:
        """The page, a ``str``: one HTML document, which loads nothing."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file.

        Args:
            path: the path of the file, a ``str`` or ``PathLike``.

        Raises:
            OSError: the file cannot be written.
            UsageError: the path cannot exist.
        """

def view(
    response: _Text | _Ids,
    spec: _Spec | StructuralTag | Grammar | Constraint,
    prefix: _Text | _Ids = "",
    *,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    markers: str = "token",
    recover: bool | None = None,
    chunk: int | None = None,
    constraint: Constraint | Grammar | StructuralTag | None = None,
    title: str | None = None,
) -> View:
    """Shows what became of a response: which bytes went where, and why.

        view(text, "qwen3")                    # a notebook shows a table
        view(text, "qwen3").save("page.html")  # a page for a browser

    Args:
        response: ``str``, ``bytes`` or ``bytearray``, or, with ``vocabulary``,
            token ids.
        spec: what it is read by: as of ``ResponseParser``, or a
            ``StructuralTag``, a ``Grammar``, or, for token ids, a
            ``Constraint``.
        prefix: the prompt, as text or token ids; ``""`` for none.
        tools, vocabulary, markers, recover: as of ``ResponseParser``.  A strict
            reading that fails is shown as such.
        chunk: feed so many bytes (or ids) at a time, and show after each chunk
            what is held back.  ``None``: all at once.
        constraint: with token ids, what the model was constrained by: a
            ``Constraint``, ``Grammar`` or ``StructuralTag``.  The page shows
            how many tokens were allowed at each token, and which were forced.
            Default: ``spec``, if it is one of these.
        title: the title of the page.

    Returns:
        A ``View``.

    Raises:
        TemplateError, GrammarError: ``spec`` or ``constraint`` cannot be used.
        UsageError: ids without a vocabulary, or a constraint without ids.
    """

def formats() -> list[str]:
    """Returns the names of the built-in formats, a sorted list of ``str``."""

class DetectedFormat(tuple):
    """The format that ``detect_format`` finds: the tuple ``(name, why)``.

    Attributes:
        name: the name of a built-in format or variant, or
            ``"response_template"`` or ``"response_schema"``.
        why: the reason.
        family: the name of the built-in format without its variant; ``""`` if
            the configuration has its own.
        certainty: ``"certain"`` (the configuration's own; or no other family
            reads the call that the chat template renders; or, without a
            rendered call, by added tokens that no other family has),
            ``"likely"`` (by markers in the chat template) or ``"guess"``.
        others: the names of the other families that fit, the most likely
            first.
    """

    family: str
    certainty: Literal["certain", "likely", "guess"]
    others: list[str]

    def __new__(
        cls,
        name: str,
        why: str,
        family: str = "",
        certainty: Literal["certain", "likely", "guess"] = "guess",
        others: Iterable[str] = (),
    ) -> DetectedFormat:
        """Makes the tuple ``(name, why)`` with its attributes."""

    @property
    def name(self) -> str:
        """The name of the format: the first item of the tuple."""

    @property
    def why(self) -> str:
        """The reason: the second item of the tuple."""

def detection_sample() -> dict[str, Any]:
    """The conversation that ``detect_format`` wants to see rendered.

    Returns:
        A ``dict`` with ``"messages"`` (a question and a call) and ``"tools"``,
        the variables of a chat template.
    """

def detect_format(
    tokenizer_config: Any, *, rendered: str | None = None
) -> DetectedFormat:
    """Finds the built-in format that a model needs.

    Args:
        tokenizer_config: the content of the model's ``tokenizer_config.json``,
            a ``dict``; or a tokenizer of ``transformers``, whose chat template
            is then run.
        rendered: ``detection_sample()`` as the chat template renders it, a
            ``str``.  A format that fits must read the call in it.

    Returns:
        A ``DetectedFormat``, which is the tuple ``(name, why)``: the name of a
        format and the reason, both ``str``.  The name ``"response_template"``
        or ``"response_schema"`` means that the configuration has its own,
        which is the right one to use.

    Raises:
        TemplateError: no built-in format fits, or none reads the rendered call
            (``"unknown_format"``).  The message says which come near, and what
            is missing.
        TypeError: ``tokenizer_config`` is neither a ``dict`` nor a tokenizer,
            or ``rendered`` is no ``str``.
    """

class FormatReading(NamedTuple):
    """What a built-in format reads in a text: an item of ``rank_formats``.

    Attributes:
        name: the name of the format.
        calls: how many calls are complete and count as evidence.
        call: the name of the first of them; ``""`` if there is none.
        diagnostics: how much did not fit.
        region_bytes: the bytes of the regions that count as evidence, with
            their delimiters.
        span: from the first of these regions to the last, in bytes of UTF-8.
        marked: whether markup opens one of them.
    """

    name: str
    calls: int
    call: str
    diagnostics: int
    region_bytes: int
    span: tuple[int, int]
    marked: bool

def rank_formats(
    text: str | bytes, *, tools: _Tools | None = None
) -> list[FormatReading]:
    """Finds the built-in formats that read something in a text.

    Args:
        text: a response, ``str`` or ``bytes``.
        tools: the tools of the request, as of ``ToolSet``.  A call of one of
            them counts however it is written, and a call of another does not.

    Returns:
        A list of ``FormatReading``, the best first: by more calls, then fewer
        diagnostics, then more bytes in regions.  A region counts if markup
        opens it, and calls can be read in it or, of reasoning, a delimiter
        closes it.  The list is empty for a text without such a region.

    Complexity: O(bytes of the text), of which the first 64 KiB are read.
    """
