// The part that reads a response: its inputs, what was made of it, and how both
// mark each other.

import { button, count, make, number, show, shown }
  from "../src/beside/explanation/viewer/text.js";
import { countWhile } from "../src/beside/explanation/viewer/facts.js";
import { viewParts } from "../src/beside/explanation/viewer/viewer.js";

import { Editor } from "./editor.js";
import { Engine, kOld } from "./engine.js";
import { recognise, toolsIn } from "./intake.js";
import { List } from "./list.js";
import { Delayed, byId, failure, refill, say } from "./page.js";
import { Text, toBytes, toUnits } from "./places.js";
import { tabs } from "./tabs.js";

const kWhole = { items: 200, bytes: 16384 };  // that are shown as a whole
const kMostEdited = 4 << 20;  // bytes of a text that the editor takes
const kMostRead = 64 << 20;
const kUsual = "qwen3";  // of families that read a text equally well, or not at all
const kShape = 1 << 18;  // characters that are shown
const kDebounce = [80, 400];
const kTooLarge = "Too large for this page: parlance explain --html reads it.";

const nothing = () => new Text("");

// A stream whose events of the bytes `from` to `to` are those of `part`.
function withPart({ came, places, lines, ...more }, part, [from, to]) {
  const begin = from === 0 ? 0 : countWhile(came.length, (i) => came[i] <= from);
  const end = countWhile(came.length, (i) => came[i] <= to);
  const joined = (all, own, width = 1) =>
    [...all.slice(0, width * begin), ...own, ...all.slice(width * end)];
  return { ...more, came: joined(came, part.came), lines: joined(lines, part.lines),
    places: joined(places, part.places, 2), partHeld: part.held };
}

function bestOf(ranked) {
  const [first] = ranked;
  const isEqual = ({ name, calls, diagnostics }) => name === kUsual &&
    calls === first.calls && diagnostics === first.diagnostics;
  return (ranked.find(isEqual) ?? first)?.name ?? kUsual;
}

