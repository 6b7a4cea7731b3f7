// Walking the shapes of tokens through a pattern: see lexeme_walk.h.

#include "mask/lexeme_walk.h"

#include <algorithm>
#include <string_view>

namespace parlance::mask {

using json::BodyState;
using vocab::kNoToken;
using vocab::StringClassNode;
using vocab::StringClassTrie;
using vocab::TrieNode;

namespace {

bool has(std::span<const std::uint32_t> words, Id id) {
  return (words[id >> 5] >> (id & 31) & 1) != 0;
}

}  // namespace

void LexemeWalk::run(recogniser::Recogniser& recogniser,
                     const StringClassTrie& class_trie, std::uint32_t lex,
                     std::uint32_t room, std::span<std::uint32_t> words,
                     LexemeMask& out) {
  recogniser_ = &recogniser;
  start(class_trie);
  room_ = room;
  bounded_ = out.bounded;
  most_ = 0;
  states_.resize(1);
  state_of_.clear();
  places_[0] = {.state = state_of(lex)};

  const std::uint32_t lasts = lasting(places_[0].state);
  if (room == kMany && lasts != kMany && recogniser.lexeme_any_escapes(lex)) {
    most_ = lasts;
    std::ranges::copy(tables_.body(BodyState::kText).inner(), words.begin());
    const auto quotes = class_trie.quotes();
    out.leaving.assign(quotes.begin(), quotes.end());
    if (bounded_) walk_escapes(out);
  } else {
    walk_classes(places_[0].state);
    walk_escapes(out);
    decided_.write(class_trie.ids(), class_trie.mask(), words);
    find_leaving(out.leaving);
  }
  if (!bounded_) return;
  find_longs(words, out);
  out.need = StringClassTrie::kLong + most_;
}

// --- States ------------------------------------------------------------------

LexemeWalk::StateId LexemeWalk::state_of(std::uint32_t lex) {
  if (lex == 0) return 0;
  const auto [it, is_new] =
      state_of_.try_emplace(lex, static_cast<StateId>(states_.size()));
  if (is_new) {
    add_state();
    states_.emplace_back().lex = lex;
  }
  return it->second;
}

LexemeWalk::StateId LexemeWalk::learn(StateId state, std::uint8_t byte) {
  return state_of(recogniser_->lexeme_step(states_[state].lex, byte));
}

std::uint32_t LexemeWalk::least(StateId state) {
  if (states_[state].least == kUnknown) {
    states_[state].least = recogniser_->min_chars_to_accept(states_[state].lex);
  }
  return states_[state].least;
}

std::uint32_t LexemeWalk::lasting(StateId state) {
  if (!states_[state].lasting_known) {
    states_[state].lasting_known = true;
    states_[state].lasting = recogniser_->max_min_chars(states_[state].lex);
  }
  return states_[state].lasting;
}

LexemeWalk::Place LexemeWalk::next(const Place& from, std::uint8_t byte) {
  const BodyState body = json::next(from.body, byte);
  return {.state = step(from.state, byte),
          .chars = from.chars + (body == BodyState::kText),
          .body = body};
}

// What does not fit never fits again: each character more brings what is still
// needed down by one at most.
bool LexemeWalk::fits(const Place& at) {
  return at.state != 0 &&
         (room_ == kMany || at.chars + std::uint64_t{least(at.state)} <= room_);
}

// --- Tokens without escapes --------------------------------------------------

SubtreeVerdict LexemeWalk::judge(const StringClassNode& node, StateId state) {
  Place& to = places_[node.depth];
  to = {.state = state,
        .chars = node.chars,
        .body = json::next(places_[node.depth - 1U].body,
                           class_trie_->bytes(node.byte_class).front())};
  if (!fits(to)) return SubtreeVerdict::kReject;
  const std::uint32_t lasts = lasting(state);
  if (lasts != kMany &&
      (room_ == kMany || node.longest + std::uint64_t{lasts} <= room_)) {
    most_ = std::max(most_, lasts);
    return SubtreeVerdict::kAccept;
  }
  if (bounded_ && node.first != node.own_end) {
    most_ = std::max(most_, least(state));
  }
  return SubtreeVerdict::kDescend;
}

void LexemeWalk::correct_token(std::uint32_t i, std::size_t depth, StateId from,
                               StateId assumed) {
  const std::string_view text = class_trie_->text(i);
  if (step(from, static_cast<std::uint8_t>(text[depth])) == assumed) return;
  Place at = places_[depth];
  for (const char c : text.substr(depth)) {
    at = next(at, static_cast<std::uint8_t>(c));
    if (at.state == 0) break;
  }
  const bool accepted = fits(at);
  if (accepted || assumed != 0)
    decided_.decide(class_trie_->ids()[i], accepted);
  if (accepted && bounded_) most_ = std::max(most_, least(at.state));
}

void LexemeWalk::correct_subtree(std::uint32_t root, StateId /*state*/,
                                 StateId assumed) {
  const vocab::TokenTrie& trie = tables_.trie();
  const TrieNode* const nodes = trie.nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  std::uint32_t dead_end = 0;  // nodes before this one do not fit
  for (std::uint32_t i = root; i < end;) {
    const TrieNode node = nodes[i];
    if (node.byte() == '"' || node.byte() == '\\') {
      i = node.subtree_end();
      continue;
    }
    Place& to = places_[node.depth()];
    if (i >= dead_end) {
      to = next(places_[node.depth() - 1U], node.byte());
      if (!fits(to)) {
        dead_end = node.subtree_end();
        // Some may have been taken that do not fit.
        if (assumed == 0) {
          i = dead_end;
          continue;
        }
      }
    }
    const bool accepted = i >= dead_end;
    trie.each_token(node, [&](Id id) { decided_.decide(id, accepted); });
    if (bounded_ && accepted && node.token() != kNoToken) {
      most_ = std::max(most_, least(to.state));
    }
    ++i;
  }
}

// --- Other tokens ------------------------------------------------------------

void LexemeWalk::walk_escapes(LexemeMask& out) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  std::uint32_t behind = 0;  // nodes before this one are decided
  for (const std::uint32_t entry : class_trie_->escapes()) {
    const std::uint32_t i = entry & ~StringClassTrie::kTarget;
    if (i < behind) continue;
    const TrieNode node = nodes[i];
    Place& to = places_[node.depth()];
    to = next(places_[node.depth() - 1U], node.byte());
    if (!fits(to)) {
      behind = node.subtree_end();
      continue;
    }
    if (entry == i || node.token() == kNoToken) continue;
    const std::size_t before = decided_.singles().size();
    tables_.trie().each_token(node, [&](Id id) { decided_.decide(id, true); });
    if (!bounded_) continue;
    const std::uint32_t needed = least(to.state);
    if (to.chars >= StringClassTrie::kLong) {
      for (const auto& one : decided_.singles().subspan(before)) {
        out.longs.push_back({to.chars + needed, one.id});
      }
    } else {
      most_ = std::max(most_, needed);
    }
  }
}

