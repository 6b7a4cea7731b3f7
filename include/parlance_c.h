/* The C interface of Parlance: what servers and tools need, for every language
 * that can call C.
 *
 *   parlance_error *error = NULL;
 *   parlance_format *format = NULL;
 *   parlance_parser *parser = NULL;
 *   const parlance_event *events = NULL;
 *   size_t count = 0, i = 0;
 *   if (parlance_format_built_in("qwen3", 5, &format, &error) != PARLANCE_OK) {
 *     fprintf(stderr, "%s\n", parlance_error_message(error, NULL));
 *     parlance_error_free(error);
 *     return 1;
 *   }
 *   parlance_parser_new(format, NULL, &parser, NULL);
 *   parlance_parser_feed(parser, text, size, sizeof *events, &events, &count);
 *   for (i = 0; i < count; ++i) show(&events[i]);
 *   parlance_parser_free(parser);
 *   parlance_format_free(format);
 *
 * docs/guide/c.md is a complete program.  The C++ headers in parlance/ say what
 * each thing means; this one says how it is called.
 *
 * Rules for every function
 *
 *   Names     parlance_<object>_<verb>; constants PARLANCE_...; nothing else is
 *             exported or defined.
 *   Text      UTF-8 as (pointer, size), never NUL-terminated; NULL with size 0
 *             is the empty text.  Text may contain NUL.
 *   In        Borrowed for the call.  Handles that an object depends on are
 *             kept by it, so the order in which handles are freed is free.
 *   Out       `const` data is borrowed: it is valid until the handle's next
 *             call that is not a question, or its free.  A parlance_bytes
 *             belongs to the caller, who gives it to parlance_free() (never to
 *             free(): it may be another heap).  Its data has a NUL after the
 *             last byte, which `size` does not count.  Outputs are always
 *             written: NULL, 0 or empty if the call fails.
 *   Handles   Opaque.  Immutable ones (format, tools, vocabulary, tag,
 *             compiled_tag, grammar, compiler, constraint, table) are counted:
 *             _ref() adds a reference and returns its argument, _free() gives
 *             one back.  Mutable ones (parser, matcher, chat, sse, batch) have
 *             one owner.  _free(NULL) does nothing.
 *   Threads   Immutable handles: any number of threads.  Mutable handles: one
 *             call at a time, from any thread; nothing is kept in thread-local
 *             storage between calls.  A second call at the same time is
 *             PARLANCE_BUSY and changes nothing.  A handle may not be freed
 *             while another thread uses it.
 *   Status    Every function that can fail returns a parlance_status. Positive:
 *             what a person wrote is wrong.  Negative: misuse, or no memory;
 *             misuse changes nothing.  What a model writes is never an error.
 *   Errors    `error` may be NULL.  Otherwise *error is NULL after a success,
 *             and after a failure a handle that the caller frees; it is NULL,
 *             too, if there is no memory for it.
 *   Misuse    NULL where a handle or output is needed, a live handle of another
 *             kind, a size that is too small, a second call at the same time:
 *             a status.  A handle that was freed, or a pointer that is none, is
 *             undefined; builds with AddressSanitizer find the first.
 *   Memory    PARLANCE_NO_MEMORY: nothing is locked; what is shared can be used
 *             as before; a matcher is where it was (after
 *             parlance_matcher_accept_tokens its steps say how many tokens it
 *             accepted); a parser, chat or sse has ended; a batch has made the
 *             step of some of its rows.
 *   Enums     int32_t with constants.  A newer library may give values that an
 *             older header does not have: skip these.
 *   Structs   Input begins with struct_size, which ..._INIT sets; a struct of
 *             zeros with its size has all defaults.  A smaller size than that
 *             of the first version is PARLANCE_BAD_SIZE; members that the
 *             library does not know must be 0.  Arrays of output have the
 *             stride that the caller names (event_size, step_size).
 *   Requests  JSON objects as text; "" is {}.  A key that is not known is an
 *             error with its JSON Pointer.
 *   Versions  parlance_abi() of the library must be PARLANCE_ABI of the header.
 *             After the first release a function is never changed or removed;
 *             parlance_abi_minor() counts what was added.
 *   Layout    No bit-field, bool, enum, long, struct by value or variadic
 *             function.
 */
#ifndef PARLANCE_C_H_
#define PARLANCE_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARLANCE_ABI 1
#define PARLANCE_ABI_MINOR 0

typedef int32_t parlance_status;

