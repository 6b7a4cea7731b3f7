// What is around the response: how it ended, where its fields are, what is wrong
// with it, and the message.

import { button, count, make, number, range, region, show, shown } from "./text.js";
import { isDelimiter, kSigns, kWords } from "./rows.js";

const kShownProblems = 100;
const kFewTicks = 100;  // in the strip
const kMessageLines = 1000;
const kStringCharacters = 2000;

const isProblem = (remark) => remark.kind !== "held";

// Whether a remark says why a call was dropped, which the message says, too.
function isDropped(model) {
  const reasons = new Set(model.dropped.map(({ why }) => why));
  return ({ fact }) => reasons.has(fact.message);
}

// ---- How it ended

// The worst of what can be said, then the rest: [kind, sentence] each.
function verdictOf(model) {
  const { facts, attempted, droppedCount } = model;
  const out = [];
  if (facts.error) out.push(["bad", "A strict reading fails"]);
  if (facts.accepted === true) out.push(["good", "Accepted: the whole text fits"]);
  if (facts.accepted === false) {
    const fits = model.rows > 0 ? model.end(0) : 0;
    out.push(["bad", fits === model.size
      ? "Not accepted: the text ends too early"
      : `Not accepted: only the first ${count(fits, "byte")} ` +
        (fits === 1 ? "fits" : "fit")]);
  }
  if (droppedCount > 0) {
    out.push(["bad", attempted === 1 ? "The call was lost"
      : droppedCount === attempted ? `All ${number(attempted)} calls were lost`
      : `${number(droppedCount)} of ${number(attempted)} calls ` +
        (droppedCount === 1 ? "was lost" : "were lost")]);
  }
  if (facts.complete === false) {
    const cut = model.remarks.find(({ kind }) => kind === "cut");
    const inCall = model.dropped.some(({ status }) => status === "cut_off");
    out.push(["cut", "Unfinished: " + (cut ? cut.words
      : `the response ends ${inCall ? "inside a call" : "too early"}`)]);
  }
  const isTold = isDropped(model);
  const others = model.remarks.filter((remark) => isProblem(remark) &&
    remark.kind !== "hint" && remark.kind !== "cut" && !isTold(remark));
  if (others.length > 0 && facts.accepted === undefined) {
    const most = facts.more_diagnostics ? " or more" : "";
    out.push(["doubt", out.length > 0
      ? count(others.length, "further problem") + most
      : `Complete, with ${count(others.length, "problem")}` + most]);
  } else if (out.length === 0) {
    const hinted = model.remarks.some(({ kind }) => kind === "hint");
    out.push(hinted ? ["doubt", "Complete, but probably not read as it was meant"]
                    : ["good", "Complete"]);
  }
  return out;
}

const placeWords = (remark) => `byte ${number(remark.place)}`;

// Of many such buttons each has a name.
function showButton(remark, select) {
  const made = button("", "Show", () => select(remark));
  made.setAttribute("aria-label", `Show ${placeWords(remark)}`);
  return made;
}

// Returns an element, and the remarks that are in it.
export function verdict(model, select) {
  const told = new Set(model.remarks.filter(isDropped(model)));
  const made = make("div", "verdict");
  const [[kind, worst], ...rest] = verdictOf(model);
  made.classList.add(kind);
  const head = make("p", "worst");
  const sign = make("span", "big-sign", kSigns[kind]);
  sign.setAttribute("aria-hidden", "true");
  head.append(sign, shown("b", worst));
  made.append(head);
  const why = make("div", "why");
  const first = model.remarks.find((remark) => remark.kind === kind) ||
    model.remarks.find((remark) => isProblem(remark) && remark.kind !== "hint");
  if (first && kind !== "good") {
    const said = make("p");
    if (!worst.includes(first.words)) said.append(shown("span", first.words));
    if (said.firstChild) said.append(" ");
    said.append(showButton(first, select));
    why.append(said);
    told.add(first);
  } else if (model.facts.error) {
    why.append(shown("p", model.facts.error.message));
  }
  for (const [, sentence] of rest) why.append(shown("p", sentence));
  const hints = model.remarks.filter((remark) => remark.kind === "hint");
  for (const hint of hints.slice(0, 3)) {
    told.add(hint);
    const line = make("p", "hint");
    line.append(shown("b", `${kSigns.hint} Hint`), " ",
      shown("span", hint.words), " ", showButton(hint, select));
    why.append(line);
  }
  if (why.firstChild) made.append(why);
  return { element: made, told };
}