export class Read {
  // `onState`: called when what is read has changed.  `constrain` has the tokenizer,
  // and the worker that reads ids by it.
  // `onDiffer` is told what was otherwise when a link was made.
  constructor(onState, constrain, onDiffer) {
    this.onDiffer = onDiffer;
    this.digests = new Map();  // of families
    this.seen = "";  // the family, and its digest, of a link
    this.at = 0;  // the byte that was gone to
    this.gone = null;  // the problem
    this.onState = onState;
    this.tokenizer = constrain.tokenizer;
    this.whole = constrain.engine;
    this.ids = null;  // {list, ends}; without ends while there is no tokenizer
    this.engine = new Engine("parser", (state) => this.engineIs(state));
    this.response = nothing();
    this.taken = null;
    this.cut = null;
    this.family = "";  // automatic
    this.isChosen = false;  // by the person, and so kept for another text
    this.readBy = "";
    this.view = null;
    this.lastMs = 0;
    this.typing = new Delayed(() => this.now());
    this.staleness = new Delayed(() => byId("result").classList.add("stale"));
    this.run = 0;
    this.given = null;  // what was read
    this.stream = null;
    this.coarse = null;  // the stream in pieces; this.stream has one of them finer
    this.part = -1;  // that piece, once it is asked for
    this.streamOf = null;  // what was given for it
    this.sliding = new Delayed(() => this.needPart());
    this.version = "";

    const editor = (id, label, hint, isJson, change) => new Editor(byId(id),
      { label, hint, isJson, onChange: change,
        onSelect: (unit) => id === "response" && this.showRow(unit) });
    this.editors = {
      response: editor("response", "Response",
        "Paste a response, an answer of an API, a stream of events, or a line of a log",
        false, (isPaste) => this.edited(isPaste)),
      tools: editor("tools", "Tools",
        "The tools of the request, as JSON", true, () => this.later()),
      prefix: editor("prefix", "Prefix",
        "What the prompt wrote of the response: <think>", false, () => this.later()),
    };
    this.editor = this.editors.response;

    this.showInput = tabs(byId("inputs"),
      [["response", "Response"], ["tools", "Tools"], ["prefix", "Prefix"]]);
    this.showPane = tabs(byId("panes"), [["input", "Input"], ["result", "Result"]]);
    this.showResult = tabs(byId("results"), [["regions", "Regions"],
      ["message", "Message"], ["events", "Events"], ["shapes", "Shapes"]],
    (id) => this.resultIs(id));

    this.events = new List("Events", (i) => `${this.stream.came[i]}  ${this.stream.lines[i]}`,
      (i) => this.markBytes(this.stream.places[2 * i], this.stream.places[2 * i + 1]));
    byId("events").append(make("p", "line quiet"), this.events.element);

    // A button of the verdict or of a problem goes to a row, which must be there.
    for (const id of ["verdict", "problems", "message", "strip"]) {
      byId(id).addEventListener("click", (event) => {
        const isPlace = event.target.closest("button:not(.own, .more), canvas");
        if (!isPlace) return;
        this.showPane("result");
        this.showResult("regions");
      }, true);
    }
    byId("regions").addEventListener("select", ({ detail }) => {
      this.at = detail.begin;
      this.gone = null;
      this.markBytes(detail.begin, detail.end);
    });
    byId("family").addEventListener("change", ({ target }) => {
      this.choose(target.value);
    });
    byId("slider").addEventListener("input", () => this.slide());
    byId("slider").addEventListener("keydown", (event) => this.pressSlider(event));
    byId("slider").addEventListener("focus", () => this.needStream());
    byId("slider").addEventListener("pointerdown", () => this.needStream());
    byId("cut").addEventListener("click", () => this.setCut(this.cut === null
      ? this.byteOf(Number(byId("slider").value)) : null));
    byId("kind").addEventListener("change", () => this.fillShape());
    byId("as-stream").addEventListener("change", () => this.fillShape());
  }

  async start() {
    const { version, names } = await this.engine.run("about", "about");
    this.version = version;
    for (const name of names) byId("family").append(new Option(name, name));
    byId("family").value = this.family;
    return names;
  }

  // ---- What is read

  // A state as links have it.
  get state() {
    const tools = this.editors.tools.text;
    const prefix = this.editors.prefix.text;
    const text = this.ids ? { pasted: this.taken.original, tokenizer: this.tokenizer.words }
      : { response: this.response, cut: this.cut };
    const digest = this.digests.get(this.readBy);
    const isEdited = this.response.bytes.length <= kMostEdited && !this.isDirty;
    return { part: "read", family: this.family, ...text, tab: this.tab,
      digest: digest ? `${this.readBy} ${digest}` : "",
      selection: isEdited ? toBytes(this.response, this.editors.response.selection) : null,
      tools: tools === "" ? null : new Text(tools),
      prefix: prefix === "" ? null : new Text(prefix) };
  }

  open(state, isRun = true) {
    this.isChosen = false;
    this.family = state.family ?? "";
    byId("family").value = this.family;
    if (byId("family").value !== this.family) {
      // A name that is not here; or the names have not come yet.
      if (byId("family").options.length > 1) this.family = "";
      byId("family").value = "";
    }
    this.editors.tools.set(state.tools?.string ?? "");
    this.editors.prefix.set(state.prefix?.string ?? "");
    this.example = null;
    this.seen = state.digest ?? "";
    this.selected = state.selection ?? null;
    this.showInput("response");
    this.showResult(state.tab);
    const enter = () => {
      if (!state.title) return;
      this.example = { tools: state.tools?.string, prefix: state.prefix?.string };
      this.editor.isExample = true;
      this.fillRemarks();
    };
    if (state.pasted && isRun) return this.openText(state.pasted, this.family).then(enter);
    this.take(null);
    this.setResponse(state.response ?? state.pasted ?? nothing());
    this.cut = state.cut ?? null;
    enter();
    return isRun ? this.now() : undefined;
  }

