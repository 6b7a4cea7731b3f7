// What only the whole module has: vocabularies, structural tags, grammars,
// constraints and their matchers, masks by number, a server's step, explanations.

import { constants, structs } from './abi.js';
import { ParlanceError } from './error.js';
import { EventReader, kEventSize } from './events.js';
import {
  Handle, held, octets, pointer_of, using, whole_number,
} from './instance.js';
import { adopted, kAdopt, source_of } from './parsing.js';

// Notations of grammars by the names of their constants.
const kLanguages = Object.fromEntries(
  ['JSON_SCHEMA', 'EBNF', 'GBNF', 'LARK', 'REGEX', 'STRUCTURAL_TAG'].map(
    (name) => [name.toLowerCase(), constants[name]],
  ),
);

// "ordinary", ... by kind.
const kTokenKinds = [];
for (const [name, value] of Object.entries(constants)) {
  if (name.startsWith('TOKEN_')) kTokenKinds[value] = name.slice(6).toLowerCase();
}

function language_of(name) {
  if (name in kLanguages) return kLanguages[name];
  throw new ParlanceError(
    'unknown_name',
    `there is no language "${name}"; there are ${Object.keys(kLanguages).join(', ')}`,
  );
}

// How many nodes a draft tree has.
function nodes_of(first_child, next_sibling, tokens) {
  const count = tokens.length;
  if (first_child?.length === count && next_sibling?.length === count) return count;
  throw new ParlanceError('bad_size', 'the lists of a draft tree differ in length');
}

const kStep = Object.fromEntries(
  structs.step.members.map(([name, , place]) => [name, place]),
);

