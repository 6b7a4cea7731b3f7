// What the worker does with a tokenizer: its file is read here, and is not known
// outside of the worker but by its name, its digest and its tokens.

const kMostFile = 64 << 20;  // bytes; of a GGUF file the header comes first
const kPiece = 1 << 20;

async function isGguf(file) {
  return await file.slice(0, 4).text() === "GGUF";
}

async function bytesOf(file, say) {
  let from = file;
  if (file.size > kMostFile) {
    if (!await isGguf(file)) {
      throw new Error("It is larger than 64 MB, and no GGUF file: no tokenizer.");
    }
    from = file.slice(0, kMostFile);
  }
  const out = new Uint8Array(from.size);
  for (let at = 0; at < out.length; at += kPiece) {
    out.set(new Uint8Array(await from.slice(at, at + kPiece).arrayBuffer()), at);
    say(`${Math.round(100 * Math.min(1, (at + kPiece) / out.length))} % read`);
  }
  return out;
}

// Only pages of a secure origin, and files, have digests.
export async function digestOf(bytes) {
  if (!globalThis.crypto?.subtle) return "";
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The operations on the functions of the whole module; `grammarOf` compiles what
// is given, with a vocabulary.
export function tokenizing(api, grammarOf) {
  let kept = { id: null, vocabulary: null };
  let masks = { key: "", constraint: null };

  function forget() {
    masks.constraint?.free();
    kept.vocabulary?.free();
    kept = { id: null, vocabulary: null };
    masks = { key: "", constraint: null };
  }

  // A worker that was ended has lost it, and the next one reads the file again.
  async function keptOf({ file, id }, say) {
    if (kept.id === id) return kept;
    forget();
    const data = await bytesOf(file, say);
    const digest = await digestOf(data);
    say("its tokens are read");
    const read = api.Vocabulary.fromBytes(data);
    let vocabulary = null;
    try {
      const { stopIds } = read;
      vocabulary = stopIds === null ? read.withStopIds([]) : read;
      kept = { id, vocabulary, digest, ...tokensOf(vocabulary), texts: null,
        hasStop: stopIds !== null };
      return kept;
    } catch (error) {
      if (vocabulary !== read) vocabulary?.free();
      throw error;
    } finally {
      if (kept.vocabulary !== read) read.free();
    }
  }

  // The bytes of all tokens, and where each ends.
  function tokensOf(vocabulary) {
    const pieces = Array.from({ length: vocabulary.size },
      (_, token) => vocabulary.token(token).bytes);
    const ends = new Uint32Array(pieces.length);
    let end = 0;
    pieces.forEach((piece, i) => { ends[i] = end += piece.length; });
    const bytes = new Uint8Array(end);
    pieces.forEach((piece, i) => bytes.set(piece, ends[i] - piece.length));
    return { bytes, ends };
  }

  function constraintOf(given, vocabulary, id) {
    const { kind, source, family } = given;
    const key = JSON.stringify([kind, source, family, id]);
    if (masks.key === key) return masks.constraint;
    masks.constraint?.free();
    masks = { key: "", constraint: null };
    const grammar = grammarOf(given, vocabulary);
    try {
      masks = { key, constraint: grammar.compile(vocabulary) };
    } finally {
      grammar.free();
    }
    return masks.constraint;
  }

  function textsOf() {
    const decoder = new TextDecoder();
    kept.texts ??= Array.from(kept.ends, (end, i) =>
      decoder.decode(kept.bytes.subarray(i === 0 ? 0 : kept.ends[i - 1], end)));
    return kept.texts;
  }

  const operations = {
    // The tokens one after another, and where each ends.
    async tokenizer({ tokenizer }, say) {
      const { digest, bytes, ends, hasStop } = await keptOf(tokenizer, say);
      return { digest, bytes: bytes.slice(), ends: ends.slice(), hasStop };
    },

    // The tokens that may come after a text; `filter`: those with this text, or id.
    async allowed({ tokenizer, text, filter, ...given }, say) {
      const { vocabulary } = await keptOf(tokenizer, say);
      const matcher = constraintOf(given, vocabulary, tokenizer.id).matcher();
      try {
        if (!matcher.acceptText(text)) {
          if (matcher.failure) throw matcher.failure;
          return { isRefused: true };
        }
        const ids = matcher.allowedTokens();
        const has = filter === "" ? null : textsOf();
        return {
          all: ids.length,
          ids: has ? ids.filter((id) => String(id) === filter || has[id].includes(filter))
            : ids,
          forced: matcher.forcedText(200),
          forcedIds: matcher.forcedTokens().slice(0, 100),
          canEnd: matcher.canEnd,
        };
      } finally {
        matcher.free();
      }
    },
  };
  return { operations, keptOf };
}
