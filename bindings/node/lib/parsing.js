// What both modules have: formats, tools, parsers, chat streams, the events of
// other servers.  parsing(runtime) makes the classes of a runtime, which is one
// module.

import { constants } from './abi.js';
import { event_members, EventReader, kEventSize } from './events.js';
import { Handle, held, pointer_of, using } from './instance.js';

// What makes an object of a pointer that is there already, in place of what a
// caller gives to its constructor.
export const kAdopt = Symbol('adopt');

export const adopted = (make) => ({ [kAdopt]: make });

// Whether `parser` gives its events as lists of members, for tests.
export const kMembers = Symbol('members');

// JSON as a text, or what is written as one.
export const source_of = (instance, source) =>
  typeof source === 'string' ? instance.text(source) : instance.json(source);

const is_text = (piece) =>
  typeof piece === 'string' ||
  piece instanceof Uint8Array ||
  piece instanceof ArrayBuffer;

const is_high = (unit) => unit >= 0xd800 && unit <= 0xdbff;
const is_low = (unit) => unit >= 0xdc00 && unit <= 0xdfff;

const encoder = new TextEncoder();

// The first half of a pair says the first two of its four bytes, and a parser reads
// characters that are cut.
const pair_bytes = (high, low) => encoder.encode(String.fromCharCode(high, low));
const high_bytes = (high) => pair_bytes(high, 0xdc00).subarray(0, 2);
const low_bytes = (high, low) => pair_bytes(high, low).subarray(2);