export function summary(model) {
  const { facts, tokens, allowed } = model;
  const list = make("ul", "summary");
  const add = (text, value) => {
    const item = make("li");
    item.append(text);
    if (value) item.append(" ", shown("b", value));
    list.append(item);
  };
  const by = { format: "format", structural_tag: "structural tag",
    grammar: "grammar" };
  if (facts.name) add(by[facts.by], facts.name);
  else add(`by a ${by[facts.by]}`);
  add(count(facts.bytes - facts.prefix_bytes, "byte"));
  if (facts.prefix_bytes > 0) {
    add(`after ${count(facts.prefix_bytes, "byte")} of the prompt`);
  }
  if (tokens) add(count(tokens.ids.length, "token"));
  if (allowed.length > 0) {
    const forced =
      allowed.filter((n, i) => n === 1 && i !== tokens.rejected).length;
    add(`${number(forced)} of them forced`);
  }
  if (model.attempted > 0) add(count(model.attempted, "call"));
  if (facts.turn_ended) add("the turn ended");
  if (model.bytes.length < model.size) {
    add(`only the first ${count(model.bytes.length, "byte")} are here`);
  }
  return list;
}

export function legend(model) {
  const sizes = new Map();
  for (let i = 0; i < model.rows; ++i) {
    const { field } = model.row(i);
    if (field) {
      sizes.set(field, (sizes.get(field) || 0) + model.end(i) - model.starts[i]);
    }
  }
  const list = make("ul", "legend");
  list.setAttribute("aria-label", "Fields");
  for (const [field, size] of sizes) {
    const item = make("li", model.fieldClass(field));
    item.append(make("i"), shown("b", field), ` ${count(size, "byte")}`);
    list.append(item);
  }
  list.hidden = sizes.size === 0;
  return list;
}

// ---- The strip: the whole response, one colour for each field

export class Strip {
  constructor(model, select) {
    this.model = model;
    this.window = [0, 0];
    this.canvas = make("canvas", "strip");
    this.canvas.setAttribute("aria-hidden", "true");
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      select((event.clientX - box.left) / box.width * model.bytes.length);
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => this.draw());
  }

  // The bytes that are shown below.
  setWindow(begin, end) {
    this.window = [begin, end];
    this.draw();
  }

  draw() {
    const { canvas, model } = this;
    const width = canvas.clientWidth * devicePixelRatio;
    const height = canvas.clientHeight * devicePixelRatio;
    if (width === 0) return;
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    const colours = new Map();
    const probe = make("i");
    canvas.after(probe);
    const colour = (name, property) => {
      const key = name + property;
      if (!colours.has(key)) {
        probe.className = name;
        colours.set(key,
          getComputedStyle(probe).getPropertyValue(property).trim());
      }
      return colours.get(key);
    };
    context.fillStyle = colour("none", "--mark");
    context.fillRect(0, 0, width, height);
    const scale = width / Math.max(1, model.bytes.length);
    const edge = 3 * devicePixelRatio;
    const bar = height - 2 * edge;
    let drawn = -1;  // of rows within one pixel the first is drawn
    for (let i = 0; i < model.rows; ++i) {
      const left = Math.floor(model.starts[i] * scale);
      const right = Math.max(left + 1, Math.floor(model.end(i) * scale));
      if (right === left + 1 && left === drawn) continue;
      const shape = model.row(i);
      const wrong = shape.kind === "rest" || shape.kind === "unclaimed";
      if (!shape.field && !wrong) continue;
      drawn = left;
      context.clearRect(left, edge, right - left, bar);
      context.fillStyle = wrong ? colour("none", "--error")
                                : colour(model.fieldClass(shape.field), "--c");
      context.globalAlpha = isDelimiter(shape) ? 1 : 0.75;
      context.fillRect(left, edge, right - left, bar);
    }
    context.globalAlpha = 1;
    // Problems reach over the fields, or stand above them if they are many.
    const few = model.remarks.length <= kFewTicks;
    let last = -1;
    for (const { kind, place } of model.remarks) {
      if (kind === "held") continue;
      const x = Math.floor(Math.min(place * scale, width - edge));
      if (x === last) continue;
      last = x;
      if (few) {
        context.fillStyle = colour("none", "--card");
        context.fillRect(x - Math.ceil(edge / 2), 0, 2 * edge, height);
      }
      context.fillStyle = colour("none", kind === "bad" ? "--error"
        : kind === "hint" ? "--focus" : "--warning");
      context.fillRect(x, 0, edge, few ? height : 2 * edge);
    }
    const [begin, end] = this.window;
    if (begin > 0 || end < model.bytes.length) {
      context.strokeStyle = colour("none", "--text");
      context.lineWidth = edge / 1.5;
      context.strokeRect(begin * scale, edge / 2,
        Math.max(edge, (end - begin) * scale), height - edge);
    }
    probe.remove();
  }
}

// ---- Problems

