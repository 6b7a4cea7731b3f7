// What a middleware of the AI SDK does in every version: the text that a model's
// provider passes on as it is becomes parts of reasoning, text and tool calls.

import { ChatStream, init, Parser } from '#parser';

// The tools of a call of the SDK, as the chat completions API has them.
function tools_of(params) {
  return (params.tools ?? [])
    .filter((tool) => tool.type === 'function')
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    }));
}

// Why a response ended, for the library.
const end_of = (finish) =>
  ({ length: 'length', 'content-filter': 'content_filter' })[finish] ?? 'stop';

// Reads one response.  Parts are those of the SDK's streams, which are the same in
// versions 2 and 3 of its specification.
export class ResponseReader {
  static async create({ format, prefix }, params) {
    await init();
    return new ResponseReader(format, prefix, tools_of(params));
  }

  #parser;
  #chat;
  #block = null; // the part that is open: its type and id
  #blocks = 0;
  #calls = [];
  // In the ids of parts: the provider has parts of its own in the same stream.
  #mark = Math.random().toString(36).slice(2);

  constructor(format, prefix, tools) {
    this.#parser = new Parser(format, { prefix, tools, stream_calls: true });
    this.#chat = new ChatStream(format, {
      output: 'json',
      reasoning_name: 'reasoning',
      call_id_prefix: `call_${this.#mark}_`,
    });
    this.#chat.begin();
  }

  // The parts that a piece of text completes.
  feed(text) {
    this.#parser.feed(text);
    return this.#parts(this.#chat.feed(this.#parser));
  }

  // The last parts, and whether the response calls tools.
  finish(reason) {
    this.#parser.finalize();
    const out = this.#parts(this.#chat.feed(this.#parser));
    out.push(
      ...this.#parts(this.#chat.end(end_of(reason), { parser: this.#parser })),
      ...this.#close(),
    );
    // Those that are complete.
    const calls = this.message().tool_calls ?? [];
    for (const { id, function: called } of calls) {
      out.push({
        type: 'tool-call',
        toolCallId: id,
        toolName: called.name,
        input: called.arguments,
      });
    }
    return { parts: out, called: calls.length > 0 };
  }

  message() {
    return this.#chat.response().choices[0].message;
  }

  free() {
    this.#chat.free();
    this.#parser.free();
  }

  #close() {
    if (this.#block === null) return [];
    const { type, id } = this.#block;
    this.#block = null;
    return [{ type: `${type}-end`, id }];
  }

  #delta(type, id, delta, more = {}) {
    const out = [];
    if (this.#block?.type !== type || (id !== null && this.#block.id !== id)) {
      out.push(...this.#close());
      this.#block = { type, id: id ?? `${type}-${this.#mark}-${this.#blocks++}` };
      out.push({ type: `${type}-start`, id: this.#block.id, ...more });
    }
    if (delta !== '') out.push({ type: `${type}-delta`, id: this.#block.id, delta });
    return out;
  }

  #parts(chunks) {
    const out = [];
    for (const { body } of chunks) {
      for (const { delta } of body.choices ?? []) {
        if (delta.reasoning) out.push(...this.#delta('reasoning', null, delta.reasoning));
        if (delta.content) out.push(...this.#delta('text', null, delta.content));
        for (const { index, id, function: called } of delta.tool_calls ?? []) {
          this.#calls[index] ??= { id, toolName: called.name };
          const call = this.#calls[index];
          out.push(
            ...this.#delta('tool-input', call.id, called.arguments ?? '', {
              toolName: call.toolName,
            }),
          );
        }
      }
    }
    return out;
  }
}

// The parts of a whole response: content of the SDK.
function content_of(reader, content, reason) {
  try {
    const text = content.filter((part) => part.type === 'text');
    for (const part of text) reader.feed(part.text);
    const { parts, called } = reader.finish(reason);
    const message = reader.message();
    const made = [];
    if (message.reasoning) made.push({ type: 'reasoning', text: message.reasoning });
    if (message.content) made.push({ type: 'text', text: message.content });
    made.push(...parts.filter((part) => part.type === 'tool-call'));
    return { content: [...content.filter((part) => part.type !== 'text'), ...made], called };
  } finally {
    reader.free();
  }
}

function transformed(reader, stream, finish_of, with_calls) {
  let finished = false;
  const last = (reason, controller) => {
    if (finished) return false;
    finished = true;
    const { parts, called } = reader.finish(reason);
    for (const part of parts) controller.enqueue(part);
    reader.free();
    return called;
  };
  return stream.pipeThrough(
    new TransformStream({
      transform(part, controller) {
        if (part.type === 'text-delta') {
          for (const made of reader.feed(part.delta)) controller.enqueue(made);
        } else if (part.type === 'finish') {
          const called = last(finish_of(part.finishReason), controller);
          controller.enqueue(
            called ? { ...part, finishReason: with_calls(part.finishReason) } : part,
          );
        } else if (part.type !== 'text-start' && part.type !== 'text-end') {
          controller.enqueue(part);
        }
      },
      flush(controller) {
        last('stop', controller);
      },
      cancel() {
        finished = true;
        reader.free();
      },
    }),
  );
}

// `finish_of`: the word of a finish reason.  `with_calls`: that of a response that
// calls tools, in place of the provider's.
export function middleware(options, { finish_of, with_calls }) {
  return {
    async wrapGenerate({ doGenerate, params }) {
      // What is wrong with the options is said before the model is asked.
      const reader = await ResponseReader.create(options, params);
      const made = await doGenerate();
      const { content, called } = content_of(
        reader, made.content, finish_of(made.finishReason),
      );
      const finishReason = called ? with_calls(made.finishReason) : made.finishReason;
      return { ...made, content, finishReason };
    },
    async wrapStream({ doStream, params }) {
      const reader = await ResponseReader.create(options, params);
      const made = await doStream();
      const stream = transformed(reader, made.stream, finish_of, with_calls);
      return { ...made, stream };
    },
  };
}
