/* Vocabularies, grammars, compilers, constraints, matchers, tables and batches. */

#include <math.h>

#include "check.h"

#define EOS 256u
#define CALL 257u
#define TOKENS 260u
#define WORDS ((TOKENS + 31) / 32)

/* A token for each byte, a control token, and three pieces. */
static parlance_vocabulary *vocabulary(void) {
  static const char *const kMore[] = {"<|im_end|>", "<tool_call>", "true",
                                      "\": "};
  static char bytes[400];
  static uint64_t ends[TOKENS];
  static const uint32_t kEos = EOS, kCall = CALL;
  parlance_tokens tokens = PARLANCE_TOKENS_INIT;
  parlance_vocabulary *out = NULL;
  size_t size = 0, i = 0;
  for (i = 0; i < TOKENS; ++i) {
    if (i < 256) {
      bytes[size++] = (char)i;
    } else {
      memcpy(bytes + size, kMore[i - 256], strlen(kMore[i - 256]));
      size += strlen(kMore[i - 256]);
    }
    ends[i] = size;
  }
  tokens.bytes = bytes;
  tokens.ends = ends;
  tokens.count = TOKENS;
  tokens.control_ids = &kEos;
  tokens.control_count = 1;
  tokens.added_ids = &kCall;
  tokens.added_count = 1;
  tokens.stop_ids = &kEos;
  tokens.stop_count = 1;
  tokens.has_stop_ids = 1;
  CHECK_OK(parlance_vocabulary_from_tokens(&tokens, &out, NULL));
  ends[3] = 1;
  CHECK(out != NULL);
  {
    parlance_vocabulary *none = NULL;
    CHECK_STATUS(parlance_vocabulary_from_tokens(&tokens, &none, NULL),
                 PARLANCE_BAD_ARGUMENT);
    tokens.struct_size = 8;
    CHECK_STATUS(parlance_vocabulary_from_tokens(&tokens, &none, NULL),
                 PARLANCE_BAD_SIZE);
    CHECK_STATUS(parlance_vocabulary_from_tokens(NULL, &none, NULL),
                 PARLANCE_NULL);
  }
  return out;
}

static int allowed(const int32_t *row, uint32_t id) {
  return (((uint32_t)row[id / 32] >> (id % 32)) & 1u) != 0;
}

static void vocabularies(void) {
  parlance_vocabulary *v = vocabulary(), *other = NULL;
  parlance_bytes out = {NULL, 0};
  const char *bytes = NULL;
  const uint32_t *ids = NULL;
  const uint32_t word[] = {'H', 'i', EOS};
  const char *const path = "c_test_vocabulary.tok";
  size_t size = 0;
  int32_t kind = 0, known = 0;
  int64_t id = 0;
  CHECK(parlance_vocabulary_size(v) == TOKENS);
  CHECK(parlance_vocabulary_size(NULL) == 0);
  CHECK_OK(parlance_vocabulary_token(v, CALL, &bytes, &size, &kind));
  CHECK(size == 11 && memcmp(bytes, "<tool_call>", 11) == 0);
  CHECK(kind == PARLANCE_TOKEN_ADDED);
  CHECK_OK(parlance_vocabulary_token(v, 5000, &bytes, &size, &kind));
  CHECK(size == 0 && kind == PARLANCE_TOKEN_UNUSED);
  CHECK_OK(parlance_vocabulary_special(v, TEXT("<|im_end|>"), &id));
  CHECK(id == EOS);
  CHECK_OK(parlance_vocabulary_special(v, TEXT("true"), &id));
  CHECK(id == -1);
  CHECK_OK(parlance_vocabulary_stop_ids(v, &ids, &size, &known));
  CHECK(size == 1 && ids[0] == EOS && known == 1);
  CHECK_OK(parlance_vocabulary_decode(v, word, 3, &out, NULL));
  CHECK(has(out, "Hi<|im_end|>"));
  CHECK_OK(parlance_vocabulary_with_stop_ids(v, word, 1, &other, NULL));
  parlance_vocabulary_free(other);
  CHECK_OK(parlance_vocabulary_to_bytes(v, &out, NULL));
  CHECK_OK(parlance_vocabulary_from_memory(out.data, out.size, &other, NULL));
  parlance_free(out.data);
  CHECK(parlance_vocabulary_size(other) == TOKENS);
  parlance_vocabulary_free(other);
  CHECK_OK(parlance_vocabulary_save(v, TEXT(path), NULL));
  CHECK_OK(parlance_vocabulary_from_path(TEXT(path), &other, NULL));
  CHECK(parlance_vocabulary_ref(other) == other);
  parlance_vocabulary_free(other);
  parlance_vocabulary_free(other);
  remove(path);
  CHECK_STATUS(parlance_vocabulary_from_path(TEXT("/nowhere"), &other, NULL),
               PARLANCE_IO);
  CHECK_OK(parlance_vocabulary_from_files(
      TEXT("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1}, "
           "\"merges\": []}, \"decoder\": {\"type\": \"ByteLevel\"}, "
           "\"added_tokens\": []}"),
      NULL, 0, TEXT("{\"eos_token_id\": 1}"), NULL, 0, &other, NULL));
  CHECK(parlance_vocabulary_size(other) == 2);
  parlance_vocabulary_free(other);
  parlance_vocabulary_free(v);
}

