// The part that compiles tools, a schema or a grammar, says what is refused and
// where, and tries texts against the result.

import { button, count, make, number, region, show, shown }
  from "../src/beside/explanation/viewer/text.js";

import { Editor } from "./editor.js";
import { Engine, kOld } from "./engine.js";
import { List } from "./list.js";
import { Delayed, byId, failure, refill, remark, showButton, verdict } from "./page.js";
import { Text, toBytes, toUnits } from "./places.js";
import { tabs } from "./tabs.js";
import { Tokenizer } from "./tokenizer.js";

const kMostNotes = 200;

const kHints = new Map([
  ["tools", "A list of tools, or a request: {\"tools\": [...], \"response_format\": ...}"],
  ["json_schema", "A JSON Schema"], ["regex", "A regular expression"],
  ["gbnf", "GBNF, as llama.cpp reads it"], ["lark", "A Lark grammar"],
  ["ebnf", "EBNF, as XGrammar reads it"], ["structural_tag", "A structural tag"],
]);

export class Constrain {
  // `onTokenizer` is called when a tokenizer is read, or forgotten; `onSlow` when
  // work of a lane takes long, which may be that of another part.
  constructor(onState, onTokenizer, onSlow) {
    this.pane = "described";
    this.onSlow = onSlow;
    this.onState = onState;
    this.onTokenizer = onTokenizer;
    this.engine = new Engine("parlance", (state) => this.engineIs(state));
    this.tokenizer = new Tokenizer(this.engine, () => this.tokenizerIs());
    this.source = new Text("");
    this.compiling = new Delayed(() => this.compile());
    this.trying = new Delayed(() => this.tryText());
    this.run = 0;
    this.isStarted = false;
    this.compiled = false;
    this.editor = new Editor(byId("source"), { label: "Tools, schema or grammar",
      hint: "Paste tools, a schema or a grammar", isJson: true,
      onChange: () => this.compiling.start() });
    this.tried = new Editor(byId("text"), { label: "A text to try",
      hint: "Write a text, and see how far it is accepted",
      onChange: () => this.trying.start() });
    this.showPane = tabs(byId("constrain-panes"),
      [["described", "Input"], ["answer", "Result"]]);
    this.showAnswer = tabs(byId("answers"),
      [["refusal", "Verdict"], ["try", "Try a text"], ["allowed", "Allowed"]], (id) => {
        this.tab = id;
        if (id !== "refusal") this.tryText();
      });
    this.tokens = new List("Allowed tokens", (i) => this.tokenLine(i), () => {});
    this.tokens.element.hidden = true;
    byId("allowed").append(this.tokens.element);
    byId("filter").addEventListener("input", () => this.fillAllowed());
    byId("open-tokenizer").addEventListener("click",
      () => byId("tokenizer-file").click());
    byId("tokenizer-file").addEventListener("change", ({ target }) => {
      if (target.files[0]) this.tokenizer.open(target.files[0]);
      target.value = "";
    });
    byId("notation").addEventListener("change", () => this.compile());
    byId("writer").addEventListener("change", () => this.compile());
    byId("walk").addEventListener("click", () => this.walk());
  }

  // Loads the module, when the part is opened first.
  start(names) {
    if (this.isStarted) return;
    this.isStarted = true;
    for (const name of names) byId("writer").append(new Option(name, name));
    byId("writer").value = this.family ?? "qwen3";
    if (!this.isHeld) this.compile();
  }

  get state() {
    const source = new Text(this.editor.text);
    return { part: "constrain", tab: this.tab, kind: byId("notation").value,
      family: byId("writer").value || this.family || "qwen3",
      selection: toBytes(source, this.editor.selection), source, text: new Text(this.tried.text),
      tokenizer: this.tokenizer.words };
  }

  open(state, isRun = true) {
    byId("notation").value = kHints.has(state.kind) ? state.kind : "json_schema";
    this.family = state.family;
    if (this.isStarted && state.family) byId("writer").value = state.family;
    this.editor.set(state.source?.string ?? "");
    this.editor.isExample = Boolean(state.title);
    this.tried.set(state.text?.string ?? "");
    this.showAnswer(state.tab);
    if (state.selection) {
      this.editor.show(...toUnits(state.source ?? new Text(""), state.selection));
    }
    this.isHeld = !isRun;
    if (isRun && this.isStarted) this.compile();
  }