  // The tools of an example are not those of what is pasted over it.
  leaveExample() {
    for (const [name, text] of Object.entries(this.example ?? {})) {
      if (this.editors[name].text === text) this.editors[name].set("");
    }
    this.example = null;
  }

  // The text of a file or a paste, and what it was taken for.
  async openText(text, family = this.isChosen ? this.family : "") {
    this.leaveExample();
    this.family = family;
    byId("family").value = family;
    const found = text.isUtf8 ? recognise(text.string) : null;
    if (!found) {
      this.take(null);
      this.setResponse(text);
      return this.now();
    }
    if (found.ids) return this.openIds(text, found);
    let { response, why } = found;
    if (found.isStream) {
      try {
        const inside = await this.engine.run("take", "events", { text: text.string });
        response = inside.response;
        if (inside.faults.length > 0) {
          why = `${count(inside.faults.length, "line")} could not be read`;
        }
      } catch (error) {
        response = "";
      }
      if (response === "") {
        this.take(null);
        this.setResponse(text);
        return this.now();
      }
    }
    this.take({ ...found, why, original: text });
    this.setResponse(new Text(response));
    this.now();
  }

  // Ids are read by the tokenizer that is open; without one they wait for it.
  openIds(text, { ids, ...found }) {
    let why = "to be read they need the tokenizer: open its file";
    let read = null;
    try {
      if (this.tokenizer.request) read = this.tokenizer.decode(ids);
    } catch (error) {
      why = error.message;
    }
    this.take({ ...found, why: read ? "" : why, original: text });
    this.setResponse(read ? new Text(read.bytes) : text);
    this.ids = { list: ids, ends: read?.ends ?? null };
    this.now();
  }

  tokenizerIs() {
    if (this.ids) this.openText(this.taken.original, this.family);
  }

  setResponse(text) {
    this.response = text;
    this.ids = null;
    this.cut = null;
    const { response } = this.editors;
    if (text.bytes.length > kMostEdited) {
      response.set(`${number(text.bytes.length)} bytes, which are read without ` +
        "being edited.", true);
    } else {
      response.set(text.string, !text.isUtf8);
    }
    this.fillRemarks();
  }

  take(taken) {
    this.taken = taken;
    if (taken === null) return say("taken");
    say("taken", `Taken as ${taken.as}`, taken.why ? `: ${taken.why}. ` : ". ",
      button("own", "Take as plain text", () => {
        const { original } = this.taken;
        this.take(null);
        this.setResponse(original);
        this.now();
      }));
  }

  fillRemarks() {
    const { string, isUtf8, bytes } = this.response;
    const parts = [];
    if (this.editor.isExample) parts.push("An example: what is pasted replaces it. ");
    if (!isUtf8) parts.push("Bytes that are no UTF-8: read as they are, not edited. ");
    if (isUtf8 && bytes.length <= kMostEdited && string.includes("\r\n")) {
      parts.push("Lines end with CR LF. ", button("own", "Make them LF", () => {
        this.setResponse(new Text(string.replaceAll("\r\n", "\n")));
        this.now();
      }));
    }
    say("remarks", ...parts);
  }

  edited(isPaste) {
    const text = this.editors.response.text;
    if (isPaste) return this.openText(new Text(text));
    if (this.ids) this.take(null);
    this.ids = null;
    this.isDirty = true;
    this.cut = null;
    this.later();
  }

  later() {
    const [least, most] = kDebounce;
    this.typing.start(Math.min(most, Math.max(least, 2 * this.lastMs)));
  }

  // ---- Reading

