// The page: what is opened, kept and shared, and the keys of all parts.

import { button, decoded, make, number, region, show, shown }
  from "../src/beside/explanation/viewer/text.js";

import { kOld } from "./engine.js";
import { examples } from "./examples.js";
import { configIn, isTokenizer, parsed } from "./intake.js";
import { checked, decode, encode, written } from "./link.js";
import { byId, focusIn, say } from "./page.js";
import { Text } from "./places.js";
import { Constrain } from "./constrain.js";
import { Read } from "./read.js";
import { tabs } from "./tabs.js";
import { cpp, javascript, python, report, shell, vector } from "./takeaway.js";
import { Write } from "./write.js";

const kDraft = "parlance-draft";
const kMostDraft = 500000;
const kMostShown = 1 << 16;  // characters of what is taken away

// ---- Drafts: in this tab alone, with a mark while a reading runs.

function storage(action) {
  try {
    return action(sessionStorage);
  } catch (error) {
    return null;  // refused, or full
  }
}

// Parts are opened by name; `part` is the one that is shown.
let part = null;

function keepDraft(isRunning) {
  const state = part?.state;
  if (!state) return;
  storage((kept) => {
    // A long text is not written only to be measured.
    const isLong = Object.values(state).some((value) =>
      value instanceof Text && value.string.length > kMostDraft);
    const json = isLong ? "" : JSON.stringify({ ...jsonOf(state), isRunning });
    if (isLong || json.length > kMostDraft) kept.removeItem(kDraft);
    else kept.setItem(kDraft, json);
  });
}

// `data-state` is for what waits for the page, such as its tests.
const onState = (what) => {
  document.body.dataset.state = what;
  keepDraft(what === "running");
  if (what === "done") loadNames();
};

const constrain = new Constrain(onState, () => {
  byId("wanted").hidden = true;
  read.tokenizerIs();
  keepDraft(false);
}, (lane) => lane === "read" && read.engineIs({ slow: true }));
const read = new Read(onState, constrain, (...words) => {
  byId("notice").append(" ", ...words);
  byId("notice").hidden = false;
});
const write = new Write(read.engine, onState, (text) => openConfig("", text));
const parts = { read, write, constrain };
let names = [];  // of the families, once they are there
let loading = null;

const showPart = tabs(byId("parts"),
  [["read", "Read"], ["write", "Write"], ["constrain", "Constrain"]], (id) => {
    part = parts[id];
    startPart();
  });

// An empty part begins with an example.
function startPart() {
  const { state } = part;
  if (names.length === 0 || state.part === "read") return;
  if (state.source.string === "") {
    part.open(checked(examples.find((one) => one.part === state.part)));
  }
  part.start(names);
}

function open(state, isRun = true) {
  const id = Object.hasOwn(parts, state.part) ? state.part : "read";
  parts[id].open(state, isRun);
  showPart(id);
  // A link has no tokenizer but its name and digest.
  if (state.tokenizer && state.tokenizer !== constrain.tokenizer.words) {
    sayTokenizer(state.tokenizer);
  }
}

function sayTokenizer(words) {
  const [, name, digest] = /^(.*) ([0-9a-f]*)$/s.exec(words) ?? [null, words, ""];
  say("wanted", "It was seen with the tokenizer ", shown("b", name),
    digest ? ` (SHA-256 ${digest.slice(0, 16)}…)` : "", ": open its file to see tokens.");
}

// The state as JSON has it; `left`: names of what is left out.
function jsonOf(state, left = new Set()) {
  const out = { v: read.version };
  for (const [name, value] of Object.entries(state)) {
    if (value === null || value === "" || left.has(name)) continue;
    out[name] = value instanceof Text ? written(value)
      : name === "samples" ? value.map((one) => ({ ...one, text: written(one.text) }))
      : value;
  }
  return out;
}

const notice = (...words) => say("notice", ...words);

// ---- Links

let links = 0;

