// What reads responses, in parser.wasm.

import { parsing } from './parsing.js';
import { reading } from './runtime.js';

export { ParlanceError } from './error.js';

export const {
  Format,
  Tools,
  Parser,
  ChatStream,
  SSE,
  parse,
  rankFormats,
  locate,
  detect,
  detectionSample,
  version,
} = parsing(reading);
