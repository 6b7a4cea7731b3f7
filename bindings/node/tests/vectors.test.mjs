// Events and masks beside those that the C++ library has recorded
// (bindings/testdata/README.md).

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';

import { kMembers } from './package/lib/parsing.js';
import * as parlance from 'parlance';
import * as small from 'parlance/parser';

const lines = (await readFile(new URL('./cases.jsonl', import.meta.url), 'utf8'))
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
const [setup, ...cases] = lines;
const languages = ['json_schema', 'ebnf', 'gbnf', 'lark', 'regex', 'structural_tag'];
const encoder = new TextEncoder();
const tools = JSON.parse(setup.tools);

function sum_of(mask) {
  let hash = 0x811c9dc5;
  for (const byte of new Uint8Array(mask.buffer, mask.byteOffset, mask.byteLength)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

let vocabulary;
let compiler;

before(async () => {
  await Promise.all([parlance.init(), small.init()]);
  const bytes = Array.from({ length: 256 }, (_, i) => Uint8Array.of(i));
  const stop = 256 + setup.pieces.length;
  vocabulary = new parlance.Vocabulary({
    tokens: [...bytes, ...setup.pieces, setup.stop],
    control_ids: [stop],
    stop_ids: [stop],
  });
  compiler = new parlance.Compiler(vocabulary);
});

function check_masks(constraint, { ids, masks }) {
  const matcher = constraint.matcher();
  const mask = new Int32Array(constraint.maskWords);
  const found = ids.map((id) => {
    matcher.fill(mask);
    const sum = sum_of(mask);
    assert.ok(matcher.accept(id));
    return sum;
  });
  assert.deepEqual(found, masks);
  matcher.free();
  constraint.free();
}

// The events of all calls, as lists of members; and, by a second parser, as the
// package gives them, which must say the same.
function check_calls(make, feeds, expected, message) {
  const parsers = [make(), make()];
  parsers[0][kMembers] = true;
  const steps = [(p) => p.initialEvents(), ...feeds, (p) => p.finalize()];
  const [raw, given] = parsers.map((parser) => steps.map((step) => step(parser)));
  assert.deepEqual(raw, expected);
  raw.forEach((events, i) => {
    assert.equal(events.length, given[i].length);
    events.forEach((members, j) => check_event(members, given[i][j]));
  });
  for (const parser of parsers) {
    assert.deepEqual(parser.chatMessage(), JSON.parse(message));
    parser.free();
  }
}

function check_event(members, event) {
  const [, flags, , call, begin, end, , , field, text, id] = members;
  assert.equal(event.field, field);
  assert.deepEqual([event.start, event.end], [begin, end]);
  if ('text' in event) assert.equal(event.text, text);
  if ('name' in event) assert.equal(event.name, text);
  if ('call' in event) assert.equal(event.call, call);
  assert.equal(event.id ?? '', id);
  if ('dirty' in event) assert.equal(event.dirty, (flags & 1) !== 0);
  assert.equal(event.cut ?? false, (flags & 2) !== 0);
}

const options = { stream_calls: true, attempts: true };

describe('what the C++ library has recorded', () => {
  const kinds = {
    grammar(one) {
      const language = languages[one.language];
      const grammar = new parlance.Grammar(one.text, { language, vocabulary });
      check_masks(compiler.compile(grammar, { markers: 'text' }), one);
      grammar.free();
    },
    text(one) {
      const bytes = encoder.encode(one.text);
      const ends = [...one.cuts, bytes.length];
      const feeds = ends.map((end, i) => {
        const piece = bytes.subarray(i === 0 ? 0 : ends[i - 1], end);
        return (parser) => parser.feed(piece);
      });
      for (const { Parser } of [parlance, small]) {
        const make = () =>
          new Parser(one.format, { prefix: one.prefix, tools, ...options });
        check_calls(make, feeds, one.calls, one.message);
      }
    },
    ids(one) {
      const request = JSON.parse(setup.requests[one.request]);
      const format = new parlance.Format(one.format);
      const tag = format.tag({ ...request, vocabulary });
      check_masks(compiler.compile(tag, { markers: 'text' }), one);
      const feeds = [];
      for (let at = 0; at < one.ids.length; at += 12) {
        feeds.push((parser) => parser.feedTokens(one.ids.slice(at, at + 12)));
      }
      const make = () =>
        format.parser({ vocabulary, markers: 'text', tools, ...options });
      check_calls(make, feeds, one.calls, one.message);
      tag.free();
      format.free();
    },
  };
  cases.forEach((one, number) => {
    test(`${number + 2}: ${one.kind} ${one.format ?? languages[one.language]}`, () => {
      kinds[one.kind](one);
    });
  });

  test('has every family that is built in', () => {
    const recorded = new Set(cases.map(({ format }) => format));
    const missing = parlance.Format.names().filter((name) => !recorded.has(name));
    assert.deepEqual(missing, []);
  });
});
