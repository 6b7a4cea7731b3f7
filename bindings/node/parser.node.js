// For Node.js, whose fetch() reads no files.

import { readFile } from 'node:fs/promises';

import { reading } from './lib/runtime.js';

export * from './lib/reading.js';

const module = () => readFile(new URL('parser.wasm', import.meta.url));

export const init = (source) => reading.init(source ?? module);