#define PARLANCE_OK 0
/* Misuse, and what is no fault of the caller. */
#define PARLANCE_NO_MEMORY (-1)
#define PARLANCE_NULL (-2)         /* NULL where something is needed */
#define PARLANCE_WRONG_HANDLE (-3) /* a handle of another kind */
#define PARLANCE_BUSY (-4)         /* another call uses the handle */
#define PARLANCE_BAD_SIZE (-5)     /* of a struct */
#define PARLANCE_BAD_ARGUMENT (-6) /* a number outside of its range */
#define PARLANCE_INTERNAL (-7)     /* a defect of the library */
/* What a person wrote; parlance/error.h says what each means. */
#define PARLANCE_INVALID_JSON 1
#define PARLANCE_INVALID_UTF8 2
#define PARLANCE_TOO_LARGE 3
#define PARLANCE_IO 4
#define PARLANCE_WRONG_TYPE 5
#define PARLANCE_UNKNOWN_KEY 6
#define PARLANCE_MISSING_KEY 7
#define PARLANCE_EMPTY_VALUE 8
#define PARLANCE_CONFLICT 9
#define PARLANCE_UNKNOWN_NAME 10
#define PARLANCE_UNSUPPORTED_VERSION 11
#define PARLANCE_BAD_PATTERN 12
#define PARLANCE_UNSUPPORTED_PATTERN 13
#define PARLANCE_BAD_PLACEHOLDER 14
#define PARLANCE_UNUSED_CAPTURE 15
#define PARLANCE_SEVERAL_IMPLICIT_FIELDS 16
#define PARLANCE_UNKNOWN_FORMAT 17
#define PARLANCE_BAD_VOCABULARY 18
#define PARLANCE_INVALID_CONTENT 19
#define PARLANCE_MISSING_PLACEHOLDER 20
#define PARLANCE_CONTENT_TYPE 21
#define PARLANCE_CONTENT_ATTRIBUTE 22
#define PARLANCE_TOO_DEEP 23
#define PARLANCE_MISSING_REQUIRED 24
#define PARLANCE_UNEXPECTED_SPECIAL 25
#define PARLANCE_USAGE 26
#define PARLANCE_FINALIZED 27
#define PARLANCE_TRANSFORM 28
#define PARLANCE_BAD_EXPRESSION 29
#define PARLANCE_UNKNOWN_FUNCTION 30
#define PARLANCE_INVALID_ARITY 31
#define PARLANCE_INVALID_TYPE 32
#define PARLANCE_INVALID_VALUE 33
#define PARLANCE_NOT_CONVERTIBLE 34
#define PARLANCE_UNSUPPORTED 35
#define PARLANCE_UNSATISFIABLE 36
#define PARLANCE_BAD_REFERENCE 37
#define PARLANCE_BAD_SYNTAX 38
#define PARLANCE_MISSING_STOP_IDS 39

typedef struct parlance_error parlance_error;
typedef struct parlance_format parlance_format;
typedef struct parlance_tools parlance_tools;
typedef struct parlance_vocabulary parlance_vocabulary;
typedef struct parlance_tag parlance_tag; /* a structural tag */
typedef struct parlance_compiled_tag parlance_compiled_tag;
typedef struct parlance_grammar parlance_grammar;
typedef struct parlance_compiler parlance_compiler;
typedef struct parlance_constraint parlance_constraint;
typedef struct parlance_matcher parlance_matcher;
typedef struct parlance_parser parlance_parser; /* by format or by tag */
typedef struct parlance_chat parlance_chat;
typedef struct parlance_sse parlance_sse; /* the events of another server */
typedef struct parlance_batch parlance_batch;
typedef struct parlance_table parlance_table; /* masks by number */

typedef struct parlance_span {
  uint64_t begin, end; /* bytes, half-open */
} parlance_span;

typedef struct parlance_bytes {
  char *data; /* parlance_free() */
  size_t size;
} parlance_bytes;

/* The functions are exported also where everything else is hidden. */
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility push(default)
#endif

/* --- General -------------------------------------------------------------- */

uint32_t parlance_abi(void);
uint32_t parlance_abi_minor(void);
/* "0.1.0"; NUL-terminated, static. */
const char *parlance_version(void);

/* Memory of the library's heap, for hosts that must write inputs into it.  NULL
 * if there is none. */
void *parlance_alloc(size_t size);
/* What parlance_alloc() or a parlance_bytes gave; NULL does nothing. */
void parlance_free(void *data);

/* "unknown_key", "busy", ...; NUL-terminated, static.  "unknown" for a number
 * that is no status. */
const char *parlance_status_name(parlance_status status);

/* Of NULL: PARLANCE_OK, "", no span.  Texts are NUL-terminated and live as long
 * as the error; `size` may be NULL. */
parlance_status parlance_error_status(const parlance_error *error);
const char *parlance_error_message(const parlance_error *error, size_t *size);
/* JSON Pointer into the source; "" for its root, and without JSON. */
const char *parlance_error_path(const parlance_error *error, size_t *size);
/* 1, and the bytes of the source that are wrong, or 0. */
int32_t parlance_error_span(const parlance_error *error, parlance_span *out);
void parlance_error_free(parlance_error *error);

/* Where a JSON Pointer, such as the path of an error, a lint or a report, leads
 * in a JSON text: {"value": [begin, end], "key": [begin, end] or null}, bytes,
 * or null if it leads nowhere. */
parlance_status parlance_json_locate(const char *text, size_t text_size,
                                     const char *path, size_t path_size,
                                     parlance_bytes *out,
                                     parlance_error **error);

/* --- Formats -------------------------------------------------------------- */

/* The built-in formats, sorted.  Names are NUL-terminated and static; NULL
 * beyond the last.  `size` may be NULL. */
size_t parlance_formats_count(void);
const char *parlance_formats_name(size_t index, size_t *size);

/* By the name of a family or variant, or an alias. */
parlance_status parlance_format_built_in(const char *name, size_t name_size,
                                         parlance_format **out,
                                         parlance_error **error);
/* A format file or a bare response template.  `variant`: "" for none. */
parlance_status parlance_format_from_json(const char *text, size_t text_size,
                                          const char *variant,
                                          size_t variant_size,
                                          parlance_format **out,
                                          parlance_error **error);
/* With other names of fields: {"thinking": "reasoning"}. */
parlance_status parlance_format_rename(const parlance_format *format,
                                       const char *names, size_t names_size,
                                       parlance_format **out,
                                       parlance_error **error);
parlance_format *parlance_format_ref(const parlance_format *format);
void parlance_format_free(parlance_format *format);

/* {"name", "aliases", "models", "variants", "recovers", "fields": [{"name",
 * "dirty", "trimmed", "join"}]}; fields by parlance_event.field_index. */
parlance_status parlance_format_describe(const parlance_format *format,
                                         parlance_bytes *out,
                                         parlance_error **error);
/* The format file, from which the format can be loaded again. */
parlance_status parlance_format_to_json(const parlance_format *format,
                                        parlance_bytes *out,
                                        parlance_error **error);
/* The response template alone. */
parlance_status parlance_format_template(const parlance_format *format,
                                         parlance_bytes *out,
                                         parlance_error **error);