// The pieces of a stream: what is iterable, or a ReadableStream, where that is not.
export async function* pieces_of(source) {
  if (source?.[Symbol.asyncIterator] || source?.[Symbol.iterator]) {
    yield* source;
    return;
  }
  const reader = source.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

// Feeds a piece of a stream: text, ids, or an id.
const fed = (parser, piece) =>
  is_text(piece)
    ? parser.feed(piece)
    : parser.feedTokens(typeof piece === 'number' ? [piece] : piece);

export function parsing(runtime) {
  const here = () => runtime.instance;

  // Formats by name, of one instance.
  let named = new Map();
  let named_in = null;

  function format_of(format) {
    if (typeof format !== 'string') return format;
    if (named_in !== here()) {
      named = new Map();
      named_in = here();
    }
    if (!named.has(format)) named.set(format, new Format(format));
    return named.get(format);
  }

  const tools_of = (instance, tools) =>
    Array.isArray(tools) ? instance.transient(new Tools(tools)) : tools;

  // The struct of a parser's options for a call.
  function parser_options(instance, options) {
    const { prefix, tools, ...more } = options;
    const given = { ...more, tools: tools_of(instance, tools) };
    if (prefix !== undefined) {
      given[is_text(prefix) ? 'prefix' : 'prefix_ids'] = prefix;
    }
    return instance.struct('parser_options', given, 'a parser');
  }

  class Format extends Handle {
    static kind = 'format';

    constructor(name) {
      super(
        here(),
        name?.[kAdopt] ??
          ((instance) =>
            instance.make('parlance_format_built_in', ...instance.text(name))),
      );
    }

    static names() {
      const instance = here();
      const count = instance.call('parlance_formats_count');
      return Array.from({ length: count }, (_, i) =>
        instance.literal(instance.call('parlance_formats_name', i, 0)),
      );
    }

    static fromJSON(json, { variant = '' } = {}) {
      return new Format(
        adopted((instance) =>
          instance.make(
            'parlance_format_from_json',
            ...(typeof json === 'string' ? instance.text(json) : instance.json(json)),
            ...instance.text(variant),
          ),
        ),
      );
    }

    rename(names) {
      const [, pointer] = held(this);
      return new Format(
        adopted((instance) =>
          instance.make('parlance_format_rename', pointer, ...instance.json(names)),
        ),
      );
    }

    describe() {
      return using(this, (i, at) => i.tell('parlance_format_describe', at));
    }

    toJSON() {
      return using(this, (i, at) => i.tell('parlance_format_to_json', at));
    }

    template() {
      return using(this, (i, at) => i.tell('parlance_format_template', at));
    }

    lint() {
      return using(this, (i, at) => i.tell('parlance_format_lint', at));
    }

    parser(options) {
      return new Parser(this, options);
    }

    parse(text, options) {
      return parse(this, text, options);
    }

    // The facts of a response, as `parlance explain --json` writes them.
    explain(text, { name, chunk, packed, ...options } = {}) {
      return using(this, (i, at) =>
        i.tell(
          'parlance_format_explain', at, ...i.text(text),
          parser_options(i, options), ...i.json({ name, chunk, packed }),
        ),
      );
    }

    // Where a call probably is that the format does not read.
    hints(text, options = {}) {
      return using(this, (i, at) =>
        i.tell(
          'parlance_format_hints', at, ...i.text(text), parser_options(i, options),
        ),
      );
    }
  }

  class Tools extends Handle {
    static kind = 'tools';

    constructor(tools) {
      super(here(), (i) => i.make('parlance_tools_from_json', ...i.json(tools)));
    }
  }

  class Parser extends Handle {
    static kind = 'parser';
    #reader;
    #high = 0; // the half of a character that the last piece ended with
    #out;

    constructor(source, options = {}) {
      source = format_of(source);
      const by_tag = source?.constructor?.kind === 'compiled_tag';
      super(here(), (instance) => {
        return instance.make(
          by_tag ? 'parlance_parser_new_by_tag' : 'parlance_parser_new',
          pointer_of(source, instance, 'the format'),
          parser_options(instance, options),
        );
      });
      this.#reader = new EventReader(
        options.vocabulary !== undefined && options.vocabulary !== null,
      );
    }

    #events(instance, status, what, at) {
      if (status !== 0) instance.check(status, what);
      const count = instance.size(at + 4);
      if (count === 0) return [];
      const first = instance.size(at);
      if (this[kMembers]) {
        return Array.from({ length: count }, (_, i) =>
          event_members(instance, first + i * kEventSize),
        );
      }
      return this.#reader.read(instance, first, count, (i) =>
        this.#json(instance, i),
      );
    }

    #json(instance, index) {
      return instance.scope(() =>
        instance.tell('parlance_parser_event_json', held(this)[1], index),
      );
    }

    #call(name, what, given) {
      const [instance, pointer] = held(this);
      const mark = instance.enter();
      try {
        const out = instance.room(8);
        const status = instance.call(
          name, pointer, ...given(instance), kEventSize, out, out + 4,
        );
        return this.#events(instance, status, what, out);
      } finally {
        instance.leave(mark);
      }
    }

    initialEvents() {
      return this.#call('parlance_parser_initial', 'initialEvents', () => []);
    }

    feed(text) {
      if (typeof text === 'string' && text !== '') text = this.#joined(text);
      return this.#call('parlance_parser_feed', 'feed', (i) => i.text(text));
    }

    // A character whose halves come in two pieces is one.
    #joined(text) {
      const high = this.#high;
      const low = text.charCodeAt(0);
      const last = text.charCodeAt(text.length - 1);
      const begin = high !== 0 && is_low(low) ? 1 : 0;
      const end = is_high(last) ? text.length - 1 : text.length;
      this.#high = end < text.length ? last : 0;
      if (begin === 0 && end === text.length) return text;
      const parts = [encoder.encode(text.slice(begin, end))];
      if (begin > 0) parts.unshift(low_bytes(high, low));
      if (end < text.length) parts.push(high_bytes(last));
      const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
      let at = 0;
      for (const part of parts) {
        out.set(part, at);
        at += part.length;
      }
      return out;
    }

    feedTokens(ids) {
      return this.#call('parlance_parser_feed_tokens', 'feedTokens', (i) =>
        i.ids(ids),
      );
    }

    finalize() {
      return this.#call('parlance_parser_finalize', 'finalize', () => []);
    }

    // The events of a response that arrives: strings, bytes, or lists of ids.
    async *stream(source) {
      yield* this.initialEvents();
      for await (const piece of pieces_of(source)) {
        yield* fed(this, piece);
      }
      yield* this.finalize();
    }

    result() {
      return using(this, (i, at) => i.tell('parlance_parser_result', at));
    }

    message() {
      return this.result().message;
    }

    chatMessage() {
      return using(this, (i, at) => i.tell('parlance_parser_chat_message', at));
    }

    held() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.check(i.call('parlance_parser_held', at, out, out + 4), 'held');
        return i.bytes.slice(i.size(out), i.size(out) + i.size(out + 4));
      });
    }

    #state() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.check(i.call('parlance_parser_state', at, out, out + 4), 'state');
        return { prefixBytes: i.size(out), finalized: i.int(out + 4) !== 0 };
      });
    }

    get prefixBytes() {
      return this.#state().prefixBytes;
    }

    get finalized() {
      return this.#state().finalized;
    }
  }

  // Events of a parser in the shape of a chat API.
  class ChatStream extends Handle {
    static kind = 'chat';
    #json;

    constructor(source, request = {}) {
      source = format_of(source);
      const by_tag = source?.constructor?.kind === 'compiled_tag';
      super(here(), (instance) => {
        const of = pointer_of(source, instance, 'the format');
        return instance.make(
          'parlance_chat_new', by_tag ? 0 : of, by_tag ? of : 0,
          ...instance.json(request),
        );
      });
      this.#json = request.output === 'json';
    }

    #say(name, ...given) {
      return using(this, (i, at) => {
        const text = i.say(name, at, ...given.flatMap((f) => f(i)));
        return this.#json ? JSON.parse(text) : text;
      });
    }

    begin() {
      return this.#say('parlance_chat_begin');
    }

    // The events of the parser's last call.
    feed(parser) {
      return this.#say('parlance_chat_feed', (i) => [
        pointer_of(parser, i, 'the parser'),
      ]);
    }

    end(why = 'stop', { parser, ...usage } = {}) {
      const reason = constants[`END_${why.toUpperCase()}`] ?? -1;
      return this.#say(
        'parlance_chat_end',
        () => [reason],
        (i) => [pointer_of(parser, i, 'the parser'), ...i.json(usage)],
      );
    }

    response() {
      return using(this, (i, at) => i.tell('parlance_chat_response', at));
    }

    // All of a response that arrives: `parser` is new and reads by the same format.
    async *stream(parser, source, why = 'stop') {
      yield this.begin();
      parser.initialEvents();
      yield this.feed(parser);
      for await (const piece of pieces_of(source)) {
        fed(parser, piece);
        yield this.feed(parser);
      }
      parser.finalize();
      yield this.feed(parser);
      yield this.end(why, { parser });
    }
  }

  function parse(format, text, options = {}) {
    return here().scope((i) =>
      i.tell(
        'parlance_parse', pointer_of(format_of(format), i, 'the format'),
        ...i.text(text), parser_options(i, options),
      ),
    );
  }

  // The built-in formats of which a text has evidence, the best first.
  function rankFormats(text, { tools } = {}) {
    return here().scope((i) =>
      i.tell(
        'parlance_formats_rank', ...i.text(text),
        pointer_of(tools_of(i, tools), i, 'the tools'),
      ),
    );
  }

  // Where a JSON Pointer leads in a JSON text, or null.
  function locate(text, path) {
    return here().scope((i) =>
      i.tell('parlance_json_locate', ...i.text(text), ...i.text(path)),
    );
  }

  function detect(config, { rendered = '' } = {}) {
    return here().scope((i) =>
      i.tell('parlance_detect', ...source_of(i, config), ...i.text(rendered)),
    );
  }

  function detectionSample() {
    return here().scope((i) => i.tell('parlance_detection_sample'));
  }

  // The text inside the server-sent events of a server that does not parse.
  class SSE extends Handle {
    static kind = 'sse';

    constructor() {
      super(here(), (i) => i.make('parlance_sse_new'));
    }

    feed(bytes) {
      return using(this, (i, at) =>
        i.say('parlance_sse_feed', at, ...i.text(bytes)),
      );
    }

    finalize() {
      return using(this, (i, at) => i.say('parlance_sse_finalize', at));
    }

    // What the last call could not read.
    faults() {
      return using(this, (i, at) => i.tell('parlance_sse_faults', at));
    }

    // The text of a response that arrives, such as the body that fetch() gives.
    async *stream(source) {
      for await (const piece of pieces_of(source)) {
        const text = this.feed(piece);
        if (text !== '') yield text;
      }
      const text = this.finalize();
      if (text !== '') yield text;
    }
  }

  return {
    Format,
    Tools,
    Parser,
    ChatStream,
    SSE,
    parse,
    rankFormats,
    locate,
    detect,
    detectionSample,
    version: () => here().literal(here().call('parlance_version')),
    tools_of,
    format_of,
  };
}
