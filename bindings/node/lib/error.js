// What is wrong with what a person wrote or called.  What a model writes is
// never an error.

export class ParlanceError extends Error {
  /**
   * @param {string} code  as parlance_status_name() says it, or one of this
   *     package's: "not_ready", "spent", "freed", "not_a_module"
   * @param {string} message
   */
  constructor(code, message, { path = '', span = null, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ParlanceError';
    this.code = code;
    // A JSON Pointer into the source, and its bytes that are wrong.
    this.path = path;
    this.span = span;
  }
}
