// The elements of what a cursor gives: rows and remarks.

import { bytesOf, count, make, number, range, show, showBytes, shown, sign }
  from "./text.js";
import { kHeldBytes } from "./cursor.js";
import { countWhile } from "./facts.js";

const kBetween = new Set(["layout", "outside", "between"]);

// The delimiters of a region, and what a tag or a trigger begins and ends with.
export function isDelimiter(shape) {
  return shape.kind === "open" || shape.kind === "close" ||
    shape.kind === "end" ||
    (shape.kind === "format" && (shape.type === "tag" || shape.type === "rule"));
}

// Whether a region begins with row `i`, or goes on after the rows of another.
function startsRegion(model, i) {
  if (i === 0) return true;
  const shape = model.row(i);
  const last = model.row(i - 1);
  return shape.field !== last.field || shape.kind === "open" ||
    last.kind === "close";
}

function wordsOf(shape) {
  if (shape.kind === "text") return "text";
  if (shape.kind === "open") return "opens";
  if (shape.kind === "close") return "closes";
  if (!shape.type) return shape.what;
  return shape.kind === "format" ? shape.type
    : shape.kind === "end" ? `end of ${shape.type}` : `in ${shape.type}`;
}

// ---- Text

// Text with line ends that are seen, also where it begins or ends with one.
function showLines(model, parent, from, to) {
  const { bytes } = model;
  let begin = from;
  while (begin < to && bytes[begin] === 10) {
    sign(parent, "\\n");
    parent.append("\n");
    ++begin;
  }
  const last = to > begin && bytes[to - 1] === 10 ? to - 1 : to;
  showMarked(model, parent, begin, last, false);
  if (last === to) return;
  sign(parent, "\\n");
  parent.append("\n");
}

// Bytes `from` to `to`, with what is marked in them.
function showMarked(model, parent, from, to, ends) {
  const { bytes, marks } = model;
  let at = from;
  let i = countWhile(marks.length, (n) => marks[n].end <= from);
  for (; i < marks.length && marks[i].begin < to; ++i) {
    const begin = Math.max(marks[i].begin, at);
    const end = Math.min(marks[i].end, to);
    if (begin >= end) continue;
    showBytes(parent, bytes.subarray(at, begin), ends);
    const mark = make("mark", marks[i].kind);
    showBytes(mark, bytes.subarray(begin, end), true);
    parent.append(mark);
    at = end;
  }
  showBytes(parent, bytes.subarray(at, to), ends);
}

function showTokens(model, parent, item) {
  const { tokens, allowed } = model;
  for (const { index, from, to } of model.tokensIn(item.from, item.to)) {
    const made = make("span", model.isSpecial(index) ? "tok special" : "tok");
    made.dataset.token = index;
    showMarked(model, made, from, to, true);
    let under = "";  // a count that is not known is not to be taken for an id
    if (allowed.length === 0) {
      under = String(tokens.ids[index]);
    } else if (tokens.rejected === index) {
      made.classList.add("refused");
      under = "not allowed";
    } else if (allowed[index] === 1) {
      made.classList.add("forced");
      under = "forced";
    } else if (index < allowed.length) {
      under = number(allowed[index]);
    }
    made.append(make("small", "", under));
    parent.append(made);
    if (model.bytes.subarray(from, to).includes(10)) parent.append(make("br"));
  }
}

export function tokenWords(model, i) {
  const { tokens, allowed } = model;
  let words = `${number(i)} · id ${tokens.ids[i]}`;
  if (model.control.has(i)) words += " · control token";
  if (model.added.has(i)) words += " · added token";
  if (tokens.rejected === i) {
    words += ` · not allowed (${count(allowed[i], "token")} allowed)`;
  } else if (i < allowed.length) {
    words += allowed[i] === 1 ? " · forced: the only one that was allowed"
                              : ` · ${number(allowed[i])} allowed`;
  }
  return words;
}

function textOf(model, item, shape, byToken) {
  const text = make("div", "text");
  const piece = model.bytes.subarray(item.from, item.to);
  // Line ends of longer text are seen by themselves.
  const ends = isDelimiter(shape) || kBetween.has(shape.kind) ||
    piece.every((byte) => byte === 32 || (byte >= 9 && byte <= 13));
  const inPrompt = item.to <= model.facts.prefix_bytes;
  if (byToken && !inPrompt) {
    showTokens(model, text, item);
  } else if (isDelimiter(shape) && piece.length > 0) {
    const chip = make("span", "chip");
    const tokens = model.tokensIn(item.from, item.to);
    if (tokens.length === 1 && model.isSpecial(tokens[0].index)) {
      chip.classList.add("token");
    }
    showMarked(model, chip, item.from, item.to, ends);
    text.append(chip);
  } else if (ends) {
    showMarked(model, text, item.from, item.to, true);
  } else {
    showLines(model, text, item.from, item.to);
  }
  return text;
}

