// For browsers and bundlers, which find the module by this very URL.

import { reading } from './lib/runtime.js';

export * from './lib/reading.js';

const module = () => new URL('parser.wasm', import.meta.url);

export const init = (source) => reading.init(source ?? module);
