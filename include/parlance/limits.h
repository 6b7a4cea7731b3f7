#ifndef PARLANCE_LIMITS_H_
#define PARLANCE_LIMITS_H_

// How much one compile or one stream may use.  Passing a limit is an Error
// (kTooLarge, kTooDeep) in a description and a diagnostic in a response.  No
// call hangs, and no text of a response is lost.
//
//   Limits limits;
//   limits.json_depth = 100;
//   Result<Format> format = Format::from_json(text, {.limits = limits});

#include <cstddef>
#include <cstdint>

namespace parlance {

struct Limits {
  // Nesting of arrays and objects in JSON, levels.  Python's own reader fails a
  // little below 1000.
  std::size_t json_depth = 990;

  // Digits of one JSON or `int` number; the limit of Python's int().
  std::size_t integer_digits = 4300;

  // Bytes at the end of a stream that may be held back because they may still
  // become a delimiter.  Beyond it, the held bytes become text.
  std::size_t held_bytes = std::size_t{1} << 16;

  // Diagnostics that one message stores.  Further ones are not stored; events
  // still carry theirs.
  std::size_t diagnostics = 1000;

  // Instructions of the automaton of one pattern.  A larger pattern runs on the
  // backtracking engine.
  std::size_t pattern_states = 20000;

  // Steps of one backtracking search.  A search that passes the limit counts as
  // no match and is reported.
  std::uint32_t match_steps = 1000000;

  // Nesting of groups in one pattern, levels.
  std::size_t pattern_depth = 250;

  // Memory of the lazily built automata of one format, bytes.  Beyond it,
  // matching continues more slowly, in constant memory.
  std::size_t automaton_bytes = std::size_t{16} << 20;

  // Size of a description (template, schema, vocabulary table) as text, bytes.
  std::size_t source_bytes = std::size_t{256} << 20;
};

}  // namespace parlance

#endif  // PARLANCE_LIMITS_H_
