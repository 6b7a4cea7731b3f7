// Bytes are what is read, and UTF-16 is what the editor counts: a Text has both,
// and says where a place of one is in the other.
//
// Bytes that are no UTF-8 are shown as U+FFFD, one for each byte.

import { characterSize, decoded, textPieces } from "../src/beside/explanation/viewer/text.js";

const kStep = 1024;  // bytes between two entries of the table
const encoder = new TextEncoder();

// The units that a byte of UTF-8 begins.
const widthOf = (byte) => byte < 0x80 ? 1 : byte < 0xc0 ? 0 : byte < 0xf0 ? 1 : 2;

export class Text {
  // From a string, whose lone surrogates become U+FFFD, or from bytes.
  constructor(source) {
    if (typeof source === "string") {
      this.bytes = encoder.encode(source);
      this.string = source;
      this.isUtf8 = true;
    } else {
      this.bytes = source;
      this.string = decoded(source);
      this.isUtf8 = this.string !== null;
      if (!this.isUtf8) this.string = withSubstitutes(source);
    }
    this.units = null;
  }

  // The UTF-16 unit at the beginning of each step, made when it is asked for.
  // A byte that begins a character counts its units: two for four bytes.
  get table() {
    if (this.units) return this.units;
    const { bytes, isUtf8 } = this;
    this.units = new Uint32Array(Math.floor(bytes.length / kStep) + 1);
    let unit = 0;
    for (let at = 0; at < bytes.length; ++at) {
      if (at % kStep === 0) this.units[at / kStep] = unit;
      unit += isUtf8 ? widthOf(bytes[at]) : this.width(at);
    }
    if (bytes.length % kStep === 0) this.units[bytes.length / kStep] = unit;
    return this.units;
  }

  width(at) {
    const byte = this.bytes[at];
    return this.isUtf8 || byte < 0x80 ? widthOf(byte) : this.widthOfDamaged(at);
  }

  // Of text that is not UTF-8: a byte inside of a whole character has none.
  widthOfDamaged(at) {
    for (let back = 1; back <= 3 && back <= at; ++back) {
      if ((this.bytes[at - back] & 0xc0) === 0x80) continue;
      if (characterSize(this.bytes, at - back) > back) return 0;
      break;
    }
    return characterSize(this.bytes, at) === 4 ? 2 : 1;
  }

  // The unit at which the character of byte `place` begins.
  toUnit(place) {
    let byte = Math.max(0, Math.min(place, this.bytes.length));
    while (byte < this.bytes.length && this.width(byte) === 0) --byte;
    const step = Math.floor(byte / kStep);
    let unit = this.table[step];
    for (let at = step * kStep; at < byte; ++at) unit += this.width(at);
    return unit;
  }

  // The byte at which the character of unit `place` begins.
  toByte(place) {
    const { table } = this;
    let low = 0;
    let high = table.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (table[middle] <= place) low = middle;
      else high = middle;
    }
    let at = low * kStep;
    let begin = at;
    for (let unit = table[low]; at < this.bytes.length; ++at) {
      const width = this.width(at);
      if (width > 0) {
        begin = at;
        if (unit + width > place) return begin;
      }
      unit += width;
    }
    return this.bytes.length;
  }
}

// A selection of an editor as bytes of its text, and the reverse.
export const toBytes = (text, selection) =>
  selection?.map((unit) => text.toByte(unit)) ?? null;
export const toUnits = (text, selection) =>
  selection.map((byte) => text.toUnit(byte));

const withSubstitutes = (bytes) => Array.from(textPieces(bytes),
  (piece) => typeof piece === "string" ? piece : "\ufffd").join("");
