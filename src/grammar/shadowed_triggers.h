#ifndef PARLANCE_SRC_GRAMMAR_SHADOWED_TRIGGERS_H_
#define PARLANCE_SRC_GRAMMAR_SHADOWED_TRIGGERS_H_

// Triggers of free text beside one another.
//
// A text reads a trigger as soon as it is there.  Behind one that begins a
// longer one both ways are open: to what it leads to, and to the rest of the
// longer one.  A trigger that has another inside, and does not begin with it,
// is never read.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/rules.h"

namespace parlance::grammar {

// A trigger and what follows it.
struct TriggerTarget {
  std::string text;
  ExprId behind = kNoId;
};

// The triggers, sorted, equal ones joined.
std::vector<TriggerTarget> join_equal_triggers(std::vector<TriggerTarget> ways,
                                               Rules& rules);

// The words that are never read, each with the one that is read in it.
struct ShadowedWord {
  std::uint32_t word = 0;
  std::uint32_t inside = 0;
};
std::vector<ShadowedWord> shadowed_words(const std::vector<std::string>& words);
std::string shadowed_message(std::string_view trigger, std::string_view inside);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_SHADOWED_TRIGGERS_H_
