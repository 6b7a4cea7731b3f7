// States as JSON, in the fragment of an address: "#1." and base64url of the JSON
// compressed by deflate-raw.  The number is that of the encoding; decoders stay.
//
//   {"v": "0.2.0", "part": "read", "family": "qwen3", "response": "..."}
//
// A text that is not UTF-8 is {"base64": "..."}; "pasted" in the place of
// "response" is a text that the page first tries to recognise, as if it were pasted.
// "samples" are texts with their messages, "selection" is two bytes of the main text,
// and "digest" and "tokenizer" are names, each followed by a digest.  Examples
// are files of this JSON, and so is what is opened as a file.

import { Text } from "./places.js";

export const kMostBytes = 4 << 20;  // of JSON in a link

const kMostSamples = 200;
const kTexts = ["response", "pasted", "tools", "prefix", "source", "text"];
const kNames = ["v", "part", "family", "kind", "title", "tokenizer", "digest", "tab"];

async function bytesFrom(stream, most) {
  const parts = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new Error("it unpacks to more than 4 MB");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const through = (bytes, transform, most) =>
  bytesFrom(new Blob([bytes]).stream().pipeThrough(transform), most);

export function base64Of(bytes) {
  let out = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    out += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(out);
}

export function bytesOfBase64(text) {
  const out = atob(text);
  return Uint8Array.from(out, (c) => c.charCodeAt(0));
}

// A Text as a member of the JSON.
export const written = (text) =>
  text.isUtf8 ? text.string : { base64: base64Of(text.bytes) };

export async function encode(state) {
  const json = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(json, new CompressionStream("deflate-raw"), Infinity);
  return "1." + base64Of(packed).replaceAll("+", "-").replaceAll("/", "_")
    .replaceAll("=", "");
}

// The state of a fragment without its "#".
export async function decode(fragment) {
  const [version, ...rest] = fragment.split(".");
  if (version !== "1") {
    throw new Error(/^\d+$/.test(version)
      ? "it was made by a newer page" : "it is damaged");
  }
  let json;
  try {
    const packed = bytesOfBase64(rest.join(".").replaceAll("-", "+")
      .replaceAll("_", "/"));
    json = await through(packed, new DecompressionStream("deflate-raw"), kMostBytes);
  } catch (error) {
    throw /4 MB/.test(error.message) ? error : new Error("it is damaged");
  }
  return checked(JSON.parse(new TextDecoder().decode(json)));
}

// The text of a member; null for what is none.
function textOf(value) {
  if (typeof value === "string") return new Text(value);
  if (typeof value?.base64 !== "string") return null;
  try {
    return new Text(bytesOfBase64(value.base64));
  } catch (error) {
    return null;
  }
}

// A state from JSON that somebody else wrote: members of a wrong type are left out.
export function checked(given) {
  const out = Object.create(null);
  if (typeof given !== "object" || given === null) return out;
  for (const name of kNames) {
    if (typeof given[name] === "string") out[name] = given[name].slice(0, 200);
  }
  for (const name of kTexts) {
    const text = textOf(given[name]);
    if (text) out[name] = text;
  }
  if (Array.isArray(given.samples)) {
    out.samples = given.samples.slice(0, kMostSamples).flatMap((one) => {
      const text = textOf(one?.text);
      return text && typeof one.message === "string" ? [{ text, message: one.message }] : [];
    });
  }
  const isPlace = (place) => Number.isSafeInteger(place) && place >= 0;
  if (Array.isArray(given.selection) && given.selection.length === 2 &&
      given.selection.every(isPlace)) {
    out.selection = given.selection;
  }
  if (Number.isSafeInteger(given.cut) && given.cut >= 0) out.cut = given.cut;
  return out;
}
