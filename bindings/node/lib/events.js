// The events of a parser, out of the module's memory.

import { constants, structs } from './abi.js';

const kPlaces = Object.fromEntries(
  structs.event.members.map(([name, , place]) => [name, place]),
);
export const kEventSize = structs.event.size;

// "region_open", ... by kind: the constants between the first and the last.
const kTypes = [];
for (const [name, value] of Object.entries(constants)) {
  if (/^(REGION|TEXT|CALL)_/.test(name)) kTypes[value] = name.toLowerCase();
}

// An event as the list of its members, in their order: for what must see all.
export function event_members(instance, at) {
  const out = [];
  const { members } = structs.event;
  for (let i = 0; i < members.length; ++i) {
    const [name, type, place] = members[i];
    if (name === 'reserved') continue;
    if (type === 'text') {
      const size = instance.size(at + members[++i][2]);
      out.push(instance.string(instance.size(at + place), size));
    } else if (type === 'u64') {
      out.push(instance.long(at + place));
    } else {
      out.push(type === 'i32' ? instance.int(at + place) : instance.size(at + place));
    }
  }
  return out;
}

// Reads events as parlance_parser_event_json() has them.  The flat struct holds
// all of most events; of the others the library writes the JSON.
export class EventReader {
  #fields = [];
  #tokens;

  // `tokens`: the parser reads ids, and its events have the places of tokens.
  constructor(tokens) {
    this.#tokens = tokens;
  }

  // `json`: gives the JSON of an event by its index.
  read(instance, at, count, json) {
    const out = new Array(count);
    for (let i = 0; i < count; ++i, at += kEventSize) {
      const view = instance.view;
      const flags = view.getUint32(at + kPlaces.flags, true);
      out[i] =
        flags & constants.EVENT_DETAIL
          ? json(i)
          : this.#flat(instance, view, at, flags);
    }
    return out;
  }

  #flat(instance, view, at, flags) {
    const type = kTypes[view.getInt32(at + kPlaces.kind, true)] ?? 'unknown';
    const out = { type, field: this.#field(instance, view, at) };
    const text = () =>
      instance.string(
        view.getUint32(at + kPlaces.text, true),
        view.getUint32(at + kPlaces.text_size, true),
      );
    switch (type) {
      case 'region_chunk':
        out.text = text();
        out.dirty = (flags & constants.EVENT_DIRTY) !== 0;
        break;
      case 'region_close':
        out.value = null;
        break;
      case 'region_malformed':
      case 'text_unclaimed':
        out.text = text();
        break;
      case 'call_open': {
        out.call = view.getUint32(at + kPlaces.call, true);
        out.name = text();
        const size = view.getUint32(at + kPlaces.call_id_size, true);
        if (size > 0) {
          out.id = instance.string(view.getUint32(at + kPlaces.call_id, true), size);
        }
        break;
      }
      case 'call_arguments':
        out.call = view.getUint32(at + kPlaces.call, true);
        out.text = text();
        break;
      case 'call_close':
        out.call = view.getUint32(at + kPlaces.call, true);
        break;
    }
    if (flags & constants.EVENT_CUT) out.cut = true;
    out.start = instance.long(at + kPlaces.bytes_begin);
    out.end = instance.long(at + kPlaces.bytes_end);
    if (this.#tokens) {
      out.tokens = [
        instance.long(at + kPlaces.tokens_begin),
        instance.long(at + kPlaces.tokens_end),
      ];
    }
    return out;
  }

  // Names of fields come again and again.
  #field(instance, view, at) {
    const size = view.getUint32(at + kPlaces.field_size, true);
    if (size === 0) return '';
    const index = view.getUint32(at + kPlaces.field_index, true);
    return (this.#fields[index] ??= instance.string(
      view.getUint32(at + kPlaces.field, true),
      size,
    ));
  }
}