/* Warnings: [{"code", "message", "path"}]. */
parlance_status parlance_format_lint(const parlance_format *format,
                                     parlance_bytes *out,
                                     parlance_error **error);
/* Whether the format reads what it writes: [{"code", "message", "path", "text",
 * "meant", "read"}], empty if nothing is wrong.  Request: "tools", a list;
 * "most_calls"; "walks", random responses that are written and read, and "seed"
 * of the first.  `vocabulary` may be NULL. */
parlance_status parlance_format_check(const parlance_format *format,
                                      const char *request, size_t request_size,
                                      const parlance_vocabulary *vocabulary,
                                      parlance_bytes *out,
                                      parlance_error **error);
/* Writes a message, a JSON object, as the family writes it.  Request: "tools";
 * "prefix", the prompt; "verify", true. */
parlance_status parlance_format_render(const parlance_format *format,
                                       const char *message, size_t message_size,
                                       const char *request, size_t request_size,
                                       parlance_bytes *out,
                                       parlance_error **error);
/* The structural tag of a response to a request: "tools", "tool_choice",
 * "parallel_tool_calls", "text_with_calls" ("optional", "before", "between"),
 * "reasoning" ("required", "allowed", "off"), "response_format", "prefix"
 * (text or token ids, the latter with a vocabulary), "max_reasoning_tokens",
 * "any_order", "max_white_space".  `vocabulary` may be NULL. */
parlance_status parlance_format_tag(const parlance_format *format,
                                    const char *request, size_t request_size,
                                    const parlance_vocabulary *vocabulary,
                                    parlance_tag **out, parlance_error **error);

/* The built-in formats of which a text has evidence, the best first: [{"name",
 * "calls", "call", "diagnostics", "region_bytes", "span", "marked"}].  `tools`,
 * whose calls are evidence however they are written, may be NULL. */
parlance_status parlance_formats_rank(const char *text, size_t text_size,
                                      const parlance_tools *tools,
                                      parlance_bytes *out,
                                      parlance_error **error);

/* Which format a tokenizer_config.json needs: {"name", "family", "certainty",
 * "why", "others"}.  `rendered`: what the chat template makes of
 * parlance_detection_sample(); "" if that is not known. */
parlance_status parlance_detect(const char *config, size_t config_size,
                                const char *rendered, size_t rendered_size,
                                parlance_bytes *out, parlance_error **error);
/* {"messages", "tools"} for the chat template. */
parlance_status parlance_detection_sample(parlance_bytes *out,
                                          parlance_error **error);

/* --- Tools ---------------------------------------------------------------- */

/* A list of tools as the chat completions API has it. */
parlance_status parlance_tools_from_json(const char *text, size_t text_size,
                                         parlance_tools **out,
                                         parlance_error **error);
parlance_tools *parlance_tools_ref(const parlance_tools *tools);
void parlance_tools_free(parlance_tools *tools);

/* --- Vocabularies --------------------------------------------------------- */

/* How tokens are spelled in parlance_tokens. */
#define PARLANCE_SPELLING_RAW 0
#define PARLANCE_SPELLING_BYTE_FALLBACK 1 /* SentencePiece */
#define PARLANCE_SPELLING_BYTE_LEVEL 2    /* GPT-2 */

/* The tokens of a tokenizer by id. */
typedef struct parlance_tokens {
  size_t struct_size;
  const char *bytes;    /* of all tokens, one after another */
  const uint64_t *ends; /* where each token ends in `bytes` */
  size_t count;
  const uint32_t *added_ids;
  size_t added_count;
  const uint32_t *control_ids;
  size_t control_count;
  const uint32_t *stop_ids;
  size_t stop_count;
  uint64_t model_size;   /* ids of the model; 0: count */
  int32_t spelling;      /* PARLANCE_SPELLING_... */
  uint32_t has_stop_ids; /* else unknown, which is not the same as none */
} parlance_tokens;
#define PARLANCE_TOKENS_INIT \
  { sizeof(parlance_tokens), NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0 }

parlance_status parlance_vocabulary_from_tokens(const parlance_tokens *tokens,
                                                parlance_vocabulary **out,
                                                parlance_error **error);
/* A tokenizer.json, tekken.json, tokenizer.model, tiktoken ranks, a GGUF header
 * or a saved vocabulary, recognised by its contents. */
parlance_status parlance_vocabulary_from_memory(const void *data, size_t size,
                                                parlance_vocabulary **out,
                                                parlance_error **error);
/* The files of a model's folder; "" for one that is missing.  In place of
 * tokenizer.json may be tekken.json or tokenizer.model. */
parlance_status parlance_vocabulary_from_files(
    const char *tokenizer_json, size_t tokenizer_json_size,
    const char *tokenizer_config, size_t tokenizer_config_size,
    const char *generation_config, size_t generation_config_size,
    const char *config, size_t config_size, parlance_vocabulary **out,
    parlance_error **error);
/* A model's folder, or a file in any of these forms; a saved one is mapped. */
parlance_status parlance_vocabulary_from_path(const char *path,
                                              size_t path_size,
                                              parlance_vocabulary **out,
                                              parlance_error **error);
/* Writes the tokens and the tables that compilers need. */
parlance_status parlance_vocabulary_save(const parlance_vocabulary *vocabulary,
                                         const char *path, size_t path_size,
                                         parlance_error **error);
/* The tokens alone, for parlance_vocabulary_from_memory(). */
parlance_status parlance_vocabulary_to_bytes(
    const parlance_vocabulary *vocabulary, parlance_bytes *out,
    parlance_error **error);
parlance_status parlance_vocabulary_with_stop_ids(
    const parlance_vocabulary *vocabulary, const uint32_t *ids, size_t count,
    parlance_vocabulary **out, parlance_error **error);

