// A viewer of the facts of an explanation: showFacts(root, facts) fills an
// element, or a shadow root, and returns {select(byte)}.
//
//   head      how the response ended, the strip, the fields
//   response  rows and remarks, a window of them at a time
//   side      problems, and the message
//
// viewParts(facts) gives these parts to pages that arrange them, and show other
// facts by asking again.  The rows emit an event "select", whose detail is
// {begin, end}: the bytes of the row that was gone to.
//
// The viewer knows nothing of where facts come from, and loads nothing.  Its
// style sheet is viewer.css.

import { before, isBefore, kStart, windowFrom } from "./cursor.js";
import { Model, countWhile } from "./facts.js";
import { details, elementOf } from "./rows.js";
import { Strip, legend, message, problems, summary, verdict }
  from "./panels.js";
import { button, make, number, range, shown } from "./text.js";

// A response within the first limits is shown as a whole, so that the browser
// finds and prints all of it; of others a window is shown.
const kWhole = { items: 1000, bytes: 65536 };
const kWindow = { items: 300, bytes: 24576 };
const kTokenWindow = { items: 300, bytes: 6144 };
// What is shown before a place that is jumped to.
const kContext = { items: 6, bytes: 1024 };

class Response {
  constructor(model, onWindow, whole) {
    this.model = model;
    this.onWindow = onWindow;
    this.whole = whole;
    this.byToken = false;
    this.current = 0;  // in the window
    this.opened = -1;
    this.token = -1;
    this.list = make("div", "rows");
    this.list.setAttribute("role", "list");
    this.list.setAttribute("aria-label", "The rows of the response");
    this.bars = [make("div", "pager"), make("div", "pager")];
    this.element = make("div", "box");
    this.element.append(this.bars[0], this.list, this.bars[1]);
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.list.addEventListener("click", (event) => this.click(event));
    this.open(kStart);
  }

  limits() {
    if (this.byToken) return kTokenWindow;
    const { model } = this;
    const small = model.bytes.length <= this.whole.bytes &&
      model.rows + model.remarks.length <= this.whole.items;
    return small ? this.whole : kWindow;
  }

  // Shows the window that begins at a position.
  open(position) {
    this.window = windowFrom(this.model, position, this.limits());
    this.current = 0;
    this.opened = -1;
    this.token = -1;
    this.list.replaceChildren(...this.window.items.map((item) =>
      elementOf(this.model, item, this.byToken)));
    if (this.list.firstChild) this.list.firstChild.tabIndex = 0;
    this.fillBars();
    this.onWindow(this.window.from || 0, this.window.to);
  }

  fillBars() {
    const { model, window: view } = this;
    const first = !isBefore(kStart, view.begin);
    for (const bar of this.bars) {
      bar.hidden = first && view.end === null;
      if (bar.hidden) continue;
      const earlier = button("", "Earlier", () => this.earlier());
      const later = button("", "Later", () => this.later());
      earlier.disabled = first;
      later.disabled = view.end === null;
      bar.replaceChildren(earlier, make("span", "",
        `bytes ${range(view.from || 0, view.to)} ` +
        `of ${number(model.bytes.length)}`), later);
    }
  }

  earlier() {
    const { begin } = this.window;
    if (!isBefore(kStart, begin)) return;
    this.open(before(this.model, begin, this.limits()));
    const last = this.window.items.filter(({ position }) =>
      isBefore(position, begin)).length - 1;
    this.focus(Math.max(last, 0), "end");
  }

  later() {
    if (this.window.end === null) return;
    this.open(this.window.end);
    this.focus(0, "start");
  }

  // Shows a byte, or a remark of the model, and goes to it; `quietly`, the
  // keyboard stays where it is.
  select(place, quietly) {
    const { model } = this;
    const remark = typeof place === "object" ? place : null;
    const byte = remark ? remark.cut
      : Math.max(0, Math.min(Math.floor(place), model.bytes.length - 1));
    const isIt = (item) => remark ? item.remark === remark
      : !item.remark && item.from <= byte && byte < item.to;
    let found = this.window.items.findIndex(isIt);
    if (found < 0) {
      const row = remark ? Math.max(remark.row, 0) : model.rowAt(byte);
      const at = model.boundary(byte);
      const isPassed = ({ row: r, cut }) => r < row || (r === row && cut <= at);
      const passed = remark ? model.remarks.indexOf(remark)
        : countWhile(model.remarks.length, (i) => isPassed(model.remarks[i]));
      this.open(before(model, { row, at, remark: passed }, kContext));
      found = this.window.items.findIndex(isIt);
    }
    this.focus(Math.max(found, 0), quietly ? "nearest" : "center", quietly);
  }

  // Goes to the next remark after the current item.
  selectNext() {
    const { model, window: view } = this;
    const found = model.remarks.filter(({ kind }) => kind !== "held");
    const item = view.items[this.current];
    const from = item.remark ? model.remarks.indexOf(item.remark) + 1
                             : item.position.remark;
    this.select(model.remarks.slice(from).find(({ kind }) => kind !== "held") ||
      found[0]);
  }

  focus(index, block, quietly) {
    const { list } = this;
    const last = list.children[this.current];
    if (last) {
      last.tabIndex = -1;
      last.classList.remove("current");
    }
    if (index !== this.current) this.token = -1;
    this.current = index;
    const made = list.children[index];
    if (!made) return;
    made.tabIndex = 0;
    made.classList.add("current");
    if (!quietly) made.focus({ preventScroll: true });
    if (block) made.scrollIntoView({ block });
    if (quietly) return;
    const { remark, from, to } = this.window.items[index];
    const detail = remark ? { begin: remark.place, end: remark.place }
                          : { begin: from, end: to };
    list.dispatchEvent(new CustomEvent("select", { bubbles: true, detail }));
  }

