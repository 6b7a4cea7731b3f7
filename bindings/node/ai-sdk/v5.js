// The middleware for version 5 of the AI SDK, whose finish reasons are words.

import { middleware } from './shared.js';

export const parlanceMiddleware = (options) => ({
  middlewareVersion: 'v2',
  ...middleware(options, {
    finish_of: (reason) => reason,
    with_calls: (reason) => (reason === 'length' ? reason : 'tool-calls'),
  }),
});