// The last link that was followed counts, also if an earlier one takes longer.
async function openFragment() {
  const fragment = location.hash.slice(1);
  if (fragment === "") return false;
  const turn = ++links;
  try {
    const state = await decode(fragment);
    if (turn !== links) return true;
    open(state);
    const from = state.v ? [", made with ", shown("b", state.v)] : [];
    notice("From a link", ...from, `, read with ${read.version}.`);
    return true;
  } catch (error) {
    if (turn !== links) return true;
    notice(`The link cannot be opened: ${error.message}.`);
    return false;
  }
}

const kSizes = [[2000, "fits a chat message"], [8000, "fits the form of an issue"],
  [32000, "long: some programs cut it"]];

async function copied(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    place.textContent = "Copied.";
  } catch (error) {
    place.textContent = "This browser refuses: select the text and copy it.";
  }
}

// A sheet, and the button that says whether it is shown, and has the keyboard after it.
function showSheet(name, isShown) {
  const opener = document.querySelector(`[aria-controls=${name}]`);
  if (!isShown && byId(name).contains(document.activeElement)) opener.focus();
  byId(name).hidden = !isShown;
  opener.setAttribute("aria-expanded", String(isShown));
}

// What can be taken away of a reading, beside a link.
const writers = { report, python, javascript, shell, cpp, vector };

// What the writers are given.  Tools that are no JSON were left out of the reading.
function readingOf(state, address) {
  const { complete, diagnostics, message_text: message } = read.view.model.facts;
  return { ...state, tools: read.given.tools ? state.tools : null,
    response: read.response, family: read.readBy, version: read.version,
    verdict: byId("verdict").innerText.replace(/\n+/g, "\n"), message, link: address,
    isMalformed: !complete || diagnostics.length > 0 ||
      read.view.model.remarks.some(({ kind }) => kind === "bad") };
}

async function share() {
  const sheet = byId("share");
  showSheet("share", sheet.hidden);
  if (sheet.hidden) return;
  const { state } = part;
  const left = new Set();
  const place = make("p");
  place.setAttribute("role", "status");
  const copy = button("own", "Copy", () => {});
  const save = button("own", "Save as a file", () => {
    const file = new Blob([JSON.stringify(jsonOf(state, left))]);
    const link = make("a");
    link.href = URL.createObjectURL(file);
    link.download = "parlance.json";
    link.click();
  });
  const kinds = make("select");
  kinds.setAttribute("aria-label", "What to take away");
  const words = [["link", "a link"], ["report", "a report in Markdown"],
    ["python", "code in Python"], ["javascript", "code in JavaScript"],
    ["cpp", "code in C++"], ["shell", "a command"], ["vector", "a vector for the tests"]];
  // Of an earlier result nothing is taken away.
  const isReading = part === read && read.view && read.cut === null &&
    !byId("result").classList.contains("stale");
  for (const [value, said] of isReading ? words : words.slice(0, 1)) {
    // Vectors are text.
    if (value === "vector" && !read.response.isUtf8) continue;
    kinds.append(new Option(said, value));
  }
  const pre = region("What is taken away", "grammar");
  const boxes = make("p", "line");
  // What is left out is in no address that can be copied, also while it is made.
  let updates = 0;
  const update = async () => {
    const turn = ++updates;
    copy.disabled = true;
    const fragment = await encode(jsonOf(state, left));
    if (turn !== updates) return;
    const address = `${location.href.split("#")[0]}#${fragment}`;
    const isLink = kinds.value === "link";
    pre.hidden = isLink;
    save.hidden = !isLink;
    boxes.hidden = !isLink;
    if (!isLink) {
      const text = writers[kinds.value](readingOf(state, address));
      pre.replaceChildren();
      show(pre, text.slice(0, kMostShown));
      if (text.length > kMostShown) pre.append("\n…");
      place.textContent = `${number(text.length)} characters`;
      copy.disabled = false;
      copy.onclick = () => copied(text, place);
      return;
    }
    const fits = kSizes.find(([most]) => address.length <= most);
    place.textContent = `${number(address.length)} characters: ` +
      (fits ? fits[1] : "too long for a link; save a file, which this page opens");
    copy.disabled = !fits;
    copy.onclick = () => {
      history.replaceState(null, "", address);
      copied(address, place);
    };
  };
  for (const [name, value] of Object.entries(state)) {
    const isList = name === "samples" && value;
    if (!(value instanceof Text) && !isList) continue;
    const label = make("label");
    const box = make("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => {
      if (box.checked) left.delete(name);
      else left.add(name);
      update();
    });
    label.append(box, isList ? ` the ${number(value.length)} ${name}`
      : ` the ${name}, ${number(value.bytes.length)} bytes`);
    boxes.append(label, " ");
  }
  kinds.addEventListener("change", update);
  const buttons = make("p", "line");
  buttons.append(kinds, copy, " ", save);
  sheet.replaceChildren(buttons, boxes, place, pre);
  kinds.focus();
  await update();
}

