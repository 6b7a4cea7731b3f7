// The tokenizer of the page: a file that was opened, and that the worker of
// constraints reads.  A link has its name and digest, and nothing else of it.

import { button, decoded, make, number, shown }
  from "../src/beside/explanation/viewer/text.js";

import { kOld } from "./engine.js";
import { byId } from "./page.js";

const kMostMs = 60000;

export class Tokenizer {
  // `onChange` is called when it is read, or forgotten.
  constructor(engine, onChange) {
    this.engine = engine;
    this.onChange = onChange;
    this.serial = 0;
    this.forget();
  }

  forget() {
    this.given = null;
    this.table = null;
    byId("tokenizer").hidden = true;
  }

  // What requests have of it; null while there is none.
  get request() {
    return this.table ? this.given : null;
  }

  get size() {
    return this.table.ends.length;
  }

  // What a link says of it.
  get words() {
    return this.table ? `${this.given.file.name.slice(0, 100)} ${this.table.digest}` : "";
  }

  async open(file) {
    const given = { file, id: ++this.serial };
    this.given = given;
    this.table = null;
    this.say("is read");
    try {
      const table = await this.engine.run("tokenizer", "tokenizer",
        { tokenizer: given }, kMostMs);
      if (this.given !== given) return;
      this.table = table;
      const words = [`${number(this.size)} tokens`, `${number(file.size)} bytes`];
      if (table.digest) words.push(`SHA-256 ${table.digest.slice(0, 16)}…`);
      if (!table.hasStop) words.push("it does not say which tokens end a text");
      this.line(words.join(", "), "Forget", () => {
        this.forget();
        this.onChange();
      });
    } catch (error) {
      if (error === kOld || this.given !== given) return;
      this.line(`cannot be read: ${error.message} Wanted is a tokenizer.json, a ` +
        "tekken.json, a tokenizer.model, ranks of tiktoken, or a GGUF file.",
      "Close", () => this.forget());
      this.given = null;
    }
    this.onChange();
  }

  // How far the worker is.
  say(words) {
    if (this.given && !this.table) {
      this.line(words, "Stop", () => this.engine.stop());
    }
  }

  line(words, name, action) {
    const line = byId("tokenizer");
    line.hidden = false;
    const file = this.given?.file.name ?? "";
    line.replaceChildren(make("b", "", "Tokenizer"), " ", shown("span", file), ": ",
      shown("span", words), " ", button("own", name, action));
  }

  bytes(id) {
    const { bytes, ends } = this.table;
    return bytes.subarray(id === 0 ? 0 : ends[id - 1], ends[id]);
  }

  // The bytes of a list of tokens, and where each of them ends.
  decode(ids) {
    const outside = ids.find((id) => id >= this.size);
    if (outside !== undefined) {
      throw new Error(`the id ${outside} is not one of its ${number(this.size)} tokens`);
    }
    const ends = new Uint32Array(ids.length);
    let end = 0;
    ids.forEach((id, i) => { ends[i] = end += this.bytes(id).length; });
    const bytes = new Uint8Array(end);
    ids.forEach((id, i) => bytes.set(this.bytes(id), i === 0 ? 0 : ends[i - 1]));
    return { bytes, ends };
  }

  // The text of a token; of bytes that are no characters, their numbers.
  text(id) {
    const bytes = this.bytes(id);
    return decoded(bytes) ?? Array.from(bytes, (byte) =>
      byte > 32 && byte < 127 ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  }
}
