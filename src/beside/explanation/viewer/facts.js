// The facts of an explanation (docs/guide/explain.md), as what the viewer draws.
//
//   bytes            what was read, or its beginning: `bytes.length` of `size`
//   starts, shapes   where row i begins, in order; and what it says
//   remarks          what owns no bytes, each after the bytes that it is about
//   marks            the places in the text that are marked
//
// Rows partition the bytes: row i ends where row i + 1 begins, and `starts` has
// one entry more than there are rows.

import { bytesOf, characterSize } from "./text.js";

const kRemarks = new Set(["cut", "malformed", "problem", "expected", "held",
  "hint"]);
const kBad = new Set(["malformed", "expected"]);

// A remark in the middle of a row is after the line of its place, if the line
// ends within so many bytes; and a longer place is not marked.
const kLineBytes = 4096;

// The number of values of the sorted list that `isBefore` holds of.
export function countWhile(length, isBefore) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Rows with their texts, as `parlance explain --json` writes them.
function readRows(facts) {
  const owning = facts.rows.filter((row) => !kRemarks.has(row.kind));
  const bytes = new Uint8Array(facts.bytes);
  const starts = new Uint32Array(owning.length + 1);
  owning.forEach((row, i) => {
    bytes.set(bytesOf(row), row.start);
    starts[i] = row.start;
  });
  starts[owning.length] = facts.bytes;
  const remarks = [];
  let before = -1;
  for (const row of facts.rows) {
    if (kRemarks.has(row.kind)) remarks.push({ fact: row, row: before });
    else ++before;
  }
  return { bytes, starts, shapes: owning, shapeOf: null, remarks };
}

// Rows as pairs of a shape and a size, as a page has them.
function readPackedRows(facts) {
  const { shapes, rows } = facts;
  const isRemark = shapes.map((shape) => kRemarks.has(shape.kind));
  const most = rows.length / 2;
  const starts = new Uint32Array(most + 1);
  const shapeOf = new Uint32Array(most);
  const remarks = [];
  let size = 0;
  let at = 0;
  for (let i = 0; i < rows.length; i += 2) {
    const shape = rows[i];
    if (isRemark[shape]) {
      remarks.push({ fact: shapes[shape], row: size - 1 });
      continue;
    }
    starts[size] = at;
    shapeOf[size++] = shape;
    at += rows[i + 1];
  }
  starts[size] = at;
  return { bytes: bytesOf(facts), starts: starts.subarray(0, size + 1), shapes,
    shapeOf, remarks };
}

export class Model {
  constructor(facts) {
    this.facts = facts;
    this.size = facts.bytes;
    const read = facts.shapes ? readPackedRows(facts) : readRows(facts);
    this.bytes = read.bytes;
    this.starts = read.starts;
    this.rows = read.starts.length - 1;
    this.shapes = read.shapes;
    this.shapeOf = read.shapeOf;
    this.tokens = facts.tokens;
    this.allowed = (facts.tokens && facts.tokens.allowed) || [];
    this.added = new Set(facts.tokens ? facts.tokens.added : []);
    this.control = new Set(facts.tokens ? facts.tokens.control : []);
    this.marks = [];
    this.remarks = read.remarks.map(({ fact, row }) => this.placed(fact, row));
    this.addRemarks();
    this.remarks.sort((a, b) => a.row - b.row || a.cut - b.cut);
    this.marks.sort((a, b) => a.begin - b.begin);
    this.readCalls();
  }

  row(i) {
    return this.shapes[this.shapeOf ? this.shapeOf[i] : i];
  }

  end(i) {
    return this.starts[i + 1];
  }

  // The row that contains a byte, or the last one.
  rowAt(byte) {
    const found = countWhile(this.rows, (i) => this.starts[i] <= byte) - 1;
    return Math.max(found, 0);
  }

