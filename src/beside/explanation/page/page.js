// Shows the facts of an explanation (docs/guide/explain.md has their shape).
//
// Text of the response becomes text nodes and nothing else: there is no
// innerHTML here.
//
//   facts.rows --blocks()--> blocks, of at most kBlockBytes of text each
//              --pages-----> pages, which are filled when they come into view

"use strict";

(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const byId = (id) => document.getElementById(id);

  // Of text in a block, of blocks in a page, and of a string in the message
  // that is not shown at first.
  const kBlockBytes = 4096;
  const kPageBlocks = 60;
  const kPageBytes = 24576;
  const kStringBytes = 2000;

  const tokens = facts.tokens;
  const allowed = (tokens && tokens.allowed) || [];
  const added = new Set(tokens ? tokens.added : []);
  const control = new Set(tokens ? tokens.control : []);
  const isSpecial = (index) => added.has(index) || control.has(index);

  function make(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const number = (n) => n.toLocaleString("en-US");
  const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

  // ---- Fields and their colours

  const kKnown = { thinking: 0, reasoning: 0, reasoning_content: 0, content: 1,
    tool_calls: 2 };
  const fieldClasses = new Map();

  function fieldClass(field) {
    if (!field) return "none";
    if (!fieldClasses.has(field)) {
      const known = Object.hasOwn(kKnown, field) ? kKnown[field] : undefined;
      const others = [...fieldClasses.values()].filter((c) => c > "f2").length;
      fieldClasses.set(field,
        known === undefined ? `f${3 + others % 5}` : `f${known}`);
    }
    return fieldClasses.get(field);
  }

  // ---- Text

  // Control characters, marks of direction, and characters without a look.
  // Joiners (U+200C, U+200D) are left alone, because scripts and emoji need
  // them.
  const kUnseen = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0" +
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f" +
    "\\u2028-\\u202f\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb" +
    "\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]", "gu");
  const kNames = { "\r": "\\r", "\n": "\\n", "\t": "\\t" };

  function sign(parent, label, className) {
    const made = make("span", className ? `sign ${className}` : "sign");
    made.dataset.sign = label;
    // What has no look of its own is read out, and is not copied.
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label);
    parent.append(made);
  }

  function labelOf(character) {
    if (Object.hasOwn(kNames, character)) return kNames[character];
    const code = character.codePointAt(0);
    const hex = code.toString(16).toUpperCase();
    return code < 0x80 ? `\\x${hex.padStart(2, "0")}`
                       : `U+${hex.padStart(4, "0")}`;
  }

  // Appends `text` to `parent`.  `ends`: line ends and tabs are signs.
  function show(parent, text, ends) {
    let at = 0;
    const pattern = ends
      ? new RegExp(kUnseen.source + "|[\\n\\t]", "gu") : kUnseen;
    for (const match of text.matchAll(pattern)) {
      if (match.index > at) parent.append(text.slice(at, match.index));
      sign(parent, labelOf(match[0]));
      at = match.index + match[0].length;
    }
    if (at < text.length) parent.append(text.slice(at));
  }

  // An element with a text of one line.
  function shown(name, text) {
    const made = make(name);
    show(made, text, true);
    return made;
  }

  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const encoder = new TextEncoder();

  function decoded(bytes) {
    try {
      return decoder.decode(bytes);
    } catch (error) {
      return null;
    }
  }

  // The size of the character that begins at `bytes[at]`; 0 if none does.
  function characterSize(bytes, at) {
    const first = bytes[at];
    const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return decoded(bytes.subarray(at, at + size)) === null ? 0 : size;
  }

  // Bytes that are not UTF-8 are shown one by one.
  function showBytes(parent, bytes, ends) {
    const whole = decoded(bytes);
    if (whole !== null) return show(parent, whole, ends);
    let run = 0;
    for (let at = 0; at <= bytes.length;) {
      const size = at < bytes.length ? characterSize(bytes, at) : 0;
      if (size > 0) {
        at += size;
        continue;
      }
      if (at > run) show(parent, decoded(bytes.subarray(run, at)), ends);
      if (at < bytes.length) {
        const hex = bytes[at].toString(16).toUpperCase().padStart(2, "0");
        sign(parent, `\\x${hex}`, "byte");
      }
      run = ++at;
    }
  }

  function bytesOf(row) {
    if (row.hex === undefined) return encoder.encode(row.text);
    const bytes = new Uint8Array(row.hex.length / 2);
    for (let i = 0; i < bytes.length; ++i) {
      bytes[i] = parseInt(row.hex.slice(2 * i, 2 * i + 2), 16);
    }
    return bytes;
  }

  // ---- Blocks

  const kRemarks = new Set(["cut", "malformed", "problem", "expected",
                               "hint"]);
  const isBad = (row) => row.kind === "malformed" || row.kind === "expected";
  const kBetween = new Set(["layout", "outside", "between"]);

  // The delimiters of a region, and what a tag or a trigger begins and ends with.
  const kMarked = new Set(["tag", "rule"]);
  const isDelimiter = (row) => row.kind === "open" || row.kind === "close" ||
    row.kind === "end" || (row.kind === "format" && kMarked.has(row.type));

  // The rows, and after each the diagnostics of its bytes that no row tells.
  function rowsWithDiagnostics() {
    const told = new Set(facts.rows.filter((row) => row.message)
      .map((row) => `${row.start} ${row.message}`));
    const left = (facts.diagnostics || [])
      .filter((d) => !told.has(`${d.start} ${d.message}`))
      .sort((a, b) => a.start - b.start);
    const out = [];
    let next = 0;
    for (const row of facts.rows) {
      out.push(row);
      while (next < left.length && !kRemarks.has(row.kind) &&
             left[next].start < row.end) {
        out.push({ kind: "problem", what: left[next].message, ...left[next] });
        ++next;
      }
    }
    for (const d of left.slice(next)) {
      out.push({ kind: "problem", what: d.message, ...d });
    }
    return out;
  }

  // A block is a row, or a piece of one whose text is long: from `from` to `to`
  // in its text, cut after a line where there is one.
  function blocksOf(rows) {
    const out = [];
    for (const row of rows) {
      const size = row.text === undefined ? 0 : row.text.length;
      if (size <= kBlockBytes || row.hex !== undefined) {
        out.push({ row, from: 0, to: size, first: true });
        continue;
      }
      for (let from = 0; from < size;) {
        let to = Math.min(from + kBlockBytes, size);
        if (to < size) {
          const line = row.text.lastIndexOf("\n", to - 1);
          if (line > from + kBlockBytes / 2) to = line + 1;
          // Not inside a pair of surrogates.
          else if (/[\udc00-\udfff]/.test(row.text[to])) ++to;
        }
        out.push({ row, from, to, first: from === 0 });
        from = to;
      }
    }
    return out;
  }

  const rows = rowsWithDiagnostics();
  const blocks = blocksOf(rows);

  // The rows that begin a region, or go on with one after another's rows.
  const starting = new Set();
  {
    let before = null;
    for (const row of rows) {
      if (kRemarks.has(row.kind) || row.kind === "held") continue;
      if (before === null || row.field !== before.field ||
          row.kind === "open" || before.kind === "close") {
        starting.add(row);
      }
      before = row;
    }
  }

  // The field, which is shown where its region begins, and the rest: "thinking"
  // and "opens".
  function wordsOf(row) {
    if (row.kind === "text") return [row.field, "text"];
    if (row.kind === "open") return [row.field, "opens"];
    if (row.kind === "close") return [row.field, "closes"];
    if (row.type) {
      const words = row.kind === "format" ? row.type
        : row.kind === "end" ? `end of ${row.type}` : `in ${row.type}`;
      return [row.field, words];
    }
    return ["", row.what];
  }

  const range = (pair) => `${number(pair[0])}–${number(pair[1])}`;

  // ---- Tokens

  let byToken = false;

  const tokenBegin = (i) => i === 0 ? facts.prefix_bytes : tokens.ends[i - 1];

  // The tokens of a block, each with its bytes; [] for text of the prefix.
  function tokensOf(block) {
    if (!tokens || !block.row.tokens) return [];
    const bytes = bytesOf(block.row);
    let begin = block.row.start;
    let end = block.row.end;
    if (!(block.first && block.to === block.row.text.length)) {
      begin += encoder.encode(block.row.text.slice(0, block.from)).length;
      end = begin +
        encoder.encode(block.row.text.slice(block.from, block.to)).length;
    }
    const out = [];
    for (let i = block.row.tokens[0]; i < block.row.tokens[1]; ++i) {
      const from = Math.max(tokenBegin(i), begin);
      const to = Math.min(tokens.ends[i], end);
      const empty = tokens.ends[i] === tokenBegin(i);
      if (from < to || (empty && from === to)) {
        out.push({ index: i, bytes: bytes.subarray(from - block.row.start,
          to - block.row.start) });
      }
    }
    return out;
  }

  function showTokens(parent, block) {
    for (const token of tokensOf(block)) {
      const i = token.index;
      const made = make("span", "tok");
      made.dataset.token = i;
      if (isSpecial(i)) made.classList.add("special");
      showBytes(made, token.bytes, true);
      if (i < allowed.length) {
        const refused = tokens.rejected === i;
        if (refused) made.classList.add("refused");
        else if (allowed[i] === 1) made.classList.add("forced");
        made.append(make("small", "",
          refused ? "refused" : allowed[i] === 1 ? "forced"
                                                 : number(allowed[i])));
      } else {
        // A count that is not known is not to be taken for an id.
        made.append(make("small", "",
          allowed.length > 0 ? "" : String(tokens.ids[i])));
      }
      parent.append(made);
      if (token.bytes.includes(10)) parent.append(make("br"));
    }
  }

  function tokenWords(i) {
    let words = `${number(i)} · id ${tokens.ids[i]}`;
    if (control.has(i)) words += " · control token";
    if (added.has(i)) words += " · added token";
    if (tokens.rejected === i) {
      words += ` · not allowed (${count(allowed[i], "token")} allowed)`;
    } else if (i < allowed.length) {
      words += allowed[i] === 1 ? " · forced: the only one that was allowed"
                                : ` · ${number(allowed[i])} allowed`;
    }
    return words;
  }

  // ---- Rows

  function textOf(block) {
    const { row } = block;
    const text = make("div", "text");
    // Line ends of longer text are seen by themselves.
    const ends = isDelimiter(row) || kBetween.has(row.kind) ||
      row.kind === "held" || !/\S/.test(row.text);
    let parent = text;
    if (isDelimiter(row) && row.text !== "" && !byToken) {
      parent = make("span", "chip");
      const token = row.tokens && row.tokens[1] === row.tokens[0] + 1 &&
        isSpecial(row.tokens[0]);
      if (token) parent.classList.add("token");
      text.append(parent);
    }
    if (byToken && row.tokens && row.kind !== "held") {
      showTokens(parent, block);
    } else if (row.hex !== undefined) {
      showBytes(parent, bytesOf(row), ends);
    } else {
      show(parent, row.text.slice(block.from, block.to), ends);
    }
    return text;
  }

  function element(index) {
    const block = blocks[index];
    const { row } = block;
    let made;
    if (kRemarks.has(row.kind)) {
      made = make("div", "remark");
      show(made, row.what, true);
      if (isBad(row)) made.classList.add("bad");
    } else {
      made = make("div", `row is-${row.kind} ${fieldClass(row.field)}`);
      if (kBetween.has(row.kind)) made.classList.add("gap");
      const begins = block.first && starting.has(row);
      if (begins && index > 0) made.classList.add("starts");
      const label = make("div", "label");
      if (block.first) {
        const [name, rest] = wordsOf(row);
        if (name && begins) {
          label.append(shown("b", name), " ");
        }
        label.append(shown("span", rest), " ");
        if (row.kind !== "held") {
          label.append(make("span", "where", range([row.start, row.end])));
        }
      }
      made.append(label, textOf(block));
    }
    made.setAttribute("role", "listitem");
    made.dataset.index = index;
    made.tabIndex = index === current ? 0 : -1;
    if (index === opened) made.append(details(index));
    return made;
  }

  function details(index) {
    const { row } = blocks[index];
    const list = make("dl", "detail");
    const add = (name, value, code) => {
      const dd = make("dd");
      if (code) {
        const element = make("code");
        show(element, value, true);
        dd.append(element);
      } else {
        show(dd, value, true);
      }
      list.append(shown("dt", name), dd);
    };
    add("what", row.what);
    add("bytes", `${range([row.start, row.end])} ` +
      `(${number(row.end - row.start)})` +
      (row.end <= facts.prefix_bytes && row.end > row.start
        ? ", written by the prompt" : ""));
    if (row.tokens) add("tokens", range(row.tokens));
    if (row.field) add("field", row.field);
    if (row.path !== undefined) add("format", `${row.type} ${row.path}`);
    if (row.alternative !== undefined) {
      add("alternative", String(row.alternative));
    }
    if (row.finished === false) add("finished", "no, the response ends inside");
    for (const [name, value] of Object.entries(row.captures || {})) {
      add(name, value, true);
    }
    if (row.code) add("code", row.code);
    if (row.hex !== undefined) {
      add("not UTF-8", "bytes that are no characters are shown as \\xNN");
    }
    if (row.tokens && here >= row.tokens[0] && here < row.tokens[1]) {
      add("token", tokenWords(here));
    }
    return list;
  }

  // ---- Pages

  const container = byId("rows");
  const pages = [];

  function makePages() {
    for (let begin = 0; begin < blocks.length;) {
      let bytes = 0;
      let end = begin;
      while (end < blocks.length && end - begin < kPageBlocks &&
             (end === begin || bytes < kPageBytes)) {
        bytes += blocks[end].to - blocks[end].from + 40;
        ++end;
      }
      const page = make("div", "page");
      // About 80 characters in a line of 21 pixels.
      const lines = (end - begin) * 1.3 + bytes / 80;
      page.style.containIntrinsicSize = `auto ${Math.ceil(lines * 21)}px`;
      page.dataset.page = pages.length;
      pages.push({ element: page, begin, end, filled: false });
      begin = end;
    }
    container.append(...pages.map((page) => page.element));
  }

  function fill(page) {
    if (page.filled) return;
    page.filled = true;
    const made = [];
    for (let i = page.begin; i < page.end; ++i) made.push(element(i));
    page.element.replaceChildren(...made);
  }

  function empty(page) {
    if (!page.filled) return;
    const height = page.element.offsetHeight;
    page.element.style.containIntrinsicSize = `auto ${height}px`;
    page.filled = false;
    page.element.replaceChildren();
    // An empty page has the height of its content, unless it is said.
    page.element.style.minHeight = `${height}px`;
  }

  const pageOf = (index) => {
    let low = 0;
    let high = pages.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pages[middle].begin <= index) low = middle;
      else high = middle - 1;
    }
    return pages[low];
  };

  // Pages near the view are filled.  By token, where a page is many elements,
  // those far from it are emptied; else all are filled in idle time, so that
  // the browser's search finds their text.
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const page = pages[entry.target.dataset.page];
      if (entry.isIntersecting) {
        page.element.style.minHeight = "";
        fill(page);
      } else if (byToken) {
        empty(page);
      }
    }
  }, { rootMargin: "1500px 0px" });

  const idle = window.requestIdleCallback ||
    ((work) => setTimeout(() => work({ timeRemaining: () => 8 }), 50));

  function fillRest(from) {
    idle((deadline) => {
      let at = from;
      while (at < pages.length && !byToken && deadline.timeRemaining() > 4) {
        fill(pages[at++]);
      }
      if (at < pages.length && !byToken) fillRest(at);
    });
  }

  function rebuild() {
    for (const page of pages) {
      page.filled = false;
      page.element.replaceChildren();
      page.element.style.minHeight = "";
      observer.unobserve(page.element);
      observer.observe(page.element);
    }
    fill(pageOf(current));
    if (!byToken) fillRest(0);
  }

  // ---- Moving

  let current = 0;
  let opened = -1;
  let here = -1;  // the token that the keys are at

  function elementOf(index) {
    const page = pageOf(index);
    fill(page);
    return page.element.children[index - page.begin];
  }

  function redraw(index) {
    const page = pageOf(index);
    if (!page.filled) return;
    const old = page.element.children[index - page.begin];
    const focused = document.activeElement === old;
    const made = element(index);
    old.replaceWith(made);
    if (focused) made.focus({ preventScroll: true });
  }

  // A page that comes into view takes its real height and moves what is after
  // it, so that the place of a far row is known only after a frame or two.
  function reveal(index, block) {
    const scroll = () => elementOf(index).scrollIntoView({ block });
    scroll();
    requestAnimationFrame(() => requestAnimationFrame(scroll));
  }

  function select(index, focus, block) {
    const last = current;
    current = Math.max(0, Math.min(index, blocks.length - 1));
    if (last !== current) {
      here = -1;
      if (pageOf(last).filled) elementOf(last).tabIndex = -1;
    }
    const made = elementOf(current);
    made.tabIndex = 0;
    if (focus) made.focus({ preventScroll: true });
    if (block) reveal(current, block);
  }

  function toggle(index) {
    const last = opened;
    opened = opened === index ? -1 : index;
    if (last >= 0) redraw(last);
    if (opened >= 0 && opened !== last) redraw(opened);
  }

  function moveToken(step) {
    const list = tokensOf(blocks[current]);
    if (!byToken || list.length === 0) return false;
    const at = list.findIndex((token) => token.index === here);
    const next = at < 0 ? (step > 0 ? 0 : list.length - 1) : at + step;
    if (next < 0 || next >= list.length) return true;
    here = list[next].index;
    const last = opened;
    opened = current;
    if (last >= 0 && last !== current) redraw(last);
    redraw(current);
    const made = elementOf(current)
      .querySelector(`.tok[data-token="${here}"]`);
    if (made) {
      made.classList.add("here");
      made.scrollIntoView({ block: "nearest" });
    }
    return true;
  }

  const kSteps = { ArrowDown: 1, ArrowUp: -1 };

  container.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    let done = true;
    if (event.key in kSteps) {
      select(current + kSteps[event.key], true, "nearest");
    } else if (event.key === "Home") {
      select(0, true, "center");
    } else if (event.key === "End") {
      select(blocks.length - 1, true, "center");
    } else if (event.key === "Enter" || event.key === " ") {
      toggle(current);
    } else if (event.key === "Escape" && opened >= 0) {
      toggle(opened);
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      done = moveToken(event.key === "ArrowRight" ? 1 : -1);
    } else {
      done = false;
    }
    if (done) event.preventDefault();
  });

  container.addEventListener("click", (event) => {
    const row = event.target.closest("[data-index]");
    if (!row || event.target.closest(".detail")) return;
    const index = Number(row.dataset.index);
    // A click that ends the selection of a text is not one on the row.
    if (String(window.getSelection()) !== "") return;
    const token = event.target.closest(".tok");
    select(index, true);
    if (!token) return toggle(index);
    here = Number(token.dataset.token) - 1;
    const first = tokensOf(blocks[index])[0].index;
    if (here < first) here = -1;
    moveToken(1);
  });

  // ---- The head

  function summarise() {
    const list = byId("summary");
    const add = (name, value, className) => {
      const item = make("li", className || "");
      item.append(name ? `${name} ` : "", shown("b", value));
      list.append(item);
    };
    const kBy = { format: "format", structural_tag: "structural tag",
      grammar: "grammar" };
    add(`read by ${kBy[facts.by]}`, facts.name || "");
    add("", count(facts.bytes - facts.prefix_bytes, "byte"));
    if (facts.prefix_bytes > 0) {
      add("after", `${count(facts.prefix_bytes, "byte")} of the prompt`);
    }
    if (tokens) add("", count(tokens.ids.length, "token"));
    if (facts.error) {
      add("", "failed", "bad");
    } else if (facts.accepted !== undefined) {
      if (facts.accepted) add("", "accepted", "good");
      else add("", "not accepted", "bad");
    } else {
      if (facts.complete) add("", "complete", "good");
      else add("", "cut off", "bad");
    }
    const problems = rows.filter((row) => kRemarks.has(row.kind));
    if (problems.length > 0) {
      add("", count(problems.length, "problem"), "doubt");
    }
    if (allowed.length > 0) {
      const forced = allowed.filter((n, i) => n === 1 && i !== tokens.rejected);
      add("", `${number(forced.length)} of ${count(tokens.ids.length, "token")}`);
      list.lastChild.append(" forced");
    }
    if (tokens && tokens.rejected !== undefined) {
      add("", `token ${number(tokens.rejected)} was not allowed`, "bad");
    }
  }

  function explainColours() {
    const sizes = new Map();
    for (const row of rows) {
      if (row.field && !kRemarks.has(row.kind) && row.kind !== "held") {
        sizes.set(row.field, (sizes.get(row.field) || 0) + row.end - row.start);
      }
    }
    for (const [field, size] of sizes) {
      const item = make("li", fieldClass(field));
      item.append(make("i"), shown("b", field), ` ${count(size, "byte")}`);
      byId("legend").append(item);
    }
    byId("legend").hidden = sizes.size === 0;
  }

  // The whole response as a strip, one colour for each field.
  function drawOverview() {
    const canvas = byId("overview");
    const width = canvas.clientWidth * devicePixelRatio;
    const height = 28 * devicePixelRatio;
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    const colours = new Map();
    const probe = make("i");
    canvas.after(probe);
    const colour = (className, property) => {
      const key = className + property;
      if (!colours.has(key)) {
        probe.className = className;
        colours.set(key,
          getComputedStyle(probe).getPropertyValue(property).trim());
      }
      return colours.get(key);
    };
    context.fillStyle = colour("none", "--mark");
    context.fillRect(0, 0, width, height);
    const scale = width / Math.max(1, facts.bytes);
    let drawn = -1;  // of rows within one pixel the first is drawn
    for (const row of rows) {
      if (kRemarks.has(row.kind) || row.kind === "held") continue;
      if (!row.field && row.kind !== "rest" && row.kind !== "unclaimed") {
        continue;
      }
      const left = Math.floor(row.start * scale);
      const right = Math.max(left + 1, Math.floor(row.end * scale));
      if (right === left + 1 && left === drawn) continue;
      drawn = left;
      context.fillStyle = row.field ? colour(fieldClass(row.field), "--c")
                                    : colour("none", "--error");
      context.globalAlpha = isDelimiter(row) ? 1 : 0.62;
      context.clearRect(left, 0, right - left, height);
      context.fillRect(left, 0, right - left, height);
    }
    context.globalAlpha = 1;
    context.fillStyle = colour("none", "--error");
    for (const row of rows) {
      if (!kRemarks.has(row.kind)) continue;
      const x = Math.min(row.start * scale, width - 3 * devicePixelRatio);
      context.fillRect(x, 0, 3 * devicePixelRatio, height);
    }
    probe.remove();
  }

  function clickOverview(event) {
    const box = event.target.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * facts.bytes;
    let found = 0;
    for (let i = 0; i < blocks.length; ++i) {
      const { row, from } = blocks[i];
      if (kRemarks.has(row.kind) || row.kind === "held") continue;
      // The offset of a piece is in characters: close enough for a strip.
      if (row.start + from <= at) found = i;
    }
    select(found, true, "center");
  }

  // ---- The side

  function showProblems() {
    const found = [];
    blocks.forEach(({ row }, index) => {
      if (kRemarks.has(row.kind)) found.push(index);
    });
    if (facts.error) {
      const at = make("li");
      const remark = shown("div", facts.error.message);
      remark.className = "remark bad";
      at.append(remark);
      byId("problems").querySelector("ol").append(at);
    }
    byId("problems").hidden = found.length === 0 && !facts.error;
    if (found.length === 0) return;
    for (const index of found.slice(0, 200)) {
      const { row } = blocks[index];
      const button = make("button");
      button.type = "button";
      if (isBad(row)) button.classList.add("bad");
      show(button, row.what, true);
      button.append(make("small", "", `at byte ${number(row.start)}`));
      button.addEventListener("click", () => select(index, true, "center"));
      const item = make("li");
      item.append(button);
      byId("problems").querySelector("ol").append(item);
    }
    const next = byId("next-problem");
    next.hidden = false;
    next.addEventListener("click", () => {
      const after = found.find((index) => index > current);
      select(after === undefined ? found[0] : after, true, "center");
    });
  }

  // The message is text of JSON, indented by two: its numbers may have more
  // digits than a number here.
  function showMessage() {
    if (facts.message_text === undefined) return;
    byId("message").hidden = false;
    const pre = byId("message").querySelector("pre");
    const lines = facts.message_text.split("\n");
    const kLines = 1500;
    const add = (begin) => {
      const end = Math.min(begin + kLines, lines.length);
      for (let i = begin; i < end; ++i) {
        addLine(pre, lines[i]);
        if (i + 1 < lines.length) pre.append("\n");
      }
      if (end === lines.length) return;
      const more = make("button", "more",
        `${count(lines.length - end, "more line")}`);
      more.type = "button";
      more.addEventListener("click", () => {
        more.remove();
        add(end);
      });
      pre.append(more);
    };
    add(0);
  }

  function addLine(pre, line) {
    const key = /^( *)("(?:[^"\\]|\\.)*"): /.exec(line);
    let rest = line;
    if (key) {
      rest = line.slice(key[0].length);
      pre.append(key[1]);
      // The keys of the message are the fields of the response.
      const name = make("span", "key");
      if (key[1].length === 2) {
        name.classList.add(...fieldClassOfKey(key[2]));
      }
      show(name, key[2]);
      pre.append(name, ": ");
    }
    const start = /^ */.exec(rest)[0];
    const value = rest.slice(start.length);
    pre.append(start);
    const isString = value.startsWith('"');
    const made = make("span",
      isString ? "string" : /^[[\]{}]/.test(value) ? "" : "other");
    if (value.length <= 2 * kStringBytes) {
      show(made, value);
      pre.append(made);
      return;
    }
    let cut = kStringBytes;
    if (/[\udc00-\udfff]/.test(value[cut])) ++cut;
    show(made, value.slice(0, cut));
    const more = make("button", "more",
      `${count(value.length - cut, "more character")}`);
    more.type = "button";
    more.addEventListener("click", () => {
      more.remove();
      show(made, value.slice(cut));
    });
    pre.append(made, more);
  }

  function fieldClassOfKey(key) {
    const field = JSON.parse(key);
    return [fieldClasses.has(field) ? fieldClasses.get(field) : "none"];
  }

  // ---- The whole

  summarise();
  explainColours();
  showProblems();
  showMessage();
  makePages();
  if (blocks.length > 0) fill(pages[0]);
  for (const page of pages) observer.observe(page.element);
  byId("overview").addEventListener("click", clickOverview);
  new ResizeObserver(drawOverview).observe(byId("overview"));
  matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", drawOverview);
  addEventListener("beforeprint", () => {
    if (!byToken) pages.forEach(fill);
  });
  if (tokens) {
    byId("by-token").hidden = false;
    byId("tokens").checked = false;
    byId("tokens").addEventListener("change", (event) => {
      byToken = event.target.checked;
      byId("token-keys").hidden = !byToken;
      rebuild();
    });
  }
  fillRest(0);
})();
