// The ways to make a mask: see mask_maker.h.

#include "mask/mask_maker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace parlance::mask {

using grammar::BodyView;
using grammar::SpaceView;
using json::BodyState;
using vocab::BodyTable;
using vocab::ExitToken;
using vocab::ExitTrie;
using vocab::kNoToken;
using vocab::TrieNode;

namespace {

// What comes between lexemes or begins one, and whatever else is no white
// space.
constexpr std::string_view kJsonBytes = "\"{}[],:-0123456789tfn";
constexpr std::string_view kSpaceBytes = " \t\n\r";
constexpr std::size_t kOtherCount =
    256 - kJsonBytes.size() - kSpaceBytes.size();
constexpr std::array<char, kOtherCount> kOtherBytes = [] {
  std::array<char, kOtherCount> bytes{};
  std::size_t count = 0;
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    if (kJsonBytes.find(c) != std::string_view::npos) continue;
    if (kSpaceBytes.find(c) != std::string_view::npos) continue;
    bytes[count++] = c;
  }
  return bytes;
}();

bool is_space(std::uint8_t byte) {
  return kSpaceBytes.find(static_cast<char>(byte)) != std::string_view::npos;
}

bool has_byte(const std::array<std::uint64_t, 4>& set, std::uint8_t byte) {
  return (set[byte >> 6] >> (byte & 63) & 1) != 0;
}

// Calls `visit` with each byte of the set, ascending.
template <class Visit>
void for_bytes(const std::array<std::uint64_t, 4>& set, Visit visit) {
  for (std::size_t word = 0; word < set.size(); ++word) {
    for (std::uint64_t left = set[word]; left != 0; left &= left - 1) {
      visit(static_cast<std::uint8_t>(
          word * 64 + static_cast<std::size_t>(std::countr_zero(left))));
    }
  }
}

// What Recogniser::lexeme_end() says of one byte.
bool may_end(int lexeme_end, std::uint8_t byte) {
  if (lexeme_end == Recogniser::kAnyEnd) return true;
  if (lexeme_end != Recogniser::kJsonEnd) return lexeme_end == byte;
  return is_space(byte) || byte == ',' || byte == ']' || byte == '}';
}

}  // namespace

// --- SpaceBases --------------------------------------------------------------

SpaceBases::SpaceBases(const vocab::TokenTables& tables,
                       std::shared_ptr<std::atomic<std::size_t>> bytes)
    : tables_(tables), bytes_(std::move(bytes)) {
  const auto tokens = tables_.white_space().tokens();
  if (!tokens.empty()) longest_ = tokens.back().bytes;
}

Base SpaceBases::find(std::uint32_t max_bytes, std::uint32_t max_chars) {
  const BodyTable& string_start = tables_.string_start();
  max_bytes = std::min(max_bytes, longest_);
  if (max_chars != kNoString && !string_start.has_at_most(max_chars)) return {};
  const std::lock_guard lock(mutex_);
  const auto found = made_.find({max_bytes, max_chars});
  if (found != made_.end()) {
    return {.words = found->second->data(), .owner = found->second};
  }
  if (made_.size() == kMost) return {};
  auto words = std::make_shared<Words>(tables_.mask_words(), bytes_);
  if (max_chars != kNoString) {
    std::ranges::copy(string_start.inner_at_most(max_chars), words->data());
  }
  for (const auto& token : tables_.white_space().tokens()) {
    if (token.bytes > max_bytes) break;
    words->data()[token.id >> 5] |= std::uint32_t{1} << (token.id & 31);
  }
  made_.emplace(std::pair(max_bytes, max_chars), words);
  return {.words = words->data(), .owner = words};
}

// --- The decision ------------------------------------------------------------

MaskMaker::MaskMaker(const MakerShared& shared)
    : shared_(shared),
      trie_(shared.tables.trie()),
      builder_(shared.tables.mask_words()),
      lexeme_walk_(shared.tables, shared.vocabulary),
      shape_walk_(shared.tables, shared.byte_shapes, shared.vocabulary) {}

