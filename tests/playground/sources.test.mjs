// The modules of the playground that need no page: links, places, what was pasted.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import test from 'node:test';

import { configIn, isTokenizer, recognise, toolsIn } from '../../playground/intake.js';
import { checked, decode, encode, kMostBytes, written } from '../../playground/link.js';
import { Text } from '../../playground/places.js';
import { javascript } from '../../playground/takeaway.js';

const folder = new URL('../../playground/examples/', import.meta.url);

// One link of every encoding that there was.
const kRecorded = [[
  '1.q1YqU7JSMtAz1DNQ0lEqSCwqUbJSKkpNTFHSUUpLzM3MqVSyUiosT80zVtJRKkotLsjPK05VslKy' +
  'KcnIzMu2i8lzSi3K04vJs9GHCcTkBZfm5VUqfJjfM09PSUcpubREycqyFgA',
  '<think>\nBern.\n</think>\n\nSunny \u{1f31e}.',
]];

test('links: what is written is read', async () => {
  const state = {
    v: '0.1.0', part: 'read', family: 'qwen3', response: 'a\r\n\u{1f600}\0', cut: 3,
    prefix: written(new Text(Uint8Array.of(0xff, 0x61))),
  };
  const link = await encode(state);
  assert.match(link, /^1\.[\w-]+$/);
  const found = await decode(link);
  assert.equal(found.family, 'qwen3');
  assert.equal(found.response.string, state.response);
  assert.deepEqual([...found.prefix.bytes], [0xff, 0x61]);
  assert.equal(found.cut, 3);
});

test('links: damaged, newer, too large, and of a wrong type', async () => {
  await assert.rejects(decode('1.!!'), /damaged/);
  await assert.rejects(decode('1.AAAA'), /damaged/);
  await assert.rejects(decode('2.AAAA'), /newer/);
  await assert.rejects(decode('constructor'), /damaged/);
  const bomb = await encode({ response: 'a'.repeat(kMostBytes + 1) });
  await assert.rejects(decode(bomb), /4 MB/);
  const found = checked(JSON.parse(
    '{"__proto__": {"cut": 1}, "family": 3, "response": {"base64": "*"}, "cut": -1, "samples": 1, ' +
    '"selection": [1, -1], "tab": 1}'));
  assert.deepEqual(Object.keys(found), []);
  const { samples } = checked({ samples: [null, 1, { text: 'a' }, { message: 'b' },
    { text: { base64: '/w==' }, message: '{}', more: 1 }, { text: 'a', message: 2 }] });
  assert.deepEqual(samples.map(({ text, message }) => [[...text.bytes], message]),
    [[[0xff], '{}']]);
  assert.equal(Object.getPrototypeOf(found), null);
});

test('examples are states', async () => {
  for (const name of await readdir(folder)) {
    const state = checked(JSON.parse(await readFile(new URL(name, folder), 'utf8')));
    assert.ok(state.title, name);
    assert.ok(state.response ?? state.pasted ?? state.source, name);
  }
});

const encoder = new TextEncoder();

// The places of a text, by taking it apart.
function places(bytes) {
  const out = [];
  let unit = 0;
  for (let at = 0; at < bytes.length;) {
    let size = 0;
    let characters = '';
    for (let n = 1; n <= 4 && at + n <= bytes.length && size === 0; ++n) {
      try {
        characters = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
          .decode(bytes.subarray(at, at + n));
        size = n;
      } catch (error) {
        // Longer, or no character.
      }
    }
    out.push([at, unit, size || 1]);
    unit += size ? characters.length : 1;
    at += size || 1;
  }
  out.push([bytes.length, unit, 0]);
  return out;
}

test('places: bytes and units of any text', () => {
  const texts = [
    'a\r\n\u00e9\u20ac\u{1f600}e\u0301\0', '', '\ufeffx', '\ud800x',
    [0xff, 0x61, 0xc3, 0xa9, 0xc3, 0xf0, 0x9f, 0x98, 0x80, 0xf0, 0x9f, 0x80, 0x80],
    [0xe2, 0x82], [0xed, 0xa0, 0x80, 0x61], [0xc0, 0x80],
  ].map((text) => (typeof text === 'string' ? encoder.encode(text)
    : Uint8Array.from(text)));
  for (const filler of [0, 1020, 1023, 1024, 2047]) {
    for (const part of texts) {
      const bytes = Uint8Array.of(...new Uint8Array(filler).fill(0x61), ...part);
      const text = new Text(bytes);
      const found = places(bytes);
      assert.equal(text.string.length, found.at(-1)[1]);
      for (const [byte, unit, size] of found) {
        assert.equal(text.toUnit(byte), unit, `byte ${byte} of ${bytes}`);
        assert.equal(text.toByte(unit), byte, `unit ${unit} of ${bytes}`);
        for (let n = 1; n < size; ++n) assert.equal(text.toUnit(byte + n), unit);
      }
    }
  }
});

