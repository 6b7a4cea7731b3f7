#ifndef PARLANCE_BINDINGS_PYTHON_DOCSTRINGS_H_
#define PARLANCE_BINDINGS_PYTHON_DOCSTRINGS_H_

// The docstrings of what the extension module itself defines, as help() shows
// them.  Classes and functions that are written in Python have theirs there;
// update_stub.py copies all of them into the stubs.
//
// One namespace per Python class, one constant per member.

namespace parlance::python::doc {

// What the stream parsers (ResponseParser, TagParser) have in common.
namespace parser {

inline constexpr char kFeed[] =
    R"(Consumes the next piece of the response and returns the events it completes.

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
without the GIL; Ctrl-C ends the call between pieces of 8 MiB.)";

inline constexpr char kFeedDeltas[] =
    R"(Consumes the next piece of the response and returns what text became certain.

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

Complexity: as of ``feed``.)";

inline constexpr char kFinalizeDeltas[] =
    R"(Ends the response; returns ``(message, deltas)``.

It does what ``finalize`` does, and returns the rest of the text as ``feed_deltas``
does.

Raises:
    The same errors as ``finalize``.)";

inline constexpr char kFinalize[] =
    R"(Ends the response and returns ``(message, events)``.

Releases the bytes that were held back and closes every open region.
``message`` is the final message (a ``dict``), ``events`` are the last events.

Raises:
    StateError: ``finalize`` was called before.
    ResponseError: the parser does not recover, and the response does not fit,
        or lacks a required field.)";

inline constexpr char kInitialEvents[] =
    R"(The events that the prefix caused, a list of ``dict`` as ``feed`` returns.)";

inline constexpr char kMessage[] =
    R"(The message that the events so far add up to, a ``dict``; final after
``finalize``.

Every access builds a new ``dict``.  Complexity: O(size of the message).)";

inline constexpr char kChatMessage[] =
    R"(The message as servers of chat completions send it, a ``dict``.

Members: ``"role"``; ``"content"``, ``None`` where there is none;
``"reasoning"``; ``"tool_calls"`` where there are any, each with ``"id"``,
``"index"`` and arguments as JSON text; other fields as they are.  What
cannot be read as a call is left out.)";

inline constexpr char kParts[] =
    R"(Every region of the response in the order written, a list of ``dict``.

Each has ``"field"``, ``"value"`` (``None`` if malformed), ``"malformed"``,
``"cut"`` (the response ended before the closing delimiter), ``"start"`` and
``"end"`` (bytes of the stream, from the beginning of the opening delimiter to
the end of the closing delimiter).)";

inline constexpr char kCalls[] =
    R"(With ``stream_calls``: the calls of the regions that have closed, in the
order in which they were announced, a list of ``dict``.

Each has ``"id"`` (``None`` if the model wrote none), ``"name"``,
``"arguments"`` (JSON text; of a call that is not complete, its beginning) and
``"complete"``.)";

inline constexpr char kDiagnostics[] =
    R"(What did not fit so far, in order, a list of ``dict``.

Each has ``"code"`` (a stable name), ``"message"``, ``"field"`` (``None``
where no field is concerned) and ``"span"`` (a half-open range of bytes of the
stream).)";

inline constexpr char kHeld[] =
    R"(The bytes at the end of the input that are held back, because they may still
become a delimiter.)";

inline constexpr char kAttemptedCalls[] =
    R"(With ``attempts``: every call that the model attempted, in the order written, a
list of ``dict``.

Each has ``"status"`` (``"ok"``, ``"invalid_arguments"``, ``"unknown_tool"``,
``"no_name"``, ``"malformed"`` or ``"cut_off"``), ``"id"`` and ``"name"`` (``""`` where
none was read), ``"arguments"`` (JSON text; of the last three a beginning),
``"text"`` (as it was written), ``"bytes"`` and ``"tokens"`` (half-open ranges, as of
events), and ``"why"`` it is not ok.  The first three are the calls of the message.)";

inline constexpr char kTurnEnded[] =
    R"(Whether the end of the turn was seen: a text or a token that ends the response,