/* Tokenises `text`: writes at most `capacity` ids, and returns how many there
 * are.  Called by any thread that calls a matcher; must not end by an exception
 * or longjmp. */
typedef size_t (*parlance_encode_fn)(void *user, const char *text, size_t size,
                                     uint32_t *ids, size_t capacity);
/* For parlance_matcher_forced_tokens().  `drop`, which may be NULL, is called
 * with `user` when nothing needs it any more, also if the call fails. */
parlance_status parlance_vocabulary_with_encoder(
    const parlance_vocabulary *vocabulary, parlance_encode_fn encode,
    void *user, void (*drop)(void *user), parlance_vocabulary **out,
    parlance_error **error);
parlance_vocabulary *parlance_vocabulary_ref(
    const parlance_vocabulary *vocabulary);
void parlance_vocabulary_free(parlance_vocabulary *vocabulary);

#define PARLANCE_TOKEN_ORDINARY 0
#define PARLANCE_TOKEN_ADDED 1
#define PARLANCE_TOKEN_CONTROL 2
#define PARLANCE_TOKEN_UNUSED 3

/* One more than the highest id; 0 for NULL. */
size_t parlance_vocabulary_size(const parlance_vocabulary *vocabulary);
/* The bytes of a token, not NUL-terminated; lives as long as the vocabulary.
 * `kind` may be NULL. */
parlance_status parlance_vocabulary_token(const parlance_vocabulary *vocabulary,
                                          uint32_t id, const char **bytes,
                                          size_t *size, int32_t *kind);
/* The added or control token with this spelling; -1 if there is none. */
parlance_status parlance_vocabulary_special(
    const parlance_vocabulary *vocabulary, const char *spelling,
    size_t spelling_size, int64_t *id);
/* `known` is 0 if it is not known what ends a response. */
parlance_status parlance_vocabulary_stop_ids(
    const parlance_vocabulary *vocabulary, const uint32_t **ids, size_t *count,
    int32_t *known);
/* The text of ids as well-formed UTF-8. */
parlance_status parlance_vocabulary_decode(
    const parlance_vocabulary *vocabulary, const uint32_t *ids, size_t count,
    parlance_bytes *out, parlance_error **error);

/* --- Structural tags ------------------------------------------------------ */

/* How markers occur in token ids. */
#define PARLANCE_MARKERS_TOKEN 0
#define PARLANCE_MARKERS_EITHER 1
#define PARLANCE_MARKERS_TEXT 2

parlance_status parlance_tag_from_json(const char *text, size_t text_size,
                                       parlance_tag **out,
                                       parlance_error **error);
parlance_status parlance_tag_to_json(const parlance_tag *tag,
                                     parlance_bytes *out,
                                     parlance_error **error);
/* What the tag leaves out of what was asked for, as parlance_grammar_report().
 */
parlance_status parlance_tag_report(const parlance_tag *tag,
                                    parlance_bytes *out,
                                    parlance_error **error);
parlance_tag *parlance_tag_ref(const parlance_tag *tag);
void parlance_tag_free(parlance_tag *tag);

/* Compiles a tag for parsers.  `vocabulary` and `compiler`, whose cache is
 * used, may be NULL.  Request: "markers" ("token", "either", "text"), "limits"
 * as for grammars, "max_parses", "parse_bytes". */
parlance_status parlance_tag_compile(const parlance_tag *tag,
                                     const parlance_vocabulary *vocabulary,
                                     const parlance_compiler *compiler,
                                     const char *request, size_t request_size,
                                     parlance_compiled_tag **out,
                                     parlance_error **error);
parlance_compiled_tag *parlance_compiled_tag_ref(
    const parlance_compiled_tag *tag);
void parlance_compiled_tag_free(parlance_compiled_tag *tag);

/* --- Grammars ------------------------------------------------------------- */

#define PARLANCE_JSON_SCHEMA 0
#define PARLANCE_EBNF 1
#define PARLANCE_GBNF 2
#define PARLANCE_LARK 3
#define PARLANCE_REGEX 4
#define PARLANCE_STRUCTURAL_TAG 5

/* Requests of grammars.  All: "limits", an object with "alternatives", "steps",
 * "depth", "bytes", "work".  PARLANCE_JSON_SCHEMA: "max_white_space" (null: no
 * limit), "compact", "indent", "separators" ([item, key]), "key_order" ("any",
 * "schema"), "spelling" ("canonical", "any", "raw"), "draft" ("4", "6", "7",
 * "2019-09", "2020-12"), "closed", "lenient", "assert_formats", "excludes",
 * "documents". EBNF, GBNF: "root_rule".  LARK: "start_rule", "sources". */

/* `vocabulary`, in which tokens given by name are looked up, may be NULL. */
parlance_status parlance_grammar_compile(
    int32_t language, const char *text, size_t text_size,
    const parlance_vocabulary *vocabulary, const char *request,
    size_t request_size, parlance_grammar **out, parlance_error **error);
parlance_status parlance_grammar_from_tag(const parlance_tag *tag,
                                          const parlance_vocabulary *vocabulary,
                                          const char *request,
                                          size_t request_size,
                                          parlance_grammar **out,
                                          parlance_error **error);
/* `in_sequence` 0: a text of any part; else a text of each, one after another.
 */
parlance_status parlance_grammar_combine(int32_t in_sequence,
                                         const parlance_grammar *const *parts,
                                         size_t count, parlance_grammar **out,
                                         parlance_error **error);
parlance_status parlance_grammar_from_bytes(const void *data, size_t size,
                                            parlance_grammar **out,
                                            parlance_error **error);
parlance_grammar *parlance_grammar_ref(const parlance_grammar *grammar);
void parlance_grammar_free(parlance_grammar *grammar);