// ---- Files

function openFile(file) {
  // Of a folder, or of a file that is gone, there are no bytes.
  openContent(file).catch((error) => notice(shown("b", file.name),
    ` cannot be read: ${error.message}`));
}

async function openContent(file) {
  const head = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
  if (isTokenizer(file.name, head)) return constrain.tokenizer.open(file);
  if (file.size > 64 << 20) {
    return notice("The file is larger than 64 MB: parlance explain --html reads it.");
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const string = decoded(bytes);
  notice();
  const given = string?.trimStart().startsWith("{") ? parsed(string) : null;
  if (given && Object.hasOwn(parts, given.part) && Object.hasOwn(given, "v")) {
    return open(checked(given));
  }
  if (string !== null && await openConfig(file.name, string)) return undefined;
  if (part !== read && string !== null) return part.editor.replace(string);
  return read.openText(new Text(bytes));
}

// Each part begins with the family that a tokenizer's configuration or a chat template
// is of; where the configuration has a template of its own, that is written on.
async function openConfig(name, text) {
  const config = configIn(name, text);
  if (!config) return false;
  const detect = () =>
    read.engine.run("detect", "detect", { config: JSON.stringify(config) });
  const take = (family) => (part === write ? write.startFrom(family) : part.choose(family));
  try {
    let found = await detect();
    const words = [];
    if (found.name === "response_schema") {
      words.push("The configuration has a response_schema, which parlance parse reads, and " +
        "this page does not. ");
      delete config.response_schema;
      found = await detect();
    }
    if (found.name === "response_template") {
      const source = { name: "own", response_template: config.response_template };
      // What was being read is its first sample.
      const sample = part === read && !read.editor.isExample ? read.response : null;
      open({ part: "write", source: new Text(JSON.stringify(source, null, 2)), text: sample });
      notice("This is the response_template of the tokenizer's configuration.");
      return true;
    }
    words.push("The tokenizer's configuration is that of ", shown("b", found.name),
      ` (${found.certainty}): ${found.why}.`);
    if (found.others.length > 0) words.push(" It may also be of: ");
    for (const other of found.others) {
      words.push(button("own", other, () => take(other)), " ");
    }
    take(found.name);
    notice(...words);
  } catch (error) {
    if (error !== kOld) notice(`No family is known by this configuration: ${error.message}`);
  }
  return true;
}

// ---- Keys

// The pane after (or before) that with the keyboard; what is not shown is left out.
function nextPane(step) {
  const shown = (list, ids) => list[ids.find((id) => !byId(id).hidden)];
  const { editors } = read;
  const tab = (id) => document.querySelector(`#${id} [aria-selected=true]`);
  const panes = part === read ? [
    [byId("input"), "input", () => shown(editors, Object.keys(editors))],
    [document.querySelector(".stream"), "input", () => byId("slider")],
    [byId("result"), "result", () => tab("results")],
  ] : part === write ? [
    [byId("written"), "written", () => write.editor],
    [byId("judged"), "judged", () => tab("write-results")],
  ] : [
    [byId("described"), "described", () => constrain.editor],
    [byId("answer"), "answer", () => tab("answers")],
  ];
  panes.unshift([document.querySelector(".top"), null, () => tab("parts")]);
  const now = document.activeElement;
  const next = panes.findLastIndex(([pane]) => pane.contains(now)) + step;
  if (next < 0 || next >= panes.length) return false;
  const [, pane, stop] = panes[next];
  if (pane) part.showPane(pane);
  stop().focus();
  return true;
}

let shownProblem = null;  // its button

function nextProblem(step) {
  if (part === read) return read.nextProblem(step);
  const found = part.problems;
  if (found.length === 0) return;
  const from = found.indexOf(shownProblem);
  shownProblem = from < 0 && step < 0 ? found.at(-1)
    : found[(from + step + found.length) % found.length];
  shownProblem.click();
}

document.addEventListener("keydown", (event) => {
  const { key, shiftKey } = event;
  if (key === "F6") {
    if (nextPane(shiftKey ? -1 : 1)) event.preventDefault();
  } else if (key === "F8") {
    event.preventDefault();
    nextProblem(shiftKey ? -1 : 1);
  } else if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    part.now();
  } else if (key === "s" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    share();
  } else if (key === "?" && !isText(event.target)) {
    toggleKeys();
  } else if (key === "Escape") {
    part.stop();
    for (const name of ["keys", "share"]) showSheet(name, false);
  }
}, true);

