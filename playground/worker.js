// What the worker does for the page.  It is given one of the two modules, and
// answers one request after another: {op, given} -> {value} or {error}.

import * as reading from "../bindings/node/lib/reading.js";
import { compiling, placeOf } from "./compile.js";
import { digestOf, tokenizing } from "./vocabulary.js";
import * as whole from "../bindings/node/lib/whole.js";
import { reading as readingRuntime, whole as wholeRuntime }
  from "../bindings/node/lib/runtime.js";

const kSteps = 1 << 15;  // pieces of a stream
const kPiece = 1 << 16;  // of what is fed without a look between
const kMostEvents = 100000;
const kShownText = 160;

let api = null;

// Facts as the page of an explanation has them, for the viewer's model: the text
// as its bytes, and rows as numbers, which need not be copied.
function packed({ hex, ...facts }, prefix, response) {
  const text = new Uint8Array(facts.bytes);
  text.set(prefix.subarray(prefix.length - facts.prefix_bytes));
  text.set(response, facts.prefix_bytes);
  return { ...facts, rows: Uint32Array.from(facts.rows), text };
}

const formats = new Map();

function formatOf(name) {
  if (!formats.has(name)) formats.set(name, new api.Format(name));
  return formats.get(name);
}

// The format of a file that is being written.
let own = { source: null, format: null };
function formatFrom(source) {
  if (own.source === source) return own.format;
  const format = api.Format.fromJSON(source);
  own.format?.free();
  own = { source, format };
  return format;
}

// With a list of ids, the vocabulary that reads them.
async function optionsOf({ prefix, tools, ids, tokenizer }, say) {
  const out = {};
  if (ids) out.vocabulary = (await tokenizers.keptOf(tokenizer, say)).vocabulary;
  if (prefix?.length > 0) out.prefix = prefix;
  if (tools) out.tools = tools;
  return out;
}

// What is fed to a parser: pieces of `step` tokens or bytes; and the byte at which
// each ends.
function* piecesOf({ response, ids, ends }, step, begin = 0, most = Infinity) {
  const to = Math.min(most, (ids ?? response).length);
  for (let at = begin; at < to; at += step) {
    const end = Math.min(at + step, to);
    yield ids ? [ends[end - 1], (parser) => parser.feedTokens(ids.subarray(at, end))]
      : [end, (parser) => parser.feed(response.subarray(at, end))];
  }
}

// A text of at most some characters, for one line.
function short(text) {
  const said = JSON.stringify(text);
  return said.length <= kShownText ? said : `${said.slice(0, kShownText)}…`;
}

function eventWords(event) {
  const { type, field, start, end, ...more } = event;
  const words = [type.replaceAll("_", " "), field];
  if (event.name) words.push(event.name);
  if (event.text !== undefined) words.push(short(event.text));
  else if (more.value !== undefined && more.value !== null) {
    words.push(short(more.value));
  }
  if (event.attempt) words.push(event.attempt.status);
  return words.filter((word) => word !== "").join(" ");
}