  // A remark, shown after row `row`, or in a row after the line of its place.
  placed(fact, row) {
    const kind = fact.kind === "held" ? "held"
      : fact.kind === "hint" ? "hint"
      : kBad.has(fact.kind) ? "bad"
      : fact.kind === "cut" ? "cut" : "doubt";
    const words = kind === "hint" ? fact.message : fact.what;
    const remark = { kind, fact, words, row, cut: row < 0 ? 0 : this.end(row),
      place: fact.at === undefined ? fact.start : fact.at };
    if (kind === "held" || fact.kind === "cut") return remark;
    let place = fact.at;
    if (place === undefined && fact.end > fact.start &&
        fact.end - fact.start <= kLineBytes && row >= 0) {
      const inside = this.rowAt(fact.start);
      const isPart = fact.end <= this.end(inside) &&
        (fact.start > this.starts[inside] || fact.end < this.end(inside));
      if (isPart) {
        place = fact.start;
        this.marks.push({ begin: fact.start, end: fact.end, kind });
      }
    } else if (place !== undefined && place < this.bytes.length) {
      const size = characterSize(this.bytes, place) || 1;
      this.marks.push({ begin: place, end: place + size, kind });
    }
    if (place === undefined || place >= this.bytes.length) return remark;
    remark.row = this.rowAt(place);
    remark.cut = this.lineEnd(remark.row, Math.max(place, fact.end > place &&
      fact.at === undefined ? fact.end - 1 : place));
    return remark;
  }

  // Where the line of row `row` that contains `at` ends.
  lineEnd(row, at) {
    const end = this.end(row);
    const most = Math.min(end, this.boundary(at + kLineBytes));
    const line = this.bytes.subarray(at, most).indexOf(10);
    return line >= 0 ? at + line + 1 : most;
  }

  // The last beginning of a character up to `at`.
  boundary(at) {
    let back = at;
    while (back > 0 && at - back < 3 && (this.bytes[back] & 0xc0) === 0x80) {
      --back;
    }
    return back;
  }

  // What no row says: diagnostics, and calls that are not as their tools want
  // them.
  addRemarks() {
    const { facts } = this;
    const key = (fact) => `${fact.start} ${fact.message}`;
    const said = new Set(this.remarks.map(({ fact }) => key(fact)));
    const add = (fact) => {
      const row = this.rows === 0 ? -1
        : this.rowAt(Math.max(fact.start, fact.end - 1));
      this.remarks.push(this.placed({ what: fact.message, ...fact }, row));
    };
    for (const fact of facts.diagnostics || []) {
      if (!said.has(key(fact))) add({ kind: "problem", ...fact });
    }
    const messages = new Set(this.remarks.map(({ fact }) => fact.message));
    for (const { status, name, why, bytes: [start, end] } of
         facts.attempts || []) {
      if ((status === "unknown_tool" || status === "invalid_arguments") &&
          !messages.has(why)) {
        add({ kind: "problem", start, end, message: `${name}: ${why}` });
      }
    }
  }

  // How many calls were attempted, and those that are not in the message.
  readCalls() {
    const attempts = this.facts.attempts || [];
    const isDropped = ({ status }) =>
      status === "malformed" || status === "no_name" || status === "cut_off";
    this.dropped = attempts.filter(isDropped);
    [this.attempted, this.droppedCount] =
      this.facts.calls || [attempts.length, this.dropped.length];
  }

  // ---- Fields and their colours

  fieldClass(field) {
    if (!this.fieldClasses) {
      const known = { thinking: 0, reasoning: 0, reasoning_content: 0,
        content: 1, tool_calls: 2 };
      this.fieldClasses = new Map();
      let others = 0;
      for (const shape of this.shapes) {
        const name = shape.field;
        if (!name || this.fieldClasses.has(name)) continue;
        this.fieldClasses.set(name, Object.hasOwn(known, name)
          ? `f${known[name]}` : `f${3 + others++ % 5}`);
      }
    }
    return this.fieldClasses.get(field) || "none";
  }

  // ---- Tokens

  isSpecial(token) {
    return this.added.has(token) || this.control.has(token);
  }

  tokenBegin(token) {
    return token === 0 ? this.facts.prefix_bytes : this.tokens.ends[token - 1];
  }

  // The tokens with bytes from `begin` to `end`, and those without bytes there.
  tokensIn(begin, end) {
    if (!this.tokens || end <= this.facts.prefix_bytes) return [];
    const { ends } = this.tokens;
    const out = [];
    let i = countWhile(ends.length, (token) => ends[token] < begin);
    for (; i < ends.length; ++i) {
      const from = Math.max(this.tokenBegin(i), begin);
      const to = Math.min(ends[i], end);
      const empty = ends[i] === this.tokenBegin(i);
      if (from > to || (from === end && end < this.size)) break;
      if (from < to || (empty && (from < end || end === this.size))) {
        out.push({ index: i, from, to });
      }
    }
    return out;
  }
}