const MaskBuilder& MaskMaker::make(Recogniser& recogniser, Config config,
                                   RelativeMasks& relative) {
  recogniser_ = &recogniser;
  relative_ = &relative;
  if (config.dead()) {
    builder_.start({});
  } else if (const BodyView body = recogniser.body(config); body.free) {
    in_body(body, config);
  } else if (const SpaceView space = recogniser.space(config); space.free) {
    if (!where_a_value_comes(config)) between(space, config);
  } else if (const std::uint64_t fingerprint =
                 recogniser.lexeme_fingerprint(config)) {
    in_lexeme(config, fingerprint);
  } else if (const Recogniser::Apart apart = recogniser.lexeme_apart(config);
             !apart.others.dead()) {
    in_lexeme(apart.others, recogniser.lexeme_fingerprint(apart.others));
    add_words(apart.words);
  } else {
    in_text(config);
  }
  set_marks(config);
  if (builder_.dense()) {
    const std::array bases = {
        Base{.words = shared_.tables.body(BodyState::kText).inner().data()},
        Base{.words = shared_.tables.all_text().data()}, Base{}};
    builder_.compact(bases);
  }
  return builder_;
}

// Sets the tokens that may be read by their ids, if there are such tokens.
void MaskMaker::set_marks(Config config) {
  marks_.clear();
  const auto size = static_cast<std::uint32_t>(shared_.vocabulary.size());
  if (!config.dead()) recogniser_->token_marks(config, size, marks_);
  if (marks_.empty()) return;
  std::vector<std::uint32_t> words(shared_.tables.mask_words());
  builder_.view().write(words);
  for (const Id id : marks_) {
    if (shared_.vocabulary.kind(id) == TokenKind::kUnused) continue;
    if ((words[id >> 5] >> (id & 31) & 1) == 0) builder_.set(id);
  }
}

// --- Walks -------------------------------------------------------------------

void MaskMaker::set(Id id) {
  if (exits_ != nullptr) {
    exits_->push_back(id);
    return;
  }
  if (exceptions_.empty() || (is_exception_[id >> 5] >> (id & 31) & 1) == 0) {
    builder_.set(id);
  }
}

void MaskMaker::set_node(const TrieNode& node) {
  const auto set_id = [this](Id id) {
    if (adding_) {
      builder_.add(id);
    } else {
      builder_.set(id);
    }
  };
  if (node.token() == kNoToken) return;
  set_id(node.token());
  if (trie_.twins().empty()) return;
  for (const vocab::Twin& twin : trie_.duplicates(node.token())) {
    set_id(twin.twin);
  }
}

// Sets the tokens strictly below the node `root`, where `at` stands.
void MaskMaker::walk(std::uint32_t root, Config at) {
  Recogniser& recogniser = *recogniser_;
  Config* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  if (root + 1 == end) return;
  auto* const wanted = wanted_bytes_.data();
  states[nodes[root].depth()] = at;
  wanted[nodes[root].depth()] = recogniser.likely_bytes(at);
  for (std::uint32_t i = root + 1; i < end;) {
    const TrieNode node = nodes[i];
    if (!has_byte(wanted[node.depth() - 1], node.byte())) {
      i = node.subtree_end();
      continue;
    }
    Config next = recogniser.probe(states[node.depth() - 1], node.byte());
    if (recogniser.escaped(next)) next = step_all(at, root, i);
    if (next.dead()) {
      i = node.subtree_end();
      continue;
    }
    const bool escaped = recogniser.escaped(next);
    if (!escaped || !recogniser.unread(next)) set_node(node);
    if (escaped) {
      escapes_->push_back({.node = i, .at = next});
      i = node.subtree_end();
      continue;
    }
    ++i;
    if (i == node.subtree_end()) continue;
    states[node.depth()] = next;
    wanted[node.depth()] = recogniser.likely_bytes(next);
  }
}

// Sets all tokens.  The nodes of the first bytes lie far apart, so only those
// that matter are looked at.
void MaskMaker::walk_all(Config at, const std::array<std::uint64_t, 4>& bytes) {
  for_bytes(bytes, [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    const Config next = recogniser_->step(at, byte);
    if (next.dead()) return;
    set_node(trie_.node(child));
    walk(child, next);
  });
}