/* Whether the whole text is in the language.  If not, `offset` and `expected`,
 * which may be NULL, say where and what is allowed there.  PARLANCE_TOO_LARGE
 * if a limit was passed before that was decided. */
parlance_status parlance_grammar_accepts(const parlance_grammar *grammar,
                                         const char *text, size_t text_size,
                                         int32_t *accepts, uint64_t *offset,
                                         parlance_bytes *expected,
                                         parlance_error **error);
/* [{"kind": "narrowed" or "ignored", "keyword", "path", "message"}] */
parlance_status parlance_grammar_report(const parlance_grammar *grammar,
                                        parlance_bytes *out,
                                        parlance_error **error);
/* What rules with a capture match: [{"name", "text", "span": [begin, end]}]. */
parlance_status parlance_grammar_captures(const parlance_grammar *grammar,
                                          const char *text, size_t text_size,
                                          parlance_bytes *out,
                                          parlance_error **error);
parlance_status parlance_grammar_to_ebnf(const parlance_grammar *grammar,
                                         parlance_bytes *out,
                                         parlance_error **error);
parlance_status parlance_grammar_to_bytes(const parlance_grammar *grammar,
                                          parlance_bytes *out,
                                          parlance_error **error);

/* --- Compilers and constraints -------------------------------------------- */

/* Request: "cache_bytes", "grammar_bytes", "stop_ids". */
parlance_status parlance_compiler_new(const parlance_vocabulary *vocabulary,
                                      const char *request, size_t request_size,
                                      parlance_compiler **out,
                                      parlance_error **error);
parlance_compiler *parlance_compiler_ref(const parlance_compiler *compiler);
void parlance_compiler_free(parlance_compiler *compiler);
/* 32-bit words of a mask; 0 for NULL. */
size_t parlance_compiler_mask_words(const parlance_compiler *compiler);
/* {"masks": {"bytes", "entries", "hits", "misses", "evictions",
 * "tables_bytes"}, "grammars": {"bytes", "grammars", "parts", "grammar_hits",
 * "grammar_misses", "part_hits", "part_misses", "evictions"}} */
parlance_status parlance_compiler_statistics(const parlance_compiler *compiler,
                                             parlance_bytes *out,
                                             parlance_error **error);
parlance_status parlance_compiler_clear_cache(
    const parlance_compiler *compiler);

/* With the cache of grammars.  Requests as for grammars; with
 * PARLANCE_STRUCTURAL_TAG, and for the next two, also "markers". */
parlance_status parlance_compile(const parlance_compiler *compiler,
                                 int32_t language, const char *text,
                                 size_t text_size, const char *request,
                                 size_t request_size, parlance_constraint **out,
                                 parlance_error **error);
parlance_status parlance_compile_tag(const parlance_compiler *compiler,
                                     const parlance_tag *tag,
                                     const char *request, size_t request_size,
                                     parlance_constraint **out,
                                     parlance_error **error);
/* Request: "markers" alone. */
parlance_status parlance_compile_grammar(const parlance_compiler *compiler,
                                         const parlance_grammar *grammar,
                                         const char *request,
                                         size_t request_size,
                                         parlance_constraint **out,
                                         parlance_error **error);
parlance_status parlance_constraint_from_bytes(
    const parlance_compiler *compiler, const void *data, size_t size,
    parlance_constraint **out, parlance_error **error);
parlance_status parlance_constraint_to_bytes(
    const parlance_constraint *constraint, parlance_bytes *out,
    parlance_error **error);
parlance_constraint *parlance_constraint_ref(
    const parlance_constraint *constraint);
void parlance_constraint_free(parlance_constraint *constraint);

/* --- Matchers ------------------------------------------------------------- */

typedef struct parlance_matcher_options {
  size_t struct_size;
  const uint32_t *stop_ids; /* in place of the compiler's */
  size_t stop_count;
  uint32_t has_stop_ids;
  uint32_t has_default_temperature;
  double default_temperature;
} parlance_matcher_options;
#define PARLANCE_MATCHER_OPTIONS_INIT \
  { sizeof(parlance_matcher_options), NULL, 0, 0, 0, 0.0 }

/* `options` may be NULL. */
parlance_status parlance_matcher_new(const parlance_constraint *constraint,
                                     const parlance_matcher_options *options,
                                     parlance_matcher **out,
                                     parlance_error **error);
parlance_status parlance_matcher_copy(const parlance_matcher *matcher,
                                      parlance_matcher **out,
                                      parlance_error **error);
void parlance_matcher_free(parlance_matcher *matcher);

/* Writes the mask of the next token: bit t % 32 of word t / 32 is 1 if token t
 * is allowed.  `constrains` is 0 if the mask excludes nothing.
 * PARLANCE_BAD_SIZE if `words` is less than parlance_compiler_mask_words(). */
parlance_status parlance_matcher_fill(parlance_matcher *matcher, int32_t *row,
                                      size_t words, int32_t *constrains);
/* The masks of many matchers, on `threads` threads (0: as many as the machine
 * has): that of matcher i begins at word rows[i] * stride of `buffer`, or i *
 * stride if `rows` is NULL. */
parlance_status parlance_matcher_fill_many(parlance_matcher *const *matchers,
                                           const size_t *rows, size_t count,
                                           int32_t *buffer, size_t words,
                                           size_t stride, uint32_t threads,
                                           parlance_error **error);
/* `accepted`: 1, or 0 if the token is not allowed and nothing changed. */
parlance_status parlance_matcher_accept(parlance_matcher *matcher, uint32_t id,
                                        int32_t *accepted);
/* Up to the first that is not allowed. */
parlance_status parlance_matcher_accept_tokens(parlance_matcher *matcher,
                                               const uint32_t *ids,
                                               size_t count, size_t *accepted);
parlance_status parlance_matcher_accept_bytes(parlance_matcher *matcher,
                                              const char *bytes, size_t size,
                                              int32_t *accepted);