  async now() {
    this.typing.cancel();
    if (this.isDirty) {
      this.response = new Text(this.editors.response.text);
      this.isDirty = false;
      this.fillRemarks();
    }
    const run = ++this.run;
    const text = this.response;
    if (text.bytes.length > kMostRead) return this.fail(new Error(kTooLarge));
    const cut = this.cut;
    this.onState("running");
    this.reading = true;
    this.staleness.start(150);
    const tools = this.toolsGiven();
    const given = {
      response: cut === null ? text.bytes : text.bytes.slice(0, cut),
      prefix: new TextEncoder().encode(this.editors.prefix.text),
      tools: tools.value,
    };
    if (this.ids?.ends) {
      const { list, ends } = this.ids;
      const size = cut === null ? list.length : this.tokensBefore(cut);
      given.response = text.bytes.slice(0, size === 0 ? 0 : ends[size - 1]);
      Object.assign(given, { ids: list.slice(0, size), ends,
        tokenizer: this.tokenizer.request });
    }
    const rank = () => this.engine.run("rank", "rank",
      { response: given.response.subarray(0, 1 << 16), tools: given.tools });
    try {
      const ranked = this.family === "" ? await rank() : null;
      const family = ranked ? bestOf(ranked) : this.family;
      const { facts, ms } = await this.ask("read", { ...given, family });
      if (run !== this.run) return;
      this.lastMs = ms;
      this.given = { ...given, family };
      this.stream = this.coarse = null;
      this.sliding.cancel();
      this.events.set(0);
      this.readBy = family;
      this.reading = false;
      this.fill(facts, text, tools.error);
      const digest = await this.digestOf(family);
      if (run !== this.run) return;
      this.compareDigest(family, digest);
      this.select();
      const families = ranked ?? await rank();
      if (run !== this.run) return;
      this.fillRanking(families);
      this.onState("done");
    } catch (error) {
      if (error === kOld || run !== this.run) return;
      if (this.reading) {
        this.reading = false;
        return this.fail(error);
      }
      this.onState("done");
      // What fails after the result does not take it away.
      byId("ranking").replaceChildren(`Not compared with other families: ${error.message}`);
    }
  }

  async digestOf(family) {
    if (!this.digests.has(family)) {
      const { digest } = await this.engine.run("digest", "digest", { family });
      this.digests.set(family, digest);
    }
    return this.digests.get(family);
  }

  // Says it if the family is another than that of the link.
  compareDigest(family, now) {
    const [name, digest] = this.seen.split(" ");
    this.seen = "";
    if (!digest || !now) return;
    if (name !== family) this.onDiffer("It was read as ", shown("b", name), " then.");
    else if (digest !== now) this.onDiffer(`The format ${name} is not as it was then.`);
  }

  // What was selected when a link was made.
  select() {
    if (!this.selected) return;
    const [from, to] = toUnits(this.response, this.selected);
    this.selected = null;
    this.editors.response.show(from, to);
    this.view.select(this.response.toByte(from) + this.view.model.facts.prefix_bytes, true);
  }

  // The small module reads text, and the whole one tokens.
  ask(op, given) {
    return (given.ids ? this.whole : this.engine).run(op, op, given);
  }

  toolsGiven() {
    const text = this.editors.tools.text.trim();
    if (text === "") return {};
    try {
      return { value: toolsIn(JSON.parse(text)) };
    } catch (error) {
      return { error: `The tools were left out: ${error.message}` };
    }
  }

  engineIs({ progress, slow }) {
    if (progress !== undefined && !this.view) {
      refill(byId("verdict"), make("p", "", `The reader is loading: ${progress} %`));
    }
    if (slow && this.reading) {
      refill(byId("verdict"), make("p", "", "Still reading. "),
        button("own", "Stop", () => this.stop()));
    }
  }

  stop() {
    const engine = this.ids?.ends ? this.whole : this.engine;
    if (engine.busy) engine.stop();
  }

