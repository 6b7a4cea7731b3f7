// Rates of the module, as JSON: the other half of rates.c, which makes the same
// calls.  What the package adds, which makes objects of events, is measured apart.

import { readFile } from 'node:fs/promises';

import { kEventSize } from './package/lib/events.js';
import { held } from './package/lib/instance.js';
import { Compiler, init, Parser, Vocabulary } from 'parlance';

await init();
const seconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const word = new TextEncoder().encode('the weather in Zürich is sunny today, ');
const text = Uint8Array.from({ length: 1 << 21 }, (_, i) => word[i % word.length]);
text.set(new TextEncoder().encode('<think>'));

// The text in pieces of `piece` bytes; megabytes a second.
function rate(parser, piece, feed, finalize) {
  const began = seconds();
  for (let at = 0; at < text.length; at += piece) {
    feed(at, Math.min(at + piece, text.length));
  }
  finalize();
  const took = seconds() - began;
  parser.free();
  return text.length / 1e6 / took;
}

function with_objects(piece) {
  const parser = new Parser('qwen3');
  const feed = (at, end) => parser.feed(text.subarray(at, end));
  return rate(parser, piece, feed, () => parser.finalize());
}

function module_alone(piece) {
  const parser = new Parser('qwen3');
  const [instance, pointer] = held(parser);
  const { parlance_parser_feed: feed, parlance_parser_finalize: end_of } =
    instance.exports;
  const check = (status) => {
    if (status !== 0) throw new Error('not fed');
  };
  return instance.scope(() => {
    const [begin] = instance.text(text);
    const out = instance.room(8);
    // Without the events as objects, the last of which has the whole value.
    return rate(
      parser,
      piece,
      (at, end) => check(feed(pointer, begin + at, end - at, kEventSize, out, out + 4)),
      () => check(end_of(pointer, kEventSize, out, out + 4)),
    );
  });
}

for (let i = 0; i < 2; ++i) [module_alone, with_objects].map((one) => one(16)); // V8 is at work
const out = {
  'pieces of 16 bytes, MB/s': module_alone(16),
  'one piece, MB/s': module_alone(text.length),
  'pieces of 16 bytes to objects, MB/s': with_objects(16),
};

const [, , tokenizer] = process.argv;
if (tokenizer) {
  const kItem = '{"city": "Bern", "days": 14}, ';
  const vocabulary = Vocabulary.fromBytes(await readFile(tokenizer));
  const compiler = new Compiler(vocabulary, { stop_ids: [151645] });
  const constraint = compiler.compile({
    type: 'array',
    items: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city', 'days'],
      additionalProperties: false,
    },
  });
  const matcher = constraint.matcher();
  const row = new Int32Array(constraint.maskWords);
  const times = [];
  for (let round = 0; round < 20; ++round) {
    matcher.reset();
    matcher.acceptText('[');
    for (let item = 0; item < 40; ++item) {
      for (const byte of kItem) {
        const began = process.hrtime.bigint();
        matcher.fill(row);
        if (round > 0) times.push(Number(process.hrtime.bigint() - began) / 1e3);
        if (!matcher.acceptText(byte)) throw new Error('not accepted');
      }
    }
  }
  times.sort((a, b) => a - b);
  out['warm mask, median us'] = times[times.length >> 1];
  out['warm mask, p99 us'] = times[Math.floor(times.length * 0.99)];
}
console.log(JSON.stringify(out));
