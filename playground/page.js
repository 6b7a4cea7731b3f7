// What the parts of the page have in common.

import { kSigns } from "../src/beside/explanation/viewer/rows.js";
import { button, make, number, shown } from "../src/beside/explanation/viewer/text.js";

import { toUnits } from "./places.js";

export const byId = (id) => document.getElementById(id);

// Puts other nodes into an element.  If the keyboard was in it, it goes to the control
// with the same words, else to that in the same place, else to the element.
export function refill(host, ...nodes) {
  const stops = () => [...host.querySelectorAll("button, input")];
  const last = document.activeElement;
  const at = stops().indexOf(last);
  host.replaceChildren(...nodes);
  if (at < 0 || last.isConnected) return;
  const found = stops();
  const isSame = (one) => one?.textContent === last.textContent;
  const next = isSame(found[at]) ? found[at]
    : found.find(isSame) ?? found[Math.min(at, found.length - 1)];
  focusIn(next ?? host);
}

// Moves the keyboard to an element, or to the first around it that is shown.
export function focusIn(element) {
  let at = element;
  while (!at.checkVisibility()) at = at.parentElement;
  if (at.tabIndex < 0) at.tabIndex = -1;
  at.focus();
}

// A line that is there while it says something.
export function say(id, ...nodes) {
  byId(id).hidden = nodes.length === 0;
  refill(byId(id), ...nodes);
}

function sign(kind, name) {
  const made = make("span", name, kSigns[kind]);
  made.setAttribute("aria-hidden", "true");
  return made;
}

// What became of a text: of a kind of the viewer, or of none, the worst that can be
// said, and the rest.
export function verdict(kind, words, ...rest) {
  const worst = make("p", "worst");
  if (kind) worst.append(sign(kind, "big-sign"), " ");
  worst.append(shown("b", words));
  const made = make("div", `verdict ${kind}`);
  made.append(worst, ...rest);
  return made;
}

// A button that goes to a place, in bytes, of what `part` compiles from its editor.
export function showButton(part, place) {
  const { source, editor } = part;
  const made = button("own place", "Show", () => {
    part.showPane(part.pane);
    editor.show(...toUnits(source, place));
    editor.focus();
  });
  const before = source.string.slice(0, source.toUnit(place[0]));
  made.setAttribute("aria-label", `Show line ${number(before.split("\n").length)}`);
  return made;
}

// A line of a list of what is wrong, or right.
export function remark(kind, words, ...rest) {
  const made = make("div", `remark ${kind === "good" ? "fine" : kind}`);
  made.append(sign(kind, "mark-sign"), " ", shown("b", words), " ", ...rest);
  return made;
}

export const failure = (error) => shown("p", error.message, "failure");

// An action that runs once nothing has asked for it for some time.  Each has its
// own timer, so that to wait for one action does not cancel another.
export class Delayed {
  constructor(action) {
    this.action = action;
    this.timer = null;
  }

  start(ms = 250) {
    this.cancel();
    this.timer = setTimeout(this.action, ms);
  }

  cancel() {
    clearTimeout(this.timer);
  }
}