// Those that are not told elsewhere.
export function problems(model, told, select) {
  const section = make("section", "problems");
  const found = model.remarks.filter((remark) =>
    isProblem(remark) && !told.has(remark));
  section.hidden = found.length === 0;
  if (section.hidden) return section;
  const title = make("h2", "", told.size > 0 ? "Further problems" : "Problems");
  const list = make("ol");
  for (const remark of found.slice(0, kShownProblems)) {
    const item = make("li");
    const made = button(`to-place ${remark.kind}`, "", () => select(remark));
    made.append(shown("span", remark.words),
      make("small", "", `${kWords[remark.kind]} · ${placeWords(remark)}`));
    item.append(made);
    list.append(item);
  }
  section.append(title, list);
  if (found.length > kShownProblems) {
    section.append(make("p", "quiet",
      `and ${number(found.length - kShownProblems)} more, each in the response`));
  }
  return section;
}

// ---- The message

const kStatus = { malformed: "cannot be read", no_name: "has no name",
  cut_off: "is cut off" };

function droppedCalls(model, select) {
  const section = make("div", "dropped");
  section.append(make("h3", "", model.droppedCount === 1
    ? "Not in the message: 1 call"
    : `Not in the message: ${number(model.droppedCount)} calls`));
  const list = make("ul");
  for (const call of model.dropped.slice(0, kShownProblems)) {
    const item = make("li");
    const [start, end] = call.bytes;
    const name = call.name ? shown("b", call.name) : make("b", "", "a call");
    item.append(name, ` ${kStatus[call.status]}: `, shown("span", call.why), " ",
      button("", `Show bytes ${range(start, end)}`, () => select(start)));
    list.append(item);
  }
  section.append(list);
  if (model.droppedCount > kShownProblems) {
    section.append(make("p", "quiet",
      `and ${number(model.droppedCount - kShownProblems)} more`));
  }
  return section;
}

// The message is text of JSON, indented by two: its numbers may have more digits
// than a number here.
export function message(model, select) {
  const { facts } = model;
  const text = facts.message_text !== undefined ? facts.message_text
    : facts.message !== undefined ? JSON.stringify(facts.message, null, 2)
    : undefined;
  const section = make("section", "message");
  section.hidden = text === undefined;
  if (section.hidden) return section;
  section.append(make("h2", "", "Message"));
  if (model.droppedCount > 0) section.append(droppedCalls(model, select));
  const pre = region("The message as JSON");
  let at = 0;
  const add = () => {
    for (let lines = 0; lines < kMessageLines && at < text.length; ++lines) {
      const end = text.indexOf("\n", at);
      const line = text.slice(at, end < 0 ? text.length : end);
      addLine(model, pre, line);
      at += line.length + 1;
      if (at <= text.length) pre.append("\n");
    }
    if (at >= text.length) return;
    const more = button("more", "More lines", () => {
      more.remove();
      add();
    });
    pre.append(more);
  };
  add();
  section.append(pre);
  return section;
}

function addLine(model, pre, line) {
  const key = /^( *)("(?:[^"\\]|\\.){0,500}"): /.exec(line);
  let rest = line;
  if (key) {
    rest = line.slice(key[0].length);
    pre.append(key[1]);
    // The keys of the message are the fields of the response.
    const name = make("span", "key");
    if (key[1].length === 2) {
      name.classList.add(model.fieldClass(key[2].slice(1, -1)));
    }
    show(name, key[2]);
    pre.append(name, ": ");
  }
  const start = /^ */.exec(rest)[0];
  pre.append(start);
  addValue(pre, rest.slice(start.length));
}

function addValue(pre, value) {
  const made = make("span",
    value.startsWith('"') ? "string" : /^[[\]{}]/.test(value) ? "" : "other");
  pre.append(made);
  const isShort = value.length <= 2 * kStringCharacters;
  let cut = isShort ? value.length : kStringCharacters;
  if (!isShort && /[\udc00-\udfff]/.test(value[cut])) ++cut;
  show(made, value.slice(0, cut));
  if (isShort) return;
  const more = button("more", count(value.length - cut, "more character"), () => {
    more.remove();
    // A megabyte in one element would take seconds to lay out.
    addPieces(pre, made, value, cut);
  });
  made.after(more);
}

function addPieces(pre, after, value, from) {
  const kPiece = 65536;
  let to = Math.min(value.length, from + kPiece);
  if (to < value.length && /[\udc00-\udfff]/.test(value[to])) ++to;
  const made = make("span", after.className);
  show(made, value.slice(from, to));
  after.after(made);
  if (to === value.length) return;
  const more = button("more", count(value.length - to, "more character"), () => {
    more.remove();
    addPieces(pre, made, value, to);
  });
  made.after(more);
}
