// The middleware inside the AI SDK itself, in two major versions, before a provider
// whose model writes raw text.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

const text =
  '<think>Bern, then.</think>Let me look.\n<tool_call>\n' +
  '{"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}\n</tool_call><|im_end|>';

// Versions of the SDK, and what is different in their specification.
const versions = [
  {
    sdk: 'ai5', entry: 'ai-sdk-5', specificationVersion: 'v2',
    usage: { inputTokens: 3, outputTokens: 20, totalTokens: 23 },
    finish: (reason) => reason,
  },
  {
    sdk: 'ai6', entry: 'ai-sdk-6', specificationVersion: 'v3',
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 20, text: 20, reasoning: 0 },
    },
    finish: (reason) => ({ unified: reason, raw: reason }),
  },
];

const load = (name) => import(name).catch(() => null);

for (const { sdk, entry, specificationVersion, usage, finish } of versions) {
  const ai = await load(sdk);
  describe(entry, { skip: ai === null && `there is no ${sdk}; scripts/install node has it` }, () => {
    // A provider whose model writes `said`, `size` characters at a time.
    const model = (said, size = 3, reason = 'stop') => ({
      specificationVersion,
      provider: 'fake',
      modelId: 'raw',
      supportedUrls: {},
      async doGenerate() {
        return {
          content: [{ type: 'text', text: said }],
          finishReason: finish(reason), usage, warnings: [],
        };
      },
      async doStream() {
        const parts = [{ type: 'stream-start', warnings: [] }, { type: 'text-start', id: '0' }];
        for (let at = 0; at < said.length; at += size) {
          parts.push({ type: 'text-delta', id: '0', delta: said.slice(at, at + size) });
        }
        parts.push({ type: 'text-end', id: '0' });
        parts.push({ type: 'finish', finishReason: finish(reason), usage });
        return {
          stream: new ReadableStream({
            start(controller) {
              for (const part of parts) controller.enqueue(part);
              controller.close();
            },
          }),
        };
      },
    });

    const wrapped = async (given) => {
      const { parlanceMiddleware } = await import(`parlance/${entry}`);
      const middleware = parlanceMiddleware({ format: 'qwen3', prefix: '' });
      return ai.wrapLanguageModel({ model: given, middleware });
    };
    const tools = () => ({
      get_weather: ai.tool({
        description: 'The weather',
        inputSchema: ai.jsonSchema({
          type: 'object',
          properties: { city: { type: 'string' }, days: { type: 'integer' } },
        }),
      }),
    });
    const input = { city: 'Zürich', days: 2 };

    test('a whole response', async () => {
      const made = await ai.generateText({
        model: await wrapped(model(text)), tools: tools(), prompt: 'Weather?',
      });
      assert.equal(made.reasoningText, 'Bern, then.');
      assert.equal(made.text.trim(), 'Let me look.');
      assert.deepEqual(made.toolCalls.map((c) => [c.toolName, c.input]), [['get_weather', input]]);
      assert.equal(made.finishReason, 'tool-calls');
    });

    for (const size of [1, 3, 1000]) {
      test(`a stream, ${size} characters at a time`, async () => {
        const made = ai.streamText({
          model: await wrapped(model(text, size)), tools: tools(), prompt: 'Weather?',
          onError: ({ error }) => { throw error; },
        });
        const seen = [];
        let written = '';
        for await (const part of made.fullStream) {
          if (seen.at(-1) !== part.type) seen.push(part.type);
          if (part.type === 'tool-input-delta') written += part.delta;
        }
        assert.deepEqual(JSON.parse(written), input);
        assert.equal(await made.reasoningText, 'Bern, then.');
        assert.equal((await made.text).trim(), 'Let me look.');
        const [call] = await made.toolCalls;
        assert.deepEqual([call.toolName, call.input], ['get_weather', input]);
        assert.equal(await made.finishReason, 'tool-calls');
        const order = ['reasoning-delta', 'text-delta', 'tool-input-delta', 'tool-call'];
        assert.deepEqual(seen.filter((type) => order.includes(type)), order);
      });
    }

    test('a call that is cut off is no call', async () => {
      const cut = text.slice(0, text.indexOf('"days"'));
      const made = await ai.generateText({
        model: await wrapped(model(cut, 3, 'length')), tools: tools(), prompt: 'Weather?',
      });
      assert.deepEqual(made.toolCalls, []);
      assert.equal(made.finishReason, 'length');
    });

    test('text after a call, and pieces without text', async () => {
      const given = model(`${text.replace('<|im_end|>', '')}\nDone.`, 1);
      const { doStream } = given;
      given.doStream = async () => {
        const { stream } = await doStream();
        const empty = { type: 'text-delta', id: '0', delta: '' };
        return {
          stream: stream.pipeThrough(new TransformStream({
            transform(part, controller) {
              if (part.type === 'text-delta') controller.enqueue(empty);
              controller.enqueue(part);
            },
          })),
        };
      };
      const made = ai.streamText({ model: await wrapped(given), tools: tools(), prompt: 'Weather?' });
      assert.match(await made.text, /^Let me look\.\s*Done\.$/);
      assert.deepEqual((await made.toolCalls).map((c) => c.input), [input]);
    });

    test('a stream that its reader leaves', async () => {
      const { stream } = await (await wrapped(model(text, 1))).doStream({ prompt: [] });
      const reader = stream.getReader();
      await reader.read();
      await reader.cancel();
      assert.equal((await reader.read()).done, true);
    });

    test('a wrong option is said before the model is asked', async () => {
      const { parlanceMiddleware } = await import(`parlance/${entry}`);
      const given = model(text);
      given.doGenerate = given.doStream = () => assert.fail('the model was asked');
      const wrong = ai.wrapLanguageModel({
        model: given, middleware: parlanceMiddleware({ format: 'no such', prefix: '' }),
      });
      for (const call of ['doGenerate', 'doStream']) {
        await assert.rejects(wrong[call]({ prompt: [] }), { code: 'unknown_format' });
      }
    });

    test('text alone stays text', async () => {
      const made = ai.streamText({ model: await wrapped(model('It is sunny.')), prompt: 'Weather?' });
      assert.equal(await made.text, 'It is sunny.');
      assert.equal(await made.finishReason, 'stop');
    });
  });
}