static size_t encode(void *user, const char *text, size_t size, uint32_t *ids,
                     size_t capacity) {
  size_t i = 0;
  ++*(int *)user;
  for (i = 0; i < size && i < capacity; ++i) ids[i] = (unsigned char)text[i];
  return size;
}

static void drop(void *user) { *(int *)user += 1000; }

static void grammars(void) {
  static const struct {
    int32_t language;
    const char *text, *request, *yes;
  } kRows[] = {
      {PARLANCE_JSON_SCHEMA, "{\"type\": \"integer\"}",
       "{\"max_white_space\": 0, \"key_order\": \"schema\", \"draft\": \"7\", "
       "\"limits\": {\"work\": 100000}}",
       "12"},
      {PARLANCE_EBNF, "start ::= \"a\"+", "{\"root_rule\": \"start\"}", "aaa"},
      {PARLANCE_GBNF, "root ::= \"a\" | \"b\"", "", "b"},
      {PARLANCE_LARK, "top: \"x\" name\nname[capture]: /[a-z]+/",
       "{\"start_rule\": \"top\"}", "xyz"},
      {PARLANCE_REGEX, "[0-9]{2}", "{}", "42"},
      {PARLANCE_STRUCTURAL_TAG,
       "{\"type\": \"structural_tag\", \"format\": {\"type\": "
       "\"const_string\", \"value\": \"so\"}}",
       "", "so"}};
  parlance_vocabulary *v = vocabulary();
  parlance_compiler *compiler = NULL;
  parlance_grammar *grammar = NULL, *other = NULL;
  parlance_constraint *constraint = NULL, *again = NULL;
  parlance_matcher *matcher = NULL;
  parlance_bytes out = {NULL, 0};
  parlance_error *error = NULL;
  size_t i = 0;
  CHECK_OK(parlance_compiler_new(
      v, TEXT("{\"cache_bytes\": 1000000, \"grammar_bytes\": 1000000}"),
      &compiler, NULL));
  for (i = 0; i < sizeof kRows / sizeof *kRows; ++i) {
    const char *const yes = kRows[i].yes;
    int32_t accepts = 0;
    uint64_t offset = 0;
    CHECK_OK(parlance_grammar_compile(kRows[i].language, TEXT(kRows[i].text), v,
                                      TEXT(kRows[i].request), &grammar, NULL));
    CHECK_OK(parlance_grammar_accepts(grammar, TEXT(yes), &accepts, NULL, NULL,
                                      NULL));
    CHECK(accepts == 1);
    CHECK_OK(parlance_grammar_accepts(grammar, TEXT("!"), &accepts, &offset,
                                      &out, NULL));
    CHECK(accepts == 0 && offset == 0 && out.size > 0);
    parlance_free(out.data);
    CHECK_OK(parlance_grammar_report(grammar, &out, NULL));
    CHECK(has(out, "["));
    CHECK_OK(parlance_grammar_to_ebnf(grammar, &out, NULL));
    CHECK(has(out, "::="));
    if (kRows[i].language != PARLANCE_JSON_SCHEMA) {
      CHECK_OK(parlance_grammar_captures(grammar, TEXT(yes), &out, NULL));
      CHECK(has(out, kRows[i].language == PARLANCE_LARK ? "\"text\":\"yz\""
                                                        : "[]"));
    }
    CHECK_OK(parlance_grammar_to_bytes(grammar, &out, NULL));
    CHECK_OK(parlance_grammar_from_bytes(out.data, out.size, &other, NULL));
    parlance_free(out.data);
    parlance_grammar_free(other);

    CHECK_OK(parlance_compile_grammar(compiler, grammar, NULL, 0, &constraint,
                                      NULL));
    parlance_constraint_free(constraint);
    CHECK_OK(parlance_compile(compiler, kRows[i].language, TEXT(kRows[i].text),
                              TEXT(kRows[i].request), &constraint, NULL));
    CHECK_OK(parlance_constraint_to_bytes(constraint, &out, NULL));
    CHECK_OK(parlance_constraint_from_bytes(compiler, out.data, out.size,
                                            &again, NULL));
    parlance_free(out.data);
    CHECK(parlance_constraint_ref(again) == again);
    parlance_constraint_free(again);
    CHECK_OK(parlance_matcher_new(again, NULL, &matcher, NULL));
    CHECK_OK(
        parlance_matcher_accept_bytes(matcher, TEXT(yes), &accepts));
    CHECK(accepts == 1);
    parlance_matcher_free(matcher);
    parlance_constraint_free(again);
    parlance_constraint_free(constraint);

    {
      const parlance_grammar *parts[2];
      parts[0] = parts[1] = grammar;
      CHECK_OK(parlance_grammar_combine(1, parts, 2, &other, NULL));
      CHECK_OK(parlance_grammar_accepts(other, TEXT(yes), &accepts, NULL, NULL,
                                        NULL));
      parlance_grammar_free(other);
      CHECK_OK(parlance_grammar_combine(0, parts, 2, &other, NULL));
      CHECK_OK(parlance_grammar_accepts(other, TEXT(yes), &accepts, NULL, NULL,
                                        NULL));
      CHECK(accepts == 1);
      parlance_grammar_free(other);
    }
    CHECK(parlance_grammar_ref(grammar) == grammar);
    parlance_grammar_free(grammar);
    parlance_grammar_free(grammar);
  }
  CHECK_STATUS(parlance_grammar_combine(0, NULL, 0, &other, NULL),
               PARLANCE_EMPTY_VALUE);
  CHECK_STATUS(parlance_grammar_compile(9, NULL, 0, NULL, NULL, 0, &other, NULL),
               PARLANCE_BAD_ARGUMENT);
  CHECK_STATUS(parlance_compile(compiler, -1, NULL, 0, NULL, 0, &constraint,
                                NULL),
               PARLANCE_BAD_ARGUMENT);
  CHECK_STATUS(
      parlance_grammar_compile(PARLANCE_JSON_SCHEMA, TEXT("{\"type\": 1}"), NULL,
                               NULL, 0, &other, &error),
      PARLANCE_WRONG_TYPE);
  CHECK(strcmp(parlance_error_path(error, NULL), "/type") == 0);
  parlance_error_free(error);
  /* Members of another type are errors, and not as if they were absent. */
  CHECK_STATUS(parlance_grammar_compile(
                   PARLANCE_JSON_SCHEMA, TEXT("{}"), NULL,
                   TEXT("{\"excludes\": \"a\"}"), &other, &error),
               PARLANCE_WRONG_TYPE);
  CHECK(strcmp(parlance_error_path(error, NULL), "/excludes") == 0);
  parlance_error_free(error);
  CHECK_STATUS(
      parlance_grammar_compile(PARLANCE_JSON_SCHEMA, TEXT("{}"), NULL,
                               TEXT("{\"documents\": []}"), &other, NULL),
      PARLANCE_WRONG_TYPE);
  CHECK_STATUS(
      parlance_grammar_compile(PARLANCE_LARK, TEXT("start: \"a\""), NULL,
                               TEXT("{\"sources\": []}"), &other, NULL),
      PARLANCE_WRONG_TYPE);
  CHECK_STATUS(
      parlance_grammar_compile(PARLANCE_LARK, TEXT("start: \"a\""), NULL,
                               TEXT("{\"sources\": {\"b\": 1}}"), &other, NULL),
      PARLANCE_WRONG_TYPE);
  CHECK_STATUS(parlance_grammar_compile(PARLANCE_JSON_SCHEMA, TEXT("{}"), NULL,
                                        TEXT("{\"limits\": {\"w\": 1}}"),
                                        &other, &error),
               PARLANCE_UNKNOWN_KEY);
  CHECK(strcmp(parlance_error_path(error, NULL), "/limits/w") == 0);
  parlance_error_free(error);
  CHECK_STATUS(parlance_grammar_compile(
                   PARLANCE_JSON_SCHEMA, TEXT("{}"), NULL,
                   TEXT("{\"indent\": 2, \"compact\": true}"), &other, NULL),
               PARLANCE_CONFLICT);
  parlance_compiler_free(compiler);
  CHECK_STATUS(parlance_compiler_new(v, TEXT("{\"stop_ids\": [-1]}"), &compiler,
                                     NULL),
               PARLANCE_WRONG_TYPE);
  parlance_vocabulary_free(v);
}

