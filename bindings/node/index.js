// For browsers and bundlers, which find the module by this very URL.

import { whole } from './lib/runtime.js';

export * from './lib/whole.js';

const module = () => new URL('parlance.wasm', import.meta.url);

export const init = (source) => whole.init(source ?? module);
