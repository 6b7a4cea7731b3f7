import type { LanguageModelMiddleware } from 'ai';

import type { MiddlewareOptions } from './shared.js';

export type { MiddlewareOptions };

/** For wrapLanguageModel() of version 5 of the AI SDK. */
export function parlanceMiddleware(
  options: MiddlewareOptions,
): LanguageModelMiddleware;
