// Walks the classes of all tokens: see token_class_walk.h.

#include "mask/token_class_walk.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "base/byte_set.h"

namespace parlance::mask {

using recogniser::Configuration;
using vocab::ByteClassSet;
using vocab::TokenClassNode;
using vocab::TokenClassTrie;
using vocab::TrieNode;

namespace {

// The byte classes that occur in multi-byte characters.
const ByteClassSet& character_classes() {
  static const ByteClassSet set = [] {
    ByteClassSet classes;
    for (std::uint8_t byte_class = TokenClassTrie::kLead2;
         byte_class < TokenClassTrie::kOther; ++byte_class) {
      classes.add(byte_class);
    }
    return classes;
  }();
  return set;
}

bool meets(const base::ByteSet& a, const base::ByteSet& b) {
  std::uint64_t both = 0;
  for (std::size_t i = 0; i < a.size(); ++i) both |= a[i] & b[i];
  return both != 0;
}

bool contains(const base::ByteSet& all, const base::ByteSet& some) {
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < all.size(); ++i) others |= some[i] & ~all[i];
  return others == 0;
}

template <class Is>
bool all_classes(const ByteClassSet& set, const Is& is) {
  for (std::size_t word = 0; word < 2; ++word) {
    for (std::uint64_t bits = set.bits[word]; bits != 0; bits &= bits - 1) {
      const auto byte_class = static_cast<std::uint8_t>(
          word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (!is(byte_class)) return false;
    }
  }
  return true;
}

}  // namespace

bool TokenClassWalk::run(recogniser::Recogniser& recogniser, Configuration at,
                         std::span<std::uint32_t> words) {
  recogniser_ = &recogniser;
  too_many_ = false;
  start(token_classes_);
  states_.resize(1);
  known_states_.clear();
  find_dead_classes();
  walk_classes(state_of(at));
  if (too_many_) return false;
  decided_.write(token_classes_.ids(), tables_.all_text(), words);
  return true;
}

// The classes of ASCII without a byte of the alphabet; those of all other
// characters, if none of their bytes is in it.
void TokenClassWalk::find_dead_classes() {
  dead_classes_ = {};
  const base::ByteSet alive = recogniser_->traits().alphabet;
  if (alive == base::kAllBytes) return;
  for (std::uint8_t c = 0; c < TokenClassTrie::kLead2; ++c) {
    if (!meets(alive, bytes_of_class_[c])) dead_classes_.add(c);
  }
  if ((alive[2] | alive[3]) == 0) {
    dead_classes_.add(character_classes());
    dead_classes_.add(TokenClassTrie::kOther);
    dead_classes_.add(TokenClassTrie::kBroken);
  }
}

// Where nearly every letter leads to a state of its own, nearly every token
// would be corrected byte by byte after it was walked in vain.
bool TokenClassWalk::gives_up(const TokenClassNode& node, StateId from) {
  constexpr std::size_t kManyBytes = 16;
  const auto bytes = token_classes_.bytes(node.byte_class);
  if (node.depth != 1 || bytes.size() < kManyBytes) return too_many_;
  std::vector<StateId> targets;
  for (const std::uint8_t byte : bytes) targets.push_back(step(from, byte));
  std::ranges::sort(targets);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  const std::size_t live = targets.size() - (targets.front() == 0 ? 1 : 0);
  too_many_ = too_many_ || live * 8 > bytes.size() * 7;
  return too_many_;
}

// Divides the tokens at and below `root`: those that are texts of `stay` are
// staying_, those with a dead class are dropped, and those that leave `stay`
// are leaving_.  False if many leave.
bool TokenClassWalk::find_leavers(std::uint32_t root,
                                  const ByteClassSet& stay) {
  constexpr std::uint32_t kFew = 1000;
  const std::span<const TokenClassNode> nodes = token_classes_.nodes();
  staying_.clear();
  leaving_.clear();
  std::uint32_t count = 0;
  for (std::uint32_t i = root; i < nodes[root].subtree_end;) {
    const TokenClassNode& node = nodes[i];
    if (dead_classes_.has(node.byte_class)) {
      i = node.subtree_end;
    } else if (stay.has(node.byte_class) &&
               node.byte_class < TokenClassTrie::kLead2) {
      staying_.emplace_back(node.first, node.own_end);
      ++i;
    } else {
      count += node.last - node.first;
      if (count > kFew) return false;
      leaving_.emplace_back(node.first, node.last);
      i = node.subtree_end;
    }
  }
  return true;
}

bool TokenClassWalk::decide_few_leavers(std::uint32_t i, StateId from) {
  const TokenClassNode& node = token_classes_.nodes()[i];
  if (node.byte_class >= TokenClassTrie::kLead2 ||
      dead_classes_.has(node.byte_class)) {
    return false;
  }
  const ByteClassSet stay = repeatable(from);
  if (!stay.has(node.byte_class)) return false;
  const bool all_stay = node.below.without(stay).without(dead_classes_).empty();
  if (!all_stay && !is_split(step_class(from, node.byte_class))) return false;
  if (!find_leavers(i, stay)) return false;
  for (const auto& [first, last] : staying_) decided_.accept(first, last);
  for (const auto& [first, last] : leaving_) {
    for (std::uint32_t at = first; at < last; ++at) {
      const Id id = token_classes_.ids()[at];
      StateId state = from;
      std::string_view text = vocabulary_.bytes(id).substr(node.depth - 1U);
      for (; text.size() > 1 && state != 0; text.remove_prefix(1)) {
        state = step(state, static_cast<std::uint8_t>(text[0]));
      }
      if (accepts(state, static_cast<std::uint8_t>(text[0]))) {
        decided_.decide(id, true);
      }
    }
  }
  return true;
}

// Most nodes have no children.  What follows them makes no difference, and
// need not be found, nor what that depends on.
bool TokenClassWalk::decide_leaf(const TokenClassNode& node, StateId from) {
  if (is_off(Shortcut::kLeaves)) return false;
  if (from == 0) return true;
  const base::ByteSet* const readable = states_[from].readable;
  if (readable == nullptr) return false;
  const base::ByteSet& bytes = bytes_of_class_[node.byte_class];
  if (contains(*readable, bytes)) {
    decided_.accept(node.first, node.last);
  } else if (meets(*readable, bytes)) {
    for (std::uint32_t i = node.first; i < node.last; ++i) {
      const std::string_view text = vocabulary_.bytes(token_classes_.ids()[i]);
      if (base::has_byte(*readable, static_cast<std::uint8_t>(text.back()))) {
        decided_.accept(i, i + 1);
      }
    }
  }
  return true;
}

// Computed once for each state.
const ByteClassSet& TokenClassWalk::find_repeatable(StateId state) {
  states_[state].repeatable_known = true;
  const base::ByteSet bytes =
      recogniser_->repeatable_bytes(states_[state].config);
  if (bytes == base::ByteSet{}) return states_[state].repeatable;
  return states_[state].repeatable = classes_of(bytes);
}

// A grammar has few repeats of classes, so the answers are kept.
const ByteClassSet& TokenClassWalk::classes_of(const base::ByteSet& bytes) {
  constexpr std::size_t kFew = 16;
  for (const auto& [known, classes] : classes_of_) {
    if (known == bytes) return classes;
  }
  ByteClassSet set;
  for (std::uint8_t c = 0; c < TokenClassTrie::kLead2; ++c) {
    if (!token_classes_.bytes(c).empty() &&
        contains(bytes, bytes_of_class_[c])) {
      set.add(c);
    }
  }
  if (base::has_byte(bytes, 0x80)) set.add(character_classes());
  if (classes_of_.size() == kFew) classes_of_.clear();
  return classes_of_.emplace_back(bytes, set).second;
}

// --- States ------------------------------------------------------------------

// Configurations with equal keys accept the same suffixes of tokens, so two
// paths that meet in one state need not be followed further.  Configurations
// with the same mask (mask_equivalent) would not do: they accept the same
// tokens, which says nothing about suffixes.
TokenClassWalk::StateId TokenClassWalk::state_of(Configuration config) {
  if (config.dead()) return 0;
  const auto [known, is_new] = known_states_.find_or_insert(
      {recogniser_->mask_key(config, vocab::kMaxTokenBytes),
       static_cast<StateId>(states_.size())});
  const StateId id = known->state;
  if (!is_new) return id;
  add_state();
  states_.emplace_back().config = config;
  states_[id].no_loops.add(TokenClassTrie::kBroken);
  const recogniser::Recogniser::ByteFacts bytes = recogniser_->bytes_at(config);
  states_[id].readable = bytes.readable;
  if (bytes.base.dead()) {
    states_[id].same = recogniser_->byte_classes_at(config);
  } else {
    states_[id].others = bytes.others;
    const StateId of = state_of(bytes.base);
    states_[id].base = of;
  }
  return id;
}

TokenClassWalk::StateId TokenClassWalk::learn(StateId state,
                                              std::uint8_t byte) {
  const State& from = states_[state];
  if (from.readable != nullptr && !base::has_byte(*from.readable, byte)) {
    return 0;
  }
  if (from.base != 0 && !base::has_byte(*from.others, byte)) {
    return step(from.base, byte);
  }
  if (const auto* const same = states_[state].same;
      same != nullptr && (*same)[byte] != byte) {
    return step(state, (*same)[byte]);
  }
  // From here on all states are dead, so that the walk ends soon.
  too_many_ = too_many_ || states_.size() > kMostStates;
  if (too_many_) return 0;
  return state_of(recogniser_->step(states_[state].config, byte));
}

// A state from which the bytes of the class lead as from `state`; 0: none.
TokenClassWalk::StateId TokenClassWalk::base_for(
    StateId state, std::uint8_t byte_class) const {
  const State& from = states_[state];
  if (from.base == 0) return 0;
  return meets(*from.others, bytes_of_class_[byte_class]) ? 0 : from.base;
}

bool TokenClassWalk::is_uniform(StateId state, std::uint8_t byte_class) const {
  const auto* const same = states_[state].same;
  if (same == nullptr) return false;
  const auto bytes = token_classes_.bytes(byte_class);
  // Without a branch for each of 26 letters.
  const std::uint8_t first = (*same)[bytes.front()];
  unsigned differences = 0;
  for (const std::uint8_t byte : bytes) differences |= (*same)[byte] ^ first;
  return differences == 0;
}

// Whether every valid text of `classes` leads from `state` back to it.  Asks
// for each class once; the answers are kept in the state.
bool TokenClassWalk::find_loops(StateId state, const ByteClassSet& classes) {
  const ByteClassSet left = classes.without(states_[state].loops);
  const ByteClassSet ascii = left.without(character_classes());
  const auto note = [&](std::uint8_t byte_class, bool loops) {
    (loops ? states_[state].loops : states_[state].no_loops).add(byte_class);
    return loops;
  };
  // What cannot be read is found without a step.
  if (states_[state].readable != nullptr) {
    const bool all = all_classes(ascii, [&](std::uint8_t byte_class) {
      return accepts(state, token_classes_.bytes(byte_class)[0]) ||
             note(byte_class, false);
    });
    if (!all) return false;
  }
  if (left.meets(character_classes())) {
    const bool stays = stays_in_characters(state);
    (stays ? states_[state].loops : states_[state].no_loops)
        .add(character_classes());
    if (!stays) return false;
  }
  return all_classes(ascii, [&](std::uint8_t byte_class) {
    return note(byte_class, step_class(state, byte_class) == state);
  });
}

bool TokenClassWalk::stays_in_characters(StateId state) {
  using S = TokenClassTrie;
  struct Lead {
    std::uint8_t byte_class, first, last;  // first to last: of the second byte
    unsigned due;  // continuation bytes after the second
  };
  // Table 3-7 of the Unicode standard.
  constexpr Lead kLeads[] = {
      {S::kLead2, S::kTail8, S::kTailA, 0},
      {S::kLeadE0, S::kTailA, S::kTailA, 1},
      {S::kLead3, S::kTail8, S::kTailA, 1},
      {S::kLeadED, S::kTail8, S::kTail9, 1},
      {S::kLeadF0, S::kTail9, S::kTailA, 2},
      {S::kLead4, S::kTail8, S::kTailA, 2},
      {S::kLeadF4, S::kTail8, S::kTail8, 2},
  };
  for (const Lead& lead : kLeads) {
    if (!accepts(state, token_classes_.bytes(lead.byte_class)[0])) return false;
    const StateId after = step_class(state, lead.byte_class);
    if (after == 0 || is_split(after)) return false;
    for (std::uint8_t byte_class = lead.first; byte_class <= lead.last;
         ++byte_class) {
      if (!leads_back(step_class(after, byte_class), lead.due, state)) {
        return false;
      }
    }
  }
  return true;
}

// Whether any `due` continuation bytes lead from `from` to `to`.
bool TokenClassWalk::leads_back(StateId from, unsigned due, StateId to) {
  if (from == 0 || is_split(from)) return false;
  if (due == 0) return from == to;
  for (std::uint8_t byte_class = TokenClassTrie::kTail8;
       byte_class <= TokenClassTrie::kTailA; ++byte_class) {
    if (!leads_back(step_class(from, byte_class), due - 1, to)) return false;
  }
  return true;
}

// --- Corrections -------------------------------------------------------------

// Walks the subtree with both states.  Where they are equal, everything below
// was decided correctly.
void TokenClassWalk::correct_subtree(std::uint32_t root, StateId state,
                                     StateId assumed) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  for (std::uint32_t i = root; i < end;) {
    const TrieNode node = nodes[i];
    auto& [now, then] = pairs_[node.depth()];
    if (i == root) {
      now = state;
      then = assumed;
    } else {
      const auto& [before, before_assumed] = pairs_[node.depth() - 1U];
      if (node.subtree_end() == i + 1) {
        const bool accepted = accepts(before, node.byte());
        if (accepted != accepts(before_assumed, node.byte())) {
          tables_.trie().each_token(
              node, [&](Id id) { decided_.decide(id, accepted); });
        }
        ++i;
        continue;
      }
      now = step(before, node.byte());
      then = step(before_assumed, node.byte());
    }
    if (now == then) {
      i = node.subtree_end();
      continue;
    }
    const bool accepted = now != 0;
    if (accepted != (then != 0)) {
      tables_.trie().each_token(node,
                                [&](Id id) { decided_.decide(id, accepted); });
    }
    ++i;
  }
}

void TokenClassWalk::correct_token(std::uint32_t i, std::size_t depth,
                                   StateId from, StateId assumed) {
  const Id id = token_classes_.ids()[i];
  const std::string_view text = vocabulary_.bytes(id).substr(depth);
  const auto last = static_cast<std::uint8_t>(text.back());
  if (text.size() == 1) {
    const bool accepted = accepts(from, last);
    if (accepted != (assumed != 0)) decided_.decide(id, accepted);
    return;
  }
  StateId state = step(from, static_cast<std::uint8_t>(text[0]));
  for (const char c : text.substr(1, text.size() - 2)) {
    if (state == assumed) return;
    state = step(state, static_cast<std::uint8_t>(c));
    assumed = step(assumed, static_cast<std::uint8_t>(c));
  }
  const bool accepted = accepts(state, last);
  if (accepted != accepts(assumed, last)) decided_.decide(id, accepted);
}

}  // namespace parlance::mask
