// All of the library: docs/guide/javascript.md shows it.  Options of grammars and
// of requests have the names of include/parlance_c.h.

import type {
  ChatOptions,
  ChatStream as ReadingChatStream,
  Facts,
  Format as ReadingFormat,
  Freed,
  Ids,
  Message,
  Parser as ReadingParser,
  ParseResult,
  ParserEvent,
  ParserOptions as ReadingOptions,
  Text,
  Tool,
} from './parser.js';

export * from './parser.js';

export type Markers = 'token' | 'either' | 'text';

export interface ParserOptions extends ReadingOptions {
  /** Then the parser reads ids, by feedTokens(). */
  vocabulary?: Vocabulary;
  markers?: Markers;
  /** In place of those of the vocabulary. */
  stop_ids?: Ids;
}

export interface TagRequest {
  tools?: readonly Tool[];
  tool_choice?: 'auto' | 'none' | 'required' | object;
  parallel_tool_calls?: boolean;
  text_with_calls?: 'optional' | 'before' | 'between';
  reasoning?: 'required' | 'allowed' | 'off';
  response_format?: object;
  prefix?: string | readonly number[];
  max_reasoning_tokens?: number;
  any_order?: boolean;
  max_white_space?: number;
  vocabulary?: Vocabulary;
}

export interface Note {
  kind: 'narrowed' | 'ignored';
  keyword: string;
  path: string;
  message: string;
}

export interface Capture {
  name: string;
  text: string;
  span: [number, number];
}

export class Format extends ReadingFormat {
  static fromJSON(json: string | object, options?: { variant?: string }): Format;
  rename(names: Record<string, string>): Format;
  parser(options?: ParserOptions): Parser;
  parse(text: Text, options?: ParserOptions): ParseResult;
  /** The structural tag of a response to a request. */
  tag(request?: TagRequest): StructuralTag;
  /** The grammar of that tag. */
  grammar(request?: TagRequest): Grammar;
  /** Whether the format reads what it writes; empty if nothing is wrong. */
  check(request?: {
    tools?: readonly Tool[];
    most_calls?: number;
    walks?: number;
    seed?: number;
    vocabulary?: Vocabulary;
  }): { code: string; message: string; path: string; text: string; meant: string; read: string }[];
  /** Writes a message as the family writes it. */
  render(
    message: Partial<Message>,
    request?: { tools?: readonly Tool[]; prefix?: string; verify?: boolean },
  ): string;
}

export class Parser extends ReadingParser {
  constructor(source: string | Format | CompiledTag, options?: ParserOptions);
  /** The parse tree of a parser by tag. */
  tree(): unknown;
}

export class ChatStream<Out = string> extends ReadingChatStream<Out> {
  constructor(source: string | Format | CompiledTag, options?: ChatOptions);
}

/** The tokens of a tokenizer by id, each as text or bytes. */
export interface Tokens {
  tokens: readonly Text[];
  added_ids?: Ids;
  control_ids?: Ids;
  stop_ids?: Ids;
  model_size?: number;
  spelling?: 'raw' | 'byte_fallback' | 'byte_level';
}

export class Vocabulary implements Freed {
  constructor(tokens: Tokens | readonly Text[]);
  /** tokenizer.json, tekken.json, tokenizer.model, tiktoken ranks, GGUF, toBytes(). */
  static fromBytes(data: Uint8Array | ArrayBuffer): Vocabulary;
  /** The files of a model's folder. */
  static fromFiles(files: {
    tokenizer_json: Text;
    tokenizer_config?: Text;
    generation_config?: Text;
    config?: Text;
  }): Vocabulary;
  toBytes(): Uint8Array;
  withStopIds(ids: Ids): Vocabulary;
  /** For Matcher.forcedTokens(). */
  withEncoder(encode: (text: string) => Ids): Vocabulary;
  readonly size: number;
  token(id: number): {
    bytes: Uint8Array;
    kind: 'ordinary' | 'added' | 'control' | 'unused';
  };
  /** The id of an added or control token. */
  special(spelling: string): number | null;
  /** null if it is not known what ends a response. */
  readonly stopIds: number[] | null;
  decode(ids: Ids): string;
  free(): void;
  [Symbol.dispose](): void;
}

export class StructuralTag implements Freed {
  constructor(tag: string | object);
  toJSON(): object;
  report(): Note[];
  /** For parsers. */
  compile(options?: {
    vocabulary?: Vocabulary;
    compiler?: Compiler;
    markers?: Markers;
    limits?: Limits;
    max_parses?: number;
    parse_bytes?: number;
  }): CompiledTag;
  free(): void;
  [Symbol.dispose](): void;
}

export class CompiledTag implements Freed {
  private constructor();
  parser(options?: ParserOptions): Parser;
  free(): void;
  [Symbol.dispose](): void;
}

export type Limits = Partial<
  Record<'alternatives' | 'steps' | 'depth' | 'bytes' | 'work', number>
>;

export type Language =
  | 'json_schema'
  | 'ebnf'
  | 'gbnf'
  | 'lark'
  | 'regex'
  | 'structural_tag';

/** Each language has its own: include/parlance_c.h says which. */
export interface GrammarOptions {
  language?: Language;
  limits?: Limits;
  [option: string]: unknown;
}