or a stop token, and nothing of the response after it.  ``False`` until ``finalize``
was called, and where the host has removed what ends a response.)";

inline constexpr char kTokens[] =
    R"(How many of the tokens fed so far are part of what, a ``dict``.

``"reasoning"``, ``"content"`` (and all other fields), ``"tool_calls"``, and
``"markup"``: delimiters with what they capture, ends of turn, and all others.  They
add up to the tokens that were fed; all are zero if the parser reads text.  A token that
is held is markup until it is known what it is part of.)";

}  // namespace parser

namespace response_parser {

inline constexpr char kComplete[] =
    R"(Whether every region that a delimiter opened was closed.  ``False`` until
``finalize`` was called.)";

inline constexpr char kPrefixBytes[] =
    R"(The number of bytes of the prefix after its last start anchor, where the
response begins.  Offsets of events count from the first of these bytes.)";

}  // namespace response_parser

namespace tag_parser {

inline constexpr char kComplete[] =
    R"(Whether the tag fits all of the text so far.)";

inline constexpr char kPrefixBytes[] =
    R"(The number of bytes of the prefix.  Offsets of events count from its
beginning.)";

inline constexpr char kTree[] =
    R"(How the response was read, format by format, a ``dict``.

Members: ``"type"``, ``"complete"``, ``"format"`` (the node of the outermost
format), ``"rest"`` (text that does not fit), ``"diagnostics"`` and
``"message"``.  Every node has ``"type"``, ``"path"`` (the JSON pointer of the
format in the tag) and ``"span"`` (a half-open range of bytes).  Before
``finalize`` the tree has what is already certain.

Complexity: O(size of the text), at every access.)";

}  // namespace tag_parser

namespace arrow {

inline constexpr char kClass[] =
    R"(A column of messages, which ``parse_arrow`` returns.

It has the methods of the Arrow PyCapsule interface, so that every Arrow library
takes it without a copy: ``pyarrow.chunked_array(messages)``,
``pyarrow.table(messages)`` with a column for each member of a message.

Immutable, and safe to share between threads.)";

inline constexpr char kLen[] = R"(The number of responses.)";

inline constexpr char kSchema[] =
    R"(The type of the column: a capsule ``"arrow_schema"``.)";

inline constexpr char kArray[] =
    R"(The column as one array: a pair of capsules, ``"arrow_schema"`` and
``"arrow_array"``.

Args:
    requested_schema: not used; the type is always the same.

Raises:
    UsageError: the responses came in several chunks; take them by
        ``__arrow_c_stream__``.)";

inline constexpr char kStream[] =
    R"(The column chunk by chunk: a capsule ``"arrow_array_stream"``.  Every call
begins a new stream.

Args:
    requested_schema: not used; the type is always the same.)";

}  // namespace arrow

namespace harmony {

inline constexpr char kClass[] =
    R"(Reads Harmony, the protocol of gpt-oss, from token ids.

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
    UsageError: there is no such role.)";

inline constexpr char kFeed[] =
    R"(Consumes token ids and returns the events that they complete.

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

Complexity: O(bytes of the tokens).)";

inline constexpr char kFinalize[] =
    R"(Ends the stream and returns the messages, a list of ``dict``.

Each has ``"role"``, ``"name"``, ``"channel"``, ``"recipient"`` and
``"content_type"`` (``None`` if absent), ``"content"``, ``"end"`` (what ended
the message: ``"end"``, ``"call"``, ``"return"``, ``"eos_token"``, ``"eos"`` for
the end of the stream, ``"implicit"`` for the next message), ``"tokens"`` and
``"content_tokens"`` (half-open ranges of the tokens fed).

Raises:
    StateError: ``finalize`` was called before.
    ResponseError: in the strict mode, if the stream ends in a header.)";

inline constexpr char kFinalEvents[] =
    R"(The events that ``finalize`` caused, a list of ``dict`` as ``feed`` returns.)";

inline constexpr char kTurnEnded[] =
    R"(Whether the end of the turn was seen: a token other than ``<|end|>`` has ended