// Where the bytes between two nodes of the trie lead, without probes.
Config MaskMaker::step_all(Config at, std::uint32_t root, std::uint32_t node) {
  // The way down to `node`: each ancestor's subtree holds it.
  for (std::uint32_t i = root + 1; !at.dead();) {
    if (node >= trie_.subtree_end(i)) {
      i = trie_.subtree_end(i);
      continue;
    }
    at = recogniser_->step(at, trie_.byte(i));
    if (i == node) break;
    ++i;
  }
  return at;
}

// Sets the tokens of `exits` whose remainder ends at the node `i` and whose
// count is within the bounds.
void MaskMaker::set_exits(const ExitTrie& exits, std::uint32_t i,
                          std::uint32_t min_count, std::uint32_t max_count) {
  for (const ExitToken& exit : exits.exits(i)) {
    if (exit.count > max_count) break;
    if (exit.count >= min_count) set(exit.id);
  }
}

// Sets the tokens of `exits` whose remainder is read from `after` and whose
// count is within the bounds.
void MaskMaker::walk_exits(const ExitTrie& exits, Config after,
                           std::uint32_t min_count, std::uint32_t max_count) {
  if (after.dead()) return;
  set_exits(exits, 0, min_count, max_count);
  if (recogniser_->escaped(after)) {
    escapes_->push_back({.exits = &exits,
                         .node = 0,
                         .min_count = min_count,
                         .max_count = max_count,
                         .at = after});
    return;
  }
  walk_exits(exits, 0, after, min_count, max_count);
}

// The same for remainders strictly below the node `root`, where `at` stands.
void MaskMaker::walk_exits(const ExitTrie& exits, std::uint32_t root, Config at,
                           std::uint32_t min_count, std::uint32_t max_count) {
  Recogniser& recogniser = *recogniser_;
  Config* const states = states_.data();
  const std::uint32_t end = exits.node(root).subtree_end();
  if (root + 1 == end) return;
  auto* const wanted = wanted_bytes_.data();
  states[exits.node(root).depth()] = at;
  wanted[exits.node(root).depth()] = recogniser.likely_bytes(at);
  for (std::uint32_t i = root + 1; i < end;) {
    const TrieNode& node = exits.node(i);
    if (!has_byte(wanted[node.depth() - 1], node.byte())) {
      i = node.subtree_end();
      continue;
    }
    if (from_ != nullptr && node.byte() == '"') {
      for (const ExitToken& exit : exits.subtree_exits(i)) try_token(exit.id);
      i = node.subtree_end();
      continue;
    }
    Config next = recogniser.step(states[node.depth() - 1], node.byte());
    if (next.dead()) {
      i = node.subtree_end();
      continue;
    }
    if (recogniser.escaped(next)) {
      if (real_.dead()) {
        if (!recogniser.unread(next)) {
          set_exits(exits, i, min_count, max_count);
        }
        escapes_->push_back({.exits = &exits,
                             .node = i,
                             .min_count = min_count,
                             .max_count = max_count,
                             .at = next});
        i = node.subtree_end();
        continue;
      }
      next = recogniser.rejoin(real_, next);
      if (next.dead()) {
        i = node.subtree_end();
        continue;
      }
    }
    set_exits(exits, i, min_count, max_count);
    ++i;
    if (i == node.subtree_end()) continue;
    states[node.depth()] = next;
    wanted[node.depth()] = recogniser.likely_bytes(next);
  }
}

// Decides a token byte by byte, from where `from_` stands in it.
void MaskMaker::try_token(Id id) {
  Config at = *from_;
  for (const char c : shared_.vocabulary.bytes(id).substr(from_depth_)) {
    at = recogniser_->step(at, static_cast<std::uint8_t>(c));
    if (at.dead()) return;
  }
  set(id);
}

// --- Inside a free string ----------------------------------------------------

void MaskMaker::in_body(const BodyView& view, Config config) {
  const BodyTable& table = shared_.tables.body(view.state);
  if (table.has_at_most(view.max_chars)) {
    builder_.start({.words = table.inner_at_most(view.max_chars).data()});
  } else {
    builder_.start({});
    add_inner(table, view.max_chars);
  }
  leave_body(table, view, 0, config);
}