export class Grammar implements Freed {
  /** A JSON Schema unless `language` says another; an object is written as JSON. */
  constructor(
    source: string | object | StructuralTag,
    options?: GrammarOptions & { vocabulary?: Vocabulary },
  );
  static union(...parts: Grammar[]): Grammar;
  static concat(...parts: Grammar[]): Grammar;
  static fromBytes(data: Uint8Array | ArrayBuffer): Grammar;
  toBytes(): Uint8Array;
  accepts(text: Text): boolean;
  /** null for a text of the language. */
  explain(text: Text): { offset: number; expected: string } | null;
  report(): Note[];
  captures(text: Text): Capture[];
  toEbnf(): string;
  /** For one constraint; a Compiler shares its caches between many. */
  compile(vocabulary: Vocabulary, options?: { markers?: Markers }): Constraint;
  free(): void;
  [Symbol.dispose](): void;
}

export class Compiler implements Freed {
  constructor(
    vocabulary: Vocabulary,
    options?: { cache_bytes?: number; grammar_bytes?: number; stop_ids?: readonly number[] },
  );
  /** 32-bit words of a mask. */
  readonly maskWords: number;
  statistics(): { masks: Record<string, number>; grammars: Record<string, number> };
  clearCache(): void;
  compile(
    source: Grammar | StructuralTag | string | object,
    options?: GrammarOptions & { markers?: Markers },
  ): Constraint;
  constraintFromBytes(data: Uint8Array | ArrayBuffer): Constraint;
  free(): void;
  [Symbol.dispose](): void;
}

export interface MatcherOptions {
  /** In place of the compiler's. */
  stop_ids?: Ids;
  default_temperature?: number;
}

export class Constraint implements Freed {
  private constructor();
  readonly maskWords: number;
  toBytes(): Uint8Array;
  matcher(options?: MatcherOptions): Matcher;
  free(): void;
  [Symbol.dispose](): void;
}

export interface DraftTree {
  first_child: readonly number[];
  next_sibling: readonly number[];
  tokens: readonly number[];
  nanoseconds?: number;
}

export class Matcher implements Freed {
  constructor(constraint: Constraint, options?: MatcherOptions);
  readonly maskWords: number;
  copy(): Matcher;
  /**
   * Writes the mask of the next token: bit id % 32 of word id / 32 is 1 if a token is
   * allowed.  False if it excludes nothing.
   */
  fill(row: Int32Array): boolean;
  /** The ids of the mask. */
  allowedTokens(): Uint32Array;
  accept(id: number): boolean;
  /** Up to the first that is not allowed: how many. */
  acceptTokens(ids: Ids): number;
  acceptText(text: Text): boolean;
  /** False if there are fewer steps, and nothing changed. */
  rollback(steps: number): boolean;
  reset(): void;
  readonly steps: number;
  /** A stop token was accepted. */
  readonly terminated: boolean;
  /** The text may end here. */
  readonly canEnd: boolean;
  /** Why there is no mask. */
  readonly failure: Error | null;
  forcedTokens(): number[];
  forcedText(limit?: number): string;
  /** null if no rule sets one. */
  readonly temperature: number | null;
  captures(): Capture[];
  /** The masks after the nodes of a draft tree, a row for each. */
  fillTree(tree: DraftTree): { masks: Int32Array; visited: number };
  free(): void;
  [Symbol.dispose](): void;
}

/** The masks of many matchers, one row of maskWords after another. */
export function fillMany(matchers: readonly Matcher[], masks?: Int32Array): Int32Array;

export const MASK_NOTHING_EXCLUDED: number;
export const MASK_NOT_LISTED: number;

/** Masks by number. */
export class MaskTable implements Freed {
  constructor(compiler: Compiler, maxRows: number);
  /** A row, MASK_NOTHING_EXCLUDED or MASK_NOT_LISTED. */
  idOf(matcher: Matcher): number;
  readonly size: number;
  /** clear() raises it. */
  readonly version: number;
  rows(begin?: number, end?: number): Int32Array;
  clear(): void;
  free(): void;
  [Symbol.dispose](): void;
}

export interface Step {
  row: number;
  /** Generated since the last step. */
  tokens?: Ids;
  /** Where the next mask goes. */
  mask_row?: number;
  first_child?: readonly number[];
  next_sibling?: readonly number[];
  draft_tokens?: readonly number[];
  nanoseconds?: number;
}

export interface StepResult {
  accepted: number;
  filled: number;
  events: ParserEvent[];
  mask_id: number;
  terminated: boolean;
  failed: boolean;
  constrained: boolean;
}

/** A server's step over many requests. */
export class Batch implements Freed {
  constructor();
  add(row: { matcher?: Matcher | null; parser?: Parser | null }): number;
  remove(row: number): void;
  step(
    steps: readonly Step[],
    options?: { masks?: Int32Array; stride?: number; table?: MaskTable | null },
  ): StepResult[];
  free(): void;
  [Symbol.dispose](): void;
}

export interface Explanation {
  format?: string | Format;
  tag?: CompiledTag;
  grammar?: Grammar;
  constraint?: Constraint;
  tools?: readonly Tool[];
  vocabulary?: Vocabulary;
  text?: Text;
  ids?: Ids;
  prefix?: Text;
  name?: string;
  chunk?: number;
  markers?: Markers;
  recover?: boolean;
  /** The facts as the page has them, which are smaller. */
  packed?: boolean;
}

/** What became of a response: as JSON, or as a page with `html`. */
export function explain(what: Explanation & { html: true }): string;
export function explain(what: Explanation & { html?: false }): Facts;