the last message, and nothing has begun after it.)";

inline constexpr char kMessages[] =
    R"(The messages so far, a list of ``dict`` as ``finalize`` returns; the ``"end"``
of the message that is still being written is ``"open"``.

Complexity: O(size of the messages), at every access.)";

inline constexpr char kDiagnostics[] =
    R"(What was wrong so far, in order, a list of ``dict``.

Each has ``"code"`` (a stable name such as ``"missing_end"``), ``"message"``,
``"tokens"`` (a half-open range of the tokens fed), ``"at"`` (the token that
decided) and ``"warning"`` (whether the deviation has no consequences).)";

inline constexpr char kMessage[] =
    R"(One message of the assistant that the messages so far add up to, a ``dict``.

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
    UsageError: ``names`` is the name of another member.)";

inline constexpr char kChatMessage[] =
    R"(The same message as servers of chat completions send it, a ``dict``.

``"content"`` is ``None`` where there is none; calls have ``"id"``, ``"index"``
and arguments as the model wrote them.

Args:
    names, cut: as of ``message``.

Raises:
    UsageError: as ``message``.)";

inline constexpr char kResponseItems[] =
    R"(The same message as the output items of the Responses API, a list of ``dict``.

One item for each message, in order, of the types ``"reasoning"``,
``"message"`` and ``"function_call"``; ids and statuses are left to the caller.

Args:
    cut: as of ``message``.)";

}  // namespace harmony

namespace format {

inline constexpr char kName[] =
    R"(The name of a format file, such as ``"qwen3"``; ``""`` for a bare template.)";

inline constexpr char kAliases[] =
    R"(Other names of the format, a list of ``str``.)";

inline constexpr char kVariants[] =
    R"(The names of the variants that the format's file describes, a list of
``str``.  ``Format(name)`` takes those of built-in formats.)";

inline constexpr char kModels[] =
    R"(The models that a format file lists, a list of ``str``; ``[]`` for a bare
template.)";

inline constexpr char kRecovers[] =
    R"(Whether parsers of this format recover from damage by default: ``True`` for a
format file, ``False`` for a bare template.)";

inline constexpr char kFields[] =
    R"(The names of the message's fields, a list of ``str``, in the order of the
template.)";

inline constexpr char kSource[] =
    R"(The JSON text that the format was read from; of a variant, that of its file
with the variant's changes.)";

inline constexpr char kTemplate[] =
    R"(The response template alone, a ``dict`` that can be put into a tokenizer's
configuration; fields without ``close`` are closed by the texts of ``turn_end``.
Every access builds a new ``dict``.)";

inline constexpr char kLint[] =
    R"(Lists what is legal in this format and probably not meant.

Returns:
    A list of ``dict`` with ``"code"`` (a stable name), ``"message"`` and
    ``"path"`` (the JSON pointer into the template or format file); ``[]`` if
    there is nothing to say.)";

}  // namespace format

namespace response_schema {

inline constexpr char kSource[] =
    R"(The JSON text that the schema was read from.)";

inline constexpr char kLint[] =
    R"(Lists what is legal in this schema and probably not meant, including what
``transformers`` would report only when it parses a response.

Returns:
    A list of ``dict`` with ``"code"`` (a stable name), ``"message"`` and
    ``"path"`` (the JSON pointer into the schema); ``[]`` if there is nothing
    to say.)";

}  // namespace response_schema

namespace tool_set {

inline constexpr char kLen[] = R"(Returns the number of tools.)";

inline constexpr char kContains[] =
    R"(Returns whether a tool of the name ``tool`` (a ``str``) is in the set.)";

}  // namespace tool_set

namespace structural_tag {

inline constexpr char kToJson[] =
    R"(Returns the canonical form of the tag as JSON text.  Tags are equal when their
canonical forms are.)";

inline constexpr char kToDict[] =
    R"(Returns the canonical form of the tag as a new ``dict``.)";

inline constexpr char kReport[] =
    R"(Lists what the tag leaves out of what was asked for, without compiling it.

