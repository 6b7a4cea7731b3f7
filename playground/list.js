// A list of lines of one height, of which only those in view are elements.

import { make, shown } from "../src/beside/explanation/viewer/text.js";

const kLine = 24;  // pixels, as in the style sheet
const kMore = 10;  // lines above and below

export class List {
  // `lineOf(i)` is the text of a line; `onSelect(i)`.
  constructor(label, lineOf, onSelect) {
    this.lineOf = lineOf;
    this.onSelect = onSelect;
    this.size = 0;
    this.current = -1;
    this.passed = Infinity;  // lines from here on are not there yet
    this.element = make("div", "lines");
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "listbox");
    this.element.setAttribute("aria-label", label);
    this.inner = make("div", "lines-inner");
    this.inner.setAttribute("role", "presentation");
    this.element.append(this.inner);
    this.element.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.element.addEventListener("keydown", (event) => this.press(event));
    this.element.addEventListener("click", (event) => {
      const line = event.target.closest("[data-line]");
      if (line) this.select(Number(line.dataset.line));
    });
  }

  set(size) {
    this.size = size;
    this.current = Math.min(this.current, size - 1);
    this.inner.style.height = `${size * kLine}px`;
    this.draw();
  }

  draw() {
    const { element, inner } = this;
    const first = Math.max(0, Math.floor(element.scrollTop / kLine) - kMore);
    const count = Math.ceil(element.clientHeight / kLine) + 2 * kMore;
    const lines = [];
    for (let i = first; i < Math.min(this.size, first + count); ++i) {
      const line = shown("div", this.lineOf(i), "line-of");
      line.id = `${element.getAttribute("aria-label").replaceAll(" ", "-")}-${i}`;
      line.dataset.line = i;
      line.style.top = `${i * kLine}px`;
      line.setAttribute("role", "option");
      line.setAttribute("aria-setsize", this.size);
      line.setAttribute("aria-posinset", i + 1);
      line.setAttribute("aria-selected", String(i === this.current));
      line.classList.toggle("later", i >= this.passed);
      lines.push(line);
    }
    inner.replaceChildren(...lines);
    const now = lines.find((line) => Number(line.dataset.line) === this.current);
    if (now) element.setAttribute("aria-activedescendant", now.id);
    else element.removeAttribute("aria-activedescendant");
  }

  show(i) {
    const { element } = this;
    const top = i * kLine;
    if (top < element.scrollTop) element.scrollTop = top;
    const most = top + kLine - element.clientHeight;
    if (most > element.scrollTop) element.scrollTop = most;
    this.draw();
  }

  select(i) {
    this.current = Math.max(0, Math.min(i, this.size - 1));
    this.show(this.current);
    if (this.size > 0) this.onSelect(this.current);
  }

  press(event) {
    const page = Math.floor(this.element.clientHeight / kLine);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
      Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.select(this.current + step);
  }
}
