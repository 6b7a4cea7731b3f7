// What the worker does for constraints: the whole module.

const kMostTools = 128;
const kGrammar = 1 << 16;  // characters that are shown
const kWalkBytes = 2000;

// Where an error, a lint or a note is in the source, in bytes.
export function placeOf(api, source, { span, path }, prefix = "") {
  if (span) return span;
  if (!path) return undefined;
  try {
    const found = api.locate(source, path.startsWith(prefix)
      ? path.slice(prefix.length) : path);
    return found?.key ?? found?.value;
  } catch (error) {
    return undefined;
  }
}

// The operations on the functions of the module, and what compiles a grammar;
// `formatOf(name)` keeps formats.
export function compiling(api, formatOf) {
  let known = { key: "", grammar: null };
  let bytes = null;  // a vocabulary of every byte

  function requestOf(source) {
    const value = JSON.parse(source);
    if (typeof value !== "object" || value === null) {
      throw new Error("a list of tools was expected, or a request");
    }
    if (Array.isArray(value)) return { request: { tools: value }, prefix: "/tools" };
    if (!value.tools && !value.response_format) {
      return { request: { response_format: value }, prefix: "/response_format" };
    }
    return { request: value };
  }

  // A JSON error of the engine that runs this: V8 names the position.
  function parsed(source) {
    try {
      return requestOf(source);
    } catch (error) {
      const at = Number(/position (\d+)/.exec(error.message)?.[1]);
      const begin = Number.isNaN(at) ? undefined
        : new TextEncoder().encode(source.slice(0, at)).length;
      throw error instanceof SyntaxError
        ? Object.assign(new Error(`not JSON: ${error.message}`),
          begin === undefined ? {} : { span: [begin, begin + 1] }) : error;
    }
  }

  function compiled({ kind, source, family }) {
    const key = JSON.stringify([kind, source, family]);
    if (known.key === key) return known.grammar;
    known.grammar?.free();
    known = { key: "", grammar: null };
    known = { key, grammar: grammarOf({ kind, source, family }) };
    return known.grammar;
  }

  // For the tokens of a vocabulary, if one is given.
  function grammarOf({ kind, source, family }, vocabulary) {
    if (kind !== "tools") return new api.Grammar(source, { language: kind, vocabulary });
    return formatOf(family).grammar({ ...parsed(source).request, vocabulary });
  }

  function refusal(error, source, given) {
    if (error.code === "spent") throw error;
    const { message, path } = error;
    return { message: path ? `${message} (at ${path})` : message,
      place: placeOf(api, source, error, given?.prefix) };
  }

  // Each tool alone.
  function judged({ source, family }) {
    const given = parsed(source);
    const { tools } = given.request;
    if (!Array.isArray(tools) || tools.length > kMostTools) return [];
    const format = formatOf(family);
    return tools.map((tool, i) => {
      const name = String(tool?.function?.name ?? tool?.name ?? `tool ${i}`);
      try {
        format.grammar({ tools: [tool] }).free();
        return { name };
      } catch (error) {
        const path = error.path?.replace(/^\/tools\/0/, `/tools/${i}`);
        return { name, error: refusal({ ...error, message: error.message,
          code: error.code, span: null, path }, source, given) };
      }
    });
  }

  const operations = {
    compile(given) {
      const { kind, source } = given;
      let request = null;
      try {
        if (kind === "tools") request = parsed(source);
        const grammar = compiled(given);
        const report = grammar.report().map((note) =>
          ({ ...note, place: placeOf(api, source, { path: note.path }, request?.prefix) }));
        let ebnf = "";
        try {
          ebnf = grammar.toEbnf();
        } catch (error) {
          // Not every grammar can be written so.
        }
        return { report, tools: request ? judged(given) : [],
          grammar: ebnf.length > kGrammar ? `${ebnf.slice(0, kGrammar)}\n…` : ebnf };
      } catch (error) {
        return { error: refusal(error, source, request),
          tools: request?.request.tools ? judged(given) : [] };
      }
    },

    accept({ text, ...given }) {
      const grammar = compiled(given);
      const found = grammar.explain(text);
      if (found && found.offset < text.length) return found;
      const matcher = matcherOf(grammar);
      try {
        const forced = matcher.acceptText(text) ? matcher.forcedText(200) : "";
        return { ...found, forced };
      } finally {
        matcher.free();
      }
    },

    // A random text: tokens are bytes, and of those that are allowed one is drawn.
    walk({ seed, ...given }) {
      const matcher = matcherOf(compiled(given));
      let state = seed >>> 0;
      const draw = (most) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * most);
      };
      const out = [];
      try {
        while (out.length < 8 * kWalkBytes) {
          // After many bytes it ends where it can.
          if (matcher.canEnd && (out.length > kWalkBytes || draw(8) === 0)) break;
          const allowed = [...matcher.allowedTokens()].filter((id) => id < 256);
          if (allowed.length === 0) break;
          const plain = allowed.filter((id) => id >= 32 && id < 127);
          // What is seen comes first, until the text is long: it may end by other bytes.
          const isLong = out.length > kWalkBytes / 8;
          const from = plain.length > 0 && !(isLong && draw(4) === 0) ? plain : allowed;
          const closing = isLong
            ? from.filter((id) => '"}]'.includes(String.fromCharCode(id))) : [];
          const choice = closing.length > 0 ? closing : from;
          const id = choice[draw(choice.length)];
          if (!matcher.accept(id)) break;
          out.push(id);
        }
        return { text: Uint8Array.from(out) };
      } finally {
        matcher.free();
      }
    },
  };

  function matcherOf(grammar) {
    bytes ??= new api.Vocabulary({ tokens: [...Array.from({ length: 256 }, (_, i) =>
      Uint8Array.of(i)), "<end>"], control_ids: [256], stop_ids: [256] });
    const constraint = grammar.compile(bytes, { markers: "text" });
    try {
      return constraint.matcher();
    } finally {
      constraint.free();
    }
  }

  return { operations, grammarOf };
}