static parlance_constraint *compiled(const parlance_vocabulary *v,
                                     const char *schema,
                                     parlance_compiler **compiler) {
  parlance_constraint *out = NULL;
  CHECK_OK(parlance_compiler_new(v, NULL, 0, compiler, NULL));
  CHECK_OK(parlance_compile(*compiler, PARLANCE_JSON_SCHEMA, TEXT(schema),
                            TEXT("{\"compact\": true}"), &out, NULL));
  return out;
}

static void matchers(void) {
  int user = 0;
  parlance_vocabulary *plain = vocabulary(), *v = NULL;
  parlance_compiler *compiler = NULL;
  parlance_constraint *constraint = NULL;
  parlance_matcher *matcher = NULL, *copy = NULL;
  parlance_matcher_options options = PARLANCE_MATCHER_OPTIONS_INIT;
  parlance_error *failure = NULL;
  parlance_bytes out = {NULL, 0};
  int32_t rows[2 * WORDS] = {0};
  uint32_t ids[40];
  const uint32_t text[] = {'{', '"', 'a', 258};
  size_t count = 0, steps = 0;
  uint32_t flags = 0;
  int32_t yes = 0;
  double temperature = 0;

  CHECK_OK(parlance_vocabulary_with_encoder(plain, encode, &user, drop, &v,
                                            NULL));
  parlance_vocabulary_free(plain);
  CHECK_STATUS(parlance_vocabulary_with_encoder(v, NULL, &user, drop, &plain,
                                                NULL),
               PARLANCE_NULL);
  CHECK(plain == NULL);
  CHECK(user == 1000);
  user = 0;
  constraint = compiled(
      v, "{\"properties\": {\"a\": {\"type\": \"boolean\"}}, \"required\": "
         "[\"a\"], \"type\": \"object\", \"additionalProperties\": false}",
      &compiler);
  CHECK(parlance_compiler_mask_words(compiler) == WORDS);
  CHECK(parlance_compiler_mask_words(NULL) == 0);
  options.default_temperature = 0.5;
  options.has_default_temperature = 1;
  CHECK_OK(parlance_matcher_new(constraint, &options, &matcher, NULL));
  CHECK_OK(parlance_matcher_temperature(matcher, &temperature));
  CHECK(temperature == 0.5);
  CHECK_OK(parlance_matcher_fill(matcher, rows, WORDS, &yes));
  CHECK(yes == 1 && allowed(rows, '{') && !allowed(rows, 'x'));
  CHECK_STATUS(parlance_matcher_fill(matcher, rows, WORDS - 1, &yes),
               PARLANCE_BAD_SIZE);
  CHECK_OK(parlance_matcher_accept(matcher, 'x', &yes));
  CHECK(yes == 0);
  CHECK_OK(parlance_matcher_forced_text(matcher, 100, &out, NULL));
  CHECK(has(out, "{\"a\":"));
  CHECK_OK(parlance_matcher_forced_tokens(matcher, ids, 40, &count));
  CHECK(count >= 3 && ids[0] == '{' && user > 0);
  CHECK_OK(parlance_matcher_forced_tokens(matcher, NULL, 0, &steps));
  CHECK(steps == count);
  CHECK_OK(parlance_matcher_accept_tokens(matcher, text, 4, &count));
  CHECK(count == 3); /* `true` belongs to no name */
  CHECK_OK(parlance_matcher_copy(matcher, &copy, NULL));
  CHECK_OK(parlance_matcher_accept_bytes(copy, TEXT("\":"), &yes));
  CHECK(yes == 1);
  CHECK_OK(parlance_matcher_accept(copy, 258, &yes));
  CHECK(yes == 1);
  CHECK_OK(parlance_matcher_accept(copy, '}', &yes));
  CHECK_OK(parlance_matcher_state(copy, &steps, &flags));
  CHECK(steps == 6 && flags == PARLANCE_MATCHER_CAN_END);
  CHECK_OK(parlance_matcher_accept(copy, EOS, &yes));
  CHECK_OK(parlance_matcher_state(copy, NULL, &flags));
  CHECK(yes == 1 && flags == PARLANCE_MATCHER_TERMINATED);
  CHECK_OK(parlance_matcher_rollback(copy, 100, &yes));
  CHECK(yes == 0);
  CHECK_OK(parlance_matcher_rollback(copy, 4, &yes));
  CHECK(yes == 1);
  CHECK_OK(parlance_matcher_failure(copy, &failure));
  CHECK(failure == NULL);
  CHECK_OK(parlance_matcher_captures(copy, &out, NULL));
  CHECK(has(out, "[]"));
  {
    parlance_matcher *both[2];
    const size_t order[2] = {1, 0};
    both[0] = matcher;
    both[1] = copy;
    CHECK_OK(parlance_matcher_fill_many(both, order, 2, rows, 2 * WORDS, WORDS,
                                        1, NULL));
    CHECK(memcmp(rows, rows + WORDS, WORDS * sizeof *rows) == 0);
    CHECK_OK(parlance_matcher_fill_many(both, NULL, 2, rows, 2 * WORDS, WORDS,
                                        1, NULL));
    CHECK_STATUS(parlance_matcher_fill_many(both, NULL, 2, rows, WORDS, WORDS,
                                            1, NULL),
                 PARLANCE_USAGE);
    both[1] = matcher;
    CHECK_STATUS(parlance_matcher_fill_many(both, NULL, 2, rows, 2 * WORDS,
                                            WORDS, 1, NULL),
                 PARLANCE_BUSY);
  }
  {
    const int64_t child[2] = {1, -1}, sibling[2] = {-1, -1};
    const int64_t tokens[2] = {'a', '"'};
    float warm[2] = {0, 0};
    CHECK_OK(parlance_matcher_fill_tree(matcher, child, sibling, tokens, 2, rows,
                                        2 * WORDS, WORDS, 0, warm, &count,
                                        NULL));
    CHECK(count == 2 && allowed(rows, '"') && allowed(rows + WORDS, ':'));
    CHECK(warm[0] == 0.5f);
    CHECK_STATUS(parlance_matcher_fill_tree(matcher, child, sibling, tokens, 2,
                                            rows, WORDS, WORDS, 0, NULL, NULL,
                                            NULL),
                 PARLANCE_BAD_SIZE);
    CHECK_STATUS(parlance_matcher_fill_tree(matcher, child, child, tokens, 2,
                                            rows, 2 * WORDS, WORDS, 0, NULL,
                                            NULL, NULL),
                 PARLANCE_USAGE);
  }
  CHECK_OK(parlance_matcher_reset(matcher));
  CHECK_OK(parlance_matcher_state(matcher, &steps, NULL));
  CHECK(steps == 0);
  {
    parlance_table *table = NULL;
    const int32_t *row = NULL;
    int32_t id = 0;
    size_t words = 0;
    uint64_t version = 9;
    CHECK_STATUS(parlance_table_new(compiler, 0, &table, NULL),
                 PARLANCE_BAD_ARGUMENT);
    CHECK_OK(parlance_table_new(compiler, 10, &table, NULL));
    CHECK_OK(parlance_table_id_of(table, matcher, &id));
    CHECK_OK(parlance_table_size(table, &count, &version));
    CHECK(id == 0 && count == 1 && version == 0);
    CHECK_OK(parlance_table_rows(table, 0, 1, &row, &words));
    CHECK_OK(parlance_matcher_fill(matcher, rows, WORDS, &yes));
    CHECK(words == WORDS && memcmp(row, rows, WORDS * sizeof *rows) == 0);
    CHECK_OK(parlance_table_clear(table));
    CHECK_OK(parlance_table_rows(table, 0, 1, &row, &words));
    CHECK(row == NULL);
    CHECK(parlance_table_ref(table) == table);
    parlance_table_free(table);
    parlance_table_free(table);
  }
  CHECK_OK(parlance_compiler_statistics(compiler, &out, NULL));
  CHECK(has(out, "\"tables_bytes\""));
  CHECK_OK(parlance_compiler_clear_cache(compiler));
  CHECK(parlance_compiler_ref(compiler) == compiler);
  parlance_compiler_free(compiler);
  options.stop_ids = text;
  options.stop_count = 1;
  options.has_stop_ids = 1;
  parlance_matcher_free(copy);
  CHECK_OK(parlance_matcher_new(constraint, &options, &copy, NULL));
  parlance_matcher_free(matcher);
  parlance_matcher_free(copy);
  parlance_constraint_free(constraint);
  parlance_compiler_free(compiler);
  CHECK(user < 1000);
  parlance_vocabulary_free(v);
  CHECK(user >= 1000);
}

