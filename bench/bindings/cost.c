/* As cost.cc, by the C interface. */

#include "cost.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parlance_c.h"

static uint64_t sum;

static void add(const parlance_event *events, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) {
    sum += (uint64_t)events[i].kind + events[i].text_size;
  }
}

static void feed(int rounds) {
  static char text[8 * sizeof COST_RESPONSE];
  parlance_format *format = NULL;
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  size_t size, at;
  int i;
  for (i = 0; i < 8; ++i) strcat(text, COST_RESPONSE);
  size = strlen(text);
  options.stream_calls = 1;
  if (parlance_format_built_in("hermes_qwen2_5", 14, &format, NULL) !=
      PARLANCE_OK) {
    exit(1);
  }
  while (rounds-- > 0) {
    parlance_parser *parser = NULL;
    const parlance_event *events = NULL;
    size_t count = 0;
    parlance_parser_new(format, &options, &parser, NULL);
    for (at = 0; at < size; at += COST_PIECE) {
      const size_t left = size - at;
      parlance_parser_feed(parser, text + at,
                           left < COST_PIECE ? left : COST_PIECE,
                           sizeof *events, &events, &count);
      add(events, count);
    }
    parlance_parser_finalize(parser, sizeof *events, &events, &count);
    add(events, count);
    parlance_parser_free(parser);
  }
  parlance_format_free(format);
}

static void fill(int rounds, int times) {
  static char bytes[3 * COST_TOKENS + 5];
  static uint64_t ends[COST_TOKENS];
  static const uint32_t kStop = COST_TOKENS - 1;
  parlance_tokens tokens = PARLANCE_TOKENS_INIT;
  parlance_vocabulary *vocabulary = NULL;
  parlance_compiler *compiler = NULL;
  parlance_constraint *constraint = NULL;
  size_t size = 0, count = 0, words;
  int32_t *mask;
  int a, b, c, i;
  for (i = 0; i < 256; ++i) {
    bytes[size++] = (char)i;
    ends[count++] = size;
  }
  for (a = 'a'; a <= 'z'; ++a) {
    for (b = 'a'; b <= 'z'; ++b) {
      bytes[size++] = (char)a;
      bytes[size++] = (char)b;
      ends[count++] = size;
    }
  }
  for (a = 'a'; a <= 'z'; ++a) {
    for (b = 'a'; b <= 'z'; ++b) {
      for (c = 'a'; c <= 'z'; ++c) {
        bytes[size++] = (char)a;
        bytes[size++] = (char)b;
        bytes[size++] = (char)c;
        ends[count++] = size;
      }
    }
  }
  memcpy(bytes + size, "<end>", 5);
  ends[count++] = size + 5;
  tokens.bytes = bytes;
  tokens.ends = ends;
  tokens.count = count;
  tokens.stop_ids = &kStop;
  tokens.stop_count = tokens.has_stop_ids = 1;
  if (parlance_vocabulary_from_tokens(&tokens, &vocabulary, NULL) !=
          PARLANCE_OK ||
      parlance_compiler_new(vocabulary, NULL, 0, &compiler, NULL) !=
          PARLANCE_OK ||
      parlance_compile(compiler, PARLANCE_JSON_SCHEMA, COST_SCHEMA,
                       sizeof COST_SCHEMA - 1, NULL, 0, &constraint,
                       NULL) != PARLANCE_OK) {
    exit(1);
  }
  words = parlance_compiler_mask_words(compiler);
  mask = (int32_t *)calloc(words, sizeof *mask);
  while (rounds-- > 0) {
    parlance_matcher *matcher = NULL;
    const char *at;
    parlance_matcher_new(constraint, NULL, &matcher, NULL);
    for (at = COST_TEXT; *at != 0; ++at) {
      int32_t answer = 0;
      for (i = 0; i < times; ++i) {
        parlance_matcher_fill(matcher, mask, words, &answer);
        sum += (uint64_t)answer;
      }
      sum += (uint32_t)mask[1];
      parlance_matcher_accept(matcher, (unsigned char)*at, &answer);
      sum += (uint64_t)answer;
    }
    parlance_matcher_free(matcher);
  }
  free(mask);
  parlance_constraint_free(constraint);
  parlance_compiler_free(compiler);
  parlance_vocabulary_free(vocabulary);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  if (strcmp(argv[1], "feed") == 0) {
    feed(atoi(argv[2]));
  } else {
    fill(atoi(argv[2]), atoi(argv[3]));
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
