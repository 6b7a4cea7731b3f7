// All of the library, in parlance.wasm.

import { constraining } from './constraining.js';
import { parsing } from './parsing.js';
import { whole } from './runtime.js';

export { ParlanceError } from './error.js';

const parsers = parsing(whole);
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
} = parsers;
export const {
  Vocabulary,
  StructuralTag,
  CompiledTag,
  Grammar,
  Compiler,
  Constraint,
  Matcher,
  MaskTable,
  Batch,
  fillMany,
  explain,
  MASK_NOTHING_EXCLUDED,
  MASK_NOT_LISTED,
} = constraining(whole, parsers);