/* `done`: 0 if there are fewer steps, and nothing changed. */
parlance_status parlance_matcher_rollback(parlance_matcher *matcher,
                                          size_t steps, int32_t *done);
parlance_status parlance_matcher_reset(parlance_matcher *matcher);

#define PARLANCE_MATCHER_TERMINATED 1u /* a stop token was accepted */
#define PARLANCE_MATCHER_CAN_END 2u    /* the text may end here */
#define PARLANCE_MATCHER_FAILED 4u     /* see parlance_matcher_failure() */
/* Steps that can be undone, and flags.  Either may be NULL. */
parlance_status parlance_matcher_state(const parlance_matcher *matcher,
                                       size_t *steps, uint32_t *flags);
/* Why there is no mask: an error that the caller frees, or NULL. */
parlance_status parlance_matcher_failure(const parlance_matcher *matcher,
                                         parlance_error **failure);
/* The tokens that certainly come next: writes at most `capacity`, and sets
 * `count` to how many there are. */
parlance_status parlance_matcher_forced_tokens(parlance_matcher *matcher,
                                               uint32_t *ids, size_t capacity,
                                               size_t *count);
/* The text that certainly comes next, at most `limit` bytes. */
parlance_status parlance_matcher_forced_text(parlance_matcher *matcher,
                                             size_t limit, parlance_bytes *out,
                                             parlance_error **error);
/* At which to sample the next token; NaN if no rule sets one. */
parlance_status parlance_matcher_temperature(parlance_matcher *matcher,
                                             double *temperature);
/* As parlance_grammar_captures(), of the text so far. */
parlance_status parlance_matcher_captures(parlance_matcher *matcher,
                                          parlance_bytes *out,
                                          parlance_error **error);

/* The masks after the nodes of a draft tree; that of node i begins at word i *
 * stride.  Links are -1 where there is none.  `temperatures`, a number for each
 * node, may be NULL; `nanoseconds` 0 is no limit; `visited` may be NULL. */
parlance_status parlance_matcher_fill_tree(
    parlance_matcher *matcher, const int64_t *first_child,
    const int64_t *next_sibling, const int64_t *tokens, size_t nodes,
    int32_t *rows, size_t words, size_t stride, int64_t nanoseconds,
    float *temperatures, size_t *visited, parlance_error **error);

/* --- Masks by number ------------------------------------------------------ */

#define PARLANCE_MASK_NOTHING_EXCLUDED (-1)
#define PARLANCE_MASK_NOT_LISTED (-2)

/* At most `max_rows` rows, 1 to 2^20.  Any number of threads, except
 * parlance_table_clear(), which must be alone. */
parlance_status parlance_table_new(const parlance_compiler *compiler,
                                   size_t max_rows, parlance_table **out,
                                   parlance_error **error);
parlance_table *parlance_table_ref(const parlance_table *table);
void parlance_table_free(parlance_table *table);
/* The row of the matcher's mask, or one of the two numbers above. */
parlance_status parlance_table_id_of(parlance_table *table,
                                     parlance_matcher *matcher, int32_t *id);
/* Rows so far, and the version, which parlance_table_clear() raises.  Either
 * may be NULL. */
parlance_status parlance_table_size(const parlance_table *table, size_t *rows,
                                    uint64_t *version);
/* Rows `begin` to `end`, one after another, each of `words` words; NULL if
 * there are no such rows. */
parlance_status parlance_table_rows(const parlance_table *table, size_t begin,
                                    size_t end, const int32_t **rows,
                                    size_t *words);
parlance_status parlance_table_clear(parlance_table *table);

/* --- Parsers -------------------------------------------------------------- */

#define PARLANCE_RECOVER_DEFAULT 0
#define PARLANCE_RECOVER_NO 1
#define PARLANCE_RECOVER_YES 2

typedef struct parlance_parser_options {
  size_t struct_size;
  const char *prefix; /* what the prompt has written of the response */
  size_t prefix_size;
  const uint32_t *prefix_ids; /* in place of it, with a vocabulary */
  size_t prefix_count;
  const uint32_t *stop_ids;
  size_t stop_count;
  const parlance_tools *tools;           /* may be NULL */
  const parlance_vocabulary *vocabulary; /* else the parser reads text */
  uint32_t has_stop_ids;                 /* else those of the vocabulary */
  int32_t markers;                       /* PARLANCE_MARKERS_... */
  int32_t recover;                       /* PARLANCE_RECOVER_... */
  uint32_t stream_calls; /* events of calls while they are being written */
  uint32_t attempts;     /* every call that was attempted */
  uint32_t events_only;  /* no message */
} parlance_parser_options;
#define PARLANCE_PARSER_OPTIONS_INIT                                           \
  {                                                                            \
    sizeof(parlance_parser_options), NULL, 0, NULL, 0, NULL, 0, NULL, NULL, 0, \
        0, 0, 0, 0, 0                                                          \
  }

#define PARLANCE_REGION_OPEN 0
#define PARLANCE_REGION_CHUNK 1
#define PARLANCE_REGION_CLOSE 2
#define PARLANCE_REGION_MALFORMED 3
#define PARLANCE_TEXT_UNCLAIMED 4
#define PARLANCE_CALL_OPEN 5
#define PARLANCE_CALL_ARGUMENTS 6
#define PARLANCE_CALL_CLOSE 7
#define PARLANCE_CALL_ATTEMPT 8

#define PARLANCE_EVENT_DIRTY 1u /* the chunk is not yet the value */
#define PARLANCE_EVENT_CUT 2u   /* the response ended before its delimiter */
/* parlance_parser_event_json() has more than the members below: the value of a
 * closed region, captures, a diagnostic, or an attempt. */
#define PARLANCE_EVENT_DETAIL 4u

