// Text of a response as nodes of a page.
//
// Text becomes text nodes and nothing else: there is no innerHTML here.  What
// cannot be seen, or would change how its neighbours are seen, becomes a *sign*:
// an element that shows a number and has no text, so that it is not copied.

export function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

export function button(className, text, action) {
  const made = make("button", className, text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

// Text with its lines, which the keyboard can scroll.
export function region(label, className) {
  const pre = make("pre", className);
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", label);
  return pre;
}

export const number = (n) => n.toLocaleString("en-US");
export const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
export const range = (begin, end) => `${number(begin)}–${number(end)}`;

// Control characters, marks of direction, and characters without a look.
// Joiners (U+200C, U+200D) are left alone, because scripts and emoji need them.
const kUnseen = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0" +
  "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f" +
  "\\u2028-\\u202f\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb" +
  "\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]", "gu");
const kUnseenOrEnd = new RegExp(kUnseen.source + "|[\\n\\t]", "gu");
const kNames = new Map([["\r", "\\r"], ["\n", "\\n"], ["\t", "\\t"]]);

function labelOf(character) {
  const code = character.codePointAt(0);
  const hex = code.toString(16).toUpperCase();
  return kNames.get(character) ||
    (code < 0x80 ? `\\x${hex.padStart(2, "0")}` : `U+${hex.padStart(4, "0")}`);
}

export function sign(parent, label, className) {
  const made = make("span", className ? `sign ${className}` : "sign");
  made.dataset.sign = label;
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", label);
  parent.append(made);
}

// Appends `text`.  `ends`: line ends and tabs are signs, too.
export function show(parent, text, ends) {
  let at = 0;
  for (const match of text.matchAll(ends ? kUnseenOrEnd : kUnseen)) {
    if (match.index > at) parent.append(text.slice(at, match.index));
    sign(parent, labelOf(match[0]));
    at = match.index + match[0].length;
  }
  if (at < text.length) parent.append(text.slice(at));
}

// An element with a text of one line.
export function shown(name, text, className) {
  const made = make(name, className);
  show(made, text, true);
  return made;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The text of bytes; null if they are not UTF-8.
export function decoded(bytes) {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    return null;
  }
}

// The size of the character that begins at `bytes[at]`; 0 if none does.
export function characterSize(bytes, at) {
  const first = bytes[at];
  const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return decoded(bytes.subarray(at, at + size)) === null ? 0 : size;
}

// The text of bytes in pieces: strings, and each byte that is not UTF-8 as a number.
export function* textPieces(bytes) {
  let run = 0;
  for (let at = 0; at < bytes.length;) {
    const size = bytes[at] < 0x80 ? 1 : characterSize(bytes, at);
    if (size > 0) {
      at += size;
      continue;
    }
    if (at > run) yield decoded(bytes.subarray(run, at));
    yield bytes[at];
    run = ++at;
  }
  if (run < bytes.length) yield decoded(bytes.subarray(run));
}

// Bytes that are not UTF-8 are shown one by one.
export function showBytes(parent, bytes, ends) {
  const whole = decoded(bytes);
  if (whole !== null) return show(parent, whole, ends);
  for (const piece of textPieces(bytes)) {
    if (typeof piece === "string") {
      show(parent, piece, ends);
    } else {
      const hex = piece.toString(16).toUpperCase().padStart(2, "0");
      sign(parent, `\\x${hex}`, "byte");
    }
  }
}

const encoder = new TextEncoder();

// The bytes of a text of the facts, which has `hex` if it is not UTF-8, or is
// bytes already.
export function bytesOf({ text, hex }) {
  if (text instanceof Uint8Array) return text;
  if (hex === undefined) return encoder.encode(text);
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; ++i) {
    bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  }
  return bytes;
}
