// For Node.js, whose fetch() reads no files.

import { readFile } from 'node:fs/promises';

import { whole } from './lib/runtime.js';

export * from './lib/whole.js';

const module = () => readFile(new URL('parlance.wasm', import.meta.url));

export const init = (source) => whole.init(source ?? module);