/* parlance/message.h says what the members mean.  Texts live until the parser's
 * next call that is not a question. */
typedef struct parlance_event {
  int32_t kind;   /* PARLANCE_REGION_OPEN, ... */
  uint32_t flags; /* PARLANCE_EVENT_... */
  uint32_t field_index;
  uint32_t call;
  uint64_t bytes_begin, bytes_end;
  uint64_t tokens_begin, tokens_end;
  const char *field;
  size_t field_size;
  const char *text;
  size_t text_size;
  const char *call_id;
  size_t call_id_size;
  parlance_status code; /* of the diagnostic, or PARLANCE_OK */
  int32_t reserved;
} parlance_event;

/* `options` may be NULL. */
parlance_status parlance_parser_new(const parlance_format *format,
                                    const parlance_parser_options *options,
                                    parlance_parser **out,
                                    parlance_error **error);
parlance_status parlance_parser_new_by_tag(
    const parlance_compiled_tag *tag, const parlance_parser_options *options,
    parlance_parser **out, parlance_error **error);
void parlance_parser_free(parlance_parser *parser);

/* Each gives an array of events, `event_size` bytes apart (sizeof
 * (parlance_event)), valid until the next of these calls.  initial(): those of
 * the prefix, valid until the first feed.  PARLANCE_FINALIZED after
 * parlance_parser_finalize(), PARLANCE_USAGE for text where the parser reads
 * ids and the other way round; both change nothing. */
parlance_status parlance_parser_initial(parlance_parser *parser,
                                        size_t event_size,
                                        const parlance_event **events,
                                        size_t *count);
parlance_status parlance_parser_feed(parlance_parser *parser, const char *text,
                                     size_t text_size, size_t event_size,
                                     const parlance_event **events,
                                     size_t *count);
parlance_status parlance_parser_feed_tokens(parlance_parser *parser,
                                            const uint32_t *ids,
                                            size_t id_count, size_t event_size,
                                            const parlance_event **events,
                                            size_t *count);
parlance_status parlance_parser_finalize(parlance_parser *parser,
                                         size_t event_size,
                                         const parlance_event **events,
                                         size_t *count);

/* Questions. */

/* Event `index` of the last of these calls as JSON, as `parlance parse
 * --events` writes it. */
parlance_status parlance_parser_event_json(const parlance_parser *parser,
                                           size_t index, parlance_bytes *out,
                                           parlance_error **error);
/* {"message", "complete", "diagnostics": [{"code", "message", "field",
 * "span"}], "error", "turn_ended", "attempted_calls", "prefix_bytes", "tokens":
 * {"reasoning", "content", "tool_calls", "markup"}}; "error" is why a strict
 * reading failed, or null. */
parlance_status parlance_parser_result(const parlance_parser *parser,
                                       parlance_bytes *out,
                                       parlance_error **error);
/* The message in the shape of the chat completions API. */
parlance_status parlance_parser_chat_message(const parlance_parser *parser,
                                             parlance_bytes *out,
                                             parlance_error **error);
/* The parse tree of a parser by tag; PARLANCE_USAGE for one by format. */
parlance_status parlance_parser_tree(const parlance_parser *parser,
                                     parlance_bytes *out,
                                     parlance_error **error);
/* The bytes at the end of the input that are held back now. */
parlance_status parlance_parser_held(const parlance_parser *parser,
                                     const char **text, size_t *text_size);
/* The bytes of the prefix that are part of the response, and 1 if the parser is
 * finalized.  Either may be NULL. */
parlance_status parlance_parser_state(const parlance_parser *parser,
                                      size_t *prefix_bytes, int32_t *finalized);

/* A whole response: what parlance_parser_result() says. */
parlance_status parlance_parse(const parlance_format *format, const char *text,
                               size_t text_size,
                               const parlance_parser_options *options,
                               parlance_bytes *out, parlance_error **error);

/* A response as the format reads it, for people: the facts of
 * docs/guide/explain.md, as parlance_explain() gives them.  Text alone is read,
 * and nothing of grammars is needed.  Of `options`, which may be NULL, prefix,
 * tools and recover count.  Request: "name", for people; "chunk", bytes that
 * are fed at once, 0 for all; "packed", the facts as the page has them, which
 * are smaller (to_packed_json() of parlance/explain.h). */
parlance_status parlance_format_explain(
    const parlance_format *format, const char *text, size_t text_size,
    const parlance_parser_options *options, const char *request,
    size_t request_size, parlance_bytes *out, parlance_error **error);
/* Where a response probably has a call that the format does not read, at most
 * eight: [{"kind", "message", "field", "format", "span"}]; parlance/hints.h
 * says what they mean.  Text alone is read.  `options` may be NULL. */
parlance_status parlance_format_hints(const parlance_format *format,
                                      const char *text, size_t text_size,
                                      const parlance_parser_options *options,
                                      parlance_bytes *out,
                                      parlance_error **error);

/* --- Chat streams --------------------------------------------------------- */

#define PARLANCE_END_STOP 0
#define PARLANCE_END_LENGTH 1
#define PARLANCE_END_CONTENT_FILTER 2

/* Events of a parser by `format` or by `tag`, one of which is NULL, in the
 * shape of a chat API.  Request: "api" ("chat_completions", "responses",
 * "messages"), "id", "model", "created", "choice", "reasoning_name",
 * "call_id_prefix", "model_call_ids", "extras", and "output": "sse" (the
 * default), server-sent events that can be sent as they are, or "json", a list
 * of {"event", "body", "bytes", "tokens"}. */
parlance_status parlance_chat_new(const parlance_format *format,
                                  const parlance_compiled_tag *tag,
                                  const char *request, size_t request_size,
                                  parlance_chat **out, parlance_error **error);