Returns:
    A list of ``dict`` as of ``Grammar.report``.  Paths of a tag that
    ``Format.structural_tag`` or ``tool_calling`` made lead into the format
    file or into the request (``/tools/0/function/parameters``): texts that
    strings cannot contain, listed values that cannot be written, calls that
    cannot be repeated.  Paths of any other tag lead into the tag: unknown
    keys, triggers that are never found.  ``Grammar.report`` has these entries
    as well, and those that need a compile.)";

inline constexpr char kSource[] =
    R"(The JSON text that the tag was read from.  Paths and spans of errors refer to
it.)";

}  // namespace structural_tag

namespace vocabulary {

inline constexpr char kClass[] =
    R"(The tokens of a model: which bytes each token adds to the text.

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
    TypeError: ``tokens`` is not a list or tuple of ``bytes`` and ``None``.)";

inline constexpr char kInit[] =
    R"(Makes a vocabulary of the bytes of each token.  See the class.)";

inline constexpr char kFromText[] =
    R"(Reads the content of a vocabulary file.

Args:
    text: ``str`` or ``bytes``: a ``tokenizer.json``, Mistral's
        ``tekken.json``, SentencePiece's ``tokenizer.model``, tiktoken ranks, a
        GGUF file or a saved vocabulary.  The contents tell them apart.

Raises:
    Error: the text is none of these, or cannot be used.)";

inline constexpr char kFromTokenizerJson[] =
    R"(Reads the content of a Hugging Face ``tokenizer.json``.

Args:
    text: ``str`` or ``bytes`` (UTF-8).

Raises:
    Error: the text is not a tokenizer's JSON, or its decoder does more than
        map each token to bytes (``"bad_vocabulary"``).)";

inline constexpr char kFromTiktoken[] =
    R"(Reads tiktoken ranks.

Args:
    ranks: ``str`` or ``bytes``: lines of a token in base64, a space and its
        rank, which is its id.
    special: a ``dict`` from spellings to ids: the control tokens, which the
        ranks do not have.

Raises:
    Error: the ranks cannot be used (``"bad_vocabulary"``).)";

inline constexpr char kToBytes[] =
    R"(Returns the tokens and all properties except the encoder, for ``from_bytes``.

The bytes are for the version of the library that wrote them.  ``pickle`` uses
them.)";

inline constexpr char kFromBytes[] =
    R"(Reads what ``to_bytes`` returned.

Args:
    data: ``bytes``, or the content of a file that ``save`` wrote.

Raises:
    Error: the bytes are those of another version of the library
        (``"unsupported_version"``), are damaged, or are no saved vocabulary
        (``"bad_vocabulary"``).)";

inline constexpr char kSave[] =
    R"(Writes a file for ``load``: the tokens and the tables of masks.

The file is for the version of the library that wrote it.  A file that exists is
replaced; processes that have loaded it are not affected.

Args:
    path: the path of the file.

Returns:
    The size of the file in bytes.

Raises:
    Error: the file cannot be written (``"io"``).)";

inline constexpr char kLoad[] =
    R"(Maps a file that ``save`` wrote, in about half a millisecond.

A ``Compiler`` of the vocabulary takes its tables from the file instead of
building them, if they are not damaged.  Processes that load a file share its
memory.

Args:
    path: the path of the file.

Raises:
    OSError: there is nothing at ``path``.
    Error: the file cannot be read (``"io"``), is that of another version of the
        library (``"unsupported_version"``), is damaged, or is no saved
        vocabulary (``"bad_vocabulary"``).)";

inline constexpr char kFromFile[] =
    R"(Reads a vocabulary from disk.

Args:
    path: a model's folder (see ``from_pretrained``), or a file: GGUF (of which
        only the header is read), ``tokenizer.json``, ``tekken.json``,
        SentencePiece's ``tokenizer.model``, tiktoken ranks, or a saved
        vocabulary (see ``load``).

Raises:
    OSError: there is nothing at ``path``.
    Error: the file cannot be read (``"io"``) or used.)";

inline constexpr char kFromPretrained[] =
    R"(Reads the vocabulary of a model's folder.

