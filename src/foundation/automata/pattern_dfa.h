#ifndef PARLANCE_SRC_AUTOMATA_PATTERN_DFA_H_
#define PARLANCE_SRC_AUTOMATA_PATTERN_DFA_H_

// Whether a text contains a match of some pattern, as a complete table.
//
//   Result<PatternDfa> dfa = PatternDfa::compile({{pattern->hir}});
//   std::uint32_t state = 0;
//   for (char c : text) {
//     state = dfa->step(state, std::uint8_t(c));
//     if (state == PatternDfa::kFound) return true;
//   }
//
// A Dfa (dfa.h) also finds where a match begins and ends, and Languages
// (language.h) build their states lazily.  Free text needs neither: it reads
// one byte after the other, in many configurations at once, and must only know
// that no match has been completed.
//
// A look-ahead is a part of the match: the text contains a match of `a(?=b)`
// once "b" is read.  So a match, once completed, stays one whatever follows.  A
// pattern for which that is not so (`a(?!b)`, `a$`) is refused.
//
// Immutable once compiled.  May be shared between threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "automata/byte_classes.h"
#include "parlance/error.h"
#include "parlance/limits.h"
#include "regex/hir.h"

namespace parlance::automata {

class PatternDfa {
 public:
  // A match is complete.  Every other state is less than size(), and some text
  // leads from it to no match.
  static constexpr std::uint32_t kFound = 0xFFFFFFFF;

  // Visits at most Limits::pattern_states states, and needs at most
  // Limits::automaton_bytes for them.
  //
  // Errors: kUnsupportedPattern for a pattern that is not regular, and for one
  // whose matches the following text can undo; kConflict for a pattern that
  // matches the empty text, which every text contains; kTooLarge.
  static Result<PatternDfa> compile(std::span<const regex::Hir> patterns,
                                    const Limits& limits = {});

  // The state after `byte`; the first state is 0.  For a text that is not UTF-8
  // the result is any state.
  // REQUIRES: state < size().
  std::uint32_t step(std::uint32_t state, std::uint8_t byte) const {
    return next_[state * classes_ + class_of_[byte]];
  }
  // The state after `text`.
  std::uint32_t step(std::uint32_t state, std::string_view text) const;

  // Bytes with different values lead to different states.
  ByteTable kinds(std::uint32_t state) const;

  // Whether every text that ends with `text` contains a match.
  bool always_finds(std::string_view text) const;

  // The literals in the patterns, which may spell marks.
  const std::vector<std::string>& literals() const { return literals_; }

  std::size_t size() const { return next_.size() / classes_; }
  // The states that compile() has visited; equal ones are joined afterwards.
  std::size_t visited() const { return visited_; }
  std::size_t memory_bytes() const;

 private:
  PatternDfa() = default;

  std::array<std::uint8_t, 256> class_of_ = {};
  std::size_t classes_ = 1;
  std::vector<std::uint32_t> next_;  // by state and class
  std::vector<std::string> literals_;
  std::size_t visited_ = 0;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_PATTERN_DFA_H_
