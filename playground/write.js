// The part where a format file is written: its lints, how it reads a sample, and
// whether it reads what it writes.

import { button, count, make, number, shown }
  from "../src/beside/explanation/viewer/text.js";
import { viewParts } from "../src/beside/explanation/viewer/viewer.js";

import { Editor } from "./editor.js";
import { Engine, kOld } from "./engine.js";
import { Delayed, byId, failure, refill, remark, showButton, verdict } from "./page.js";
import { Text, toBytes, toUnits } from "./places.js";
import { Samples } from "./samples.js";
import { tabs } from "./tabs.js";

const kWalks = 1000;
const kWalksAtOnce = 50;
const kWalkMs = 60000;  // for so many; there is a button that stops it
const kWhole = { items: 200, bytes: 16384 };
const kFound = 20;

export class Write {
  // `reader`: an engine of the parser's module.
  // `onConfig(text)` takes a text that is pasted if it is a tokenizer's configuration.
  constructor(reader, onState, onConfig) {
    this.engine = reader;
    this.walker = new Engine("parlance", undefined, kWalkMs);
    this.walkRun = 0;
    this.onState = onState;
    this.run = 0;
    this.linting = new Delayed(() => this.now());
    this.reading = new Delayed(() => this.readSample());
    this.sampleRead = null;  // {text, message}
    this.damaged = null;  // a sample that is not UTF-8, and so cannot be edited
    this.isStarted = false;
    this.editor = new Editor(byId("format-file"), { label: "Format file",
      hint: "Paste a format file, or start from a family", isJson: true,
      onChange: async (isPaste, isOverExample) => {
        if (isOverExample) this.leaveExample();
        if (!isPaste || !await onConfig(this.editor.text)) this.linting.start();
      } });
    this.sample = new Editor(byId("sample"), { label: "A sample",
      hint: "A response to read by this format",
      onChange: () => this.reading.start() });
    this.samples = new Samples(byId("samples"), (text) => this.showSample(text),
      () => this.onState("done"));
    byId("keep-sample").addEventListener("click", () => {
      this.samples.add(this.sampleRead.text, this.sampleRead.message);
    });
    this.showPane = tabs(byId("write-panes"),
      [["written", "Input"], ["judged", "Result"]]);
    this.showResult = tabs(byId("write-results"),
      [["lints", "Lints"], ["walks", "Walks"], ["sampled", "Sample"]],
      (id) => { this.tab = id; });
    byId("from").addEventListener("change", ({ target }) => {
      if (target.value !== "") this.startFrom(target.value);
    });
    this.pane = "written";
    byId("walk-again").addEventListener("click", () => this.walk());
    byId("walk-stop").addEventListener("click", () => {
      ++this.walkRun;
      this.walker.stop();
      byId("walked").textContent = "Stopped.";
    });
  }

  stop() {
    for (const engine of [this.engine, this.walker]) if (engine.busy) engine.stop();
  }

  start(names) {
    if (this.isStarted) return;
    this.isStarted = true;
    for (const name of names) byId("from").append(new Option(name, name));
    if (!this.isHeld) this.now();
  }

  get state() {
    const source = new Text(this.editor.text);
    return { part: "write", source, tab: this.tab,
      selection: toBytes(source, this.editor.selection),
      text: this.sampleText, samples: this.samples.state };
  }

  open(state, isRun = true) {
    this.isHeld = !isRun;
    this.editor.set(state.source?.string ?? "");
    this.editor.isExample = Boolean(state.title);
    this.setSample(state.text ?? new Text(""));
    this.samples.set(state.samples ?? []);
    this.showResult(state.tab);
    if (state.selection) {
      this.editor.show(...toUnits(state.source ?? new Text(""), state.selection));
    }
    if (isRun && this.isStarted) this.now();
  }

  // The samples of an example are not those of what is written in its place.
  leaveExample() {
    this.setSample(new Text(""));
    this.samples.set([]);
  }

  setSample(text) {
    this.damaged = text.isUtf8 ? null : text;
    this.sample.set(text.string, !text.isUtf8);
  }

  showSample(text) {
    this.setSample(text);
    this.showPane("judged");
    this.showResult("sampled");
    this.sample.focus();
    this.readSample();
  }

  get sampleText() {
    return this.damaged ?? new Text(this.sample.text);
  }

  async startFrom(name) {
    try {
      const { text } = await this.engine.run("source", "source", { name });
      if (this.editor.isExample) this.leaveExample();
      this.editor.replace(text, "input.start");
      await this.now();
    } catch (error) {
      if (error !== kOld) this.fail(error);
    }
  }

  fail(error) {
    refill(byId("format-state"), failure(error),
      button("own", "Try again", () => this.now()));
  }

  // The buttons that show a place.
  get problems() {
    return [...document.querySelectorAll("#format-state .place, #lints .place")];
  }