void MaskMaker::add_inner(const BodyTable& table, std::uint32_t max_chars) {
  for (const Id id : table.by_chars().first(table.count_at_most(max_chars))) {
    builder_.set(id);
  }
}

// Sets the tokens with the closing quote.  `root` is the node of the trie that
// `config` stands at.
void MaskMaker::leave_body(const BodyTable& table, const BodyView& view,
                           std::uint32_t root, Config config) {
  if (view.special) find_exceptions(view, root, config);
  from_ = view.remembers ? &config : nullptr;
  from_depth_ = trie_.node(root).depth();
  const std::uint32_t kind = root != 0 ? json::kLiveBodyStateCount
                                       : static_cast<std::uint32_t>(view.state);
  if (view.ends.empty()) {
    leave_body(table, kind,
               {.min_chars = view.min_chars,
                .max_chars = view.max_chars,
                .after = view.after});
  }
  for (const BodyView::End& end : view.ends) leave_body(table, kind, end);
  from_ = nullptr;
  forget_exceptions();
}

// `kind`: a number of the table.
void MaskMaker::leave_body(const BodyTable& table, std::uint32_t kind,
                           const BodyView::End& end) {
  // Behind a name comes a value, as behind other names.
  const Config value = escapes_ == nullptr && !end.after.dead()
                           ? recogniser_->relative(end.after)
                           : Config{};
  if (value.dead()) {
    walk_exits(table.exits(), end.after, end.min_chars, end.max_chars);
  } else if (from_ == nullptr && end.min_chars == 0 &&
             end.max_chars == BodyView::kMany) {
    leave_name(table.exits(), kind, value, end.after);
  } else {
    real_ = end.after;
    walk_exits(table.exits(), value, end.min_chars, end.max_chars);
    real_ = {};
  }
}

// Sets the tokens of `exits` with what may stand in `value`, which is kept, and
// behind it in `after`.
void MaskMaker::leave_name(const ExitTrie& exits, std::uint32_t kind,
                           Config value, Config after) {
  Config key = value;
  key.extra = ~kind;  // no place has so large a number
  const RelativeMask* mask = relative_->find(key);
  if (mask == nullptr) {
    RelativeMask made;
    escapes_ = &made.escapes;
    exits_ = &made.set;
    walk_exits(exits, value, 0, BodyView::kMany);
    escapes_ = nullptr;
    exits_ = nullptr;
    mask = &relative_->add(key, std::move(made));
  }
  for (const Id id : mask->set) set(id);
  for (const Escape& escape : mask->escapes) {
    follow(escape, escape.at, after);
  }
}

void MaskMaker::find_exceptions(const BodyView& view, std::uint32_t root,
                                Config config) {
  if (root != 0) {
    find_exceptions(view, root, config, root + 1, trie_.subtree_end(root));
    return;
  }
  if (view.state == BodyState::kText) {
    find_quoted_exceptions(view, config);
    return;
  }
  // The nodes of the first bytes lie far apart: only those that matter are
  // looked at.
  for_bytes(recogniser_->special_bytes(config), [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child != 0) {
      find_exceptions(view, 0, config, child, trie_.subtree_end(child));
    }
  });
}

// From the beginning of a token and a character: along the paths that lead to
// a closing quote, which are few.
void MaskMaker::find_quoted_exceptions(const BodyView& view, Config config) {
  constexpr std::uint32_t kTarget = vocab::TokenShapes::kTarget;
  const auto node_of = [](std::uint32_t entry) { return entry & ~kTarget; };
  Recogniser& recogniser = *recogniser_;
  Config* const states = states_.data();
  auto* const wanted = wanted_bytes_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const std::span<const std::uint32_t> paths = shared_.shapes.quotes();
  const auto from_node = [&](std::size_t k, std::uint32_t i) {
    const auto it =
        std::ranges::lower_bound(paths.subspan(k), i, std::less<>(), node_of);
    return static_cast<std::size_t>(it - paths.begin());
  };
  states[0] = config;
  wanted[0] = recogniser.special_bytes(config);
  std::size_t k = 0;
  for_bytes(wanted[0], [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    const std::uint32_t end = trie_.subtree_end(child);
    k = from_node(k, child);
    while (k < paths.size() && node_of(paths[k]) < end) {
      const std::uint32_t i = node_of(paths[k]);
      const TrieNode node = nodes[i];
      const std::size_t depth = node.depth();
      if (!has_byte(wanted[depth - 1], node.byte())) {
        k = from_node(k, node.subtree_end());
        continue;
      }
      const Config next = recogniser.probe(states[depth - 1], node.byte());
      if (i != paths[k]) {
        if (next != view.after) {
          origin_ = config;
          origin_node_ = 0;
          except(i, next);
        }
        ++k;
      } else if (next.dead() || !recogniser.special(next)) {
        k = from_node(k, node.subtree_end());
      } else {
        states[depth] = next;
        wanted[depth] = recogniser.special_bytes(next);
        ++k;
      }
    }
  });
}