// Whether keys write into it; an editor is the host of a shadow root.
const isText = (element) => element.shadowRoot || element.matches("input, select");
const toggleKeys = () => showSheet("keys", byId("keys").hidden);

// What is pasted beside the editors is pasted over that of the part.
document.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain");
  if (!text || event.defaultPrevented || isText(event.target)) return;
  event.preventDefault();
  part.editor.replace(text);
});

// ---- The start

examples.forEach(({ title }, i) => byId("examples").append(new Option(title, i)));
byId("examples").addEventListener("change", ({ target }) => {
  if (target.value === "") return;
  notice();
  open(checked(examples[target.value]));
});
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", ({ target }) => {
  if (target.files[0]) openFile(target.files[0]);
  target.value = "";
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  const [file] = event.dataTransfer.files;
  if (!file) return;
  event.preventDefault();
  openFile(file);
});
byId("link").addEventListener("click", share);
byId("help").addEventListener("click", toggleKeys);
// Arrows go through a list of what is opened; after it, all of it can be chosen again.
for (const id of ["examples", "from"]) {
  byId(id).addEventListener("blur", ({ target }) => { target.value = ""; });
}
addEventListener("hashchange", openFragment);

function openDraft() {
  const kept = storage((it) => JSON.parse(it.getItem(kDraft)));
  if (!kept) return false;
  open(checked(kept), !kept.isRunning);
  if (kept.isRunning) {
    notice("The last run did not end. ",
      button("own", "Run", () => {
        notice();
        focusIn(byId("parts").querySelector("[aria-selected=true]"));
        part.now();
      }));
  }
  return true;
}

// The names of the families, which are asked for again after what could not be loaded.
async function loadNames() {
  if (loading || names.length > 0) return;
  loading = read.start();
  try {
    names = await loading;
    byId("version").textContent = `Version ${read.version}.`;
    startPart();
    if (read.hasFailed) read.now();
  } catch (error) {
    read.fail(error);
  } finally {
    loading = null;
  }
}

async function start() {
  const loaded = loadNames();
  if (location.hash.length > 1) await loaded;
  if (await openFragment() || openDraft()) return;
  open(checked(examples[0]));
  // Where there is no keyboard on the screen.
  if (matchMedia("(min-width: 62rem)").matches) read.editor.focus();
}

start();