static void batches(void) {
  parlance_vocabulary *v = vocabulary();
  parlance_compiler *compiler = NULL;
  parlance_format *format = NULL;
  parlance_tag *tag = NULL;
  parlance_grammar *grammar = NULL;
  parlance_constraint *constraint = NULL;
  parlance_matcher *matcher = NULL;
  parlance_parser *parser = NULL, *by_text = NULL;
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  parlance_batch *batch = NULL;
  parlance_table *table = NULL;
  parlance_step step;
  int32_t masks[WORDS];
  const uint32_t tokens[] = {'H', 'i'};
  float warm = 0;
  uint32_t row = 0, other = 0;

  CHECK_OK(parlance_compiler_new(v, NULL, 0, &compiler, NULL));
  CHECK_OK(parlance_format_built_in(TEXT("qwen3"), &format, NULL));
  CHECK_OK(parlance_format_tag(
      format, TEXT("{\"tools\": [{\"function\": {\"name\": \"f\"}}]}"), v, &tag,
      NULL));
  CHECK_OK(parlance_grammar_from_tag(tag, v, NULL, 0, &grammar, NULL));
  parlance_grammar_free(grammar);
  CHECK_OK(parlance_compile_tag(compiler, tag, TEXT("{\"markers\": \"either\"}"),
                                &constraint, NULL));
  CHECK_OK(parlance_matcher_new(constraint, NULL, &matcher, NULL));
  CHECK_OK(parlance_parser_new(format, NULL, &by_text, NULL));
  options.vocabulary = v;
  CHECK_OK(parlance_parser_new(format, &options, &parser, NULL));
  CHECK_OK(parlance_batch_new(1, &batch, NULL));
  CHECK_STATUS(parlance_batch_add(batch, NULL, by_text, &row, NULL),
               PARLANCE_USAGE);
  parlance_parser_free(by_text);
  CHECK_OK(parlance_batch_add(batch, matcher, parser, &row, NULL));
  CHECK_STATUS(parlance_batch_add(batch, matcher, NULL, &other, NULL),
               PARLANCE_USAGE);

  memset(&step, 0, sizeof step);
  step.row = row;
  step.tokens = tokens;
  step.token_count = 2;
  step.mask_row = 0;
  CHECK_OK(parlance_batch_step(batch, &step, 1, sizeof step, masks, WORDS, WORDS,
                               NULL, &warm, 1, sizeof(parlance_event), NULL));
  CHECK(step.accepted == 2 && step.filled == 1);
  CHECK(step.flags == PARLANCE_STEP_CONSTRAINED);
  CHECK(step.mask_id == PARLANCE_MASK_NOT_LISTED);
  CHECK(allowed(masks, 'x') && step.event_count >= 2);
  CHECK(step.events[0].kind == PARLANCE_REGION_OPEN);
  CHECK(isnan(warm));

  CHECK_OK(parlance_table_new(compiler, 10, &table, NULL));
  CHECK_OK(parlance_batch_step(batch, &step, 1, sizeof step, masks, WORDS, WORDS,
                               table, NULL, 0, sizeof(parlance_event), NULL));
  CHECK(step.mask_id >= 0);
  CHECK_STATUS(
      parlance_batch_step(batch, &step, 1, sizeof step - 8, masks, WORDS, WORDS,
                          NULL, NULL, 0, sizeof(parlance_event), NULL),
      PARLANCE_BAD_SIZE);
  CHECK_STATUS(parlance_batch_step(batch, &step, 1, sizeof step, masks, WORDS,
                                   WORDS, NULL, NULL, 0, 8, NULL),
               PARLANCE_BAD_SIZE);
  step.row = 77;
  CHECK_STATUS(
      parlance_batch_step(batch, &step, 1, sizeof step, masks, WORDS, WORDS,
                          NULL, NULL, 0, sizeof(parlance_event), NULL),
      PARLANCE_USAGE);
  CHECK(step.events == NULL && step.flags == 0);
  step.row = row;
  step.mask_row = 1;
  CHECK_STATUS(
      parlance_batch_step(batch, &step, 1, sizeof step, masks, WORDS, WORDS,
                          NULL, NULL, 0, sizeof(parlance_event), NULL),
      PARLANCE_USAGE);
  CHECK_STATUS(parlance_batch_step(batch, NULL, 1, sizeof step, masks, WORDS,
                                   WORDS, NULL, NULL, 0,
                                   sizeof(parlance_event), NULL),
               PARLANCE_NULL);

  /* The row keeps what it needs. */
  parlance_parser_free(parser);
  step.mask_row = -1;
  CHECK_OK(parlance_batch_step(batch, &step, 1, sizeof step, NULL, 0, 0, NULL,
                               NULL, 0, sizeof(parlance_event), NULL));
  CHECK(step.event_count > 0);
  CHECK_OK(parlance_batch_remove(batch, row));
  CHECK_STATUS(parlance_batch_remove(batch, row), PARLANCE_BAD_ARGUMENT);
  CHECK_OK(parlance_batch_add(batch, matcher, NULL, &row, NULL));
  parlance_batch_free(batch);
  CHECK_OK(parlance_batch_new(1, &batch, NULL));
  CHECK_OK(parlance_batch_add(batch, matcher, NULL, &row, NULL));
  parlance_matcher_free(matcher);
  parlance_batch_free(batch);
  parlance_table_free(table);
  parlance_constraint_free(constraint);
  parlance_tag_free(tag);
  parlance_format_free(format);
  parlance_compiler_free(compiler);
  parlance_vocabulary_free(v);
}

