// What reads responses.  The same classes as those of the main entry, in a smaller
// module of its own: objects of one are none of the other.

/** A tool as the chat completions API has it. */
export interface Tool {
  type: 'function';
  function: { name: string; description?: string; parameters?: object };
}

export type Text = string | Uint8Array | ArrayBuffer;
export type Ids = Uint32Array | readonly number[];

/** Where a module comes from. */
export type Source =
  | string
  | URL
  | Response
  | Uint8Array
  | ArrayBuffer
  | WebAssembly.Module;

/**
 * Loads the module, once; call it before anything else.  By default the file beside
 * this package's.  After a module has stopped (code "spent") it makes a new one.
 */
export function init(source?: Source | PromiseLike<Source>): Promise<void>;

/** The version of the library. */
export function version(): string;

/**
 * What is wrong with what a person wrote or called.  What a model writes is never
 * an error.
 */
export class ParlanceError extends Error {
  constructor(code: string, message: string, more?: object);
  /** "unknown_key", ...: the names of docs/reference, and "not_ready", "spent", "freed", "not_a_module". */
  readonly code: string;
  /** A JSON Pointer into the source. */
  readonly path: string;
  /** The bytes of the source that are wrong. */
  readonly span: [number, number] | null;
}

/**
 * An object whose memory is the module's.  It is given back by free(), by `using`,
 * or some time after the object is forgotten.
 */
export interface Freed {
  free(): void;
  [Symbol.dispose](): void;
}

export interface FormatDescription {
  name: string;
  aliases: string[];
  models: string[];
  variants: string[];
  recovers: boolean;
  fields: { name: string; dirty: boolean; trimmed: boolean; join: string | null }[];
}

export interface Warning {
  code: string;
  message: string;
  path: string;
}

/** How a family of models writes a response.  Never changes. */
export class Format implements Freed {
  /** A built-in one: the name of a family or variant, or an alias. */
  constructor(name: string);
  /** The built-in formats, sorted. */
  static names(): string[];
  /** A format file or a bare response template, as text or as an object. */
  static fromJSON(json: string | object, options?: { variant?: string }): Format;
  /** With other names of fields: { thinking: 'reasoning' }. */
  rename(names: Record<string, string>): Format;
  describe(): FormatDescription;
  /** The format file. */
  toJSON(): object;
  /** The response template alone. */
  template(): object;
  lint(): Warning[];
  parser(options?: ParserOptions): Parser;
  parse(text: Text, options?: ParserOptions): ParseResult;
  /**
   * What became of each byte, as `parlance explain --json` writes it; `chunk` is how
   * many bytes are fed at once.
   */
  explain(text: Text, options?: FactOptions): Facts;
  /** Where a call probably is that the format does not read. */
  hints(text: Text, options?: ParserOptions): Hint[];
  free(): void;
  [Symbol.dispose](): void;
}

export interface FactOptions extends Pick<ParserOptions, 'prefix' | 'tools' | 'recover'> {
  /** For people. */
  name?: string;
  chunk?: number;
  /** The facts as the page has them, which are smaller. */
  packed?: boolean;
}

/** The row of a response's bytes, or a remark about some. */
export interface FactRow {
  kind: string;
  start: number;
  end: number;
  what: string;
  field?: string;
  text?: string;
  [more: string]: any;
}

/** docs/guide/explain.md says what the members are. */
export interface Facts {
  by: 'format' | 'structural_tag' | 'grammar';
  name: string;
  bytes: number;
  prefix_bytes: number;
  rows: FactRow[];
  message?: Message;
  attempts?: Attempt[];
  diagnostics?: any[];
  [more: string]: any;
}

export interface Hint {
  kind:
    | 'opener_in_text'
    | 'call_in_reasoning'
    | 'missing_opener'
    | 'json_call'
    | 'other_format';
  message: string;
  field: string;
  /** The format that reads it, of "other_format". */
  format: string;
  span: [number, number];
}

/** What a built-in format reads in a text. */
export interface FormatReading {
  name: string;
  /** Calls that are complete, and the name of the first. */
  calls: number;
  call: string;
  diagnostics: number;
  region_bytes: number;
  span: [number, number];
  /** Markup opens one of the regions. */
  marked: boolean;
}

/** Where a JSON Pointer, such as the path of a lint, leads in a JSON text: bytes. */
export function locate(
  text: Text,
  path: string,
): { value: [number, number]; key: [number, number] | null } | null;

/** The built-in formats of which a text has evidence, the best first. */
export function rankFormats(
  text: Text,
  options?: { tools?: readonly Tool[] | Tools },
): FormatReading[];

/** Which format a tokenizer_config.json needs. */
export function detect(
  config: string | object,
  options?: { rendered?: string },
): { name: string; family: string; certainty: string; why: string; others: string[] };

/** For the chat template of detect()'s `rendered`. */
export function detectionSample(): { messages: object[]; tools: object[] };

/** The tools of a request, for many parsers. */
export class Tools implements Freed {
  constructor(tools: readonly Tool[]);
  free(): void;
  [Symbol.dispose](): void;
}

