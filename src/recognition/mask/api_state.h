#ifndef PARLANCE_SRC_MASK_API_STATE_H_
#define PARLANCE_SRC_MASK_API_STATE_H_

// What the public classes Compiler, Constraint and Matcher consist of.

#include <array>
#include <cstdint>
#include <memory>

#include "grammar/grammar_cache.h"
#include "grammar/source.h"
#include "mask/compiler_impl.h"
#include "mask/constraint_impl.h"
#include "mask/matcher_impl.h"
#include "parlance/constraint.h"

namespace parlance {

struct Compiler::State {
  std::shared_ptr<mask::CompilerImpl> impl;
  GrammarCache grammars;
  bool knows_stops = true;
  // The keys of the user data Marked, one for each reading of markers as
  // tokens: Markers::kToken at index 0, Markers::kEither at index 1.
  std::array<std::uint64_t, 2> marked_owners = {
      recogniser::Recogniser::new_user_key(),
      recogniser::Recogniser::new_user_key()};
};

struct Constraint::State {
  std::shared_ptr<mask::ConstraintImpl> impl;
  // What it was made from.  `marked`: its grammar was compiled with the marks
  // of the vocabulary.
  std::shared_ptr<const grammar::Source> source;
  Markers markers = Markers::kToken;
  bool marked = false;
};

struct Matcher::State {
  mask::MatcherImpl impl;
};

}  // namespace parlance

#endif  // PARLANCE_SRC_MASK_API_STATE_H_