  // What failed, and the last result, which is not that of this text.
  fail(error) {
    this.staleness.cancel();
    this.hasFailed = true;
    this.onState("done");
    refill(byId("verdict"), failure(error), button("own", "Read again", () => this.now()),
      this.view ? make("p", "", "What is shown is an earlier result.") : "");
    byId("result").classList.toggle("stale", Boolean(this.view));
  }

  fill(facts, text, trouble) {
    this.hasFailed = false;
    this.view = viewParts(facts, kWhole);
    const { view } = this;
    const verdict = [view.verdict];
    if (trouble) verdict.push(failure({ message: trouble }));
    if (this.cut !== null) {
      const line = make("p", "", `Cut at byte ${number(this.cut)}. `);
      line.append(button("own", "Whole response", () => this.setCut(null)));
      verdict.push(line);
    }
    verdict.push(view.summary);
    if (text.bytes.length === 0) {
      verdict.splice(0, 1, make("p", "", "Nothing to read yet: paste a response, " +
        "drop a file, or take an example."));
    }
    refill(byId("verdict"), ...verdict);
    byId("strip").replaceChildren(view.strip, view.legend);
    const isInside = byId("regions").contains(document.activeElement);
    byId("regions").replaceChildren(view.response);
    // The keyboard goes to the row, or the problem, where it was.
    if (isInside) {
      const { gone } = this;
      view.select(view.model.remarks.find(({ place, words }) =>
        place === gone?.place && words === gone.words) ?? this.at);
    }
    byId("message").replaceChildren();
    refill(byId("problems"), view.problems);
    this.staleness.cancel();
    byId("result").classList.remove("stale");
    const slider = byId("slider");
    slider.max = this.placeOf(text.bytes.length);
    slider.value = this.placeOf(this.cut ?? text.bytes.length);
    byId("cut").textContent = this.cut === null ? "Cut here" : "Whole again";
    this.slide();
    if (text.bytes.length <= kMostEdited) {
      this.editors.response.mark(this.marksOf(view.model, text));
    }
    this.resultIs(this.tab);
  }

  // What marks units `from` to `to` of the editor.
  marksOf(model, text) {
    const shift = model.facts.prefix_bytes;
    const unit = (byte) => text.toUnit(byte - shift);
    return (from, to) => {
      const begin = text.toByte(from) + shift;
      const end = text.toByte(to) + shift;
      const out = [];
      for (let i = model.rowAt(begin); i < model.rows && model.starts[i] < end; ++i) {
        const { field, kind } = model.row(i);
        const isLost = kind === "rest" || kind === "unclaimed";
        if ((!field && !isLost) || model.end(i) <= begin) continue;
        const isDelimiter = kind === "open" || kind === "close";
        out.push({ from: unit(Math.max(begin, model.starts[i])),
          to: unit(Math.min(end, model.end(i))),
          name: isLost ? "lost" : `field ${model.fieldClass(field)}` +
            (isDelimiter ? " delimiter" : "") });
      }
      for (const mark of model.marks) {
        if (mark.end <= begin || mark.begin >= end) continue;
        out.push({ from: unit(mark.begin), to: unit(mark.end),
          name: { bad: "lost", hint: "hinted" }[mark.kind] ?? "noted" });
      }
      return out;
    };
  }

  fillRanking(found) {
    const place = byId("ranking");
    const [automatic] = byId("family").options;
    automatic.textContent = this.family === "" ? `automatic: ${this.readBy}`
                                               : "automatic";
    const parts = [];
    const withCalls = found.filter((one) => one.calls > 0);
    if (found.length === 0) {
      parts.push(this.family === "" ? "no family's markers were found" : "");
    } else if (this.family === "" || withCalls.length > 0) {
      const isSure = withCalls.length === 1;
      parts.push(isSure ? "reads best: " : "a guess; read best by: ");
      for (const one of found.slice(0, 3)) {
        const words = [one.name, one.calls > 0 ? count(one.calls, "call")
          : `${number(one.region_bytes)} bytes marked`].join(", ");
        parts.push(button(one.name === this.readBy ? "own is-current" : "own", words,
          () => this.choose(one.name)), " ");
      }
    }
    refill(place, ...parts);
  }

