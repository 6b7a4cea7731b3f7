// The middleware for version 6 of the AI SDK, whose finish reasons are objects.

import { middleware } from './shared.js';

export const parlanceMiddleware = (options) => ({
  specificationVersion: 'v3',
  ...middleware(options, {
    finish_of: (reason) => reason.unified,
    with_calls: (reason) =>
      reason.unified === 'length' ? reason : { ...reason, unified: 'tool-calls' },
  }),
});
