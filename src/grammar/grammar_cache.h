#ifndef PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_
#define PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_

// What is inside a GrammarCache.

#include "parlance/grammar_cache.h"
#include "recogniser/part_cache.h"

namespace parlance {

struct GrammarCache::State {
  explicit State(std::size_t budget_bytes) : cache(budget_bytes) {}
  recogniser::PartCache cache;
};

}  // namespace parlance

#endif  // PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_