  async now() {
    this.linting.cancel();
    if (!this.isStarted) return;
    const run = ++this.run;
    const source = this.editor.text;
    this.source = new Text(source);
    this.editor.mark(null);
    ++this.walkRun;
    this.onState("running");
    try {
      const found = source.trim() === "" ? { empty: true }
        : await this.engine.run("lint", "lint", { source });
      if (run !== this.run) return;
      this.isGood = !found.error && !found.empty;
      this.fill(found);
      await this.readSamples();
      await this.readSample();
      if (run !== this.run) return;
      this.onState("done");
      if (this.isGood) this.walk();
    } catch (error) {
      if (error === kOld || run !== this.run) return;
      this.onState("done");
      this.fail(error);
    }
  }

  fill({ empty, error, lints = [] }) {
    const isNoted = lints.length > 0;
    const why = make("p", "why");
    if (error) why.append(shown("span", error.message), " ");
    if (error?.place) why.append(showButton(this, error.place));
    refill(byId("format-state"), empty ? verdict("", "No format yet: start from a family")
      : error ? verdict("bad", "It cannot be loaded", why)
      : verdict(isNoted ? "doubt" : "good", isNoted
        ? `It loads, with ${count(lints.length, "lint")}` : "It loads, without lints"));
    const box = make("div", "box");
    for (const { code, message, path, place } of lints) {
      box.append(remark("doubt", code, shown("span", `${message} (${path})`), " ",
        place ? showButton(this, place) : ""));
    }
    refill(byId("lints"), isNoted ? box
      : make("p", "quiet", error ? "None is looked for until it loads." : "None."));
    const places = [...lints.map(({ place }) => [place, "noted"]),
      [error?.place, "lost"]].filter(([place]) => place);
    this.editor.mark(() => places.map(([[begin, end], name]) => ({
      from: this.source.toUnit(begin),
      to: Math.max(this.source.toUnit(end), this.source.toUnit(begin) + 1), name,
    })).sort((a, b) => a.from - b.from));
    byId("walks-found").replaceChildren();
    byId("walked").textContent = this.isGood ? "" : "There is nothing to walk.";
  }

  // Random responses that it writes are read back, until one is read otherwise.
  async walk() {
    const run = ++this.walkRun;
    const source = this.editor.text;
    byId("walks-found").replaceChildren();
    try {
      for (let seed = 1; seed <= kWalks; seed += kWalksAtOnce) {
        byId("walked").textContent = seed === 1 ? "The calls are tried first."
          : `${number(seed - 1)} of ${number(kWalks)} walks held.`;
        const found = await this.walker.run("walk", "check",
          { source, seed, walks: kWalksAtOnce });
        if (run !== this.walkRun) return;
        if (found.length > 0) return this.fillFound(found, seed);
      }
      byId("walked").textContent =
        `✓ ${number(kWalks)} walks held: what it writes, it reads.`;
    } catch (error) {
      if (error !== kOld && run === this.walkRun) {
        byId("walked").textContent = error.message;
      }
    }
  }

  fillFound(found, seed) {
    byId("walked").textContent = `✕ Something is read otherwise than it was meant ` +
      `(within the walks from ${number(seed)} on).`;
    const smallest = [...found].sort((a, b) => a.text.length - b.text.length);
    refill(byId("walks-found"), ...smallest.slice(0, kFound).map((one) => {
      const made = remark("bad", one.code, shown("span", one.message), " ");
      if (one.text) {
        made.append(button("own", "Take its text as the sample", () =>
          this.showSample(new Text(one.text))));
      }
      if (one.meant || one.read) {
        const line = (message) => shown("code", JSON.stringify(message));
        made.append(make("br"), "meant ", line(one.meant), make("br"), "read ", line(one.read));
      }
      return made;
    }));
  }

  async readSamples() {
    const list = [...this.samples.list];
    if (!this.isGood || list.length === 0) return this.samples.readAs(list, null);
    const { messages } = await this.engine.run("samples", "samples",
      { source: this.editor.text, texts: list.map(({ text }) => text.bytes) });
    this.samples.readAs(list, messages);
  }

  async readSample() {
    this.reading.cancel();
    const place = byId("sample-read");
    byId("keep-sample").disabled = true;
    if (!this.isGood) {
      place.replaceChildren(make("p", "quiet", "There is no format to read it by."));
      return;
    }
    const response = this.sampleText;
    try {
      const { facts } = await this.engine.run("sample", "read",
        { source: this.editor.text, family: "this format", response: response.bytes,
          prefix: new Uint8Array() });
      const view = viewParts(facts, kWhole);
      this.sampleRead = { text: response, message: facts.message_text };
      byId("keep-sample").disabled = false;
      place.replaceChildren(view.verdict, view.response, view.message());
    } catch (error) {
      if (error !== kOld) place.replaceChildren(failure(error));
    }
  }
}
