/* The work that bench/bench_bindings.py counts, as the same data in C, C++ and
 * Rust (bindings/rust/parlance/examples/cost.rs). */
#ifndef PARLANCE_BENCH_BINDINGS_COST_H_
#define PARLANCE_BENCH_BINDINGS_COST_H_

/* A response, eight times, is fed in pieces of this size. */
#define COST_PIECE 4
#define COST_RESPONSE                                                     \
  "Let me think about what was asked, and look it up. "                   \
  "The weather of several cities is wanted, for the days of next week.\n" \
  "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "   \
  "\"Bern\", \"unit\": \"celsius\", \"days\": [1, 2, 3, 5, 8]}}\n"        \
  "</tool_call>\n"

/* What a model writes under a schema, byte by byte. */
#define COST_SCHEMA                                                           \
  "{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}," \
  " \"days\": {\"type\": \"integer\", \"maximum\": 14}}, \"required\": "      \
  "[\"city\", \"days\"]}"
#define COST_TEXT "{\"city\": \"Bern and its lakes\", \"days\": 12}"

/* Its vocabulary: each byte, then all texts of two and of three small letters,
 * then what ends the text. */
#define COST_TOKENS (256 + 26 * 26 + 26 * 26 * 26 + 1)

#endif /* PARLANCE_BENCH_BINDINGS_COST_H_ */