// Those among the nodes of [begin, end), which are below `root`.
void MaskMaker::find_exceptions(const BodyView& view, std::uint32_t root,
                                Config config, std::uint32_t begin,
                                std::uint32_t end) {
  Recogniser& recogniser = *recogniser_;
  Config* const states = states_.data();
  BodyState* const bodies = body_states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  states[nodes[root].depth()] = config;
  bodies[nodes[root].depth()] = view.state;
  // Nearly all bytes lead to one place where nothing is special any more.
  Config ordinary;
  auto* const wanted = wanted_bytes_.data();
  wanted[nodes[root].depth()] = recogniser.special_bytes(config);
  for (std::uint32_t i = begin; i < end;) {
    const TrieNode node = nodes[i];
    if (!has_byte(wanted[node.depth() - 1], node.byte())) {
      i = node.subtree_end();
      continue;
    }
    const BodyState body = json::next(bodies[node.depth() - 1], node.byte());
    if (body == BodyState::kDead) {
      i = node.subtree_end();
      continue;
    }
    const Config next = recogniser.probe(states[node.depth() - 1], node.byte());
    if (body == BodyState::kExit) {
      if (next != view.after) {
        origin_ = config;
        origin_node_ = root;
        except(i, next);
      }
      i = node.subtree_end();
      continue;
    }
    if (next.dead() || next == ordinary || !recogniser.special(next)) {
      if (!next.dead()) ordinary = next;
      i = node.subtree_end();
      continue;
    }
    states[node.depth()] = next;
    bodies[node.depth()] = body;
    wanted[node.depth()] = recogniser.special_bytes(next);
    ++i;
  }
}

// Decides the tokens at and below the node `root`, where `at` stands, and keeps
// them from being set otherwise.
void MaskMaker::except(std::uint32_t root, Config at) {
  if (is_exception_.empty()) is_exception_.resize(shared_.tables.mask_words());
  Recogniser& recogniser = *recogniser_;
  Config* const states = states_.data();
  const auto mark = [this](Id id) {
    is_exception_[id >> 5] |= std::uint32_t{1} << (id & 31);
    exceptions_.push_back(id);
  };
  const std::uint32_t end = trie_.subtree_end(root);
  for (std::uint32_t i = root; i < end; ++i) {
    const TrieNode node = trie_.node(i);
    Config& state = states[node.depth()];
    if (i == root) {
      state = at;
    } else {
      state = states[node.depth() - 1];
      if (!state.dead()) state = recogniser.probe(state, node.byte());
    }
    if (recogniser.escaped(state)) state = step_all(origin_, origin_node_, i);
    if (node.token() != kNoToken) {
      mark(node.token());
      for (const vocab::Twin& twin : trie_.duplicates(node.token())) {
        mark(twin.twin);
      }
    }
    if (recogniser.escaped(state)) {
      if (!recogniser.unread(state)) set_node(node);
      escapes_->push_back({.node = i, .at = state});
      state = {};
    } else if (!state.dead()) {
      set_node(node);
    }
  }
}

void MaskMaker::forget_exceptions() {
  for (const Id id : exceptions_) is_exception_[id >> 5] = 0;
  exceptions_.clear();
}

// --- Where a value comes -----------------------------------------------------