const operations = {
  about() {
    return { version: api.version(), names: api.Format.names() };
  },

  rank({ response, tools }) {
    return api.rankFormats(response, tools ? { tools } : {});
  },

  async read(given, say) {
    const { source, family, response, prefix, ids } = given;
    const began = performance.now();
    const format = source === undefined ? formatOf(family) : formatFrom(source);
    const options = { ...await optionsOf(given, say), name: family, packed: true };
    const facts = ids ? api.explain({ ...options, format, ids })
      : format.explain(response, options);
    const out = packed(facts, prefix, response);
    return { facts: out, ms: performance.now() - began };
  },

  // The messages of samples.
  samples({ source, texts }) {
    const format = formatFrom(source);
    return { messages: texts.map((text) =>
      format.explain(text, { packed: true }).message_text) };
  },

  // The events, the byte at which each came, and how many bytes are held after each
  // piece: of a long response a piece is more than one byte or token.  Of piece number
  // `part`, which is fed so after all that is before it, only its own.
  async stream({ part, ...given }, say) {
    const { family, response, ids } = given;
    const parser = formatOf(family).parser({ ...await optionsOf(given, say),
      stream_calls: true, attempts: true });
    const size = (ids ?? response).length;
    const step = Math.max(1, Math.ceil(size / kSteps));
    const [begin, end] = part === undefined ? [0, size]
      : [part * step, Math.min(size, (part + 1) * step)];
    const came = [];
    const places = [];
    const lines = [];
    const held = [];
    let left = 0;
    const add = (at, events) => {
      for (const event of events) {
        if (lines.length >= kMostEvents) {
          ++left;
          continue;
        }
        came.push(at);
        places.push(event.start ?? at, event.end ?? at);
        lines.push(eventWords(event));
      }
    };
    try {
      const first = parser.initialEvents();
      if (begin === 0) add(0, first);
      for (const [, feed] of piecesOf(given, kPiece, 0, begin)) feed(parser);
      held.push(parser.held().length);
      for (const [at, feed] of piecesOf(given, part === undefined ? step : 1, begin, end)) {
        add(at, feed(parser));
        held.push(parser.held().length);
      }
      if (end === size) add(response.length, parser.finalize());
      return { came: Uint32Array.from(came), places: Uint32Array.from(places),
        lines: lines.join("\n"), held: Uint32Array.from(held), step, left };
    } finally {
      parser.free();
    }
  },

  // The response as the three chat APIs have it, whole or as they stream it.
  async shape({ kind, isStream, ...given }, say) {
    const { family } = given;
    const format = formatOf(family);
    const parser = format.parser({ ...await optionsOf(given, say),
      stream_calls: true });
    const chat = new api.ChatStream(format, { api: kind, id: "1", created: 0,
      model: family });
    try {
      let out = chat.begin();
      parser.initialEvents();
      out += chat.feed(parser);
      const step = !isStream ? kPiece : given.ids ? 1 : 256;
      for (const [, feed] of piecesOf(given, step)) {
        feed(parser);
        out += chat.feed(parser);
      }
      parser.finalize();
      out += chat.feed(parser) + chat.end("stop", { parser });
      return isStream ? out : JSON.stringify(chat.response(), null, 2);
    } finally {
      parser.free();
      chat.free();
    }
  },

  // The text inside a stream of events, and what could not be read.
  events({ text }) {
    const stream = new api.SSE();
    try {
      const response = stream.feed(text) + stream.finalize();
      return { response, faults: stream.faults() };
    } finally {
      stream.free();
    }
  },

  // The format file of a family, as text.
  source({ name }) {
    return { text: JSON.stringify(formatOf(name).toJSON(), null, 2) };
  },

  // Which format a name stands for.
  async digest({ family }) {
    const text = new TextEncoder().encode(JSON.stringify(formatOf(family).toJSON()));
    return { digest: (await digestOf(text)).slice(0, 16) };
  },

  lint({ source }) {
    const placed = (one) => ({ ...one, place: placeOf(api, source, one) });
    try {
      return { lints: formatFrom(source).lint().map(placed) };
    } catch (error) {
      if (error.code === "spent") throw error;
      const { message, path, span } = error;
      return { error: placed({ message, path, span }) };
    }
  },

  // Whether a format reads what it writes; one that writes nothing is an error.
  check({ source, seed, walks }) {
    const format = formatFrom(source);
    format.tag().free();
    return format.check({ seed, walks });
  },

  detect({ config }) {
    return api.detect(config);
  },
};

const compiler = compiling(whole, formatOf);
const tokenizers = tokenizing(whole, compiler.grammarOf);
Object.assign(operations, compiler.operations, tokenizers.operations);

function transferable(value) {
  const found = [];
  for (const one of Object.values({ ...value, ...value?.facts })) {
    if (ArrayBuffer.isView(one)) found.push(one.buffer);
  }
  return found;
}

let ready = null;

self.onmessage = async ({ data }) => {
  if (data.module) {
    api = data.whole ? whole : reading;
    ready = (data.whole ? wholeRuntime : readingRuntime).init(data.module);
    ready.catch(() => {});
    return;
  }
  try {
    await ready;
    const value = await operations[data.op](data.given,
      (said) => self.postMessage({ said }));
    self.postMessage({ value }, transferable(value));
  } catch (error) {
    const { message, code, path, span } = error;
    self.postMessage({ error: { message, code, path, span } });
  }
};
