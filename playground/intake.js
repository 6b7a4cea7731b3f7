// What was pasted, asked of the text: an answer of an API, a stream of events, an
// escaped string out of a log, or the text of a response.
//
// recognise(string) is {as, why, response?, isStream?, ids?} or null for plain text.
// The text of a stream is read by the library (SSE).  Of a file its first bytes and
// its name say whether it is a tokenizer.

const kMostBytes = 8 << 20;

// What the choices, blocks and items of an answer have as text; `parsed` counts
// what a server has taken out of it.
function partsOf(answer) {
  const out = { texts: [], parsed: [] };
  const add = (text) => {
    if (typeof text === "string" && text !== "") out.texts.push(text);
  };
  for (const choice of list(answer.choices)) {
    const message = choice?.message ?? choice?.delta ?? choice ?? {};
    add(message.content ?? message.text);
    for (const name of ["reasoning_content", "reasoning", "tool_calls"]) {
      const found = message[name];
      if (found && found.length > 0) out.parsed.push(name);
    }
  }
  for (const block of [...list(answer.content), ...list(answer.output)]) {
    add(block?.text);
    for (const inner of list(block?.content)) add(inner?.text);
    if (["tool_use", "thinking", "function_call", "reasoning"].includes(block?.type)) {
      out.parsed.push(block.type);
    }
  }
  add(answer.generated_text ?? answer.response);
  return out;
}

const list = (value) => (Array.isArray(value) ? value : []);

// The list of tools, which may be in a request, or of one tool alone.
export function toolsIn(value) {
  if (typeof value !== "object" || value === null) {
    throw new Error("a list of tools was expected, or one tool");
  }
  return Array.isArray(value) ? value : value.tools ?? [value];
}

// The value of a JSON text; undefined for another text.
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    return undefined;
  }
}

function answerOf(text) {
  const whole = parsed(text);
  const answers = whole !== undefined ? [whole]
    : text.split("\n").filter((line) => line.trim() !== "").map(parsed);
  if (answers.length === 0 || !answers.every((one) => typeof one === "object" &&
      one !== null && !Array.isArray(one))) {
    return null;
  }
  const found = answers.map(partsOf);
  const texts = found.flatMap((one) => one.texts);
  const taken = [...new Set(found.flatMap((one) => one.parsed))];
  if (texts.length === 0 && taken.length === 0) return null;
  const isLines = answers.length > 1;
  // Its own members are not those of a call that a model has written.
  const marks = ["choices", "content", "output", "generated_text", "response"];
  if (!answers.every((one) => marks.some((name) => Object.hasOwn(one, name)))) {
    return null;
  }
  return {
    as: isLines ? "the texts of an API's answers, a line each"
                : "the text of an API's answer",
    why: taken.length > 0
      ? `the server has already taken out ${taken.join(", ")}` : "",
    response: texts.join(""),
  };
}

const kEscapes = new Map([["n", "\n"], ["t", "\t"], ["r", "\r"], ["b", "\b"],
  ["f", "\f"], ["0", "\0"], ["a", "\x07"], ["v", "\v"]]);

// The value of a string as JSON or Python writes it, without its quotes.
function unescaped(body) {
  return body.replace(
    /\\(?:u\{?([0-9a-fA-F]{4})\}?|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([^]))/g,
    (all, four, eight, two, one) => {
      if (one !== undefined) return kEscapes.get(one) ?? one;
      const code = parseInt(four ?? eight ?? two, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    });
}

// The strings in quotes of a text, one after another, without their quotes.  A quote
// after an escaping backslash ends none.  The text is passed twice, and not again
// from each quote that nothing ends: a paste has megabytes.
function* quotedIn(text) {
  const quotes = /\\[^]|["']/g;
  const last = new Map();  // where each kind of quote can end a string
  for (const { 0: one, index } of text.matchAll(quotes)) {
    if (one.length === 1) last.set(one, index);
  }
  let open = null;
  for (const { 0: one, index } of text.matchAll(quotes)) {
    const at = index + one.length - 1;
    if (open !== null) {
      if (one !== open.quote) continue;
      yield text.slice(open.begin, at);
      open = null;
    } else if (last.get(text[at]) > at) {
      open = { quote: text[at], begin: at + 1 };
    }
  }
}

// A quoted string with an escape in it, which is most of a line.
function escapedOf(text) {
  if (/\n./.test(text.trim()) || !text.includes("\\")) return null;
  let best = "";
  for (const body of quotedIn(text)) {
    if (body.length > best.length) best = body;
  }
  if (!/\\[nrtu"'\\]/.test(best)) return null;
  const size = text.trim().length;
  if (best.length * 2 < size) return null;
  return {
    as: "an escaped string",
    why: best.length + 2 < size ? "out of a line of a log" : "",
    response: unescaped(best),
  };
}

// A list as JSON or Python writes it, or at least four numbers.
function idsOf(text) {
  const all = text.trim();
  const isList = all.startsWith("[");
  if (isList !== all.endsWith("]")) return null;
  const body = isList ? all.slice(1, -1).trim() : all;
  if (/[^\d\s,]/.test(body)) return null;
  const words = body.split(/\s*,\s*|\s+/);
  if (words.length < (isList ? 2 : 4)) return null;
  const ids = words.map((word) => word === "" ? Infinity : Number(word));
  if (ids.some((id) => id > 0xffffffff)) return null;
  return { as: `a list of ${ids.length} ids`, why: "", ids: Uint32Array.from(ids) };
}

export function recognise(text) {
  if (text.length > kMostBytes) return null;
  const start = text.trimStart();
  if (/^[[\d]/.test(start)) {
    const ids = idsOf(text);
    if (ids) return ids;
  }
  if (/^(?:event|id|retry|data):/.test(start) && /^data:/m.test(start)) {
    return { as: "the text inside a stream of events", why: "", isStream: true };
  }
  if (start.startsWith("{")) {
    const answer = answerOf(start);
    if (answer) return answer;
  }
  return escapedOf(text);
}

// The configuration of a tokenizer, or a chat template, as a configuration; null for
// what is neither.
export function configIn(name, text) {
  if (/\.(?:jinja2?|j2)$/i.test(name)) return { chat_template: text };
  const value = text.trimStart().startsWith("{") ? parsed(text) : null;
  const has = (key) => Object.hasOwn(value ?? {}, key);
  if (["fields", "name", "part"].some(has)) return null;
  return ["tokenizer_class", "chat_template", "added_tokens_decoder", "response_template",
    "response_schema"].some(has) ? value : null;
}

// Whether a file is a tokenizer, by its name and its first bytes.
export function isTokenizer(name, head) {
  const text = String.fromCharCode(...head.subarray(0, 1024));
  if (text.startsWith("GGUF") || /\.(?:gguf|tiktoken|vocab)$/i.test(name)) return true;
  if (/^\s*\{\s*"version"\s*:\s*"[^"]*"\s*,\s*"truncation"/.test(text)) return true;
  return /^(?:tokenizer|tekken)[^/]*\.(?:json|model)$/i.test(name) &&
    !/config/i.test(name);
}