static void parsers_by_ids(void) {
  parlance_vocabulary *v = vocabulary();
  parlance_format *format = NULL;
  parlance_parser *parser = NULL;
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  const parlance_event *events = NULL;
  parlance_bytes out = {NULL, 0};
  const uint32_t ids[] = {'H', 'i', EOS};
  size_t count = 0;
  CHECK_OK(parlance_format_built_in(TEXT("qwen3"), &format, NULL));
  options.vocabulary = v;
  options.stop_ids = ids + 2;
  options.stop_count = 1;
  options.has_stop_ids = 1;
  CHECK_OK(parlance_parser_new(format, &options, &parser, NULL));
  CHECK_OK(parlance_parser_feed_tokens(parser, ids, 3, sizeof *events, &events,
                                       &count));
  CHECK(count > 1 && events[1].tokens_end > 0);
  CHECK_OK(parlance_parser_finalize(parser, sizeof *events, &events, &count));
  CHECK_OK(parlance_parser_result(parser, &out, NULL));
  CHECK(has(out, "\"turn_ended\":true"));
  parlance_parser_free(parser);
  parlance_format_free(format);
  parlance_vocabulary_free(v);
}

int main(void) {
  vocabularies();
  grammars();
  matchers();
  batches();
  parsers_by_ids();
  return 0;
}
