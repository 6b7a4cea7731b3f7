#ifndef PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_
#define PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_

// What is inside a GrammarCache.

#include "grammar/kept.h"
#include "parlance/grammar_cache.h"

namespace parlance {

struct GrammarCache::State {
  explicit State(std::size_t budget_bytes) : store(budget_bytes) {}
  grammar::KeptStore store;
};

}  // namespace parlance

#endif  // PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_
