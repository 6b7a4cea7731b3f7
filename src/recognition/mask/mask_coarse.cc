// Masks from coarse states (JsonHints::coarse_state).
//
// The mask of a coarse state is made once and shared by all its
// configurations.  Only the tokens for which the coarse state is not precise
// are read again from each configuration.

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "mask/mask_maker.h"

namespace parlance::mask {

using json::BodyState;
using recogniser::StringHint;

// 1. Find the partial mask of the coarse state, or make it: collect the exit
//    points of its tokens, and list the tokens at them for a recheck.
// 2. Begin with that mask, and recheck the listed tokens.
// 3. Recheck the tokens that complete an exceptional key of `config`, which the
//    coarse state does not know.
void MaskMaker::from_coarse_state(Configuration coarse, Configuration config) {
  Recogniser& recogniser = *recogniser_;
  const Configuration key = recogniser.mask_key(coarse, vocab::kMaxTokenBytes);
  const PartialMask* mask = partial_masks_->find(key);
  if (mask == nullptr) {
    PartialMask made;
    exit_points_ = &made.exit_points;
    make_by_kind(coarse);
    exit_points_ = nullptr;
    made.recheck = tokens_past(made.exit_points);
    made.exit_points = {};
    if (builder_.dense()) {
      const std::array bases = {
          Base{.words =
                   resources_.tables.body(BodyState::kText).inner().data()},
          Base{.words = resources_.tables.all_text().data()}, Base{}};
      builder_.compact(bases);
    }
    store_built(made);
    mask = &partial_masks_->add(key, std::move(made));
  }
  builder_.start(mask->base, mask->set, mask->cleared);
  recheck_tokens(mask->recheck, config);
  const StringHint view = hints_.string_hint(config);
  if (!view.has_exceptions) return;
  // Names of the schema that end within a token.  One that ends before it is
  // known to the coarse.
  std::vector<Id> ids;
  collected_exceptions_ = &ids;
  find_exceptions(view, 0, config);
  collected_exceptions_ = nullptr;
  std::ranges::sort(ids, {},
                    [&](Id id) { return resources_.vocabulary.bytes(id); });
  recheck_tokens(ids, config);
}

// Reads each of `ids` from `config` and corrects its bit.
// REQUIRES: `ids` are sorted by their bytes.
//
// Consecutive tokens share prefixes.  Invariant: states[n] is where the first n
// bytes of `before` lead, for each n up to its length, and no proper
// prefix of it is dead.
void MaskMaker::recheck_tokens(std::span<const Id> ids, Configuration config) {
  Recogniser& recogniser = *recogniser_;
  Configuration* const states = states_.data();
  states[0] = config;
  std::string_view before;  // the part of the last token that was read
  for (const Id id : ids) {
    const std::string_view text = resources_.vocabulary.bytes(id);
    const auto end = std::ranges::mismatch(text, before).in1;
    auto at = static_cast<std::size_t>(end - text.begin());
    for (; at < text.size() && !states[at].dead(); ++at) {
      states[at + 1] =
          recogniser.step(states[at], static_cast<std::uint8_t>(text[at]));
    }
    const bool fits = at == text.size() && !states[at].dead();
    before = text.substr(0, at);
    if (fits == builder_.has(id)) continue;
    if (fits) {
      builder_.set(id);
    } else {
      builder_.clear(id);
    }
  }
}

// The tokens that continue at `exit_points` or, where the last byte only showed
// that the value had ended, end there; sorted by their bytes.
std::vector<Id> MaskMaker::tokens_past(
    const std::vector<ExitPoint>& exit_points) const {
  std::vector<Id> ids;
  for (const ExitPoint& exit_point : exit_points) {
    const bool unread = exit_point.by_lookahead;
    if (exit_point.exits == nullptr) {
      const std::uint32_t end = trie_.subtree_end(exit_point.node);
      for (std::uint32_t i = exit_point.node + !unread; i < end; ++i) {
        trie_.each_token(trie_.node(i), [&](Id id) { ids.push_back(id); });
      }
      continue;
    }
    const vocab::ExitTrie& exits = *exit_point.exits;
    const std::uint32_t end = exits.node(exit_point.node).subtree_end();
    for (std::uint32_t i = exit_point.node + !unread; i < end; ++i) {
      for (const vocab::ExitToken& exit : exits.exits(i)) {
        if (exit.count >= exit_point.min_count &&
            exit.count <= exit_point.max_count) {
          ids.push_back(exit.id);
        }
      }
    }
  }
  std::ranges::sort(ids, {},
                    [&](Id id) { return resources_.vocabulary.bytes(id); });
  return ids;
}

}  // namespace parlance::mask
