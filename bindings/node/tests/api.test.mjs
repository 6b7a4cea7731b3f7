// Classes, errors, texts, memory: what the library does not record.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';

import * as parlance from 'parlance';
import * as small from 'parlance/parser';

const {
  Batch, ChatStream, Compiler, Format, Grammar, MaskTable, ParlanceError, Parser,
  StructuralTag, Tools, Vocabulary,
} = parlance;

before(() => Promise.all([parlance.init(), small.init()]));

// A vocabulary whose tokens are bytes, and a stop token.
function toy(more = {}) {
  const bytes = Array.from({ length: 256 }, (_, i) => Uint8Array.of(i));
  const given = { tokens: [...bytes, '<end>'], control_ids: [256], stop_ids: [256] };
  return new Vocabulary({ ...given, ...more });
}
const ids_of = (text) => [...new TextEncoder().encode(text)];
const allowed = (mask) => {
  const out = [];
  for (let id = 0; id < mask.length * 32; ++id) {
    if ((mask[id >> 5] >>> (id & 31)) & 1) out.push(id);
  }
  return out;
};

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
    },
  },
};

describe('texts', () => {
  const content = (text, cuts = []) => {
    const parser = new Parser('qwen3', { prefix: '' });
    const ends = [...cuts, text.length];
    const events = ends.flatMap((end, i) =>
      parser.feed(text.slice(i === 0 ? 0 : ends[i - 1], end)),
    );
    events.push(...parser.finalize());
    const said = events
      .filter(({ type, field }) => type === 'region_chunk' && field === 'content')
      .map(({ text }) => text)
      .join('');
    assert.equal(parser.message().content, said);
    return said;
  };

  test('are the same wherever a string is cut, also inside a character', () => {
    const text = 'Zürich 🌦️ 東京 \u0000 \ufeffx 👩‍👩‍👧';
    for (let cut = 0; cut <= text.length; ++cut) {
      assert.equal(content(text, [cut]), text);
    }
    assert.equal(content(text, Array.from(text, (_, i) => i + 1)), text);
  });

  test('half of a surrogate pair is U+FFFD', () => {
    assert.equal(content('a\ud800b'), 'a\ufffdb');
    assert.equal(content('a\udc00b'), 'a\ufffdb');
    assert.equal(content('a\ud800'), 'a\ufffd');
    assert.equal(content('a\ud800\ud83c\udf26', [2, 3]), 'a\ufffd\u{1f326}');
  });

  test('long ones grow the memory', () => {
    const text = 'ü'.repeat(3_000_000);
    assert.equal(content(text, [1_000_000]), text);
  });

  test('come as bytes of every kind', () => {
    const bytes = new TextEncoder().encode('<think>a</think>b');
    for (const given of [bytes, bytes.buffer, new DataView(bytes.buffer)]) {
      assert.equal(parlance.parse('qwen3', given, { prefix: '' }).message.thinking, 'a');
    }
    assert.throws(() => new Parser('qwen3').feed(17), TypeError);
  });
});

describe('errors', () => {
  test('say what, where and in which bytes', () => {
    assert.throws(() => new Format('nope'), (error) => {
      assert.ok(error instanceof ParlanceError && error instanceof Error);
      assert.equal(error.code, 'unknown_format');
      assert.match(error.message, /nope/);
      assert.equal(error.span, null);
      return true;
    });
    assert.throws(() => new Grammar({ type: 'object', properties: { a: { type: 'x' } } }), {
      path: '/properties/a/type',
    });
    assert.throws(() => new Grammar('root ::= (', { language: 'ebnf' }), (error) => {
      assert.equal(error.span.length, 2);
      return true;
    });
    assert.throws(() => new Format('qwen3').tag({ tool_choise: 'auto' }), {
      code: 'unknown_key',
      path: '/tool_choise',
    });
  });

  test('of options', () => {
    assert.throws(() => new Parser('qwen3', { preffix: '' }), { code: 'unknown_key' });
    assert.throws(() => new Parser('qwen3', { markers: 'x' }), { code: 'unknown_name' });
    assert.throws(() => new Grammar('x', { language: 'abnf' }), { code: 'unknown_name' });
    assert.throws(() => new Vocabulary({ tokens: [], x: 1 }), { code: 'unknown_key' });
    assert.throws(() => new Parser('qwen3').feedTokens([-1]), RangeError);
    assert.throws(() => new Parser('qwen3').feedTokens([1]), { code: 'usage' });
    assert.throws(() => new Parser(17), TypeError);
    assert.throws(() => new Parser(new Tools([])), { code: 'wrong_handle' });
  });

  test('of a parser that has ended', () => {
    const parser = new Parser('qwen3');
    parser.finalize();
    assert.equal(parser.finalized, true);
    assert.throws(() => parser.feed('x'), { code: 'finalized' });
  });

  test('leave nothing behind', () => {
    const parser = new Parser('qwen3');
    for (let i = 0; i < 1000; ++i) {
      assert.throws(() => parser.feedTokens([1]), { code: 'usage' });
      assert.throws(() => new Format('nope'), { code: 'unknown_format' });
      assert.throws(() => new Grammar('{"', {}), ParlanceError);
    }
    assert.equal(parser.feed('x').length > 0, true);
  });
});