test('what was pasted', () => {
  const response = '<think>\n"Hm" \\ \u00e9</think>';
  const chat = { choices: [{ message: { content: response } }] };
  const rows = [
    [response, null],
    ['{"name": "f", "arguments": {"content": "x"}}', null],
    ['{"content": 3}', null],
    ['data: {"choices": []}\n\n', undefined],
    ['event: x\ndata: {}\n\n', undefined],
    ['data: is what I need', undefined],
    [JSON.stringify(chat), response],
    [JSON.stringify(chat, null, 2), response],
    [`${JSON.stringify(chat)}\n${JSON.stringify(chat)}\n`, response + response],
    [JSON.stringify({ choices: [{ text: response }] }), response],
    [JSON.stringify({ content: [{ type: 'text', text: response }] }), response],
    [JSON.stringify({ output: [{ content: [{ text: response }] }] }), response],
    [JSON.stringify(response), response],
    [`12:00 INFO output=${JSON.stringify(response)}`, response],
    [`'a\\nb \\x41 "c" \\u00e9'`, 'a\nb A "c" \u00e9'],
    ['He said "yes" and \\ no', null],
    ['[1, 2]', [1, 2]], [' 1 22\n3,4 ', [1, 22, 3, 4]], ['[1,\n0]\n', [1, 0]],
    ['42', null], ['1 2', null], ['[1, 2', null], ['[1, 4294967296]', null],
    ['[1, -2]', null], ['[1.5, 2]', null],
  ];
  for (const [text, wanted] of rows) {
    const found = recognise(text);
    if (wanted === null) assert.equal(found, null, text);
    else if (wanted === undefined) assert.ok(found.isStream, text);
    else if (Array.isArray(wanted)) assert.deepEqual([...found.ids], wanted, text);
    else assert.equal(found?.response, wanted, text);
  }
});

test('a paste with many quotes that nothing ends takes no time', () => {
  assert.equal(recognise('"' + '\\"'.repeat(1 << 20)), null);
  assert.equal(recognise("'" + '"a\\n'.repeat(1 << 20)), null);
});

test('lists of ids, also of a million', () => {
  for (const text of ['[1, 2]', ' [1\n2] ', '1 2,3 , 4', '[0,4294967295]']) {
    assert.ok(recognise(text)?.ids, text);
  }
  for (const text of ['[1]', '1 2 3', '[1,]', '[,1]', '[1,,2]', '[1 2', '1 2 3 4]', '[]', '[1, 2.5]',
    '[1, 4294967296]', '[-1, 2]']) {
    assert.equal(recognise(text)?.ids, undefined, text);
  }
  const { ids } = recognise(`[${Array.from({ length: 1100000 }, (_, i) => i).join(',')}]`);
  assert.equal(ids.length, 1100000);
});

test('what is no list of tools', () => {
  for (const value of [null, 3, 'x', true]) assert.throws(() => toolsIn(value), /list of tools/);
  assert.deepEqual(toolsIn({ tools: [1] }), [1]);
  assert.deepEqual(toolsIn({ name: 'f' }), [{ name: 'f' }]);
});

test('configurations of tokenizers', () => {
  assert.deepEqual(configIn('chat_template.jinja', '{{ x }}'), { chat_template: '{{ x }}' });
  for (const key of ['tokenizer_class', 'chat_template', 'response_template', 'response_schema']) {
    assert.ok(configIn('a.json', `{"${key}": {}}`), key);
  }
  for (const text of ['{"name": "x", "response_template": {}}', '{"fields": {}}', '{', '[]', 'x',
    '{"part": "read", "chat_template": ""}', '{"x": 1}']) {
    assert.equal(configIn('a.json', text), null, text);
  }
});

test('tools are data in the code that is taken away', () => {
  const tools = new Text('{}}); run("\u2028`${x}"); ({');
  const code = javascript({ response: new Text('Hi'), tools, family: 'qwen3' });
  const [, literal] = /tools: JSON\.parse\(("[^]*")\) \}\);\n/.exec(code);
  assert.equal(JSON.parse(literal), tools.string);
});

test('files of tokenizers, by their names and beginnings', () => {
  for (const [name, head, wanted] of [
    ['tokenizer.json', '{}', true], ['my.json', '{\n "version": "1.0",\n "truncation": null', true],
    ['tekken.json', '{', true], ['tokenizer.model', '\n', true], ['m.gguf', '', true],
    ['m', 'GGUF\x03', true], ['qwen.tiktoken', 'IQ== 0', true],
    ['tokenizer_config.json', '{"chat_template": ""}', false], ['a.json', '{"version": 1}', false],
    ['response.txt', '<think>', false], ['a.model', '', false],
  ]) {
    assert.equal(isTokenizer(name, encoder.encode(head)), wanted, name);
  }
});

test('recorded links', async () => {
  for (const [link, response] of kRecorded) {
    const found = await decode(link);
    assert.equal(found.response.string, response);
  }
});
