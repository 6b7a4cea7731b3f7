// Walks the classes of tokens through a pattern: see lexeme_walk.h.

#include "mask/lexeme_walk.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "mask/ablation.h"

namespace parlance::mask {

using json::BodyState;
using recogniser::LexemeStates;
using vocab::kNoToken;
using vocab::StringClassNode;
using vocab::StringClassTrie;
using vocab::TrieNode;

namespace {

bool has(std::span<const std::uint32_t> words, Id id) {
  return (words[id >> 5] >> (id & 31) & 1) != 0;
}

}  // namespace

// If no text can leave the lexeme any more and every escape is allowed, all
// tokens that stay inside a string are accepted, and the escapes are walked
// only for what they need, if bounded.  Else the trie of classes decides the
// tokens without escapes, and the paths to the other tokens are walked byte by
// byte.
void LexemeWalk::run(recogniser::LexemeStates& lexemes,
                     const StringClassTrie& class_trie, std::uint32_t lex,
                     std::uint32_t room, std::span<std::uint32_t> words,
                     LexemeMask& out) {
  lexemes_ = &lexemes;
  start(class_trie);
  room_ = room;
  bounded_ = out.bounded;
  most_ = 0;
  forget_states();
  path_states_[0] = {.state = state_of(lex)};

  const LexemeStates::Facts first = facts(path_states_[0].state);
  if (room == base::kUnbounded && first.lasting != base::kUnbounded &&
      first.any_escapes) {
    most_ = first.lasting;
    out.open_beyond_ascii = true;
    std::ranges::copy(tables_.body(BodyState::kText).inner(), words.begin());
    const auto quotes = class_trie.quotes();
    out.leaving.assign(quotes.begin(), quotes.end());
    if (bounded_) walk_escapes(out);
  } else {
    if (room == base::kUnbounded && first.lasting_plain != base::kUnbounded) {
      most_ = first.lasting_plain;
      out.open_beyond_ascii = true;
      walk_unusual();
    } else if (room != base::kUnbounded || !walk_by_bytes(out)) {
      walk_classes(path_states_[0].state);
    }
    walk_escapes(out);
    decided_.write(class_trie.ids(), class_trie.mask(), words);
    find_leaving(out.leaving);
  }
  if (!bounded_) return;
  find_longs(words, out);
  out.need = StringClassTrie::kLong + most_;
}

// --- States ------------------------------------------------------------------

void LexemeWalk::forget_states() {
  constexpr std::size_t kFirstSize = 64;
  states_.resize(1);
  // Nothing is asked about the dead state.  A question that is stopped leads
  // there from everywhere, also along a token of the mask.
  states_[0].least = 0;
  states_[0].facts_known = true;
  state_of_.assign(kFirstSize, 0);
}

LexemeWalk::StateId LexemeWalk::state_of(std::uint32_t lex) {
  if (lex == 0) return 0;
  const auto place_of = [&](std::uint32_t wanted) {
    std::size_t at = wanted * std::uint32_t{0x9E3779B9} >> 7;
    for (;; ++at) {
      at &= state_of_.size() - 1;
      const StateId known = state_of_[at];
      if (known == 0 || states_[known].lex == wanted) return at;
    }
  };
  const std::size_t place = place_of(lex);
  if (state_of_[place] != 0) return state_of_[place];
  const auto made = static_cast<StateId>(states_.size());
  add_state();
  states_.emplace_back().lex = lex;
  state_of_[place] = made;
  if (2 * states_.size() > state_of_.size()) {
    state_of_.assign(2 * state_of_.size(), 0);
    for (StateId state = 1; state < states_.size(); ++state) {
      state_of_[place_of(states_[state].lex)] = state;
    }
  }
  return made;
}

LexemeWalk::StateId LexemeWalk::learn(StateId state, std::uint8_t byte) {
  return state_of(lexemes_->lexeme_step(states_[state].lex, byte));
}

std::uint32_t LexemeWalk::least(StateId state) {
  if (states_[state].least == kUnknown) {
    states_[state].least = lexemes_->min_chars(states_[state].lex);
  }
  return states_[state].least;
}

const LexemeStates::Facts& LexemeWalk::facts(StateId state) {
  State& known = states_[state];
  if (!known.facts_known) {
    known.facts_known = true;
    known.facts = lexemes_->facts(known.lex);
    if (is_off(Shortcut::kPlainChars)) {
      known.facts.lasting_plain = base::kUnbounded;
    }
    if (is_off(Shortcut::kCharsWithoutEnd)) known.facts.without_end = 0;
  }
  return known.facts;
}

LexemeWalk::PathState LexemeWalk::next(const PathState& from,
                                       std::uint8_t byte) {
  const BodyState body = json::next(from.body, byte);
  return {.state = step(from.state, byte),
          .chars = from.chars + (body == BodyState::kText),
          .body = body};
}

// Whether the characters left suffice.  If they do not, they never will: one
// more character reduces the number still needed by at most one.
bool LexemeWalk::fits(const PathState& at) {
  return at.state != 0 && (room_ == base::kUnbounded ||
                           at.chars + std::uint64_t{least(at.state)} <= room_);
}

// --- Tokens without escapes --------------------------------------------------

// Accepts the subtree if no text, or no plain text while it has no other, can
// leave the lexeme any more and the characters left suffice for its longest
// token.
SubtreeVerdict LexemeWalk::judge(const StringClassNode& node, StateId state) {
  const bool unbounded = room_ == base::kUnbounded;
  if (!unbounded && node.chars + std::uint64_t{least(state)} > room_) {
    return SubtreeVerdict::kReject;
  }
  const LexemeStates::Facts& known = facts(state);
  std::uint32_t lasts = known.lasting;
  if (lasts == base::kUnbounded && known.lasting_plain != base::kUnbounded &&
      all_plain(node)) {
    lasts = known.lasting_plain;
  }
  if (lasts != base::kUnbounded &&
      (unbounded || node.longest + std::uint64_t{lasts} <= room_)) {
    most_ = std::max(most_, lasts);
    return SubtreeVerdict::kAccept;
  }
  if (unbounded || node.longest <= room_) {
    const std::uint32_t chars = known.without_end;
    if (chars != 0 && std::uint32_t{node.longest} - node.chars <= chars) {
      return SubtreeVerdict::kAccept;
    }
  }
  if (bounded_ && node.first != node.own_end) {
    most_ = std::max(most_, least(state));
  }
  return SubtreeVerdict::kDescend;
}

// --- Splits ------------------------------------------------------------------

// Whether all tokens at and below the node are plain text.
bool LexemeWalk::all_plain(const StringClassNode& node) const {
  const auto unusual = class_trie_->unusual();
  const auto first = std::ranges::lower_bound(unusual, node.first);
  return first == unusual.end() || *first >= node.last;
}

// Finds path_states_[depth], which the corrections begin at.  All bytes of a
// class do the same to the body of a string.
void LexemeWalk::enter_split(std::size_t depth) {
  PathState at;
  for (std::size_t d = 1; d <= depth; ++d) {
    at.body = json::next(at.body, path_byte(d));
    at.chars += at.body == BodyState::kText;
  }
  at.state = path_state(depth);
  path_states_[depth] = at;
}

// Accepts every token of the trie of classes but the unusual ones, which are
// read byte by byte: no plain text can leave the lexeme any more.
void LexemeWalk::walk_unusual() {
  decided_.accept(0, static_cast<std::uint32_t>(class_trie_->ids().size()));
  read_unusual();
}

// Reads the unusual tokens.  With `doomed`, not those that are cut off and not
// in it: where every usual character beyond ASCII leads back, one of them
// completes such a token.
void LexemeWalk::read_unusual(const TokenBytes::Bits* doomed) {
  for (const std::uint32_t i : class_trie_->unusual()) {
    if (doomed != nullptr &&
        ((token_bytes_.cut_off()[i / 64] & ~(*doomed)[i / 64]) >> (i % 64) &
         1) != 0) {
      if (bounded_) most_ = std::max(most_, 1U);
      continue;
    }
    PathState at = path_states_[0];
    for (const char c : class_trie_->text(i)) {
      at = next(at, static_cast<std::uint8_t>(c));
      if (at.state == 0) break;
    }
    const bool stays = fits(at);
    decided_.decide(class_trie_->ids()[i], stays);
    if (stays && bounded_) most_ = std::max(most_, least(at.state));
  }
}

// Finds the states that plain text of ASCII leads to.  False if there are many,
// or one of them is left by many bytes or by a plain character beyond ASCII.
bool LexemeWalk::find_exits(StateId first) {
  constexpr std::size_t kMostBytes = 16;
  exits_.clear();
  exits_.push_back({.state = first});
  for (std::size_t i = 0; i < exits_.size(); ++i) {
    const StateId from = exits_[i].state;
    if (i == kMostExits || !facts(from).loops_beyond_ascii) {
      return false;
    }
    for (std::uint8_t byte = TokenBytes::kFirst; byte <= TokenBytes::kLast;
         ++byte) {
      if (byte == '"' || byte == '\\') continue;
      const StateId to = step(from, byte);
      if (to == from) continue;
      if (exits_[i].edges.size() == kMostBytes) return false;
      exits_[i].edges.emplace_back(byte, to);
      const bool known =
          to == 0 ||
          std::ranges::find(exits_, to, &Exits::state) != exits_.end();
      if (!known) exits_.push_back({.state = to});
    }
  }
  return true;
}

// The place in exits_ of a state that is there.
std::size_t LexemeWalk::place_of(StateId state) const {
  return static_cast<std::size_t>(
      std::ranges::find(exits_, state, &Exits::state) - exits_.begin());
}

// doomed_, as the least solution of
//
//   doomed(s) = union over the edges s -b-> t of with(b) and doomed(t),
//
// where doomed(dead) has all tokens.  If s cannot read a text, the text
// leads back to s some number of times, then has a b that leads to a state t,
// and t cannot read the text after that b.  By induction that text is in
// doomed(t). Membership depends only on which bytes a text contains at least,
// so the whole text is in doomed(t) as well.
void LexemeWalk::find_doomed() {
  const std::size_t words = (class_trie_->ids().size() + 63) / 64;
  for (std::size_t i = 0; i < exits_.size(); ++i) doomed_[i].assign(words, 0);
  // One round is enough if every edge leads to a later place.
  bool cycle = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = exits_.size(); i-- > 0;) {
      TokenBytes::Bits& doomed = doomed_[i];
      for (const auto& [byte, to] : exits_[i].edges) {
        const TokenBytes::Bits& with = token_bytes_.with(byte);
        const std::size_t place = to == 0 ? kMostExits : place_of(to);
        cycle = cycle || place < i;
        const TokenBytes::Bits& then = to == 0 ? with : doomed_[place];
        std::uint64_t more = 0;
        for (std::size_t n = 0; n < words; ++n) {
          const std::uint64_t now = with[n] & then[n];
          more |= now & ~doomed[n];
          doomed[n] |= now;
        }
        changed = changed || more != 0;
      }
    }
    if (!cycle) return;
  }
}

