// What a user writes must fit the types; scripts/test bindings has tsc read it.

import { Compiler, Format, Grammar, init, Parser, ParlanceError, Vocabulary } from 'parlance';
import type { ParserEvent } from 'parlance';
import { Parser as SmallParser, init as init_small } from 'parlance/parser';

await init(new URL('https://example.org/parlance.wasm'));
await init(fetch('parlance.wasm'));
await init_small();

const parser = new Parser('qwen3', { prefix: '', stream_calls: true });
const shown: string[] = [];
for await (const event of parser.stream(['a', 'b'])) {
  if (event.type === 'region_chunk') shown.push(event.field, event.text);
  if (event.type === 'call_open') shown.push(event.name);
}
const events: ParserEvent[] = parser.finalize();
const small: SmallParser = new SmallParser('qwen3');
small.feed(new Uint8Array(1));

const vocabulary = new Vocabulary({ tokens: ['a', new Uint8Array([1])], stop_ids: [1] });
const grammar: Grammar = new Format('qwen3').grammar({ reasoning: 'off', vocabulary });
const matcher = new Compiler(vocabulary).compile(grammar, { markers: 'text' }).matcher();
const constrains: boolean = matcher.fill(new Int32Array(matcher.maskWords));
const where: { offset: number; expected: string } | null = grammar.explain('x');

try {
  new Format('x');
} catch (error) {
  if (error instanceof ParlanceError) console.log(error.code, error.path, error.span?.[0]);
}

// @ts-expect-error no such option
new Parser('qwen3', { streamCalls: true });
// @ts-expect-error no such event
events.filter((event) => event.type === 'region');
// @ts-expect-error a parser of the small entry has no tree
small.tree();
console.log(shown, constrains, where);