  now() {
    this.compile();
  }

  // The family that writes tools, also while there is no tool.
  choose(family) {
    byId("writer").value = family;
    this.compile();
  }

  // The buttons that show a place, of which the verdict repeats the first.
  get problems() {
    const found = [...document.querySelectorAll("#refusal .place")];
    return found.length > 0 ? found : [...document.querySelectorAll("#judgement .place")];
  }

  stop() {
    if (this.engine.busy) this.engine.stop();
  }

  engineIs({ progress, slow, said, lane }) {
    if (said !== undefined) this.tokenizer.say(said);
    if (slow) this.onSlow(lane);
    if (progress !== undefined && !this.compiled) {
      byId("judgement").replaceChildren(
        make("p", "", `The compiler is loading: ${progress} %`));
    }
    if (slow && lane === "compile") {
      refill(byId("judgement"), make("p", "", "Still compiling. "),
        button("own", "Stop", () => this.stop()));
    }
  }

  given() {
    const kind = byId("notation").value;
    byId("writer-line").hidden = kind !== "tools";
    return { kind, source: this.editor.text, family: byId("writer").value };
  }

  async compile() {
    this.compiling.cancel();
    if (!this.isStarted) return;
    const run = ++this.run;
    this.source = new Text(this.editor.text);
    const given = this.given();
    this.editor.mark(null);
    this.onState("running");
    try {
      const found = given.source.trim() === "" ? { empty: true }
        : await this.engine.run("compile", "compile", given);
      if (run !== this.run) return;
      this.compiled = !found.error && !found.empty;
      this.fill(found);
      if (this.compiled) await this.tryText();
      if (run === this.run) this.onState("done");
    } catch (error) {
      if (error === kOld || run !== this.run) return;
      this.compiled = false;
      this.fill({ error: { message: error.message } });
      this.onState("done");
    }
  }

  fill({ empty, error, report = [], tools = [], grammar }) {
    const guilty = tools.filter((tool) => tool.error);
    const first = guilty[0]?.error ?? error;
    const why = make("p", "why");
    if (first) why.append(shown("span", first.message), " ");
    if (first?.place) why.append(showButton(this, first.place));
    const [one, ...others] = guilty;
    refill(byId("judgement"), empty ? verdict("", "Nothing to compile yet")
      : error ? verdict("bad", !one ? "Refused"
        : `Refused: ${others.length > 0 ? count(guilty.length, "tool") : one.name}`, why)
      : verdict("good", report.length > 0
        ? `Compiled, with ${count(report.length, "note")}` : "Compiled"));

    const place = first?.place ?? error?.place;
    if (place) {
      const [from, to] = toUnits(this.source, place);
      this.editor.mark(() => [{ from, to: Math.max(to, from + 1), name: "lost" }]);
    }
    const list = byId("refusal");
    refill(list);
    if (tools.length > 0) {
      list.append(make("h2", "", count(tools.length, "tool")));
      const box = make("div", "box");
      const isFine = (tool) => !tool.error;
      for (const { name, error: wrong } of [...guilty, ...tools.filter(isFine)]) {
        box.append(wrong ? remark("bad", name, shown("span", wrong.message), " ",
          wrong.place ? showButton(this, wrong.place) : "")
          : remark("good", name, "compiles alone"));
      }
      list.append(box);
    }
    if (report.length > 0) {
      list.append(make("h2", "", "What the grammar enforces otherwise"));
      const box = make("div", "box");
      for (const note of report.slice(0, kMostNotes)) {
        box.append(remark("doubt", `${note.kind} ${note.keyword}`,
          shown("span", `${note.message} ${note.path}`), " ",
          note.place ? showButton(this, note.place) : ""));
      }
      if (report.length > kMostNotes) {
        box.append(make("p", "quiet", `and ${number(report.length - kMostNotes)} more`));
      }
      list.append(box);
    }
    if (grammar) {
      list.append(make("h2", "", "As EBNF"));
      const pre = region("The grammar as EBNF", "grammar");
      show(pre, grammar);
      list.append(pre);
    }
    byId("walk").disabled = !this.compiled;
    if (this.compiled) return;
    this.fillTry(null);
    this.fillAllowed();
  }