  choose(family) {
    this.isChosen = family !== "";
    this.family = family;
    byId("family").value = family;
    this.now();
  }

  // ---- The two sides mark each other

  markBytes(begin, end) {
    const shift = this.view.model.facts.prefix_bytes;
    const { response } = this;
    if (end < shift || response.bytes.length > kMostEdited) return;
    this.editors.response.show(response.toUnit(begin - shift),
      response.toUnit(end - shift));
  }

  showRow(unit) {
    if (!this.view || this.isDirty || byId("regions").hidden) return;
    const shift = this.view.model.facts.prefix_bytes;
    this.view.select(this.response.toByte(unit) + shift, true);
  }

  // The next problem, or with -1 the last one, from where the keyboard was.
  nextProblem(step) {
    const found = this.view?.model.remarks.filter(({ kind }) => kind !== "held") ?? [];
    if (found.length === 0) return;
    this.showPane("result");
    this.showResult("regions");
    const from = found.indexOf(this.gone);
    if (step > 0) {
      this.view.selectNext();
      this.gone = from >= 0 ? found[(from + 1) % found.length]
        : found.find(({ place }) => place === this.at);
      return;
    }
    const before = from >= 0 ? from - 1
      : found.findLastIndex(({ place }) => place < this.at);
    const to = found.at(before);  // of -1, the last
    this.view.select(to);
    this.gone = to;
  }

  // ---- The stream

  async needStream() {
    const { given } = this;
    if (!given || given === this.streamOf) return;
    this.streamOf = given;
    const stream = await this.askStream(given);
    if (given !== this.given) return;
    if (!stream) {
      this.streamOf = null;
      return;
    }
    this.coarse = this.stream = stream;
    this.part = -1;
    this.events.set(stream.lines.length);
    this.slide();
  }

  // The stream, or a piece of it; null if there is none, or it is not wanted any more.
  async askStream(given, part) {
    try {
      const found = await this.ask("stream", { ...given, part });
      return { ...found, lines: found.lines === "" ? [] : found.lines.split("\n") };
    } catch (error) {
      if (error !== kOld && given === this.given) byId("held").textContent = error.message;
      return null;
    }
  }

  // Of a stream in pieces, makes that finer in which place `to` of the slider is.
  async needPart(to = Number(byId("slider").value)) {
    const { given, coarse } = this;
    if (!coarse) return;
    const { step } = coarse;
    const part = Math.max(0, Math.ceil(to / step) - 1);
    if (part === this.part) return;
    const found = await this.askStream(given, part);
    if (!found || coarse !== this.coarse) return;
    const bytes = [part * step, (part + 1) * step].map((place) =>
      this.byteOf(Math.min(place, (given.ids ?? given.response).length)));
    this.part = part;
    this.stream = withPart(coarse, found, bytes);
    this.events.set(this.stream.lines.length);
    this.slide();
  }

  // How many of the tokens end by a byte.
  tokensBefore(byte) {
    const { ends } = this.ids;
    return countWhile(ends.length, (i) => ends[i] <= byte);
  }

  // The slider goes by tokens where ids are read, else by bytes.
  placeOf(byte) {
    return this.ids?.ends ? this.tokensBefore(byte) : byte;
  }

  byteOf(place) {
    const ends = this.ids?.ends;
    return !ends ? place : place === 0 ? 0 : ends[place - 1];
  }