  move(step) {
    const index = this.current + step;
    if (index < 0) return this.earlier();
    if (index >= this.list.children.length) return this.later();
    this.focus(index, "nearest");
  }

  moveToEnd() {
    if (this.window.end !== null) {
      const { model } = this;
      this.open(before(model, { row: model.rows, at: model.bytes.length,
        remark: model.remarks.length }, this.limits()));
      // Remarks may leave no place for the last rows.
      while (this.window.end !== null) this.open(this.window.end);
    }
    this.focus(this.list.children.length - 1, "end");
  }

  moveToStart() {
    if (isBefore(kStart, this.window.begin)) this.open(kStart);
    this.focus(0, "center");
  }

  toggle(index, token) {
    const { list, model, window: view } = this;
    const close = token === undefined && this.opened === index;
    if (this.opened >= 0) {
      list.children[this.opened].querySelector(".detail").remove();
    }
    for (const here of list.querySelectorAll(".tok.here")) {
      here.classList.remove("here");
    }
    this.opened = close ? -1 : index;
    this.token = token === undefined ? -1 : token;
    if (close) return;
    const made = list.children[index];
    made.append(details(model, view.items[index], this.token));
    const here = made.querySelector(`.tok[data-token="${this.token}"]`);
    if (!here) return;
    here.classList.add("here");
    here.scrollIntoView({ block: "nearest" });
  }

  moveToken(step) {
    const found = [...this.list.children[this.current].querySelectorAll(".tok")]
      .map((element) => Number(element.dataset.token));
    if (found.length === 0) return false;
    const at = found.indexOf(this.token);
    const next = at >= 0 ? at + step : step > 0 ? 0 : found.length - 1;
    if (next >= 0 && next < found.length) this.toggle(this.current, found[next]);
    return true;
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.parentNode !== this.list) return;
    const actions = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      ArrowRight: () => this.moveToken(1),
      ArrowLeft: () => this.moveToken(-1),
      Home: () => this.moveToStart(),
      End: () => this.moveToEnd(),
      Enter: () => this.toggle(this.current),
      " ": () => this.toggle(this.current),
      Escape: () => this.opened >= 0 && this.toggle(this.opened),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    if (actions[event.key]() !== false) event.preventDefault();
  }

  click(event) {
    const made = [...this.list.children].find((element) =>
      element.contains(event.target));
    if (!made || event.target.closest(".detail")) return;
    // A click that ends the selection of a text is not one on the row.
    if (String(window.getSelection()) !== "") return;
    const index = [...this.list.children].indexOf(made);
    this.focus(index);
    const token = event.target.closest(".tok");
    if (token) this.toggle(index, Number(token.dataset.token));
    else this.toggle(index);
  }

  setByToken(on) {
    const at = this.window.items[this.current];
    this.byToken = on;
    this.open(isBefore(kStart, this.window.begin) && at ? at.position : kStart);
  }
}

function tokensToggle(model, response) {
  const label = make("label", "by-token");
  label.hidden = !model.tokens;
  if (label.hidden) return label;
  const box = make("input");
  box.type = "checkbox";
  const keys = () => label.parentNode.querySelector(".token-keys");
  box.addEventListener("change", () => {
    response.setByToken(box.checked);
    keys().hidden = !box.checked;
  });
  const refused = model.tokens.rejected !== undefined;
  label.append(box, refused ? "Tokens, one not allowed" : "Tokens");
  return label;
}

function keysHelp() {
  const help = make("p", "keys");
  const add = (parent, keys, words) => {
    for (const key of keys) parent.append(make("kbd", "", key), " ");
    parent.append(`${words} `);
  };
  add(help, ["↑", "↓"], "rows");
  add(help, ["Enter"], "details");
  const tokens = make("span", "token-keys");
  tokens.hidden = true;
  add(tokens, ["←", "→"], "tokens");
  help.append(tokens);
  return help;
}

// `whole`: the limits up to which a response is shown as a whole.  The message,
// which may be long, is made when it is asked for.
export function viewParts(facts, whole = kWhole) {
  const model = new Model(facts);
  let response = null;
  const select = (place, quietly) => response.select(place, quietly);
  const strip = new Strip(model, select);
  response = new Response(model, (begin, end) => strip.setWindow(begin, end),
    whole);
  const { element, told } = verdict(model, select);

  const bar = make("div", "bar");
  bar.append(make("h2", "", "Response"), tokensToggle(model, response));
  if (model.remarks.some(({ kind }) => kind !== "held")) {
    bar.append(button("", "Next problem", () => response.selectNext()));
  }
  bar.append(keysHelp());
  const section = make("section", "response");
  section.append(bar, response.element);

  return { model, select, selectNext: () => response.selectNext(),
    verdict: element, summary: summary(model), strip: strip.canvas,
    legend: legend(model), response: section,
    problems: problems(model, told, select),
    message: () => message(model, select) };
}

export function showFacts(root, facts) {
  const parts = viewParts(facts);
  const head = make("header", "head");
  if (facts.title) head.append(shown("h1", facts.title));
  head.append(parts.verdict, parts.summary, parts.strip, parts.legend);
  const side = make("aside", "side");
  side.append(parts.problems, parts.message());
  const columns = make("div", "columns");
  columns.append(parts.response, side);
  const viewer = make("div", "viewer");
  viewer.append(head, columns);
  if (side.querySelectorAll(":scope > :not([hidden])").length === 0) {
    side.hidden = true;
  }
  root.append(viewer);
  return { select: parts.select };
}
