export interface MiddlewareOptions {
  /** A built-in format: Format.names() lists them. */
  format: string;
  /** What the prompt has written of the response, such as "<think>". */
  prefix?: string;
}