// False if the place is none of that kind.
bool MaskMaker::where_a_value_comes(Config config) {
  Recogniser& recogniser = *recogniser_;
  // Equal counts of white space that no token can exhaust.
  const Config place =
      recogniser.relative(recogniser.mask_key(config, vocab::kMaxTokenBytes));
  if (place.dead()) return false;
  const std::uint64_t fingerprint = recogniser.relative_fingerprint(place);
  std::shared_ptr<const RelativeMask> shared_mask;
  const RelativeMask* mask = nullptr;
  if (fingerprint != 0) {
    shared_mask = shared_.values.find(fingerprint);
    mask = shared_mask.get();
  } else {
    mask = relative_->find(place);
  }
  if (mask == nullptr) {
    RelativeMask made = make_relative(place);
    if (fingerprint != 0) {
      shared_mask = shared_.values.add(fingerprint, std::move(made));
      mask = shared_mask.get();
    } else {
      mask = &relative_->add(place, std::move(made));
    }
  }
  builder_.start(mask->base, mask->set, mask->cleared);
  for (const Escape& escape : mask->escapes) {
    follow(
        escape,
        fingerprint != 0 ? recogniser.all_survive(place, escape.at) : escape.at,
        config);
  }
  return true;
}

// Sets the tokens that go on where the value of `config` ends: as `end` says.
void MaskMaker::follow(const Escape& escape, Config end, Config config) {
  Recogniser& recogniser = *recogniser_;
  const Config real = recogniser.rejoin(config, end);
  if (real.dead()) return;
  const bool unread = recogniser.unread(end);
  if (escape.exits == nullptr) {
    if (unread) set_node(trie_.node(escape.node));
    walk(escape.node, real);
    return;
  }
  if (unread) {
    set_exits(*escape.exits, escape.node, escape.min_count, escape.max_count);
  }
  walk_exits(*escape.exits, escape.node, real, escape.min_count,
             escape.max_count);
}

RelativeMask MaskMaker::make_relative(Config place) {
  RelativeMask made;
  escapes_ = &made.escapes;
  between(recogniser_->space(place), place);
  escapes_ = nullptr;
  const std::array bases = {Base{}};
  if (builder_.dense()) builder_.compact(bases);
  const MaskView view = builder_.view();
  made.set.assign(view.set.begin(), view.set.end());
  made.cleared.assign(view.cleared.begin(), view.cleared.end());
  if (view.own_words) {
    const std::size_t count = shared_.tables.mask_words();
    auto words = std::make_shared<Words>(count, shared_.bytes);
    std::copy_n(view.base->words, count, words->data());
    made.base = {.words = words->data(), .owner = words};
  } else {
    made.base = *view.base;
  }
  return made;
}

// --- Between lexemes ---------------------------------------------------------

void MaskMaker::between(const SpaceView& view, Config config) {
  Recogniser& recogniser = *recogniser_;
  const Config quoted = recogniser.step(view.behind, '"');
  const BodyView string = quoted.dead() ? BodyView{} : recogniser.body(quoted);
  const bool opens_string = string.free && string.state == BodyState::kText;
  // The table of white space knows only what JSON has behind it.
  bool only_json = true;
  for (std::size_t i = 0; i < kOtherCount && !view.json; ++i) {
    const auto byte = static_cast<std::uint8_t>(kOtherBytes[i]);
    if (recogniser.step(view.behind, byte).dead()) continue;
    only_json = false;
    break;
  }
  const std::uint32_t max_bytes = only_json ? view.max_bytes : 0;
  start_between(max_bytes, opens_string ? &string : nullptr);

  const auto begin = [&](char c, Config from) {
    const auto byte = static_cast<std::uint8_t>(c);
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    const Config next = recogniser.step(from, byte);
    if (next.dead()) return;
    set_node(trie_.node(child));
    if (recogniser.escaped(next)) {  // never unread: it is the first byte
      escapes_->push_back({.node = child, .at = next});
    } else {
      walk(child, next);
    }
  };
  for (const char c : kJsonBytes) {
    if (c != '"' || !opens_string) begin(c, view.behind);
  }
  if (const std::uint32_t quote = trie_.root_child('"');
      quote != 0 && opens_string) {
    leave_body(shared_.tables.string_start(), string, quote, quoted);
  }
  if (only_json) {
    walk_exits(shared_.tables.white_space().exits(), view.behind, 0, max_bytes);
  } else {
    for (const char c : kOtherBytes) begin(c, view.behind);
    for (const char c : kSpaceBytes) begin(c, config);
  }
}

