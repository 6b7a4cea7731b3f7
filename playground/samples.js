// Samples of a format that is being written, each with the message that it should
// read as.  They are read again at each change.

import { button, make, shown } from "../src/beside/explanation/viewer/text.js";

import { parsed } from "./intake.js";
import { refill } from "./page.js";

const kShown = 2000;  // characters of a text or a message in its row

// JSON in one form for equal values; undefined for what is no JSON.
function normal(text) {
  const sorted = (value) => Array.isArray(value) ? value.map(sorted)
    : value && typeof value === "object"
      ? { members: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [name, sorted(inner)]) }
      : value;
  const value = parsed(text);
  return value === undefined ? undefined : JSON.stringify(sorted(value));
}

const compact = (text) => {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value);
};

export class Samples {
  // `onOpen(text)` shows a sample; `onChange` is called when one is kept or removed.
  constructor(host, onOpen, onChange) {
    this.onOpen = onOpen;
    this.onChange = onChange;
    this.list = [];  // {text: Text, message, read?}
    this.element = make("ol", "samples");
    this.element.setAttribute("aria-label", "Samples");
    this.said = make("p", "line quiet");
    this.said.setAttribute("role", "status");
    host.append(this.said, this.element);
    this.set([]);
  }

  get state() {
    return this.list.length === 0 ? null
      : this.list.map(({ text, message }) => ({ text, message }));
  }

  set(list) {
    this.list = list.map((one) => ({ ...one }));
    this.fill();
  }

  add(text, message) {
    this.list.push({ text, message: compact(message), read: message });
    this.fill();
    this.onChange();
  }

  // What samples were read as, in their order; null where nothing reads them.  Some
  // may have been removed meanwhile, and others added.
  readAs(list, messages) {
    list.forEach((one, i) => { one.read = messages?.[i] ?? null; });
    this.fill();
  }

  isHeld({ read, message }) {
    return read !== null && read !== undefined && normal(read) === normal(message);
  }

  fill() {
    const { list } = this;
    const held = list.filter((one) => this.isHeld(one)).length;
    this.said.textContent = list.length === 0
      ? "No samples yet: Sample has a button that adds one."
      : `${held} of ${list.length} samples read as they should.`;
    this.element.hidden = list.length === 0;
    refill(this.element, ...list.map((one, i) => this.row(one, i)));
  }

  row(one, i) {
    const isHeld = this.isHeld(one);
    const isRead = one.read !== null && one.read !== undefined;
    const row = make("li", `remark ${isHeld ? "fine" : "bad"}`);
    const label = make("label", "", "should read as ");
    const wanted = make("input");
    wanted.type = "text";
    wanted.spellcheck = false;
    wanted.value = one.message;
    wanted.addEventListener("change", () => {
      one.message = wanted.value;
      this.fill();
      this.onChange();
    });
    label.append(wanted);
    row.append(isHeld ? "✓ " : "✕ ", shown("code", one.text.string.slice(0, kShown)), " ",
      button("own", "Show", () => this.onOpen(one.text)), " ",
      button("own", "Remove", () => {
        this.list.splice(i, 1);
        this.fill();
        this.onChange();
      }), label);
    if (isHeld) return row;
    const read = make("div");
    if (parsed(one.message) === undefined) read.append("That is no JSON. ");
    if (!isRead) {
      read.append("It is not read: the format does not load.");
    } else {
      read.append("reads as ", shown("code", compact(one.read).slice(0, kShown)), " ",
        button("own", "It should", () => {
          one.message = compact(one.read);
          this.fill();
          this.onChange();
        }));
    }
    row.append(read);
    return row;
  }
}