export function constraining(runtime, { Format, Parser, format_of, tools_of }) {
  const here = () => runtime.instance;

  const binary = (data) => (instance) => instance.text(octets(data));

  class Vocabulary extends Handle {
    static kind = 'vocabulary';

    constructor(tokens) {
      super(
        here(),
        tokens?.[kAdopt] ?? ((instance) => {
          const { tokens: texts, ...more } = Array.isArray(tokens) ? { tokens } : tokens;
          const ends = new BigUint64Array(texts.length);
          const encoder = new TextEncoder();
          const pieces = texts.map((text) =>
            typeof text === 'string' ? encoder.encode(text) : octets(text),
          );
          const all = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
          let end = 0;
          pieces.forEach((piece, i) => {
            all.set(piece, end);
            ends[i] = BigInt((end += piece.length));
          });
          const struct = instance.struct('tokens', more, 'a vocabulary');
          const put = (name, value) => {
            const [, , place] = structs.tokens.members.find(([n]) => n === name);
            instance.view.setUint32(struct + place, value, true);
          };
          put('bytes', instance.text(all)[0]);
          put('ends', instance.longs(ends));
          put('count', texts.length);
          return instance.make('parlance_vocabulary_from_tokens', struct);
        }),
      );
    }

    // A file in any of the forms that the library knows, or toBytes().
    static fromBytes(data) {
      return new Vocabulary(
        adopted((i) =>
          i.make('parlance_vocabulary_from_memory', ...binary(data)(i)),
        ),
      );
    }

    // The files of a model's folder, each as text or bytes.
    static fromFiles(files) {
      const names = ['tokenizer_json', 'tokenizer_config', 'generation_config', 'config'];
      for (const name of Object.keys(files)) {
        if (!names.includes(name)) {
          throw new ParlanceError(
            'unknown_key',
            `there is no file "${name}"; there are ${names.join(', ')}`,
            { path: `/${name}` },
          );
        }
      }
      return new Vocabulary(
        adopted((i) =>
          i.make(
            'parlance_vocabulary_from_files',
            ...names.flatMap((name) => i.text(files[name] ?? '')),
          ),
        ),
      );
    }

    toBytes() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.run('parlance_vocabulary_to_bytes', at, out);
        return i.takeBytes(out);
      });
    }

    withStopIds(ids) {
      const [, at] = held(this);
      return new Vocabulary(
        adopted((i) => i.make('parlance_vocabulary_with_stop_ids', at, ...i.ids(ids))),
      );
    }

    // `encode`: from a text to its token ids.
    withEncoder(encode) {
      const [, at] = held(this);
      return new Vocabulary(
        adopted((i) =>
          i.make('parlance_vocabulary_with_encoder', at, ...i.encoder(encode)),
        ),
      );
    }

    get size() {
      const [instance, at] = held(this);
      return instance.call('parlance_vocabulary_size', at);
    }

    // {"bytes", "kind"}: "ordinary", "added", "control", "unused".
    token(id) {
      return using(this, (i, at) => {
        const out = i.zeros(16);
        const status = i.call(
          'parlance_vocabulary_token', at, id, out, out + 4, out + 8,
        );
        i.check(status, 'token');
        const begin = i.size(out);
        return {
          bytes: i.bytes.slice(begin, begin + i.size(out + 4)),
          kind: kTokenKinds[i.int(out + 8)],
        };
      });
    }

    // The id of an added or control token, or null.
    special(spelling) {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        const status = i.call(
          'parlance_vocabulary_special', at, ...i.text(spelling), out,
        );
        i.check(status, 'special');
        const id = Number(i.view.getBigInt64(out, true));
        return id < 0 ? null : id;
      });
    }

    // null if it is not known what ends a response.
    get stopIds() {
      return using(this, (i, at) => {
        const out = i.zeros(16);
        const status = i.call(
          'parlance_vocabulary_stop_ids', at, out, out + 4, out + 8,
        );
        i.check(status, 'stopIds');
        if (i.int(out + 8) === 0) return null;
        const ids = new Uint32Array(i.memory.buffer, i.size(out), i.size(out + 4));
        return Array.from(ids);
      });
    }

    decode(ids) {
      return using(this, (i, at) =>
        i.say('parlance_vocabulary_decode', at, ...i.ids(ids)),
      );
    }
  }

  class StructuralTag extends Handle {
    static kind = 'tag';

    constructor(tag) {
      super(
        here(),
        tag?.[kAdopt] ??
          ((i) => i.make('parlance_tag_from_json', ...source_of(i, tag))),
      );
    }

    toJSON() {
      return using(this, (i, at) => i.tell('parlance_tag_to_json', at));
    }

    report() {
      return using(this, (i, at) => i.tell('parlance_tag_report', at));
    }

    // For parsers.
    compile({ vocabulary, compiler, ...request } = {}) {
      return new CompiledTag(this, vocabulary, compiler, request);
    }
  }

  class CompiledTag extends Handle {
    static kind = 'compiled_tag';

    constructor(tag, vocabulary, compiler, request) {
      super(here(), (i) =>
        i.make(
          'parlance_tag_compile',
          pointer_of(tag, i, 'the tag'),
          pointer_of(vocabulary, i, 'the vocabulary'),
          pointer_of(compiler, i, 'the compiler'),
          ...i.json(request),
        ),
      );
    }

    parser(options) {
      return new Parser(this, options);
    }
  }

  class Grammar extends Handle {
    static kind = 'grammar';

    // A JSON Schema (also as an object), or `language`: "ebnf", "gbnf", "lark",
    // "regex", "structural_tag".
    constructor(source, { language = 'json_schema', vocabulary, ...request } = {}) {
      super(
        here(),
        source?.[kAdopt] ??
          ((i) =>
            source instanceof StructuralTag
              ? i.make(
                  'parlance_grammar_from_tag',
                  pointer_of(source, i, 'the tag'),
                  pointer_of(vocabulary, i, 'the vocabulary'),
                  ...i.json(request),
                )
              : i.make(
                  'parlance_grammar_compile',
                  language_of(language),
                  ...source_of(i, source),
                  pointer_of(vocabulary, i, 'the vocabulary'),
                  ...i.json(request),
                )),
      );
    }

    static #combine(in_sequence, parts) {
      return new Grammar(
        adopted((i) => {
          const list = i.ids(
            parts.map((part) => pointer_of(part, i, 'a grammar')),
          );
          return i.make('parlance_grammar_combine', in_sequence, ...list);
        }),
      );
    }

    static union(...parts) {
      return Grammar.#combine(0, parts);
    }

    static concat(...parts) {
      return Grammar.#combine(1, parts);
    }

    static fromBytes(data) {
      return new Grammar(
        adopted((i) => i.make('parlance_grammar_from_bytes', ...binary(data)(i))),
      );
    }

    toBytes() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.run('parlance_grammar_to_bytes', at, out);
        return i.takeBytes(out);
      });
    }

    // null if the text is in the language, else {"offset", "expected"}.
    explain(text) {
      return using(this, (i, at) => {
        const out = i.zeros(24);
        i.run(
          'parlance_grammar_accepts', at, ...i.text(text), out, out + 8, out + 16,
        );
        const expected = i.take(out + 16);
        return i.int(out) !== 0 ? null : { offset: i.long(out + 8), expected };
      });
    }

    accepts(text) {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.run('parlance_grammar_accepts', at, ...i.text(text), out, 0, 0);
        return i.int(out) !== 0;
      });
    }

    report() {
      return using(this, (i, at) => i.tell('parlance_grammar_report', at));
    }

    captures(text) {
      return using(this, (i, at) =>
        i.tell('parlance_grammar_captures', at, ...i.text(text)),
      );
    }

    toEbnf() {
      return using(this, (i, at) => i.say('parlance_grammar_to_ebnf', at));
    }

    // Masks for a vocabulary, without a compiler that is kept.
    compile(vocabulary, request) {
      const compiler = new Compiler(vocabulary);
      try {
        return compiler.compile(this, request);
      } finally {
        compiler.free();
      }
    }
  }

  class Compiler extends Handle {
    static kind = 'compiler';

    constructor(vocabulary, request) {
      super(here(), (i) =>
        i.make(
          'parlance_compiler_new', pointer_of(vocabulary, i, 'the vocabulary'),
          ...i.json(request),
        ),
      );
    }

    get maskWords() {
      const [instance, at] = held(this);
      return instance.call('parlance_compiler_mask_words', at);
    }

    statistics() {
      return using(this, (i, at) => i.tell('parlance_compiler_statistics', at));
    }

    clearCache() {
      using(this, (i, at) =>
        i.check(i.call('parlance_compiler_clear_cache', at), 'clearCache'),
      );
    }

    // A grammar, a structural tag, or a source as `Grammar` takes it.
    compile(source, { language = 'json_schema', ...request } = {}) {
      return new Constraint(this, (i, at) => {
        if (source instanceof Grammar || source instanceof StructuralTag) {
          const kind = source instanceof Grammar ? 'grammar' : 'tag';
          const of = pointer_of(source, i, `the ${kind}`);
          return i.make(`parlance_compile_${kind}`, at, of, ...i.json(request));
        }
        return i.make(
          'parlance_compile', at, language_of(language), ...source_of(i, source),
          ...i.json(request),
        );
      });
    }

    constraintFromBytes(data) {
      return new Constraint(this, (i, at) =>
        i.make('parlance_constraint_from_bytes', at, ...binary(data)(i)),
      );
    }
  }

  class Constraint extends Handle {
    static kind = 'constraint';
    #words;

    constructor(compiler, make) {
      super(here(), (i) => make(i, pointer_of(compiler, i, 'the compiler')));
      this.#words = compiler.maskWords;
    }

    // 32-bit words of a mask.
    get maskWords() {
      return this.#words;
    }

    toBytes() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.run('parlance_constraint_to_bytes', at, out);
        return i.takeBytes(out);
      });
    }

    matcher(options) {
      return new Matcher(this, options);
    }
  }

  class Matcher extends Handle {
    static kind = 'matcher';
    #words;

    constructor(source, options = {}) {
      super(here(), (i) =>
        source instanceof Matcher
          ? i.make('parlance_matcher_copy', pointer_of(source, i, 'the matcher'))
          : i.make(
              'parlance_matcher_new',
              pointer_of(source, i, 'the constraint'),
              i.struct('matcher_options', options, 'a matcher'),
            ),
      );
      this.#words = source.maskWords;
    }

    get maskWords() {
      return this.#words;
    }

    copy() {
      return new Matcher(this);
    }

    // Writes the mask of the next token; false if it excludes nothing.
    fill(row) {
      const [i, at] = held(this);
      const mark = i.enter();
      try {
        const out = i.room(8);
        const to = i.room(row.length * 4);
        const status = i.call('parlance_matcher_fill', at, to, row.length, out);
        if (status !== 0) i.check(status, 'fill');
        row.set(new Int32Array(i.memory.buffer, to, this.#words));
        return i.int(out) !== 0;
      } finally {
        i.leave(mark);
      }
    }

    // The ids of the mask.
    allowedTokens() {
      const row = new Int32Array(this.#words);
      this.fill(row);
      const ids = [];
      row.forEach((word, i) => {
        for (let bits = word >>> 0; bits !== 0; bits &= bits - 1) {
          ids.push(i * 32 + 31 - Math.clz32(bits & -bits));
        }
      });
      return Uint32Array.from(ids);
    }

    #asked(name, what, given) {
      const [i, at] = held(this);
      const mark = i.enter();
      try {
        const out = i.room(8);
        const status = i.call(name, at, ...given(i), out);
        if (status !== 0) i.check(status, what);
        return i.int(out);
      } finally {
        i.leave(mark);
      }
    }

    accept(id) {
      const given = () => [whole_number(id, 'token id')];
      return this.#asked('parlance_matcher_accept', 'accept', given) !== 0;
    }

    // How many of the tokens are accepted.
    acceptTokens(ids) {
      return this.#asked('parlance_matcher_accept_tokens', 'acceptTokens', (i) =>
        i.ids(ids),
      );
    }

    acceptText(text) {
      const given = (i) => i.text(text);
      return this.#asked('parlance_matcher_accept_bytes', 'acceptText', given) !== 0;
    }

    rollback(steps) {
      const given = () => [whole_number(steps, 'number of steps')];
      return this.#asked('parlance_matcher_rollback', 'rollback', given) !== 0;
    }

    reset() {
      using(this, (i, at) => i.check(i.call('parlance_matcher_reset', at), 'reset'));
    }

    #state() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.check(i.call('parlance_matcher_state', at, out, out + 4), 'state');
        return [i.size(out), i.size(out + 4)];
      });
    }

    get steps() {
      return this.#state()[0];
    }

    get terminated() {
      return (this.#state()[1] & constants.MATCHER_TERMINATED) !== 0;
    }

    get canEnd() {
      return (this.#state()[1] & constants.MATCHER_CAN_END) !== 0;
    }

    // Why there is no mask: a ParlanceError, or null.
    get failure() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.check(i.call('parlance_matcher_failure', at, out), 'failure');
        const error = i.size(out);
        if (error === 0) return null;
        const failure = i.error(error);
        i.call('parlance_error_free', error);
        return failure;
      });
    }

    // The tokens that certainly come next.
    forcedTokens() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        for (let capacity = 256; ; ) {
          const ids = i.room(capacity * 4);
          const status = i.call('parlance_matcher_forced_tokens', at, ids, capacity, out);
          i.check(status, 'forcedTokens');
          i.rethrow();
          const count = i.size(out);
          if (count <= capacity) {
            return Array.from(new Uint32Array(i.memory.buffer, ids, count));
          }
          capacity = count;
        }
      });
    }

    // The text that certainly comes next.
    forcedText(limit = 1 << 16) {
      return using(this, (i, at) =>
        i.say('parlance_matcher_forced_text', at, whole_number(limit, 'number of bytes')),
      );
    }

    // null if no rule sets one.
    get temperature() {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        i.check(i.call('parlance_matcher_temperature', at, out), 'temperature');
        const found = i.view.getFloat64(out, true);
        return Number.isNaN(found) ? null : found;
      });
    }

    captures() {
      return using(this, (i, at) => i.tell('parlance_matcher_captures', at));
    }

    // The masks after the nodes of a draft tree, one row of maskWords for each.
    fillTree({ first_child, next_sibling, tokens, nanoseconds = 0 }) {
      return using(this, (i, at) => {
        const count = nodes_of(first_child, next_sibling, tokens);
        const words = count * this.#words;
        const rows = i.room(words * 4);
        const visited = i.zeros(8);
        i.run(
          'parlance_matcher_fill_tree', at, i.longs(first_child),
          i.longs(next_sibling), i.longs(tokens), count, rows, words, this.#words,
          BigInt(nanoseconds), 0, visited,
        );
        return {
          masks: new Int32Array(i.memory.buffer, rows, words).slice(),
          visited: i.size(visited),
        };
      });
    }
  }

  // The masks of many matchers, one row of maskWords after another.
  function fillMany(matchers, masks) {
    const instance = here();
    return instance.scope((i) => {
      const words = matchers.length === 0 ? 0 : matchers[0].maskWords;
      const list = i.ids(matchers.map((m) => pointer_of(m, i, 'a matcher')));
      const total = words * matchers.length;
      masks ??= new Int32Array(total);
      const to = i.room(total * 4);
      i.run('parlance_matcher_fill_many', list[0], 0, list[1], to, total, words, 1);
      masks.set(new Int32Array(i.memory.buffer, to, total));
      return masks;
    });
  }

  class MaskTable extends Handle {
    static kind = 'table';

    constructor(compiler, maxRows) {
      super(here(), (i) =>
        i.make(
          'parlance_table_new', pointer_of(compiler, i, 'the compiler'),
          whole_number(maxRows, 'number of rows'),
        ),
      );
    }

    // The row of the matcher's mask; MASK_NOTHING_EXCLUDED or MASK_NOT_LISTED.
    idOf(matcher) {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        const of = pointer_of(matcher, i, 'the matcher');
        i.check(i.call('parlance_table_id_of', at, of, out), 'idOf');
        return i.int(out);
      });
    }

    #size() {
      return using(this, (i, at) => {
        const out = i.zeros(16);
        i.check(i.call('parlance_table_size', at, out, out + 8), 'size');
        return [i.size(out), i.long(out + 8)];
      });
    }

    get size() {
      return this.#size()[0];
    }

    get version() {
      return this.#size()[1];
    }

    // Rows `begin` to `end`, one after another.
    rows(begin = 0, end = this.size) {
      return using(this, (i, at) => {
        const out = i.zeros(8);
        const [first, last] = [begin, end].map((row) => whole_number(row, 'row'));
        i.check(i.call('parlance_table_rows', at, first, last, out, out + 4), 'rows');
        const found = i.size(out);
        if (found === 0) return new Int32Array(0);
        const words = i.size(out + 4) * (end - begin);
        return new Int32Array(i.memory.buffer, found, words).slice();
      });
    }

    clear() {
      using(this, (i, at) => i.check(i.call('parlance_table_clear', at), 'clear'));
    }
  }

  class Batch extends Handle {
    static kind = 'batch';
    #rows = new Map();

    constructor() {
      super(here(), (i) => i.make('parlance_batch_new', 1));
    }

    add({ matcher = null, parser = null }) {
      return using(this, (i, at) => {
        const row = i.make(
          'parlance_batch_add', at, pointer_of(matcher, i, 'the matcher'),
          pointer_of(parser, i, 'the parser'),
        );
        this.#rows.set(row, { matcher, parser, reader: new EventReader(true) });
        return row;
      });
    }

    remove(row) {
      using(this, (i, at) =>
        i.check(i.call('parlance_batch_remove', at, whole_number(row, 'row')), 'remove'),
      );
      this.#rows.delete(row);
    }

    // One step of the rows of `steps`: {"row", "tokens", "mask_row", "first_child",
    // "next_sibling", "draft_tokens", "nanoseconds"}; `masks` has rows of `stride`
    // words.  For each: {"accepted", "filled", "events", "mask_id", "terminated",
    // "failed", "constrained"}.
    step(steps, { masks = new Int32Array(0), stride = 0, table = null } = {}) {
      return using(this, (i, at) => {
        const size = structs.step.size;
        const all = i.zeros(Math.max(size * steps.length, 8));
        steps.forEach((step, n) => this.#write(i, all + n * size, step));
        const buffer = masks.length === 0 ? 0 : i.room(masks.length * 4);
        if (buffer !== 0) {
          new Int32Array(i.memory.buffer, buffer, masks.length).set(masks);
        }
        i.run(
          'parlance_batch_step', at, all, steps.length, size, buffer, masks.length,
          stride, pointer_of(table, i, 'the table'), 0, 0, kEventSize,
        );
        if (buffer !== 0) {
          masks.set(new Int32Array(i.memory.buffer, buffer, masks.length));
        }
        return steps.map((step, n) => this.#read(i, all + n * size, step.row));
      });
    }

    #write(i, at, step) {
      const put = (name, value) => i.view.setUint32(at + kStep[name], value, true);
      const put_long = (name, value) =>
        i.view.setBigInt64(at + kStep[name], BigInt(value), true);
      const [tokens, count] = i.ids(step.tokens ?? []);
      put('row', whole_number(step.row, 'row'));
      put('tokens', tokens);
      put('token_count', count);
      put_long('mask_row', step.mask_row ?? -1);
      if (step.draft_tokens !== undefined) {
        put('first_child', i.longs(step.first_child));
        put('next_sibling', i.longs(step.next_sibling));
        put('draft_tokens', i.longs(step.draft_tokens));
        put('nodes', nodes_of(step.first_child, step.next_sibling, step.draft_tokens));
      }
      put_long('nanoseconds', step.nanoseconds ?? 0);
    }

    #read(i, at, row) {
      const flags = i.size(at + kStep.flags);
      const { parser, reader } = this.#rows.get(row);
      const json = (index) =>
        i.scope(() => i.tell('parlance_parser_event_json', held(parser)[1], index));
      return {
        accepted: i.long(at + kStep.accepted),
        filled: i.long(at + kStep.filled),
        events: reader.read(
          i, i.size(at + kStep.events), i.size(at + kStep.event_count), json,
        ),
        mask_id: i.int(at + kStep.mask_id),
        terminated: (flags & constants.STEP_TERMINATED) !== 0,
        failed: (flags & constants.STEP_FAILED) !== 0,
        constrained: (flags & constants.STEP_CONSTRAINED) !== 0,
      };
    }
  }

  // What a format needs a grammar for.
  Object.assign(Format.prototype, {
    tag({ vocabulary, ...request } = {}) {
      const [, at] = held(this);
      return new StructuralTag(
        adopted((i) =>
          i.make(
            'parlance_format_tag', at, ...i.json(request),
            pointer_of(vocabulary, i, 'the vocabulary'),
          ),
        ),
      );
    },

    grammar({ vocabulary, ...request } = {}) {
      const tag = this.tag({ vocabulary, ...request });
      try {
        return new Grammar(tag, { vocabulary });
      } finally {
        tag.free();
      }
    },

    check({ vocabulary, ...request } = {}) {
      return using(this, (i, at) =>
        i.tell(
          'parlance_format_check', at, ...i.json(request),
          pointer_of(vocabulary, i, 'the vocabulary'),
        ),
      );
    },

    render(message, request) {
      return using(this, (i, at) =>
        i.say('parlance_format_render', at, ...i.json(message), ...i.json(request)),
      );
    },
  });
  Parser.prototype.tree = function tree() {
    return using(this, (i, at) => i.tell('parlance_parser_tree', at));
  };

  // A page for a browser with `html`, else what the page shows.
  function explain({ format, tools, ...more }) {
    return here().scope((i) => {
      const given = { ...more, format: format_of(format), tools: tools_of(i, tools) };
      const struct = i.struct('explanation', given, 'an explanation');
      const text = i.say('parlance_explain', struct);
      return more.html ? text : JSON.parse(text);
    });
  }

  return {
    Vocabulary,
    StructuralTag,
    CompiledTag,
    Grammar,
    Compiler,
    Constraint,
    Matcher,
    MaskTable,
    Batch,
    fillMany,
    explain,
    MASK_NOTHING_EXCLUDED: constants.MASK_NOTHING_EXCLUDED,
    MASK_NOT_LISTED: constants.MASK_NOT_LISTED,
  };
}
