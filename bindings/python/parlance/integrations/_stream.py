"""One response of a server as deltas.  No server is imported here.

vLLM hands out a response in steps.  A step has token ids and text, which do not
always belong together:

* Text comes later than ids: a character is complete with its last token, and
  text that may become a stop string is held back.
* Some ids never get text: the stop token, and the tokens of a stop string.

Only ids say whether a delimiter is a token or its spelling, and only the text
says what the client may see.  So each token is read when the text has it.  Text
that ends inside a token is read as other tokens that spell it: no tokenizer
encodes it, since it may write another text, such as one with a space before it.

Other servers hand out text alone, which is then read.
"""

from __future__ import annotations

import functools
import weakref

from .. import Format, ResponseParser, detect_format
from .._parlance import DeltaStream, Vocabulary
from .._tools import tools_of_request

REASONING = "reasoning"
CALLS = "tool_calls"


class Model:
    """What all requests to one model share: its format and its vocabulary.

    Args:
        tokenizer: a tokenizer of transformers.
        family: the name of a format; ``None`` for the one that the tokenizer
            is found to use.
        by_text: only text will be read.  With a family, ``tokenizer`` is then
            not used and may be ``None``.

    Raises:
        TemplateError: no format fits.
    """

    def __init__(self, tokenizer, family=None, *, by_text=False):
        if family is None:
            family = _found(tokenizer)
        self.format, self.reasoning_field = _with_reasoning(family)
        self.vocabulary = None
        # Models are cached by their tokenizers, which they do not keep alive: not
        # by the encoder of the vocabulary either.
        self._tokenizer = None if tokenizer is None else weakref.ref(tokenizer)
        if not by_text:
            try:
                self.vocabulary = Vocabulary.from_tokenizer(tokenizer)
                self.vocabulary = self.vocabulary.with_encoder(None)
            except (TypeError, ValueError):  # a tokenizer of another kind
                pass
        self._spellings = {}
        self.words = {}  # the results of word()
        # The special tokens that the format knows, such as the end of a turn.
        self.marks = frozenset()
        if self.vocabulary is not None:
            source = self.format.source
            self.marks = frozenset(
                id
                for id in self.vocabulary.special_ids
                if self.spelling(id).decode("utf-8", "replace") in source
            )

    @property
    def has_reasoning(self):
        return REASONING in self.format.fields

    @property
    def has_calls(self):
        return CALLS in self.format.fields

    def spelling(self, id):
        """The bytes that a token adds to the text, special tokens shown."""
        found = self._spellings.get(id)
        if found is None:
            found = self._spellings[id] = bytes(self.vocabulary.spelling(id))
        return found

    def word(self, id):
        """The text of a token, or ``None`` if its bytes are not whole characters."""
        if id not in self.words:
            try:
                self.words[id] = self.spelling(id).decode()
            except UnicodeDecodeError:
                self.words[id] = None
        return self.words[id]

    def is_special(self, id):
        return self.vocabulary.kind(id) in ("added", "control")

    def text(self, ids):
        """The text of a prompt."""
        if self.vocabulary is not None:
            return self.vocabulary.decode(ids)
        return self._tokenizer().decode(ids, skip_special_tokens=False)

    @functools.cached_property
    def _words_of_bytes(self):
        """The ids of ordinary tokens, by their bytes."""
        vocabulary = self.vocabulary
        found = {}
        for id in range(len(vocabulary)):
            if vocabulary.kind(id) == "ordinary":
                found.setdefault(bytes(vocabulary.bytes(id)), id)
        found.pop(b"", None)
        return found

    def spelled(self, data):
        """Ids of ordinary tokens that spell ``data``, which may begin and end inside
        a character.

        A byte that no token begins with is an id without a token, which is read as
        U+FFFD.
        """
        words = self._words_of_bytes
        longest = max(map(len, words), default=1)
        ids = []
        at = 0
        while at < len(data):
            for end in range(min(len(data), at + longest), at, -1):
                id = words.get(data[at:end])
                if id is not None:
                    break
            else:
                id, end = len(self.vocabulary), at + 1
            ids.append(id)
            at = end
        return ids


def _found(tokenizer):
    found = detect_format(tokenizer)
    if found.name != "response_template":
        return found.name  # "response_schema" is the name of no format
    own = getattr(tokenizer, "response_template", None)
    if own is None:
        own = tokenizer.init_kwargs["response_template"]
    return own


def _with_reasoning(spec):
    """The format, and the field of its template that has the reasoning."""
    format = Format(spec)
    for name in (REASONING, "thinking", "reasoning_content"):
        if name in format.fields:
            if name != REASONING:
                format = Format(spec, names={name: REASONING})
            return format, format.template["fields"].get(name, {})
    return format, {}


