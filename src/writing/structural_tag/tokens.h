#ifndef PARLANCE_SRC_STRUCTURAL_TAG_TOKENS_H_
#define PARLANCE_SRC_STRUCTURAL_TAG_TOKENS_H_

// The tokens of a tag, resolved: whatever compiles a tag asks here for the ids
// of tokens that are given by their text, and for the errors that only the
// lookup shows.  An id and a text may be the same token.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {

struct TokenLookup {
  // Returns the lowest token with a text, or nothing if there is none.  Without
  // this function, a token that is given by its text is an error.
  std::function<std::optional<std::uint32_t>(std::string_view)> find = {};
  // Token ids must be less than this.  Default: any id is valid.
  std::uint32_t vocabulary_size = 0xFFFFFFFF;
};

// The ids of one node.
struct NodeTokens {
  std::optional<std::uint32_t> begin = {};  // of a tag, if it is a token
  std::optional<std::uint32_t> end = {};
  std::uint32_t token = 0;  // of a token
  // What free tokens must not contain: TagAnalysis::excluded_tokens().
  std::vector<std::uint32_t> excludes = {};
  // The triggers of token_triggered_tags and of token_dispatch, in order; and
  // for each child the index of the first trigger that is its token.
  std::vector<std::uint32_t> triggers = {};
  std::vector<std::size_t> trigger_of = {};
};

// Errors: kUnknownName for a token that is not in the vocabulary; kUsage for a
// token that is given by its text if there is no lookup; kConflict for an id
// that is too large, a trigger that is excluded or begins no tag, and a tag
// that not exactly one trigger begins.
// `analysis` is that of the tree.
Result<NodeTokens> resolve_tokens(const TagTree& tag,
                                  const TagAnalysis& analysis, TagNodeId id,
                                  const TokenLookup& lookup);

}  // namespace parlance::structural_tag

#endif  // PARLANCE_SRC_STRUCTURAL_TAG_TOKENS_H_
