#ifndef PARLANCE_LIMITS_H_
#define PARLANCE_LIMITS_H_

// How much one compile or one stream may use.  Passing a limit is an Error
// (kTooLarge, kTooDeep) for what people write and a diagnostic for what models
// write; nothing hangs and nothing is lost.

#include <cstddef>
#include <cstdint>

namespace parlance {

struct Limits {
  // Nesting of arrays and objects in JSON, levels.  Python's own reader gives
  // up a little under 1000.
  std::size_t json_depth = 990;

  // Digits of one JSON or `int` number, as Python's int() has it.
  std::size_t integer_digits = 4300;

  // Bytes at the end of a stream that may be held back because they may still
  // become a delimiter.  When they are passed the held bytes become text.
  std::size_t held_bytes = std::size_t{1} << 16;

  // Diagnostics that one message keeps; later ones are only seen as events.
  std::size_t diagnostics = 1000;

  // Instructions of the automaton of one pattern; a larger one runs on the
  // backtracking engine.  Steps of one backtracking search; past them it
  // counts as no match and is reported.
  std::size_t pattern_states = 20000;
  std::uint32_t match_steps = 1000000;

  // Nesting of groups in one pattern, levels.
  std::size_t pattern_depth = 250;

  // Memory that the lazily built automata of one format may take.  Beyond it
  // matching goes on, slower, without growing.
  std::size_t automaton_bytes = std::size_t{16} << 20;

  // Size of a description (template, schema, vocabulary table) as text.
  std::size_t source_bytes = std::size_t{256} << 20;
};

}  // namespace parlance

#endif  // PARLANCE_LIMITS_H_