class Stream:
    """Reads one response.

    Args:
        model: a ``Model``.
        prompt: the prompt, as token ids or as text; ``None`` if it is unknown.
        tools: the tools of the request, in the shape of chat completions.
        reasoning: whether reasoning is told from content.
        calls: whether calls are.  What is not told apart is content, with its
            delimiters.
        markers: how ids write delimiters, as of ``ResponseParser``.

    ``feed`` returns deltas: ``dict`` with any of ``"reasoning"``, ``"content"``
    and ``"tool_calls"``, as in the chunks of chat completions.
    """

    def __init__(
        self,
        model,
        prompt=None,
        tools=None,
        *,
        reasoning=True,
        calls=True,
        markers="token",
    ):
        self._model = model
        self._words = model.words
        self._markers = markers
        self._prompt = prompt if isinstance(prompt, str) else list(prompt or ())
        self._tools = tools_of_request(tools)
        hidden = [(REASONING, reasoning), (CALLS, calls)]
        self._as_content = [name for name, told in hidden if not told]
        self._deltas = None  # a DeltaStream, when something has come
        self._by_id = None  # unknown until something comes
        self._pending = []  # ids that the text does not have yet
        self._ahead = b""  # text that no id has been read for
        self._agrees = True
        self._finished = False
        self.seen = 0  # ids

    @property
    def reasoning_tokens(self):
        """How many of the tokens read belong to reasoning; 0 for text."""
        return 0 if self._deltas is None else self._deltas.reasoning_tokens()

    @property
    def open_calls(self):
        """The indices of calls that have not ended, in order."""
        return [] if self._deltas is None else self._deltas.open_calls()

    def feed(self, text, ids=(), *, finished=False):
        """Reads a step.

        Args:
            text: the text of the step.
            ids: its token ids.  If no step has ids, the text is read.
            finished: no step follows.
        """
        if (
            len(ids) == 1
            and text
            and self._words.get(ids[0]) == text
            and self._by_id
            and not (finished or self._finished or self._pending or self._ahead)
        ):
            self.seen += 1
            return self._deltas.feed(ids)  # one token and its text: most steps
        if self._finished:
            return []
        self._finished = finished
        self.seen += len(ids)
        if self._by_id is None and (ids or text or finished):
            self._open(bool(ids))
        ready = self._ready(text, ids, finished) if self._by_id else text
        out = self._deltas.feed(ready) if ready else []
        if finished and self._deltas is not None:
            out += self._deltas.finalize()
        return out

    def read_ids(self, ids):
        """Reads a whole response of ids that have no text.

        Returns ``False`` if there is no vocabulary.
        """
        self._finished = True
        self._open(True)
        if self._by_id:
            self._deltas.feed(list(ids))
            self._deltas.finalize()
        return self._by_id

    def _open(self, has_ids):
        model = self._model
        self._by_id = has_ids and model.vocabulary is not None
        vocabulary = model.vocabulary if self._by_id else None
        prompt = self._prompt
        if not self._by_id and not isinstance(prompt, str):
            prompt = model.text(prompt) if prompt else ""
        parser = ResponseParser(
            model.format,
            prompt,
            tools=self._tools,
            vocabulary=vocabulary,
            markers=self._markers,
            recover=True,
            stream_calls=True,
        )
        self._deltas = DeltaStream(
            model.format, parser, vocabulary, self._as_content, REASONING
        )

    # ---- Which tokens the text has.

    def _ready(self, text, ids, finished):
        """The ids to read now.

        Invariant: the text of the response is that of the ids read and
        ``_ahead``.  Steps: take tokens from ``_pending`` while ``_ahead``
        begins with them; at the end, the rest that has text is spelled by other
        tokens, and delimiters of the rest that has none are read.
        """
        if len(ids) == 1 and text and not self._pending and not self._ahead:
            if self._model.word(ids[0]) == text:
                return ids  # feed() finds it from now on
        self._pending += ids
        self._ahead += text.encode("utf-8", "surrogatepass")
        out = []
        at = 0  # in _ahead
        spelling = self._model.spelling
        pending = self._pending
        i = 0
        while i < len(pending) and self._agrees:
            word = spelling(pending[i])
            if self._ahead.startswith(word, at):
                at += len(word)
            elif word.startswith(self._ahead[at:]):
                break  # the text is not here yet
            elif not self._model.is_special(pending[i]):
                # The text is not what the tokens spell, for example because
                # they are not UTF-8: from here on the ids alone are read.
                self._agrees = False
                break
            out.append(pending[i])
            i += 1
        self._ahead = self._ahead[at:]
        if not self._agrees:
            self._ahead = b""
            if not finished:
                out += pending[i:]
                i = len(pending)
        del pending[:i]
        if finished:
            out += self._rest()
        elif self._ahead and not pending:
            out += self._spelled()
        return out

    def _rest(self):
        """The ids to read at the end: what a stop token or string left."""
        rest = self._pending
        if not self._agrees:
            while rest and self._is_foreign(rest[-1]):
                rest.pop()
            return rest
        if self._ahead:
            return self._spelled()  # the text ends within a token
        out = []
        for id in rest:
            if not self._model.is_special(id):
                break  # of a stop string, and what came after it
            if id in self._model.marks:
                out.append(id)
        return out

    def _is_foreign(self, id):
        return self._model.is_special(id) and id not in self._model.marks

    def _spelled(self):
        """Ids of the text that no ids came for."""
        ids = self._model.spelled(self._ahead)
        self._ahead = b""
        return ids


def joined(deltas):
    """Joins deltas: ``(reasoning, content, calls)``.

    ``reasoning`` and ``content`` are ``None`` where there is no such text.
    ``calls`` is a list of ``[index, id, name, arguments]``, in the order of
    their indices; ``id`` and ``name`` are ``None`` for a call that began in an
    earlier delta.
    """
    reasoning = []
    content = []
    calls = {}
    for delta in deltas:
        if delta.get(REASONING):
            reasoning.append(delta[REASONING])
        if delta.get("content"):
            content.append(delta["content"])
        for call in delta.get(CALLS) or ():
            one = calls.setdefault(call["index"], [call["index"], None, None, []])
            one[1] = call.get("id") or one[1]
            function = call.get("function") or {}
            one[2] = function.get("name") or one[2]
            one[3].append(function.get("arguments") or "")
    for one in calls.values():
        one[3] = "".join(one[3])
    return (
        "".join(reasoning) or None,
        "".join(content) or None,
        list(calls.values()),
    )
