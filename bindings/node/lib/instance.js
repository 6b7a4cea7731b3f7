// One instance of the module: its memory, and how its functions are called.
//
// What a call needs of memory (texts, structs, places for results) is taken from
// a scratch stack of the instance, or from its heap when it is large, and given
// back when the call ends.  Memory can grow in any call, which detaches views of
// it: `bytes` and `view` are always of the present memory, and nothing keeps them.

import { constants, structs } from './abi.js';
import { ParlanceError } from './error.js';
import { wasi } from './wasi.js';

const encoder = new TextEncoder();
// A byte order mark is text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const kScratch = 1 << 16;
// The longest text that is decoded letter by letter: the decoder costs more to
// call.
const kShort = 24;

export class Instance {
  #buffer = null;
  #bytes;
  #view;
  #scratch = 0;
  #top = 0;
  #large = [];
  #scopes = 0;
  #later = []; // what free() was called for inside a call
  #registry;
  #spent = null;
  #encoders = new Map(); // by `user`
  #users = 0;
  #encode = 0;
  #drop = 0;
  #thrown = null; // by one of the encoders

  // Imports for the module; the instance is complete after started().
  static imports(host) {
    return { wasi_snapshot_preview1: wasi(host) };
  }

  constructor(exports, host) {
    this.exports = exports;
    this.memory = exports.memory;
    this.host = host;
    this.call('_initialize');
    const abi = this.call('parlance_abi');
    if (abi !== constants.ABI) {
      throw new ParlanceError(
        'not_a_module',
        `this package needs a module with interface ${constants.ABI}, and ` +
          `this one has ${abi}`,
      );
    }
    this.#scratch = this.allocate(kScratch);
    this.#registry = new FinalizationRegistry(({ drop, pointer }) => {
      if (this.#spent === null) this.call(drop, pointer);
    });
  }

  // --- Memory

  get bytes() {
    this.#renew();
    return this.#bytes;
  }

  get view() {
    this.#renew();
    return this.#view;
  }

  #renew() {
    if (this.memory.buffer === this.#buffer) return;
    this.#buffer = this.memory.buffer;
    this.#bytes = new Uint8Array(this.#buffer);
    this.#view = new DataView(this.#buffer);
  }

  allocate(size) {
    const at = this.call('parlance_alloc', size) >>> 0;
    if (at === 0) throw new ParlanceError('no_memory', 'there is no memory');
    return at;
  }

  // The state of the scratch stack, for leave().
  enter() {
    ++this.#scopes;
    return [this.#top, this.#large.length];
  }

  leave([top, large]) {
    this.#top = top;
    while (this.#large.length > large) {
      const last = this.#large.pop();
      if (last instanceof Handle) last.free();
      else if (this.#spent === null) this.call('parlance_free', last);
    }
    if (--this.#scopes > 0) return;
    while (this.#later.length > 0) this.#release(...this.#later.pop());
  }

  // `size` bytes for this call, aligned to 8; what is in them is undefined.
  room(size) {
    const aligned = (size + 7) & ~7;
    if (size < kScratch && this.#top + aligned <= kScratch) {
      const at = this.#scratch + this.#top;
      this.#top += aligned;
      return at;
    }
    const at = this.allocate(size);
    this.#large.push(at);
    return at;
  }

  // A handle that is needed for this call alone.
  transient(handle) {
    this.#large.push(handle);
    return handle;
  }

  // The same as room(), with zeros in it.
  zeros(size) {
    const at = this.room(size);
    this.bytes.fill(0, at, at + size);
    return at;
  }

  // A text (string, Uint8Array, ArrayBuffer) for this call: [pointer, size].  Half
  // of a surrogate pair becomes U+FFFD.
  text(text) {
    if (typeof text === 'string') {
      if (text === '') return [0, 0];
      if (text.length * 3 < kScratch / 4) {
        const at = this.room(text.length * 3);
        const to = this.bytes.subarray(at, at + text.length * 3);
        return [at, encoder.encodeInto(text, to).written];
      }
      text = encoder.encode(text);
    }
    const bytes = octets(text);
    if (bytes.length === 0) return [0, 0];
    const at = this.room(bytes.length);
    this.bytes.set(bytes, at);
    return [at, bytes.length];
  }

  // A value as JSON for this call; undefined is no text.
  json(value) {
    return this.text(value === undefined ? '' : JSON.stringify(value));
  }

  // A list of token ids for this call: [pointer, count].
  ids(list) {
    const ids = list instanceof Uint32Array ? list : ids_of(list);
    if (ids.length === 0) return [0, 0];
    const at = this.room(ids.length * 4);
    new Uint32Array(this.memory.buffer, at, ids.length).set(ids);
    return [at, ids.length];
  }

  // A list of 64-bit integers for this call.
  longs(list) {
    const at = this.room(Math.max(list.length, 1) * 8);
    const to = new BigInt64Array(this.memory.buffer, at, list.length);
    for (let i = 0; i < list.length; ++i) to[i] = BigInt(list[i]);
    return at;
  }

  // The text at a place.
  string(at, size) {
    at >>>= 0;
    const bytes = this.bytes;
    if (size <= kShort) {
      let out = '';
      for (let i = 0; i < size; ++i) {
        const byte = bytes[at + i];
        if (byte >= 0x80) return decoder.decode(bytes.subarray(at, at + size));
        out += String.fromCharCode(byte);
      }
      return out;
    }
    return decoder.decode(bytes.subarray(at, at + size));
  }

  // The text at a place, which a zero ends.
  literal(at) {
    at >>>= 0;
    return this.string(at, this.bytes.indexOf(0, at) - at);
  }

  // The text that a function of `of` gives, whose size it writes.
  sized(name, of) {
    const out = this.zeros(8);
    const at = this.call(name, of, out);
    return this.string(at, this.size(out));
  }

  size(at) {
    return this.view.getUint32(at, true);
  }

  int(at) {
    return this.view.getInt32(at, true);
  }

  long(at) {
    const view = this.view;
    return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
  }

  // Takes what a parlance_bytes holds.
  take(at) {
    const data = this.size(at);
    const out = this.string(data, this.size(at + 4));
    this.call('parlance_free', data);
    return out;
  }

  takeBytes(at) {
    const data = this.size(at);
    const out = this.bytes.slice(data, data + this.size(at + 4));
    this.call('parlance_free', data);
    return out;
  }

  // --- Structs of input

  // A struct for this call with the given members.  A member that is a pointer
  // brings what follows it, its size or count, and `has_...` where there is one.
  struct(name, given, what = 'options') {
    const { size, members } = structs[name];
    const at = this.zeros(size);
    const known = new Map(members.map((member, i) => [member[0], i]));
    const options = options_of(name);
    const put = (place, value) => this.view.setUint32(at + place, value, true);
    put(0, size); // struct_size
    for (const [key, value] of Object.entries(given)) {
      if (value === undefined || value === null) continue;
      const index = options.has(key) ? known.get(key) : undefined;
      if (index === undefined) {
        throw new ParlanceError(
          'unknown_key',
          `there is no option "${key}" of ${what}`,
          { path: `/${key}` },
        );
      }
      const [, type, place] = members[index];
      const has = known.get(`has_${key}`);
      if (has !== undefined) put(members[has][2], 1);
      if (type === 'text' || type === 'ids') {
        const [pointer, count] =
          type === 'text' ? this.text(value) : this.ids(value);
        put(place, pointer);
        put(members[index + 1][2], count);
      } else if (type === 'f64') {
        this.view.setFloat64(at + place, value, true);
      } else if (type === 'u64' || type === 'i64') {
        this.view.setBigInt64(at + place, BigInt(value), true);
      } else if (type === 'i32' && typeof value !== 'number') {
        this.view.setInt32(at + place, choice(key, value), true);
      } else if (type === 'i32' || type === 'u32' || type === 'size') {
        put(place, Number(value));
      } else {
        put(place, pointer_of(value, this, key));
      }
    }
    return at;
  }

  // --- Calls

  call(name, ...given) {
    if (this.#spent !== null) throw this.#spent;
    try {
      return this.exports[name](...given);
    } catch (cause) {
      throw this.spend(cause);
    }
  }

  // Throws what a status says, but for PARLANCE_OK.
  check(status, what) {
    if (status === 0) return;
    const code = this.status(status);
    throw new ParlanceError(code, `${what}: ${code.replaceAll('_', ' ')}`);
  }

  status(status) {
    return this.literal(this.call('parlance_status_name', status));
  }

  // Calls a function whose last parameter is an error, and throws that.
  run(name, ...given) {
    const at = this.zeros(8);
    const status = this.call(name, ...given, at);
    if (status === 0) return;
    const error = this.size(at);
    if (error === 0) this.check(status, name);
    const thrown = this.error(error);
    this.call('parlance_error_free', error);
    throw thrown;
  }

  error(error) {
    const span = this.zeros(16);
    const spanned = this.call('parlance_error_span', error, span) !== 0;
    return new ParlanceError(
      this.status(this.call('parlance_error_status', error)),
      this.sized('parlance_error_message', error),
      {
        path: this.sized('parlance_error_path', error),
        span: spanned ? [this.long(span), this.long(span + 8)] : null,
      },
    );
  }

  // Functions that give a handle, a text, or JSON.
  make(name, ...given) {
    const out = this.zeros(8);
    this.run(name, ...given, out);
    return this.size(out);
  }

  say(name, ...given) {
    const out = this.zeros(8);
    this.run(name, ...given, out);
    return this.take(out);
  }

  tell(name, ...given) {
    return JSON.parse(this.say(name, ...given));
  }

  // Calls `body` with this instance; what it took of the stack is given back.
  scope(body) {
    const mark = this.enter();
    try {
      return body(this);
    } finally {
      this.leave(mark);
    }
  }

  // A module that has trapped is in no state that can be used.
  spend(cause) {
    if (!(cause instanceof WebAssembly.RuntimeError || isExhausted(cause))) {
      return cause;
    }
    const said = this.host.said.trim();
    this.#spent = new ParlanceError(
      'spent',
      `the module has stopped (${said === '' ? cause.message : said}), most ` +
        'likely because there was no memory; init() makes a new one, without ' +
        'the objects of this one',
      { cause },
    );
    return this.#spent;
  }

  get spent() {
    return this.#spent !== null;
  }

  // --- Handles

  keep(handle, drop, pointer) {
    this.#registry.register(handle, { drop, pointer }, handle);
  }

  // What a call may still use, in whose midst a function of the caller's frees it, is
  // freed when that call ends.
  drop(handle, drop, pointer) {
    this.#registry.unregister(handle);
    if (this.#scopes > 0) this.#later.push([drop, pointer]);
    else this.#release(drop, pointer);
  }

  #release(drop, pointer) {
    if (this.#spent === null) this.call(drop, pointer);
  }

  // The arguments `encode`, `user` and `drop` of parlance_vocabulary_with_encoder()
  // for a function from a text to its ids.  What that throws must not pass through
  // the module: it is kept for rethrow().
  encoder(body) {
    if (this.#encode === 0) {
      this.#encode = this.#callback(5, 1, (user, text, size, ids, capacity) => {
        try {
          const found = ids_of(this.#encoders.get(user)(this.string(text, size)));
          const few = found.subarray(0, capacity);
          new Uint32Array(this.memory.buffer, ids >>> 0, few.length).set(few);
          return found.length;
        } catch (thrown) {
          this.#thrown ??= { thrown };
          return 0;
        }
      });
      this.#drop = this.#callback(1, 0, (user) => {
        this.#encoders.delete(user);
      });
    }
    const user = ++this.#users;
    this.#encoders.set(user, body);
    return [this.#encode, user, this.#drop];
  }

  rethrow() {
    if (this.#thrown === null) return;
    const { thrown } = this.#thrown;
    this.#thrown = null;
    throw thrown;
  }

  // The place of `body` in the table of functions.  Its parameters and results are
  // 32-bit numbers; a module that only exports what it imports gives it that type.
  #callback(parameters, results, body) {
    const type = [0x60, parameters, ...new Array(parameters).fill(0x7f)];
    type.push(results, ...new Array(results).fill(0x7f));
    const bytes = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    bytes.push(1, type.length + 1, 1, ...type);
    bytes.push(2, 7, 1, 1, 0x65, 1, 0x66, 0, 0); // import "e" "f", of type 0
    bytes.push(7, 5, 1, 1, 0x66, 0, 0); // export "f"
    const module = new WebAssembly.Module(new Uint8Array(bytes));
    const { f } = new WebAssembly.Instance(module, { e: { f: body } }).exports;
    const table = this.exports.__indirect_function_table;
    const at = table.grow(1);
    table.set(at, f);
    return at;
  }
}

const isExhausted = (cause) => cause instanceof RangeError;

export function octets(data) {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  throw new TypeError('a text is a string or bytes (Uint8Array, ArrayBuffer)');
}

// The members of a struct that a caller may give: the others follow from them.
const members_given = new Map();
function options_of(name) {
  let out = members_given.get(name);
  if (out === undefined) {
    const { members } = structs[name];
    out = new Set(
      members
        .filter(([, type], i) => {
          const before = members[i - 1]?.[1];
          return before !== 'text' && before !== 'ids' && before !== 'pointer' && type !== 'pointer';
        })
        .map(([member]) => member)
        .filter((m) => m !== 'struct_size' && m !== 'reserved' && !m.startsWith('has_')),
    );
    members_given.set(name, out);
  }
  return out;
}

// A number that an argument of 32 bits has room for.
export function whole_number(value, what) {
  if (value >>> 0 !== value) throw new RangeError(`${value} is no ${what}`);
  return value;
}

function ids_of(list) {
  const ids = Uint32Array.from(list);
  let i = 0;
  for (const id of list) {
    if (ids[i++] !== id) throw new RangeError(`${id} is no token id`);
  }
  return ids;
}

// The constant of a member that is one of an enum: markers "text" is
// PARLANCE_MARKERS_TEXT; true and false are yes and no.
function choice(key, value) {
  const word = value === true ? 'yes' : value === false ? 'no' : String(value);
  const found = constants[`${key}_${word}`.toUpperCase()];
  if (found !== undefined) return found;
  const begin = `${key}_`.toUpperCase();
  const names = Object.keys(constants).filter((name) => name.startsWith(begin));
  throw new ParlanceError(
    'unknown_name',
    `${key} must be one of ` +
      names.map((name) => name.slice(begin.length).toLowerCase()).join(', '),
    { path: `/${key}` },
  );
}

// --- Handles

const kInstance = Symbol('instance');
const kPointer = Symbol('pointer');
const kDispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

// The pointer of an object for a call of `instance`; 0 for null and undefined.
export function pointer_of(object, instance, what) {
  if (object === null || object === undefined) return 0;
  if (!(object instanceof Handle)) {
    throw new TypeError(`${what} is not an object of this package`);
  }
  if (object[kPointer] === 0) {
    throw new ParlanceError('freed', `${what} was freed`);
  }
  if (object[kInstance] !== instance) {
    throw new ParlanceError(
      'wrong_handle',
      `${what} belongs to another instance of the module`,
    );
  }
  return object[kPointer];
}

// The instance of an object that was not freed, and its pointer.
export function held(object) {
  const pointer = object[kPointer];
  if (pointer === 0) {
    throw new ParlanceError('freed', `the ${object.constructor.kind} was freed`);
  }
  return [object[kInstance], pointer];
}

const drop_of = (object) => `parlance_${object.constructor.kind}_free`;

// Calls `body` with the instance and the pointer of an object, and with memory
// for the call.
export function using(object, body) {
  const [instance, pointer] = held(object);
  return instance.scope(() => body(instance, pointer));
}

// What all objects are: a handle of the library.  Its memory is the module's, and
// is given back by free() or, at some time, after the object is forgotten.
export class Handle {
  // Makes the handle by `make`, a function of an instance that returns a pointer.
  // A class says as `kind` what the library calls it.
  constructor(instance, make) {
    const pointer = instance.scope(make);
    this[kInstance] = instance;
    this[kPointer] = pointer;
    instance.keep(this, drop_of(this), pointer);
  }

  free() {
    const pointer = this[kPointer];
    if (pointer === 0) return;
    this[kPointer] = 0;
    this[kInstance].drop(this, drop_of(this), pointer);
  }

  [kDispose]() {
    this.free();
  }
}