  slide() {
    const { stream } = this;
    const place = Number(byId("slider").value);
    const at = this.byteOf(place);
    const isTokens = Boolean(this.ids?.ends);
    byId("place").textContent = (isTokens ? `token ${number(place)} of ` +
      `${number(this.ids.list.length)}, ` : "") +
      `byte ${number(at)} of ${number(this.response.bytes.length)}`;
    const held = byId("held");
    held.replaceChildren();
    byId("slider").setAttribute("aria-valuetext", byId("place").textContent);
    if (!stream) return;
    const { came, step, left } = stream;
    const passed = countWhile(came.length, (i) => came[i] <= at);
    this.events.passed = passed;
    if (this.tab === "events") this.events.show(Math.max(0, passed - 1));
    byId("events").firstChild.textContent =
      `${count(passed, "event")} of ${number(stream.lines.length)} by byte ` +
      number(at) + (left > 0 ? `; ${number(left)} more are not listed` : "") +
      (step > 1 ? `; away from here in pieces of ${count(step, this.ids?.ends
        ? "token" : "byte")}` : "");
    // At the end of a piece all is known; within one, once the piece is there.
    const inside = place - this.part * step;
    const isEnd = place % step === 0 || place === Number(byId("slider").max);
    const isFine = this.part >= 0 && inside >= 0 && inside <= step;
    if (!isFine && !isEnd) this.sliding.start(100);
    const size = isFine ? stream.partHeld[inside]
      : isEnd ? stream.held[Math.ceil(place / step)] : 0;
    if (size === 0) return;
    byId("slider").setAttribute("aria-valuetext",
      `${byId("place").textContent}, ${count(size, "byte")} held`);
    held.append("held: ");
    const { bytes } = this.response;
    const code = make("code");
    show(code, new Text(bytes.slice(Math.max(0, at - Math.min(size, 60)), at)).string,
      true);
    held.append(code);
  }

  async pressSlider(event) {
    const { key, shiftKey, target } = event;
    const at = Number(target.value);
    const isArrow = key === "ArrowRight" || key === "ArrowLeft";
    let to = { PageDown: at - 64, PageUp: at + 64 }[key];
    if (shiftKey && isArrow && this.stream) {
      event.preventDefault();
      const { given } = this;
      const next = () => this.nextEvent(key === "ArrowRight");
      if (this.stream.step > 1) await this.needPart(at);
      // Another response may be there meanwhile, whose stream is not.
      if (given !== this.given) return;
      to = next();
      if (to === undefined) return;
      // In a piece that is not fine yet it is said to come at the end.
      if (this.stream.step > 1) {
        await this.needPart(to);
        if (given !== this.given) return;
        to = next() ?? to;
      }
    }
    if (to === undefined) return;
    event.preventDefault();
    target.value = to;
    this.slide();
  }

  // The place at which the next or last event came, from where the slider is.
  nextEvent(isLater) {
    const { came } = this.stream;
    const byte = this.byteOf(Number(byId("slider").value));
    const i = isLater ? countWhile(came.length, (n) => came[n] <= byte)
      : countWhile(came.length, (n) => came[n] < byte) - 1;
    return came[i] === undefined ? undefined : this.placeOf(came[i]);
  }

  setCut(cut) {
    this.cut = cut;
    this.now();
  }

  // ---- Results

  resultIs(id) {
    this.tab = id;
    if (!this.view) return;
    if (id === "message" && !byId("message").firstChild) {
      byId("message").append(this.view.message());
    }
    if (id === "events") this.needStream();
    if (id === "shapes") this.fillShape();
  }

  async fillShape() {
    if (!this.given) return;
    const { given } = this;
    const isStream = byId("as-stream").checked;
    const place = byId("shape");
    try {
      const text = await this.ask("shape", { ...given, kind: byId("kind").value, isStream });
      if (given !== this.given) return;
      place.replaceChildren();
      show(place, text.slice(0, kShape));
      if (text.length > kShape) {
        place.append(`\n${count(text.length - kShape, "more character")}`);
      }
    } catch (error) {
      if (error !== kOld && given === this.given) place.textContent = error.message;
    }
  }
}