// ---- Rows

export const kSigns = { bad: "✕", cut: "✂", doubt: "▲", hint: "→", good: "✓" };
export const kWords = { bad: "Error", cut: "Unfinished", doubt: "Note",
  hint: "Hint" };

function remarkElement(model, remark) {
  const { kind, fact, words } = remark;
  if (kind === "held") {
    const made = make("div", "row is-held none");
    const label = make("div", "label");
    label.append(shown("span", fact.what));
    const text = make("div", "text");
    const bytes = fact.text === undefined
      ? model.bytes.subarray(fact.start, fact.end) : bytesOf(fact);
    let cut = Math.min(bytes.length, kHeldBytes);
    for (let n = 0; n < 3 && (bytes[cut] & 0xc0) === 0x80; ++n) --cut;
    showBytes(text, bytes.subarray(0, cut), true);
    if (cut < bytes.length) {
      text.append(make("small", "", ` ${count(bytes.length - cut, "more byte")}`));
    }
    made.append(label, text);
    return made;
  }
  const made = make("div", `remark ${kind}`);
  const mark = make("span", "mark-sign", kSigns[kind]);
  mark.setAttribute("aria-hidden", "true");
  made.append(mark, " ", make("b", "", kWords[kind]), " ",
    shown("span", words));
  return made;
}

function rowElement(model, item, byToken) {
  const shape = model.row(item.row);
  const first = item.from === model.starts[item.row];
  const begins = first && startsRegion(model, item.row);
  const made = make("div",
    `row is-${shape.kind} ${model.fieldClass(shape.field)}`);
  if (kBetween.has(shape.kind)) made.classList.add("gap");
  if (isDelimiter(shape)) made.classList.add("short");
  if (begins) made.classList.add("starts");
  const label = make("div", "label");
  if (first) {
    if (shape.field && begins) label.append(shown("b", shape.field), " ");
    label.append(shown("span", wordsOf(shape)), " ");
    label.append(make("span", "where",
      range(item.from, model.end(item.row))));
  } else {
    label.append(make("span", "where", `from ${number(item.from)}`));
  }
  made.append(label, textOf(model, item, shape, byToken));
  return made;
}

export function elementOf(model, item, byToken) {
  const made = item.remark ? remarkElement(model, item.remark)
                           : rowElement(model, item, byToken);
  made.setAttribute("role", "listitem");
  made.tabIndex = -1;
  return made;
}

// What is known of an item.  `token`: the one that the keys are at, or -1.
export function details(model, item, token) {
  const list = make("dl", "detail");
  const add = (name, value, code) => {
    const dd = make("dd");
    if (code) dd.append(shown("code", value));
    else show(dd, value, true);
    list.append(shown("dt", name), dd);
  };
  const isRow = !item.remark;
  const fact = isRow ? model.row(item.row) : item.remark.fact;
  const begin = isRow ? model.starts[item.row] : fact.start;
  const end = isRow ? model.end(item.row) : fact.end;
  add("what", fact.what);
  add("bytes", `${range(begin, end)} (${number(end - begin)})` +
    (end <= model.facts.prefix_bytes && end > begin
      ? ", written by the prompt" : ""));
  if (fact.at !== undefined) add("at byte", number(fact.at));
  const tokens = model.tokensIn(begin, end);
  if (tokens.length > 0) {
    add("tokens", range(tokens[0].index, tokens[tokens.length - 1].index + 1));
  }
  if (fact.field) add("field", fact.field);
  if (fact.path !== undefined) add("format", `${fact.type} ${fact.path}`);
  if (fact.alternative !== undefined) {
    add("alternative", String(fact.alternative));
  }
  if (fact.finished === false) add("finished", "no, the response ends inside");
  for (const [name, value] of Object.entries(fact.captures || {})) {
    add(name, value, true);
  }
  if (fact.code) add("code", fact.code);
  if (fact.hint) add("hint", fact.hint);
  if (token >= 0) add("token", tokenWords(model, token));
  return list;
}
