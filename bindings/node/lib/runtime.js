// Loading: where a module comes from, and the instance that objects are made in.

import { ParlanceError } from './error.js';
import { Instance, octets } from './instance.js';

const kMagic = [0x00, 0x61, 0x73, 0x6d];

function check_magic(bytes, from) {
  if (kMagic.every((byte, i) => bytes[i] === byte)) return bytes;
  const head = new TextDecoder().decode(bytes.subarray(0, 60)).trimStart();
  const page = head.startsWith('<');
  throw new ParlanceError(
    'not_a_module',
    `${from} is no WebAssembly module: it begins with ${JSON.stringify(head)}` +
      (page
        ? '. That is a page: the server or the bundler does not serve the ' +
          'module there; give init() its URL or its bytes'
        : ''),
  );
}

async function bytes_of(source) {
  if (typeof source === 'string' || source instanceof URL) {
    source = await fetch(source);
  }
  if (typeof Response !== 'undefined' && source instanceof Response) {
    if (!source.ok) {
      throw new ParlanceError(
        'not_a_module',
        `${source.url} answered ${source.status} ${source.statusText}`,
      );
    }
    const bytes = new Uint8Array(await source.arrayBuffer());
    return check_magic(bytes, source.url || 'the response');
  }
  return check_magic(octets(source), 'what init() was given');
}

export class Runtime {
  #instance = null;
  #module = null;
  #pending = null;

  // The instance in which objects are made.
  get instance() {
    if (this.#instance === null) {
      throw new ParlanceError('not_ready', 'call await init() before anything else');
    }
    return this.#instance;
  }

  // Loads the module, once; a module that has trapped is replaced.
  init(source) {
    if (this.#instance !== null && !this.#instance.spent) return Promise.resolve();
    this.#pending ??= this.#load(source).finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #load(source) {
    let given = typeof source === 'function' ? source() : source;
    given = await given;
    if (given instanceof WebAssembly.Module) this.#module = given;
    this.#module ??= await WebAssembly.compile(await bytes_of(given));
    const host = { said: '', memory: null };
    const made = await WebAssembly.instantiate(
      this.#module,
      Instance.imports(host),
    );
    host.memory = made.exports.memory;
    this.#instance = new Instance(made.exports, host);
  }
}

// That of parlance.wasm, and that of parser.wasm.
export const whole = new Runtime();
export const reading = new Runtime();