// Begins with white space of at most `max_bytes`, and with what opens `string`
// and stays inside.
void MaskMaker::start_between(std::uint32_t max_bytes, const BodyView* string) {
  const BodyTable& table = shared_.tables.string_start();
  const std::uint32_t max_chars =
      string == nullptr ? SpaceBases::kNoString
                        : std::min(string->max_chars, table.max_chars());
  const Base base = shared_.space_bases.find(max_bytes, max_chars);
  builder_.start(base);
  if (base.words != nullptr) return;
  for (const auto& token : shared_.tables.white_space().tokens()) {
    if (token.bytes > max_bytes) break;
    builder_.set(token.id);
  }
  if (string != nullptr) add_inner(table, max_chars);
}

// --- In any other text -------------------------------------------------------

void MaskMaker::in_text(Config config) {
  builder_.start({});
  const std::array<std::uint64_t, 4> bytes = recogniser_->first_bytes(config);
  if (recogniser_->by_shapes(config) && nodes_below(bytes) > kManyNodes) {
    shape_walk_.run(*recogniser_, config, builder_.words());
  } else {
    walk_all(config, bytes);
  }
}

// Nodes of the trie of all tokens below those bytes.
std::size_t MaskMaker::nodes_below(
    const std::array<std::uint64_t, 4>& bytes) const {
  std::size_t count = 0;
  for_bytes(bytes, [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child != 0) count += trie_.subtree_end(child) - child;
  });
  return count;
}

// --- Inside another lexeme ---------------------------------------------------

void MaskMaker::in_lexeme(Config config, std::uint64_t fingerprint) {
  Recogniser& recogniser = *recogniser_;
  const std::uint32_t room = recogniser.lexeme_room(config);
  const Config unbounded = recogniser.lexeme_unbounded(config);
  std::shared_ptr<const LexemeMask> mask = lexeme_mask(
      unbounded, fingerprint, BodyView::kMany, room != BodyView::kMany);
  if (mask->need > room) {
    // The bound is near: a mask of its own.
    fingerprint ^= (room + 1) * 0x9E3779B97F4A7C15;
    mask = recogniser.lexeme_by_state(unbounded)
               ? lexeme_mask(unbounded, fingerprint, room, false)
               : lexeme_mask(config, fingerprint, BodyView::kMany, false);
  }
  builder_.start(mask->base, mask->set, mask->cleared);
  for (const LongToken& one : mask->longs) {
    if (one.need <= room) break;
    builder_.clear(one.id);
  }

  Config* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const bool space_done = leave_by_space(config);
  states[0] = config;
  std::uint32_t behind = 0;  // nodes before this one are decided
  for (const std::uint32_t entry : mask->leaving) {
    const std::uint32_t i = entry & ~LexemeMask::kLeaves;
    if (i < behind) continue;
    const TrieNode node = nodes[i];
    if (space_done && node.depth() == 1 && is_space(node.byte())) {
      behind = node.subtree_end();
      continue;
    }
    const Config next = recogniser.step(states[node.depth() - 1], node.byte());
    if (next.dead()) {
      behind = node.subtree_end();
      continue;
    }
    states[node.depth()] = next;
    if ((entry & LexemeMask::kLeaves) != 0) {
      set_node(node);
      walk(i, next);
    }
  }
}

// Tokens that stay within one of the words may stay within another lexeme too,
// and are set already.
void MaskMaker::add_words(Config words) {
  if (words.dead()) return;
  adding_ = true;
  walk_all(words, recogniser_->first_bytes(words));
  adding_ = false;
}