Args:
    folder: the path of a folder with ``tokenizer.json``, or else
        ``tekken.json`` or ``tokenizer.model``.  Stop ids and the number of ids
        come from ``tokenizer_config.json``, ``generation_config.json`` and
        ``config.json`` where these exist.

Raises:
    OSError: there is nothing at ``folder``.
    Error: a file cannot be read (``"io"``) or used; the message names it.)";

inline constexpr char kFromModelFiles[] =
    R"(As ``from_pretrained``, with the contents of the files.

Args:
    tokenizer_json: the content of ``tokenizer.json``, ``tekken.json`` or
        ``tokenizer.model``, ``str`` or ``bytes``.
    tokenizer_config: that of ``tokenizer_config.json``; ``""`` for none.
    generation_config: that of ``generation_config.json``; ``""`` for none.
    config: that of ``config.json``; ``""`` for none.

Raises:
    Error: a file cannot be used; the message names it.)";

inline constexpr char kFromTokens[] =
    R"(Makes a vocabulary of a tokenizer's list of tokens.

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
    Error: the tokens cannot be used (``"bad_vocabulary"``, ``"too_large"``).)";

inline constexpr char kFromTokenizer[] =
    R"(Makes a vocabulary of a tokenizer object.

Args:
    tokenizer: a tokenizer of ``transformers``, a ``tokenizers.Tokenizer``, a
        ``tiktoken.Encoding``, a ``sentencepiece.SentencePieceProcessor`` or a
        tokenizer of ``mistral_common``, whose file is read again.  Its
        ``encode`` becomes the vocabulary's.
    stop_ids: ids of the tokens that end a response.  Default: those that the
        tokenizer, and the ``generation_config.json`` in its folder, name.

Raises:
    TypeError: the object is none of these.
    UsageError: a slow tokenizer does not tell how its tokens spell bytes.)";

inline constexpr char kWithStopIds[] =
    R"(Returns a copy with other stop ids.  The tokens are shared.

Args:
    ids: ids of the tokens that end a response; ``[]`` for none.

Raises:
    Error: an id has no token (``"bad_vocabulary"``).)";

inline constexpr char kWithEncoder[] =
    R"(Returns a copy with another encoder.  The tokens are shared.

Args:
    encoder: a function from a ``str`` to its token ids, with the spellings of
        special tokens read as text; ``None`` for no encoder.
        ``Matcher.forced_tokens`` calls it for text that is certain to come.
        Ids that do not spell the text are ignored.  What it raises is raised
        by the function that called it.)";

inline constexpr char kWithSpaceAfterMarks[] =
    R"(Returns a copy with another value of ``space_after_marks`` (a ``bool``).  The
tokens are shared.)";

inline constexpr char kEncode[] =
    R"(Returns the token ids of a text, as the encoder writes them.

Args:
    text: ``str``, or UTF-8 ``bytes``.

Raises:
    UsageError: the vocabulary has no encoder.)";

inline constexpr char kLen[] =
    R"(Returns the number of ids: one more than the highest id.)";

inline constexpr char kBytes[] =
    R"(Returns the ``bytes`` that the tokenizer's decoder writes for the token alone;
``b""`` for an id without a token.)";

inline constexpr char kSpelling[] =
    R"(Returns how an added or control token is written in a prompt, as UTF-8
``bytes``.  For any other token these are its bytes.)";

inline constexpr char kKind[] =
    R"(Returns the kind of a token: ``"ordinary"``; ``"added"``, which plain text
shows; ``"control"``, which plain text leaves out; ``"unused"`` for an id
without a token.)";

inline constexpr char kSpecial[] =
    R"(Returns the id of the added or control token that is spelled ``text`` (``str``
or UTF-8 ``bytes``), or ``None``.  Of several it is the lowest id.)";

inline constexpr char kDecode[] =
    R"(Returns the text of token ids, special tokens included.

Bytes that are not UTF-8, and ids without a token, become U+FFFD.  ``ids`` is any
sequence or 1-D array of integers.)";

inline constexpr char kSpecialIds[] =
    R"(The ids of all added and control tokens, ascending, a list of ``int``.)";