describe('objects', () => {
  test('that are freed say so', () => {
    const format = new Format('qwen3');
    const parser = format.parser();
    format.free();
    format.free();
    assert.throws(() => format.describe(), { code: 'freed' });
    assert.throws(() => new Parser(format), { code: 'freed' });
    parser.feed('still there');
    parser[Symbol.dispose]();
    assert.throws(() => parser.feed('x'), { code: 'freed' });
  });

  test('of one module are none of the other', () => {
    assert.throws(() => new Parser(new small.Format('qwen3')), { code: 'wrong_handle' });
  });

  test('10^5 of them leave the memory as it is', async () => {
    const tools = [weather];
    const vocabulary = toy();
    const compiler = new Compiler(vocabulary);
    const round = () => {
      const parser = new Parser('qwen3', { prefix: '', tools });
      parser.feed('<think>a</think><tool_call>');
      parser.finalize();
      parser.result();
      parser.free();
      const grammar = new Grammar({ type: 'integer' });
      const constraint = compiler.compile(grammar);
      const matcher = constraint.matcher();
      matcher.acceptText('12');
      matcher.copy().free();
      for (const one of [matcher, constraint, grammar]) one.free();
      const chat = new ChatStream('qwen3');
      chat.begin();
      chat.free();
      try {
        new Format('nope');
      } catch {}
    };
    const memory = () => process.memoryUsage().arrayBuffers + process.memoryUsage().external;
    for (let i = 0; i < 1000; ++i) round();
    const before = memory();
    for (let i = 0; i < 100_000 / 8; ++i) round();
    assert.ok(memory() - before < 4 << 20, `${memory() - before} bytes more`);
  });

  test('that are forgotten are freed at some time', { timeout: 300_000 }, async (t) => {
    if (globalThis.gc === undefined) return t.skip('node --expose-gc has it');
    const memory = () => process.memoryUsage().external;
    const some = () => {
      for (let i = 0; i < 200; ++i) new Parser('qwen3').feed('x'.repeat(50_000));
    };
    const collected = async () => {
      for (let i = 0; i < 5; ++i) {
        gc();
        await new Promise((done) => setTimeout(done, 10));
      }
    };
    for (let i = 0; i < 3; ++i) {
      some();
      await collected();
    }
    const before = memory();
    for (let i = 0; i < 6; ++i) {
      some();
      await collected();
    }
    assert.ok(memory() - before < 16 << 20, `${memory() - before} bytes more`);
  });
});