// Sets the tokens that begin with white space if it ends the lexeme and only
// JSON comes behind it; else says false.
bool MaskMaker::leave_by_space(Config config) {
  Recogniser& recogniser = *recogniser_;
  if (recogniser.lexeme_end(config) != Recogniser::kJsonEnd) return false;
  const Config next = recogniser.step(config, ' ');
  if (next.dead()) return false;
  for (const char c : kSpaceBytes) {
    if (recogniser.step(config, static_cast<std::uint8_t>(c)) != next) {
      return false;
    }
  }
  const SpaceView view = recogniser.space(next);
  if (!view.free || !view.json) return false;
  const std::uint32_t max_bytes =
      std::min(view.max_bytes, shared_.space_bases.longest()) + 1;
  const vocab::WhiteSpaceTable& space = shared_.tables.white_space();
  for (const vocab::WhiteSpaceToken& token : space.tokens()) {
    if (token.bytes > max_bytes) break;
    builder_.set(token.id);
  }
  walk_exits(
      space.exits(), view.behind, 0,
      view.max_bytes == BodyView::kMany ? view.max_bytes : view.max_bytes + 1);
  return true;
}

// The mask of what needs at most `room`.  `bounded`: others are asked for that
// have less, see LexemeMask::bounded.
std::shared_ptr<const LexemeMask> MaskMaker::lexeme_mask(
    Config config, std::uint64_t fingerprint, std::uint32_t room,
    bool bounded) {
  Recogniser& recogniser = *recogniser_;
  const int lexeme_end = recogniser.lexeme_end(config);
  // Lexemes that go on alike and end differently are kept apart.
  fingerprint += static_cast<std::uint64_t>(lexeme_end) << 48;
  if (bounded) fingerprint = ~fingerprint;
  if (auto found = shared_.lexemes.find(fingerprint)) return found;

  auto made = std::make_shared<LexemeMask>();
  made->bounded = bounded;
  builder_.start({});
  if (lexeme_end == '"' && recogniser.lexeme_by_state(config)) {
    lexeme_walk_.run(recogniser, shared_.shapes, config.lex, room,
                     builder_.words(), *made);
  } else {
    walk_lexeme(config, lexeme_end, *made);
  }

  const std::array bases = {
      Base{.words = shared_.tables.body(BodyState::kText).inner().data()},
      Base{.words = shared_.tables.all_text().data()}};
  builder_.compact(bases);
  const MaskView view = builder_.view();
  made->set.assign(view.set.begin(), view.set.end());
  made->cleared.assign(view.cleared.begin(), view.cleared.end());
  std::size_t base_bytes = 0;
  if (view.own_words) {
    const std::size_t count = shared_.tables.mask_words();
    base_bytes = Words::bytes(count);
    shared_.store.make_room(base_bytes);
    auto words = std::make_shared<Words>(count, shared_.bytes);
    std::copy_n(view.base->words, count, words->data());
    made->base = {.words = words->data(), .owner = words};
  } else {
    made->base = *view.base;
  }
  made->leaving.shrink_to_fit();
  shared_.store.make_room(made->bytes());
  shared_.lexemes.add(fingerprint, made, base_bytes);
  return made;
}

// Reads all tokens byte by byte.
void MaskMaker::walk_lexeme(Config config, int lexeme_end, LexemeMask& made) {
  Recogniser& recogniser = *recogniser_;
  Config* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  states[0] = config;
  std::size_t listed = 0;  // depth to which the path stands in made.leaving
  for (std::uint32_t i = 1; i < trie_.node_count();) {
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    listed = std::min(listed, depth - 1);
    const Config from = states[depth - 1];
    const Config next = recogniser.step(from, node.byte());
    if (!next.dead() && recogniser.same_lexeme(from, next)) {
      states[depth] = next;
      path_[depth] = i;
      if (node.token() != kNoToken) {
        set_node(node);
        made.need = std::max(made.need, recogniser.lexeme_need(config, next));
      }
      ++i;
      continue;
    }
    // A byte that is dead here may end the lexeme in another recogniser.
    if (may_end(lexeme_end, node.byte())) {
      while (listed < depth - 1) made.leaving.push_back(path_[++listed]);
      made.leaving.push_back(i | LexemeMask::kLeaves);
    }
    i = node.subtree_end();
  }
}

}  // namespace parlance::mask