void parlance_chat_free(parlance_chat *chat);
/* What comes before all events; the first feed gives it otherwise. */
parlance_status parlance_chat_begin(parlance_chat *chat, parlance_bytes *out,
                                    parlance_error **error);
/* The events of the parser's last call. */
parlance_status parlance_chat_feed(parlance_chat *chat,
                                   const parlance_parser *parser,
                                   parlance_bytes *out, parlance_error **error);
/* What comes after all events.  `parser`, which is finalized, may be NULL.
 * Request: "prompt_tokens", "completion_tokens".  Server-sent events of chat
 * completions end with "data: [DONE]". */
parlance_status parlance_chat_end(parlance_chat *chat, int32_t why,
                                  const parlance_parser *parser,
                                  const char *request, size_t request_size,
                                  parlance_bytes *out, parlance_error **error);
/* The whole response, in the shape for requests without streaming. */
parlance_status parlance_chat_response(const parlance_chat *chat,
                                       parlance_bytes *out,
                                       parlance_error **error);

/* --- Event streams of other servers --------------------------------------- */

/* The text inside the server-sent events of a server that streams without
 * parsing: parlance/sse.h says which payloads are known.  PARLANCE_FINALIZED
 * after parlance_sse_finalize(). */
parlance_status parlance_sse_new(parlance_sse **out, parlance_error **error);
void parlance_sse_free(parlance_sse *sse);
/* The text of the events that `bytes` completes. */
parlance_status parlance_sse_feed(parlance_sse *sse, const char *bytes,
                                  size_t size, parlance_bytes *out,
                                  parlance_error **error);
/* That of an event that nothing ended. */
parlance_status parlance_sse_finalize(parlance_sse *sse, parlance_bytes *out,
                                      parlance_error **error);
/* A question: what the last of these calls could not read, [{"line",
 * "message"}]. */
parlance_status parlance_sse_faults(const parlance_sse *sse,
                                    parlance_bytes *out,
                                    parlance_error **error);

/* --- A step of a server --------------------------------------------------- */

#define PARLANCE_STEP_TERMINATED 1u /* as PARLANCE_MATCHER_TERMINATED */
#define PARLANCE_STEP_FAILED 2u     /* see parlance_matcher_failure() */
#define PARLANCE_STEP_CONSTRAINED \
  4u /* masks were written that must be applied */

/* A row's part in a step, in and out. */
typedef struct parlance_step {
  uint32_t row; /* of parlance_batch_add() */
  uint32_t reserved;
  const uint32_t *tokens; /* generated since the last step */
  size_t token_count;
  int64_t mask_row; /* of the buffer, for the next mask; -1: none */
  /* A draft tree, as in parlance_matcher_fill_tree(); its rows are those from
   * mask_row on. */
  const int64_t *first_child, *next_sibling, *draft_tokens;
  size_t nodes; /* 0: none */
  int64_t nanoseconds;
  /* Out: */
  uint64_t accepted;            /* of the tokens */
  uint64_t filled;              /* masks that were written or given by number */
  const parlance_event *events; /* until the parser's next call */
  size_t event_count;
  int32_t mask_id; /* with a table; PARLANCE_MASK_NOT_LISTED: in the buffer */
  uint32_t flags;  /* PARLANCE_STEP_... */
} parlance_step;

/* Threads of a step, the caller's included; 0: as many as the machine has. */
parlance_status parlance_batch_new(uint32_t threads, parlance_batch **out,
                                   parlance_error **error);
void parlance_batch_free(parlance_batch *batch);
/* Either may be NULL.  The batch keeps a reference to both: they live until the
 * row is removed, even if they are freed before. */
parlance_status parlance_batch_add(parlance_batch *batch,
                                   parlance_matcher *matcher,
                                   parlance_parser *parser, uint32_t *row,
                                   parlance_error **error);
/* PARLANCE_BAD_ARGUMENT if there is no such row. */
parlance_status parlance_batch_remove(parlance_batch *batch, uint32_t row);
/* Makes one step of the rows of `steps`, which are step_size bytes apart.  Row
 * r of `masks`, `words` words in all, begins at word r * stride.  `table` may
 * be NULL, and so may `temperatures`, a number for each row of `masks`. Nothing
 * is done if the call fails, unless there is no memory. */
parlance_status parlance_batch_step(parlance_batch *batch, parlance_step *steps,
                                    size_t count, size_t step_size,
                                    int32_t *masks, size_t words, size_t stride,
                                    parlance_table *table, float *temperatures,
                                    size_t temperature_count, size_t event_size,
                                    parlance_error **error);

/* --- Explanation ---------------------------------------------------------- */

/* What is explained: a response by a format or a compiled tag, or a text by a
 * grammar, or ids by a constraint alone. */
typedef struct parlance_explanation {
  size_t struct_size;
  const parlance_format *format;
  const parlance_compiled_tag *tag;
  const parlance_grammar *grammar;
  const parlance_constraint *constraint; /* beside a format or tag, too */
  const parlance_tools *tools;
  const parlance_vocabulary *vocabulary; /* of `ids`; else `text` is read */
  const char *text;
  size_t text_size;
  const uint32_t *ids;
  size_t id_count;
  const char *prefix;
  size_t prefix_size;
  const char *name; /* for people */
  size_t name_size;
  size_t chunk; /* bytes or tokens that are fed at once; 0: all */
  int32_t markers;
  int32_t recover;
  uint32_t html;   /* a page for a browser, else JSON */
  uint32_t packed; /* the JSON as the page has it */
} parlance_explanation;
#define PARLANCE_EXPLANATION_INIT                                              \
  {                                                                            \
    sizeof(parlance_explanation), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, \
        NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, 0, 0                               \
  }

parlance_status parlance_explain(const parlance_explanation *what,
                                 parlance_bytes *out, parlance_error **error);

#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* PARLANCE_C_H_ */