inline constexpr char kStopIds[] =
    R"(The ids of the tokens that end a response, a list of ``int``; ``[]`` if there
are none or they are unknown (see ``has_stop_ids``).)";

inline constexpr char kHasStopIds[] =
    R"(Whether the source says which tokens end a response.  It may say that none
does.)";

inline constexpr char kStripLeadingSpace[] =
    R"(Whether the tokenizer's own decoder removes one space at the beginning of a
text.  It is never removed here: a response continues a prompt.)";

inline constexpr char kSpaceAfterMarks[] =
    R"(Whether one space after an added or control token belongs to the token: the
tokenizer puts a space before each text that follows such a token.)";

inline constexpr char kHasEncoder[] =
    R"(Whether the vocabulary has an encoder, which ``encode`` needs.)";

}  // namespace vocabulary

namespace grammar {

inline constexpr char kAccepts[] =
    R"(Returns whether the whole text is in the language.

Args:
    text: ``str``, or UTF-8 ``bytes`` or ``bytearray``.

Complexity: O(bytes of the text) for JSON Schemas and almost all grammars; at
most cubic.  Ctrl-C ends the call.

Raises:
    GrammarError: with the code ``too_large`` if a byte takes more steps than
        the limit ``work``, or ``steps``: it was not decided.)";

inline constexpr char kExplain[] =
    R"(Tells where and why a text is not in the language.

Args:
    text: as of ``accepts``.

Returns:
    ``None`` if the text is accepted.  Otherwise a ``dict`` with ``"offset"``
    (the number of bytes that could be read) and ``"expected"`` (what may come
    there, in words).)";

inline constexpr char kReport[] =
    R"(Lists where the language differs from what the source says.

Returns:
    A list of ``dict`` with ``"kind"`` (``"narrowed"``: some valid texts are
    not in the language; ``"ignored"``: a keyword has no effect),
    ``"keyword"``, ``"path"`` (the JSON pointer of the schema with the
    keyword) and ``"message"``.  ``[]`` if the grammar is exact.

The first call may take as long as a compile.)";

inline constexpr char kCaptures[] =
    R"(Finds the parts of a text that rules with a capture matched.

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

Complexity: O(bytes of the text) for most grammars, in time and memory.)";

inline constexpr char kToBytes[] =
    R"(Returns what the grammar was made from, for ``from_bytes``.

``pickle`` uses it.  Automata are not part of it.)";

inline constexpr char kToEbnf[] =
    R"(Returns an EBNF text of the same language, which ``from_ebnf`` reads.  Schemas
stand in it as ``JsonSchema("...")``; limits are not part of it.)";

}  // namespace grammar

namespace compiler {

inline constexpr char kCompile[] =
    R"(Returns the ``Constraint`` of a grammar for this vocabulary.

Args:
    grammar: a ``Grammar``.
    markers: as of ``Grammar.compile``.

Raises:
    Error: the stop ids are unknown (``"missing_stop_ids"``), or the name of a
        tool cannot be written (``"conflict"``).

What masks need is built when masks are asked for.)";

inline constexpr char kMaskWords[] =
    R"(The number of 32-bit words of one mask: the size of the vocabulary / 32,
rounded up.)";

inline constexpr char kCacheStatistics[] =
    R"(Returns the state of the cache of masks, a ``dict`` of ``int``.

``"bytes"`` and ``"entries"`` (masks) are held now; ``"hits"``, ``"misses"``
and ``"evictions"`` are counts of masks since the compiler was made;
``"tables_bytes"`` is the size of the vocabulary's tables.)";

inline constexpr char kGrammarStatistics[] =
    R"(Returns the state of the cache of grammars, a ``dict`` of ``int``.

``"bytes"``, ``"grammars"`` and ``"parts"`` (schemas inside grammars) are held
now; ``"grammar_hits"``, ``"grammar_misses"``, ``"part_hits"``,
``"part_misses"`` and ``"evictions"`` are counts since the compiler was made.)";

inline constexpr char kClearCache[] =
    R"(Drops every cached mask and grammar.  Constraints and matchers keep working.)";

}  // namespace compiler

