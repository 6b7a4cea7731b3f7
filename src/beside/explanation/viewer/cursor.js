// Walks over what the viewer shows: rows, cut into pieces where they are long or
// where a remark is, and remarks.
//
// A *position* is {row, at, remark}: the row, the byte in it that is next, and
// the remark that is next.  Rows of a megabyte are never all made into elements:
// a window is the items from a position up to its limits.

import { countWhile } from "./facts.js";

const kPieceBytes = 4096;
export const kHeldBytes = 256;  // of held text that are shown

export const kStart = { row: 0, at: 0, remark: 0 };

export function isBefore(a, b) {
  if (a.row !== b.row) return a.row < b.row;
  return a.at !== b.at ? a.at < b.at : a.remark < b.remark;
}

// Where a piece that begins at `at` ends: after a line, if one ends in its
// second half, and never in a character.
function pieceEnd(model, at, end) {
  if (end - at <= kPieceBytes) return end;
  const half = at + kPieceBytes / 2;
  const line = model.bytes.subarray(half, at + kPieceBytes).lastIndexOf(10);
  return line >= 0 ? half + line + 1 : model.boundary(at + kPieceBytes);
}

// The item at a position, and the position after it; null at the end.
function next(model, { row, at, remark }) {
  const due = model.remarks[remark];
  for (;;) {
    const begin = row < model.rows ? model.starts[row] : model.size;
    if (due && (due.row < row ||
                (due.row === row && due.cut <= at && at > begin))) {
      return { item: { remark: due },
        after: { row, at, remark: remark + 1 } };
    }
    if (row >= model.rows) return null;
    const end = model.end(row);
    if (at >= end && end > begin) {
      at = model.starts[++row];
      continue;
    }
    const most = due && due.row === row && due.cut > at
      ? Math.min(due.cut, end) : end;
    const to = pieceEnd(model, at, most);
    const item = { row, from: at, to };
    return { item, after: end > begin ? { row, at: to, remark }
                                      : { row: row + 1, at: end, remark } };
  }
}

// The items from `begin` on: at most `items`, and about `bytes` of text.
export function windowFrom(model, begin, limits) {
  const out = { begin, items: [], end: null, from: null, to: begin.at };
  let size = 0;
  for (let at = begin;;) {
    const step = next(model, at);
    if (step === null) return out;
    if (out.items.length >= limits.items || size >= limits.bytes) {
      out.end = at;
      return out;
    }
    step.item.position = at;
    out.items.push(step.item);
    if (step.item.row !== undefined) {
      size += step.item.to - step.item.from;
      if (out.from === null) out.from = step.item.from;
      out.to = step.item.to;
    } else if (step.item.remark.kind === "held") {
      const { fact } = step.item.remark;
      size += Math.min(fact.end - fact.start, kHeldBytes);
    }
    at = step.after;
  }
}

// A position about `limits.bytes` before `position`, and no more rows or remarks
// than limits.items: before it, if that is not the start.
export function before(model, position, limits) {
  let row = Math.max(0, Math.min(position.row, model.rows - 1) - limits.items);
  let at = model.starts[row];
  if (position.at - at > limits.bytes) {
    at = model.boundary(position.at - limits.bytes);
    row = model.rowAt(at);
    const most = Math.min(model.end(row), position.at - 1);
    at += model.bytes.subarray(at, most).indexOf(10) + 1;
  }
  const isPassed = ({ row: r, cut }) => at > 0 &&
    (r < row || (r === row && cut <= at && at > model.starts[row]));
  const remark = countWhile(model.remarks.length,
    (i) => isPassed(model.remarks[i]));
  const found = { row, at, remark };
  // Many remarks may stand at one place.
  const first = position.remark -
    Math.min(limits.items, Math.ceil(limits.bytes / kHeldBytes));
  if (first <= remark) return found;
  const due = model.remarks[first];
  const after = { row: Math.max(due.row, 0), at: due.cut, remark: first };
  return isBefore(found, after) ? after : found;
}