describe('formats', () => {
  test('have names, and describe themselves', () => {
    assert.ok(Format.names().length > 60);
    const { name, fields } = new Format('qwen3').describe();
    assert.equal(name, 'qwen3');
    assert.ok(fields.some((field) => field.name === 'thinking'));
  });

  test('are loaded from what they write', () => {
    const format = Format.fromJSON(new Format('qwen3').toJSON());
    assert.equal(JSON.stringify(format), JSON.stringify(new Format('qwen3')));
    assert.deepEqual(Format.fromJSON(format.template()).template(), format.template());
    assert.ok(Array.isArray(format.lint()));
    const renamed = format.rename({ thinking: 'reasoning' });
    const { message } = renamed.parse('<think>a</think>b', { prefix: '' });
    assert.deepEqual(message, { role: 'assistant', reasoning: 'a', content: 'b' });
  });

  test('render, check, and say a request as tag and grammar', () => {
    const format = new Format('qwen3_coder');
    const tools = [weather];
    const call = { function: { name: 'get_weather', arguments: { city: 'Bern', days: 3 } } };
    const text = format.render({ tool_calls: [call] }, { tools });
    const grammar = format.grammar({ tools, tool_choice: 'required', reasoning: 'off' });
    assert.equal(grammar.accepts(text), true);
    assert.equal(grammar.accepts(text.replace('days', 'hours')), false);
    const { message } = format.parse(text, { prefix: '', tools: new Tools(tools) });
    assert.deepEqual(message.tool_calls[0].function, call.function);
    for (const { code, message } of format.check({ tools })) {
      assert.ok(code && message);
    }
    const tag = format.tag({ tools });
    assert.deepEqual(new StructuralTag(tag.toJSON()).toJSON(), tag.toJSON());
    assert.ok(tag.report().every(({ kind }) => kind === 'narrowed'));
  });

  test('are detected', () => {
    assert.throws(() => parlance.detect({ chat_template: 'x' }), { code: 'unknown_format' });
    assert.ok(Array.isArray(parlance.detectionSample().messages));
  });

  test('are ranked by a response, explain it and hint', () => {
    const lost = 'I call <tool_call>{"name": "f", "arguments": {}}</tool_call>.';
    for (const module of [parlance, small]) {
      const [best] = module.rankFormats(lost);
      assert.equal(best.calls, 1);
      assert.equal(best.call, 'f');
      assert.deepEqual(module.rankFormats('Nothing.', { tools: [weather] }), []);
      const format = new module.Format('qwen3');
      const [hint] = format.hints(lost, { prefix: '<think>' });
      assert.equal(hint.kind, 'call_in_reasoning');
      assert.deepEqual(hint.span, [14, 14 + lost.length - 8]);
      assert.deepEqual(format.hints('<think>a</think>b'), []);
      const facts = format.explain(lost, { prefix: '<think>', name: 'mine', chunk: 8 });
      assert.equal(facts.name, 'mine');
      assert.ok(facts.rows.some((row) => row.hint === 'call_in_reasoning'));
      const packed = format.explain(lost, { packed: true });
      assert.equal(packed.text, lost);
      assert.deepEqual(module.locate('{"a": 23}', '/a'), { value: [6, 8], key: [1, 4] });
      assert.equal(module.locate('{"a": [1, 23]}', '/b'), null);
      assert.throws(() => format.explain(lost, { names: 1 }), { code: 'unknown_key' });
    }
  });
});