/** The names are those of parlance_parser_options. */
export interface ParserOptions {
  /** What the prompt has written of the response; as ids with a vocabulary. */
  prefix?: Text | Ids;
  tools?: readonly Tool[] | Tools;
  recover?: boolean;
  /** Events of calls while they are being written. */
  stream_calls?: boolean;
  /** Every call that was attempted. */
  attempts?: boolean;
  /** No message is made. */
  events_only?: boolean;
}

interface Place {
  field: string;
  /** Bytes of the response. */
  start: number;
  end: number;
  /** Of a parser that reads ids. */
  tokens?: [number, number];
}

/** As `parlance parse --events` writes them. */
export type ParserEvent = Place &
  (
    | { type: 'region_open'; captures?: Record<string, string> }
    | { type: 'region_chunk'; text: string; dirty: boolean }
    | { type: 'region_close'; value: unknown; cut?: true }
    | { type: 'region_malformed'; text: string; error?: string; cut?: true }
    | { type: 'text_unclaimed'; text: string; error?: string }
    | { type: 'call_open'; call: number; name: string; id?: string }
    | { type: 'call_arguments'; call: number; text: string }
    | { type: 'call_close'; call: number }
    | { type: 'call_attempt'; attempt: Attempt }
  );

export interface Attempt {
  status: string;
  [more: string]: unknown;
}

export interface Diagnostic {
  code: string;
  message: string;
  field: string | null;
  span: [number, number];
}

export interface Message {
  role: string;
  [field: string]: unknown;
}

export interface ChatMessage {
  role: string;
  content: string | null;
  tool_calls?: {
    id: string;
    type: 'function';
    function: { name: string; arguments: string };
  }[];
  [more: string]: unknown;
}

export interface ParseResult {
  message: Message;
  complete: boolean;
  diagnostics: Diagnostic[];
  /** Why a strict reading failed. */
  error: { code: string; message: string; span?: [number, number] } | null;
  turn_ended: boolean;
  attempted_calls: Attempt[];
  prefix_bytes: number;
  tokens: Record<'reasoning' | 'content' | 'tool_calls' | 'markup', number>;
}

/** Pieces of a response that arrives. */
export type Pieces<T> = AsyncIterable<T> | Iterable<T> | ReadableStream<T>;

/** Reads one response. */
export class Parser implements Freed {
  constructor(format: string | Format, options?: ParserOptions);
  /** The events of the prefix. */
  initialEvents(): ParserEvent[];
  /** A piece may end anywhere, also inside a character. */
  feed(text: Text): ParserEvent[];
  feedTokens(ids: Ids): ParserEvent[];
  finalize(): ParserEvent[];
  /** All events of a response that arrives, those of the prefix first. */
  stream(source: Pieces<string | Uint8Array | Ids | number>): AsyncGenerator<ParserEvent>;
  result(): ParseResult;
  message(): Message;
  /** The message in the shape of the chat completions API. */
  chatMessage(): ChatMessage;
  /** The bytes that may still become a delimiter. */
  held(): Uint8Array;
  /** The bytes of the prefix that are part of the response. */
  readonly prefixBytes: number;
  readonly finalized: boolean;
  free(): void;
  [Symbol.dispose](): void;
}

/** A whole response. */
export function parse(
  format: string | Format,
  text: Text,
  options?: ParserOptions,
): ParseResult;

/** The names are those of parlance_chat_new(). */
export interface ChatOptions {
  api?: 'chat_completions' | 'responses' | 'messages';
  id?: string;
  model?: string;
  created?: number;
  choice?: number;
  reasoning_name?: string;
  call_id_prefix?: string;
  model_call_ids?: boolean;
  extras?: boolean;
  /** "sse", text that can be sent as it is, or "json", a list of chunks. */
  output?: 'sse' | 'json';
}

export interface ChatChunk {
  event: string;
  body: any;
  bytes: [number, number];
  tokens: [number, number];
}

export interface ChatEnd {
  parser?: Parser;
  prompt_tokens?: number;
  completion_tokens?: number;
}

/** Events of a parser in the shape of a chat API. */
export class ChatStream<Out = string> implements Freed {
  constructor(format: string | Format, options?: ChatOptions & { output?: 'sse' });
  begin(): Out;
  /** The events of the parser's last call. */
  feed(parser: Parser): Out;
  end(why?: 'stop' | 'length' | 'content_filter', more?: ChatEnd): Out;
  /** The whole response, in the shape for requests without streaming. */
  response(): any;
  /** All of a response that arrives; `parser` is new, and reads the same format. */
  stream(
    parser: Parser,
    source: Pieces<string | Uint8Array | Ids>,
    why?: 'stop' | 'length' | 'content_filter',
  ): AsyncGenerator<Out>;
  free(): void;
  [Symbol.dispose](): void;
}

/** The text inside the server-sent events of a server that does not parse. */
export class SSE implements Freed {
  constructor();
  feed(bytes: Text): string;
  finalize(): string;
  /** What the last call could not read. */
  faults(): { line: string; message: string }[];
  /** The text of a response that arrives, such as the body that fetch() gives. */
  stream(source: Pieces<string | Uint8Array>): AsyncGenerator<string>;
  free(): void;
  [Symbol.dispose](): void;
}
