/* Rates of the C library, as JSON: the other half of rates.mjs, which makes the
 * same calls. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parlance_c.h"

#define TEXT(text) (text), strlen(text)
#define CHECK(call) \
  if ((call) != PARLANCE_OK) exit(1)

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* <think> and words, 2^21 bytes. */
static double parse(const char *text, size_t size, size_t piece) {
  parlance_format *format = NULL;
  parlance_parser *parser = NULL;
  const parlance_event *events = NULL;
  size_t count = 0, at;
  double began;
  CHECK(parlance_format_built_in(TEXT("qwen3"), &format, NULL));
  CHECK(parlance_parser_new(format, NULL, &parser, NULL));
  began = seconds();
  for (at = 0; at < size; at += piece) {
    CHECK(parlance_parser_feed(parser, text + at,
                               size - at < piece ? size - at : piece,
                               sizeof *events, &events, &count));
  }
  CHECK(parlance_parser_finalize(parser, sizeof *events, &events, &count));
  began = seconds() - began;
  parlance_parser_free(parser);
  parlance_format_free(format);
  return (double)size / 1e6 / began;
}

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *data;
  if (file == NULL) exit(1);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  data = malloc(*size);
  if (fread(data, 1, *size, file) != *size) exit(1);
  fclose(file);
  return data;
}

int main(int argc, char **argv) {
  static const char kWord[] = "the weather in Z\xc3\xbcrich is sunny today, ";
  static const char kSchema[] =
      "{\"type\": \"array\", \"items\": {\"type\": \"object\", \"properties\": "
      "{\"city\": {\"type\": \"string\"}, \"days\": {\"type\": \"integer\"}}, "
      "\"required\": [\"city\", \"days\"], \"additionalProperties\": false}}";
  static const char kItem[] = "{\"city\": \"Bern\", \"days\": 14}, ";
  const size_t size = (size_t)1 << 21;
  char *text = malloc(size);
  size_t i;
  for (i = 0; i < size; ++i) text[i] = kWord[i % (sizeof kWord - 1)];
  memcpy(text, "<think>", 7);
  parse(text, size, 16);
  printf("{\"pieces of 16 bytes, MB/s\": %f", parse(text, size, 16));
  printf(", \"one piece, MB/s\": %f", parse(text, size, size));
  if (argc > 1 && *argv[1] != '\0') {
    enum { kItems = 40, kRounds = 20 };
    static double times[kItems * sizeof kItem * kRounds];
    size_t bytes = 0, words, filled = 0, round, item;
    char *tokenizer = read_file(argv[1], &bytes);
    parlance_vocabulary *vocabulary = NULL;
    parlance_compiler *compiler = NULL;
    parlance_constraint *constraint = NULL;
    parlance_matcher *matcher = NULL;
    int32_t *row, constrains = 0, accepted = 0;
    CHECK(parlance_vocabulary_from_memory(tokenizer, bytes, &vocabulary, NULL));
    CHECK(parlance_compiler_new(vocabulary, TEXT("{\"stop_ids\": [151645]}"),
                                &compiler, NULL));
    CHECK(parlance_compile(compiler, PARLANCE_JSON_SCHEMA, TEXT(kSchema), NULL, 0,
                           &constraint, NULL));
    CHECK(parlance_matcher_new(constraint, NULL, &matcher, NULL));
    words = parlance_compiler_mask_words(compiler);
    row = malloc(words * sizeof *row);
    for (round = 0; round < kRounds; ++round) {
      parlance_matcher_reset(matcher);
      parlance_matcher_accept_bytes(matcher, "[", 1, &accepted);
      for (item = 0; item < kItems; ++item) {
        for (i = 0; i < sizeof kItem - 1; ++i) {
          const double began = seconds();
          CHECK(parlance_matcher_fill(matcher, row, words, &constrains));
          if (round > 0) times[filled++] = seconds() - began;
          CHECK(parlance_matcher_accept_bytes(matcher, kItem + i, 1, &accepted));
          if (!accepted) return 1;
        }
      }
    }
    qsort(times, filled, sizeof *times, ascending);
    printf(", \"warm mask, median us\": %f", times[filled / 2] * 1e6);
    printf(", \"warm mask, p99 us\": %f", times[filled * 99 / 100] * 1e6);
  }
  printf("}\n");
  return 0;
}