// Reads the tokens of `reads_`, all but the unusual ones, by the edges of
// exits_: with any other byte a state stays.  Rejects those that leave the
// lexeme.
void LexemeWalk::read_by_exits() {
  constexpr std::uint8_t kDead = kMostExits;
  std::array<std::array<std::uint8_t, 256>, kMostExits> next;
  for (std::size_t i = 0; i < exits_.size(); ++i) {
    next[i].fill(static_cast<std::uint8_t>(i));
    for (const auto& [byte, to] : exits_[i].edges) {
      next[i][byte] = to == 0 ? kDead : static_cast<std::uint8_t>(place_of(to));
    }
  }
  // The texts are far apart, so they are fetched a few tokens ahead.
  constexpr std::size_t kAhead = 8;
  for (std::size_t k = 0; k < reads_.size(); ++k) {
    if (k + kAhead < reads_.size()) {
      __builtin_prefetch(class_trie_->text(reads_[k + kAhead]).data());
    }
    std::uint8_t at = 0;
    for (const char c : class_trie_->text(reads_[k])) {
      at = next[at][static_cast<std::uint8_t>(c)];
      if (at == kDead) break;
    }
    if (at == kDead) decided_.decide(class_trie_->ids()[reads_[k]], false);
  }
}

// Accepts every token of the trie of classes but those that have the bytes of
// some way out; these are read.  A byte that every state dies of needs no
// reading.  False, and nothing is decided, if too many would be read.
bool LexemeWalk::walk_by_bytes(LexemeMask& out) {
  if (is_off(Shortcut::kTokenBytes)) return false;
  const StateId first = path_states_[0].state;
  if (!find_exits(first)) return false;
  out.open_beyond_ascii = true;
  find_doomed();
  const TokenBytes::Bits& doomed = doomed_.front();
  TokenBytes::Bits& sure = sure_;
  sure.assign(doomed.size(), 0);  // a part of `doomed`
  for (const auto& [byte, to] : exits_.front().edges) {
    const std::pair<std::uint8_t, StateId> death(byte, 0);
    if (!std::ranges::all_of(exits_, [&](const Exits& one) {
          return std::ranges::find(one.edges, death) != one.edges.end();
        })) {
      continue;
    }
    const TokenBytes::Bits& with = token_bytes_.with(byte);
    for (std::size_t n = 0; n < sure.size(); ++n) sure[n] |= with[n];
  }
  const std::span<const Id> ids = class_trie_->ids();
  const auto each = [](std::size_t n, std::uint64_t bits, const auto& use) {
    for (; bits != 0; bits &= bits - 1) {
      use(static_cast<std::uint32_t>(n * 64) +
          static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  };
  reads_.clear();
  for (std::size_t n = 0; n < sure.size(); ++n) {
    each(n, doomed[n] & ~sure[n],
         [&](std::uint32_t i) { reads_.push_back(i); });
    if (reads_.size() * 4 > ids.size()) return false;
  }
  decided_.accept(0, static_cast<std::uint32_t>(ids.size()));
  for (std::size_t n = 0; n < sure.size(); ++n) {
    each(n, sure[n], [&](std::uint32_t i) { decided_.decide(ids[i], false); });
  }
  read_by_exits();
  read_unusual(&doomed);
  return true;
}

// The same question as for judge(), but for texts whose characters are not
// counted. A text has at most as many characters as bytes, so the bytes bound
// them.
std::size_t LexemeWalk::accepted_length(std::size_t depth, StateId from,
                                        std::span<const std::uint8_t> bytes) {
  const std::uint64_t before = path_states_[depth].chars;
  if (before >= room_) return 0;
  const std::uint64_t room = room_ == base::kUnbounded ? ~0ULL : room_ - before;
  std::uint64_t all = room;
  std::uint32_t most = 0;
  for (const std::uint8_t byte : bytes) {
    const StateId to = step(from, byte);
    if (to == 0) return 0;
    const LexemeStates::Facts& known = facts(to);
    std::uint64_t one = std::min(room, known.without_end + std::uint64_t{1});
    if (known.without_end == 0) one = 0;
    const std::uint32_t lasts = known.lasting;
    // Where the room is unbounded, `room` is larger than kUnbounded, too.
    if (lasts != base::kUnbounded && lasts < room && room - lasts > one) {
      one = room - lasts;
      most = std::max(most, lasts);
    }
    all = std::min(all, one);
    if (all == 0) return 0;
  }
  most_ = std::max(most_, most);
  return all;
}

void LexemeWalk::correct_token(std::uint32_t i, std::size_t depth,
                               StateId /*from*/, StateId assumed) {
  const std::string_view text = class_trie_->text(i);
  PathState at = path_states_[depth];
  for (const char c : text.substr(depth)) {
    at = next(at, static_cast<std::uint8_t>(c));
    if (at.state == 0) break;
  }
  const bool accepted = fits(at);
  if (accepted || assumed != 0) {
    decided_.decide(class_trie_->ids()[i], accepted);
  }
  if (accepted && bounded_) most_ = std::max(most_, least(at.state));
}

void LexemeWalk::correct_subtree(std::uint32_t root, StateId /*state*/,
                                 StateId assumed) {
  const vocab::TokenTrie& trie = tables_.trie();
  const TrieNode* const nodes = trie.nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  std::uint32_t dead_end = 0;  // nodes before this one are rejected
  for (std::uint32_t i = root; i < end;) {
    const TrieNode node = nodes[i];
    if (node.byte() == '"' || node.byte() == '\\') {
      i = node.subtree_end();
      continue;
    }
    PathState& to = path_states_[node.depth()];
    if (i >= dead_end) {
      to = next(path_states_[node.depth() - 1U], node.byte());
      if (!fits(to)) {
        dead_end = node.subtree_end();
        // If `assumed` is alive, tokens below may have been accepted.
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

void LexemeWalk::clear_partial(recogniser::LexemeStates& lexemes,
                               const StringClassTrie& class_trie,
                               std::uint32_t lex, bool open,
                               std::span<std::uint32_t> words) {
  lexemes_ = &lexemes;
  start(class_trie);
  forget_states();
  const StateId first = state_of(lex);
  const auto dead = [&](std::string_view text) {
    PathState at = {.state = first};
    for (const char c : text) {
      at = next(at, static_cast<std::uint8_t>(c));
      if (at.state == 0) return true;
    }
    return false;
  };
  for (const std::uint32_t i : class_trie.unusual()) {
    if (open && (token_bytes_.cut_off()[i / 64] >> (i % 64) & 1) != 0) continue;
    const Id id = class_trie.ids()[i];
    if (has(words, id) && dead(class_trie.text(i))) {
      words[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
    }
  }
  for (const std::uint32_t entry : class_trie.escapes()) {
    if ((entry & StringClassTrie::kTarget) == 0) continue;
    const TrieNode node =
        tables_.trie().nodes()[entry & ~StringClassTrie::kTarget];
    const Id id = node.token();
    if (id == kNoToken || !has(words, id)) continue;
    const std::string_view text = vocabulary_.bytes(id);
    BodyState body = BodyState::kText;
    for (const char c : text) {
      body = json::next(body, static_cast<std::uint8_t>(c));
    }
    if (body == BodyState::kText || !dead(text)) continue;
    tables_.trie().each_token(node, [&](Id one) {
      words[one >> 5] &= ~(std::uint32_t{1} << (one & 31));
    });
  }
}

// --- Other tokens ------------------------------------------------------------

// Reads the tokens with an escape byte by byte, along the paths of
// StringClassTrie::escapes().
void LexemeWalk::walk_escapes(LexemeMask& out) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  std::uint32_t decided = 0;  // nodes before this one are decided
  for (const std::uint32_t entry : class_trie_->escapes()) {
    const std::uint32_t i = entry & ~StringClassTrie::kTarget;
    if (i < decided) continue;
    const TrieNode node = nodes[i];
    PathState& to = path_states_[node.depth()];
    to = next(path_states_[node.depth() - 1U], node.byte());
    if (!fits(to)) {
      decided = node.subtree_end();
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

// Follows the paths of StringClassTrie::quotes() and lists the quotes that can
// be reached, with the nodes on the way there.
void LexemeWalk::find_leaving(std::vector<std::uint32_t>& leaving) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  std::size_t listed =
      0;  // nodes of the path up to this depth are in `leaving`
  std::uint32_t decided = 0;  // nodes before this one are decided
  for (const std::uint32_t entry : class_trie_->quotes()) {
    const std::uint32_t i = entry & ~StringClassTrie::kTarget;
    if (i < decided) continue;
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    listed = std::min(listed, depth - 1);
    nodes_[depth] = i;
    if (entry != i) {
      while (++listed < depth) leaving.push_back(nodes_[listed]);
      leaving.push_back(entry);
      continue;
    }
    path_states_[depth] = next(path_states_[depth - 1], node.byte());
    if (path_states_[depth].state == 0) decided = node.subtree_end();
  }
}

// Adds the long tokens of the mask with what each needs, and sorts the list.
void LexemeWalk::find_longs(std::span<const std::uint32_t> words,
                            LexemeMask& out) {
  for (const Id id : class_trie_->long_tokens()) {
    if (!has(words, id)) continue;
    PathState at = path_states_[0];
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