namespace constraint {

inline constexpr char kClass[] =
    R"(A grammar compiled for a vocabulary.  Immutable; may be shared between threads.

Made by ``Grammar.compile`` and by the functions of ``Compiler``.)";

inline constexpr char kToBytes[] =
    R"(Returns what the constraint was compiled from, for
``Compiler.constraint_from_bytes``.

``pickle`` uses it, and adds the compiler with its vocabulary, once for all
constraints of a compiler that are pickled together.  Automata and masks are not
part of it.)";

inline constexpr char kMatcher[] =
    R"(Returns a new ``Matcher`` at the beginning of a text.

Args:
    stop_ids: the tokens that end this text.  Default: those of the compiler.
        With an empty list the matcher is terminated where nothing may follow.
    default_temperature: ``Matcher.temperature`` where no rule sets one.

Raises:
    UsageError: an id is not in the vocabulary, or ``default_temperature`` is
        negative or not finite.)";

inline constexpr char kMemoryBytes[] =
    R"(The memory of the automata built so far, in bytes, without the tables that
constraints share.)";

inline constexpr char kGrammar[] =
    R"(The ``Grammar`` that the constraint was compiled from, compiled again at each
access.)";

inline constexpr char kVocabulary[] =
    R"(The ``Vocabulary`` that the constraint was compiled for.)";

}  // namespace constraint

namespace matcher {

inline constexpr char kClass[] =
    R"(Follows one text while a model writes it, and tells which tokens may come next.

    row = numpy.zeros(constraint.mask_words, numpy.int32)
    matcher = constraint.matcher()
    while not matcher.is_terminated():
        matcher.fill_bitmask(row)
        matcher.accept_token(choose(row))

Made by ``Constraint.matcher``.  One text, one matcher, one thread at a time:
a call during another call raises ``UsageError``.)";

inline constexpr char kConstraint[] =
    R"(The ``Constraint`` that made the matcher.)";

inline constexpr char kStopIds[] =
    R"(The ids of the stop tokens of the text, ascending, a list.)";

inline constexpr char kFillBitmask[] =
    R"(Writes the mask of the next token into one row of a buffer.

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
        row.)";

inline constexpr char kAcceptToken[] =
    R"(Appends a token to the text if it fits.

A stop token fits where the text may end, and terminates the matcher.

Args:
    id: the token's id, an ``int``.

Returns:
    Whether the token fits.  If not, the matcher is unchanged.)";

inline constexpr char kAcceptTokens[] =
    R"(Appends tokens up to the first that does not fit.

Args:
    ids: token ids: a list, a tuple or a 1-D array of integers.

Returns:
    The number of tokens appended.  Each is one step of ``rollback``.)";

inline constexpr char kAcceptBytes[] =
    R"(Appends all of a text as one step, or nothing.

Args:
    text: ``str``, or ``bytes`` or ``bytearray``.  Markers are written as their
        spelling.

Returns:
    Whether the text fits.  If not, the matcher is unchanged.)";

inline constexpr char kRollback[] =
    R"(Undoes the last ``steps`` steps, a terminating stop token included.

A step is an accepted token, or the text of one ``accept_bytes``.

Returns:
    ``False``, with the matcher unchanged, if there are fewer steps.

Complexity: O(1).)";

inline constexpr char kReset[] =
    R"(Returns to the beginning of the text, with no steps to undo.)";

inline constexpr char kCopy[] =
    R"(Returns an independent matcher in the same state, with the same history.)";

inline constexpr char kSteps[] =
    R"(Returns the number of steps that ``rollback`` can undo.)";

inline constexpr char kIsTerminated[] =
    R"(Returns whether the text has ended: a stop token was accepted, or, without
stop tokens, nothing may follow.)";

inline constexpr char kCanEnd[] = R"(Returns whether the text may end here.)";

inline constexpr char kError[] =
    R"(Why it cannot be decided what may follow, or ``None``.