  async tryText() {
    this.trying.cancel();
    if (!this.compiled) return;
    const text = new Text(this.tried.text);
    try {
      const found = await this.engine.run("try", "accept",
        { ...this.given(), text: text.bytes });
      this.fillTry(found, text);
      await this.fillAllowed();
    } catch (error) {
      if (error !== kOld) byId("acceptance").replaceChildren(failure(error));
    }
  }

  // ---- Tokens that are allowed after the text

  tokenizerIs() {
    this.fillAllowed();
    this.onTokenizer();
  }

  // While another tokenizer is read, or none is there, ids have no text.
  tokenLine(i) {
    const { ids, tokenizer } = this.allowed;
    const text = tokenizer === this.tokenizer.request ? this.tokenizer.text(ids[i]) : "";
    return `${String(ids[i]).padStart(7)}  ${text}`;
  }

  async fillAllowed() {
    if (this.tab !== "allowed") return;
    const said = byId("allowed-said");
    const tokenizer = this.tokenizer.request;
    const empty = (...nodes) => {
      said.replaceChildren(...nodes);
      this.tokens.element.hidden = true;
      byId("filter-line").hidden = !tokenizer;
    };
    if (!this.compiled) {
      return empty(make("p", "quiet", "There is nothing that compiles."));
    }
    if (!tokenizer) {
      return empty(make("p", "quiet", "Which tokens are allowed needs the tokenizer: " +
        "open its file, or drop it on the page. It stays in this browser."));
    }
    const text = new Text(this.tried.text);
    try {
      const found = await this.engine.run("allowed", "allowed", { ...this.given(),
        tokenizer, text: text.bytes, filter: byId("filter").value });
      if (tokenizer !== this.tokenizer.request) return;
      if (found.isRefused) {
        return empty(verdict("bad", "The text is refused: nothing may come after it"));
      }
      this.allowed = { ids: found.ids, tokenizer };
      this.showAllowed(found, text);
    } catch (error) {
      if (error !== kOld) empty(failure(error));
    }
  }

  showAllowed({ all, ids, forced, forcedIds, canEnd }, text) {
    const after = text.bytes.length === 0 ? "at the beginning"
      : `after the ${count(text.bytes.length, "byte")} of the text`;
    const lines = [verdict("", `${count(all, "token")} of ` +
      `${number(this.tokenizer.size)} may come ${after}`)];
    if (ids.length < all) lines.push(make("p", "quiet", `${number(ids.length)} are listed`));
    if (canEnd) lines.push(make("p", "", "It may end here."));
    if (forced) {
      const what = make("p");
      what.append("What must follow: ", shown("code", forced));
      if (forcedIds.length > 0) what.append(", as tokens ", forcedIds.join(", "));
      lines.push(what);
    }
    byId("allowed-said").replaceChildren(...lines);
    byId("filter-line").hidden = false;
    this.tokens.element.hidden = false;
    this.tokens.element.scrollTop = 0;
    this.tokens.set(ids.length);
  }

  fillTry(found, text) {
    const place = byId("acceptance");
    place.replaceChildren();
    this.tried.mark(null);
    if (!found) {
      place.append(make("p", "quiet", "There is nothing that compiles."));
      return;
    }
    const { offset, expected, forced } = found;
    if (offset === undefined) {
      place.append(verdict("good", "Accepted: the whole text fits"));
    } else if (offset >= text.bytes.length) {
      place.append(verdict("cut", "So far it fits, and is not finished"));
    } else {
      place.append(verdict("bad", `Refused at byte ${number(offset)}`));
      const from = text.toUnit(offset);
      this.tried.mark(() => [{ from, to: from + 1, name: "lost" }]);
    }
    if (expected) {
      const what = make("p");
      what.append("What may stand there: ", shown("span", expected));
      place.append(what);
    }
    if (forced) {
      const what = make("p");
      what.append("What must follow: ", shown("code", forced));
      place.append(what);
    }
  }

  async walk() {
    try {
      const { text } = await this.engine.run("walk", "walk", { ...this.given(),
        seed: Math.floor(Math.random() * 2 ** 31) });
      this.tried.set(new Text(text).string);
      this.showAnswer("try");
    } catch (error) {
      if (error !== kOld) byId("acceptance").replaceChildren(failure(error));
    }
  }
}