describe('parsers', () => {
  test('by tag have a tree', () => {
    const tag = new StructuralTag({
      type: 'structural_tag',
      format: { type: 'json_schema', json_schema: { type: 'integer' } },
    });
    const parser = tag.compile().parser();
    parser.feed('12');
    parser.finalize();
    assert.ok(parser.tree());
    assert.equal(parser.result().complete, true);
    assert.throws(() => new Parser('qwen3').tree(), { code: 'usage' });
  });

  test('read ids with a vocabulary', () => {
    const parser = new Parser('qwen3', { vocabulary: toy(), prefix: ids_of('<think>') });
    const events = [
      ...parser.initialEvents(),
      ...parser.feedTokens(ids_of('a</think>b')),
      ...parser.finalize(),
    ];
    assert.ok(events.every((event) => event.tokens.length === 2));
    assert.equal(parser.message().content, 'b');
  });

  test('take the prefix as ids also by the name of the C interface', () => {
    const vocabulary = toy();
    for (const prefix of ['prefix', 'prefix_ids']) {
      const parser = new Parser('qwen3', { vocabulary, [prefix]: ids_of('<think>') });
      assert.equal(parser.prefixBytes, 7, prefix);
    }
  });

  test('hold back what may become a delimiter', () => {
    const parser = new Parser('qwen3', { prefix: '<think>' });
    assert.equal(parser.prefixBytes, 7);
    parser.feed('a</thi');
    assert.equal(new TextDecoder().decode(parser.held()), '</thi');
  });

  test('read streams of every kind', async () => {
    const pieces = ['<think>Be', 'rn', '</think>', 'It is 🌦️.'];
    const all = async (source) => {
      const parser = new Parser('qwen3', { prefix: '' });
      const types = [];
      for await (const event of parser.stream(source)) types.push(event.type);
      assert.equal(types[0], 'region_open');
      return parser.message();
    };
    const expected = { role: 'assistant', thinking: 'Bern', content: 'It is 🌦️.' };
    const bytes = pieces.map((piece) => new TextEncoder().encode(piece));
    const later = async function* later() {
      yield* pieces;
    };
    const queue = new ReadableStream({
      start(controller) {
        for (const piece of bytes) controller.enqueue(piece);
        controller.close();
      },
    });
    for (const source of [pieces, bytes, later(), queue]) {
      assert.deepEqual(await all(source), expected);
    }
  });

  test('chat streams say what chat APIs say', async () => {
    const parser = new Parser('qwen3', { prefix: '', stream_calls: true });
    const chat = new ChatStream('qwen3', { id: 'x', call_id_prefix: 'call_' });
    let text = '';
    const source = ['<think>a</think><tool_call>\n{"name": "now", ', '"arguments": {}}\n</tool_call>'];
    for await (const piece of chat.stream(parser, source)) text += piece;
    assert.match(text, /^data: \{/);
    assert.match(text, /data: \[DONE\]\n\n$/);
    const { message, finish_reason } = chat.response().choices[0];
    assert.equal(finish_reason, 'tool_calls');
    assert.equal(message.reasoning_content, 'a');
    assert.deepEqual(message.tool_calls[0].function, { name: 'now', arguments: '{}' });

    const chunks = new ChatStream('qwen3', { api: 'messages', output: 'json' });
    assert.equal(chunks.begin()[0].event, 'message_start');
    assert.throws(() => chunks.end('soon'), { code: 'bad_argument' });
    assert.throws(() => new ChatStream('qwen3', { api: 'x' }), { code: 'unknown_name' });
  });

  test('read the events of another server', async () => {
    const { SSE } = parlance;
    const sent = ['data: {"choices":[{"text":"<think>a"}]}\n\nda', 'ta: {"choices":[{"text":"</think>b"}]}\n\ndata: [DONE]\n\n'];
    const parser = new Parser('qwen3', { prefix: '' });
    for await (const event of parser.stream(new SSE().stream(sent))) void event;
    assert.deepEqual(parser.message(), { role: 'assistant', thinking: 'a', content: 'b' });
  });
});

describe('constraints', () => {
  const schema = { type: 'object', properties: { days: { type: 'integer', maximum: 14 } }, required: ['days'], additionalProperties: false };

  test('fill masks', () => {
    const grammar = new Grammar(schema);
    const constraint = grammar.compile(toy());
    const matcher = constraint.matcher();
    assert.equal(matcher.acceptText('{"days": 1'), true);
    const mask = new Int32Array(constraint.maskWords);
    assert.equal(matcher.fill(mask), true);
    assert.deepEqual(allowed(mask).map((id) => String.fromCharCode(id)).sort(), [...'\t\n\r 01234}'].sort());
    assert.deepEqual([...matcher.allowedTokens()], allowed(mask));
    assert.throws(() => matcher.fill(new Int32Array(1)), { code: 'bad_size' });
    assert.equal(matcher.accept(0x78), false);
    assert.equal(matcher.acceptTokens(ids_of('2}x')), 2);
    assert.equal(matcher.canEnd, true);
    assert.equal(matcher.terminated, false);
    assert.equal(matcher.accept(256), true);
    assert.equal(matcher.terminated, true);
    const { steps } = matcher;
    assert.equal(matcher.rollback(1), true);
    assert.equal(matcher.steps, steps - 1);
    assert.equal(matcher.rollback(1000), false);
    matcher.reset();
    assert.equal(matcher.failure, null);
    assert.equal(matcher.temperature, null);
    assert.equal(matcher.forcedText(), '{');
    assert.deepEqual(matcher.captures(), []);
    const copy = matcher.copy();
    copy.acceptText('{');
    assert.equal(matcher.steps, 0);
    const masks = parlance.fillMany([matcher, copy]);
    assert.deepEqual(allowed(masks.subarray(0, constraint.maskWords)), [0x7b]);
  });

  test('say where a text leaves a grammar', () => {
    const grammar = new Grammar(schema);
    assert.deepEqual(grammar.explain('{"days": true}'), { offset: 9, expected: 'a number' });
    assert.equal(grammar.explain('{"days": 3}'), null);
    assert.deepEqual(grammar.report(), []);
    const again = Grammar.fromBytes(grammar.toBytes());
    assert.equal(again.accepts('{"days": 3}'), true);
    const either = Grammar.union(grammar, new Grammar('[ab]+', { language: 'regex' }));
    assert.equal(either.accepts('abba'), true);
    const both = Grammar.concat(new Grammar('a', { language: 'regex' }), grammar);
    assert.equal(both.accepts('a{"days": 3}'), true);
    assert.match(new Grammar('ab|c', { language: 'regex' }).toEbnf(), /::=/);
  });

  test('are saved and loaded', () => {
    const compiler = new Compiler(toy(), { cache_bytes: 1 << 20 });
    const constraint = compiler.compile(schema);
    const again = compiler.constraintFromBytes(constraint.toBytes());
    assert.equal(again.matcher().acceptText('{"days": 3}'), true);
    assert.ok(compiler.statistics().masks.bytes >= 0);
    compiler.clearCache();
    assert.equal(compiler.compile('[ab]', { language: 'regex' }).matcher().acceptText('a'), true);
    assert.equal(compiler.compile(new Format('qwen3').tag(), { markers: 'text' }).matcher().steps, 0);
  });

  test('have tokens that are certain, by an encoder', () => {
    const seen = [];
    const vocabulary = toy().withEncoder((text) => {
      seen.push(text);
      return ids_of(text);
    });
    const matcher = new Compiler(vocabulary).compile(schema).matcher();
    const text = String.fromCharCode(...matcher.forcedTokens());
    assert.equal('{"days":'.startsWith(text), true);
    const failing = toy().withEncoder(() => {
      throw new Error('no tokenizer');
    });
    const other = new Compiler(failing).compile(schema).matcher();
    if (seen.length > 0) assert.throws(() => other.forcedTokens(), /no tokenizer/);
    assert.equal(other.acceptText('{'), true);
  });

  test('of draft trees', () => {
    const constraint = new Compiler(toy()).compile(schema);
    const tokens = ids_of('{"x');
    const { masks, visited } = constraint.matcher().fillTree({
      first_child: [1, 2, -1], next_sibling: [-1, -1, -1], tokens,
    });
    assert.equal(masks.length, 3 * constraint.maskWords);
    assert.equal(visited >= 1, true);
  });

  test('by number', () => {
    const compiler = new Compiler(toy());
    const table = new MaskTable(compiler, 16);
    const matcher = compiler.compile(schema).matcher();
    const id = table.idOf(matcher);
    const mask = new Int32Array(compiler.maskWords);
    matcher.fill(mask);
    assert.equal(id, 0);
    assert.equal(table.size, 1);
    assert.deepEqual(table.rows(id, id + 1), mask);
    assert.equal(table.rows(5, 6).length, 0);
    const { version } = table;
    table.clear();
    assert.ok(table.version > version);
    assert.throws(() => new MaskTable(compiler, 0), { code: 'bad_argument' });
  });

  test('in a step of a server', () => {
    const vocabulary = toy();
    const compiler = new Compiler(vocabulary);
    const batch = new Batch();
    const format = new Format('qwen3');
    const matcher = compiler.compile(format.tag({ reasoning: 'off' }), { markers: 'text' }).matcher();
    const parser = format.parser({ vocabulary, markers: 'text' });
    const row = batch.add({ matcher, parser });
    assert.throws(() => batch.add({ matcher }), { code: 'usage' });
    const masks = new Int32Array(2 * compiler.maskWords);
    const [made] = batch.step([{ row, tokens: ids_of('Bern'), mask_row: 1 }], { masks, stride: compiler.maskWords });
    assert.equal(made.accepted, 4);
    assert.ok(made.events.some(({ type, text }) => type === 'region_chunk' && text.startsWith('B')));
    const mask = new Int32Array(compiler.maskWords);
    matcher.fill(mask);
    if (made.constrained) assert.deepEqual(masks.subarray(compiler.maskWords), mask);
    batch.remove(row);
    assert.throws(() => batch.remove(row), { code: 'bad_argument' });
    assert.throws(() => batch.step([{ row, tokens: [1] }]), ParlanceError);
  });

  test('vocabularies say what they hold', () => {
    const vocabulary = toy();
    assert.equal(vocabulary.size, 257);
    assert.deepEqual(vocabulary.token(65), { bytes: Uint8Array.of(65), kind: 'ordinary' });
    assert.equal(vocabulary.token(256).kind, 'control');
    assert.equal(vocabulary.special('<end>'), 256);
    assert.equal(vocabulary.special('<x>'), null);
    assert.deepEqual(vocabulary.stopIds, [256]);
    assert.deepEqual(vocabulary.withStopIds([255]).stopIds, [255]);
    assert.equal(new Vocabulary(['a', 'b']).stopIds, null);
    assert.equal(vocabulary.decode(ids_of('Zürich')), 'Zürich');
    const again = Vocabulary.fromBytes(vocabulary.toBytes());
    assert.equal(again.size, 257);
    assert.throws(() => Vocabulary.fromBytes(Uint8Array.of(1, 2)), { code: 'bad_vocabulary' });
    assert.throws(() => Vocabulary.fromFiles({ tokenizer: '' }), { code: 'unknown_key' });
    assert.throws(() => Vocabulary.fromFiles({ tokenizer_json: '{}' }), ParlanceError);
  });
});

describe('explanations', () => {
  test('are JSON and pages', () => {
    const what = { format: 'qwen3', text: '<think>a</think>b', prefix: '', name: 'a response' };
    assert.equal(typeof parlance.explain(what), 'object');
    assert.match(parlance.explain({ ...what, html: true }), /<html/i);
    assert.throws(() => parlance.explain({ ...what, x: 1 }), { code: 'unknown_key' });
  });
});

describe('loading', () => {
  test('takes bytes, a response, a URL and a module', async () => {
    const file = new URL('./package/parser.wasm', import.meta.url);
    const bytes = await readFile(file);
    const { Runtime } = await import('./package/lib/runtime.js');
    for (const source of [
      bytes,
      new Uint8Array(bytes).buffer,
      new Response(bytes, { headers: { 'content-type': 'application/wasm' } }),
      new WebAssembly.Module(bytes),
      Promise.resolve(bytes),
      new URL(`data:application/wasm;base64,${bytes.toString('base64')}`),
    ]) {
      const runtime = new Runtime();
      await runtime.init(source);
      assert.equal(runtime.instance.spent, false);
    }
    for (const [source, what] of [
      [new TextEncoder().encode('<!doctype html>'), /page/],
      [new Response('<!doctype html>'), /page/],
      [new Response('', { status: 404, statusText: 'Not Found' }), /404 Not Found/],
      [Uint8Array.of(1, 2, 3), /no WebAssembly module/],
    ]) {
      await assert.rejects(new Runtime().init(source), (error) => {
        assert.equal(error.code, 'not_a_module');
        assert.match(error.message, what);
        return true;
      });
    }
  });

  test('a module that has stopped says so, and is replaced', async () => {
    const { Runtime } = await import('./package/lib/runtime.js');
    const { parsing } = await import('./package/lib/parsing.js');
    const runtime = new Runtime();
    const bytes = await readFile(new URL('./package/parser.wasm', import.meta.url));
    await runtime.init(bytes);
    const { Parser } = parsing(runtime);
    const parser = new Parser('qwen3');
    const { memory } = runtime.instance;
    // All memory that there may be is taken.
    for (let pages = 65536; pages >= 1; pages >>= 1) {
      try {
        for (;;) memory.grow(pages);
      } catch {}
    }
    const exhaust = () => {
      for (;;) parser.feed('x'.repeat(1 << 20));
    };
    assert.throws(exhaust, { code: /spent|no_memory/ });
    if (runtime.instance.spent) {
      assert.throws(() => new Parser('qwen3'), { code: 'spent' });
      parser.free();
      await runtime.init(bytes);
      assert.equal(new Parser('qwen3').finalized, false);
    }
  });
});

describe('at the border', () => {
  const letters = { tokens: ['a', 'b', 'ab', '<end>'], control_ids: [3], stop_ids: [3] };
  const abab = (vocabulary) =>
    new Grammar('abab', { language: 'regex' }).compile(vocabulary).matcher();

  test('sizes and counts are no options', () => {
    const refused = { code: 'unknown_key' };
    for (const more of [{ prefix_size: 9 }, { stop_count: 9 }, { has_stop_ids: 1 }, { struct_size: 8 }]) {
      assert.throws(() => new Parser('qwen3', { prefix: 'a', stop_ids: [1], ...more }), refused);
    }
    for (const more of [{ added_count: 2 ** 31 }, { count: 9 }, { ends: [] }]) {
      assert.throws(() => new Vocabulary({ ...letters, added_ids: [1], ...more }), refused);
    }
  });

  test('numbers are not cut to 32 bits', () => {
    const matcher = abab(new Vocabulary(letters));
    for (const id of [2 ** 32, 2 ** 32 + 2, -(2 ** 32), -1, 0.5, NaN, '2', undefined]) {
      assert.throws(() => matcher.accept(id), RangeError, String(id));
      assert.throws(() => matcher.rollback(id), RangeError);
      assert.throws(() => matcher.forcedText(id ?? null), RangeError);
    }
    assert.equal(matcher.steps, 0);
  });

  test('a draft tree whose lists differ in length is refused', () => {
    const matcher = abab(new Vocabulary(letters));
    const tree = { first_child: [], next_sibling: [-1], tokens: [2] };
    assert.throws(() => matcher.fillTree(tree), { code: 'bad_size' });
    const batch = new Batch();
    const row = batch.add({ matcher });
    const { tokens, ...links } = tree;
    const step = { row, mask_row: 0, draft_tokens: tokens, ...links };
    assert.throws(
      () => batch.step([step], { masks: new Int32Array(1), stride: 1 }), { code: 'bad_size' },
    );
  });

  test('what a call uses is freed after the call', () => {
    const format = new Format('qwen3');
    const message = { toJSON() { format.free(); return { content: 'x' }; } };
    assert.ok(format.render(message, {}).endsWith('x'));
    assert.throws(() => format.describe(), { code: 'freed' });
    let matcher = null;
    const vocabulary = new Vocabulary(letters).withEncoder(() => {
      matcher.free();
      return [2, 2];
    });
    matcher = abab(vocabulary);
    assert.deepEqual(matcher.forcedTokens(), [2, 2]);
    assert.throws(() => matcher.canEnd, { code: 'freed' });
  });

  test('NUL in an error', () => {
    assert.throws(() => new Format('qwen3').tag({ 'a\0b': 1 }), { path: '/a\0b' });
  });

  // Of the text, and of the chat that follows the parser.
  const read = (pieces) => {
    const parser = new Parser('qwen3', { prefix: '' });
    const chat = new ChatStream('qwen3', { output: 'json' });
    for (const piece of pieces) {
      parser.feed(piece);
      chat.feed(parser);
    }
    parser.finalize();
    chat.feed(parser);
    chat.end('stop', { parser });
    return [parser.message().content, chat.response().choices[0].message.content];
  };
  const bytes = (text) => new TextEncoder().encode(text);
  for (const [pieces, text] of [
    [['a\ud83d', '\ude00b'], 'a\u{1f600}b'],
    [['a\ud83d', '', '\ude00\ud83d', '\ude00'], 'a\u{1f600}\u{1f600}'],
    [['a\ud83d'], 'a\ufffd'],
    [['a\ud83d', 'b'], 'a\ufffdb'],
    [['a\ud83d', '\ud83d', '\ude00'], 'a\ufffd\u{1f600}'],
    [['a\ud83d', bytes('b')], 'a\ufffdb'],
  ]) {
    test(`halves of pairs: ${JSON.stringify(pieces)}`, () => {
      assert.deepEqual(read(pieces), [text, text]);
    });
  }
});