A ``GrammarError`` with the code ``"too_large"``: a call took more than
``limits["work"]`` or ``limits["steps"]`` of the grammar; or ``"unsatisfiable"``:
no token of the vocabulary begins with a byte that must come, which a call for a
mask finds.  Then only stop tokens are allowed, wherever the text is, and end it;
every other token is refused, and without stop tokens the matcher is terminated.
``rollback`` to an earlier step, and ``reset``, remove the error, and any
``rollback`` that of a token that was tried and not accepted; other matchers are not
concerned.)";

inline constexpr char kTemperature[] =
    R"(The temperature at which to sample the next token, or ``None``.

The ``temperature`` of the innermost open rule that has one; where the text can
be read in several ways, the largest of the ways in which something can follow.
Where no rule sets one, the ``default_temperature`` of the matcher.)";

inline constexpr char kCaptures[] =
    R"(Returns the parts of the accepted text that rules with a capture matched.

They are those of ``Grammar.captures`` for the same text, also after
``rollback``.  A token that is read by its id counts as its spelling; a stop
token does not belong to the text, unless it is a marker that ends it.

A call reads only what was accepted since the last one; the first one, and the
first one of a copy, reads the whole text.  Without a call nothing is read.

Returns:
    A list of ``dict``, as of ``Grammar.captures``; empty if the grammar has no
    captures.

Raises:
    Error: ``"too_large"``: the text takes too much memory.)";

inline constexpr char kForcedBytes[] =
    R"(Returns the text that must come next, whatever the model chooses, as ``bytes``.

It ends before the first choice, or where the text may end; it never ends
inside a UTF-8 character.  Markers are spelled.  ``accept_bytes`` accepts it.

Args:
    limit: the largest number of bytes to return.)";

inline constexpr char kForcedTokens[] =
    R"(Returns the tokens that the text which must come next begins with, a list of
``int``.

``accept_tokens`` accepts all of them.  Text is written as the vocabulary's
encoder writes it.  Tokens at the end that a longer token could replace are left
out.  Without an encoder, and after a token that ends inside a character up to its
end, the list has only markers and tokens that have no alternative.)";

inline constexpr char kFillTree[] =
    R"(Writes the masks of a tree of draft tokens in one call.

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
        length or are not a tree; ``time_limit`` is not positive.)";

}  // namespace matcher

namespace jmespath {

inline constexpr char kSearch[] =
    R"(Returns what the expression finds in a value; ``None`` where it finds nothing.

Args:
    value: made of ``dict``, ``list``, ``tuple``, ``str``, ``int``, ``float``,
        ``bool`` and ``None``.  The result consists of parts of it, not copies.

Raises:
    JmespathError: a function got an argument of the wrong type, or the value
        is nested more than 990 levels deep.
    TypeError: a part of the value is of another type.)";

inline constexpr char kExpression[] = R"(The text of the expression.)";

}  // namespace jmespath

namespace view {

inline constexpr char kClass[] =
    R"(What became of a response: a page for a browser, and its facts.

``view`` makes it.  Notebooks show its page.)";

inline constexpr char kFacts[] =
    R"(The facts as a ``dict``: which bytes went where, and why, the tokens, the
message and the diagnostics.  docs/guide/explain.md has the shape.)";

inline constexpr char kHints[] =
    R"(What was probably meant, a list with a ``dict`` for each hint.

``kind`` is one of ``"opener_in_text"``, ``"call_in_reasoning"``,
``"missing_opener"``, ``"json_call"`` and ``"other_format"``; ``message``
says what was found and what to do; ``start`` and ``end`` are bytes of what
was read; ``field`` and ``format`` are there if one is concerned.  Empty
unless a format reads the response.)";

inline constexpr char kHtml[] =
    R"(The page, a ``str``: one HTML document, which loads nothing.)";

inline constexpr char kSave[] =
    R"(Writes the page to a file.

Args:
    path: the path of the file, a ``str`` or ``PathLike``.

Raises:
    OSError: the file cannot be written.
    UsageError: the path cannot exist.)";

}  // namespace view

}  // namespace parlance::python::doc

#endif  // PARLANCE_BINDINGS_PYTHON_DOCSTRINGS_H_