void LexemeWalk::find_leaving(std::vector<std::uint32_t>& leaving) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  std::size_t listed = 0;  // depth to which the path stands in `leaving`
  std::uint32_t behind = 0;
  for (const std::uint32_t entry : class_trie_->quotes()) {
    const std::uint32_t i = entry & ~StringClassTrie::kTarget;
    if (i < behind) continue;
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    listed = std::min(listed, depth - 1);
    nodes_[depth] = i;
    if (entry != i) {
      while (++listed < depth) leaving.push_back(nodes_[listed]);
      leaving.push_back(entry);
      continue;
    }
    places_[depth] = next(places_[depth - 1], node.byte());
    if (places_[depth].state == 0) behind = node.subtree_end();
  }
}

// What long tokens need, each for itself.
void LexemeWalk::find_longs(std::span<const std::uint32_t> words,
                            LexemeMask& out) {
  for (const Id id : class_trie_->long_tokens()) {
    if (!has(words, id)) continue;
    Place at = places_[0];
    for (const char c : vocabulary_.bytes(id)) {
      at = next(at, static_cast<std::uint8_t>(c));
    }
    out.longs.push_back({at.chars + least(at.state), id});
  }
  std::ranges::sort(out.longs, [](const LongToken& a, const LongToken& b) {
    return a.need != b.need ? a.need > b.need : a.id < b.id;
  });
}

}  // namespace parlance::mask
