// A text and its steps: see text.h.

#include "mask/text.h"

#include <algorithm>
#include <utility>

namespace parlance::mask {

namespace {

// The words of the mask in `row`; those behind them are cleared.
std::span<std::uint32_t> mask_of(std::span<std::int32_t> row,
                                 std::size_t words) {
  std::ranges::fill(row.subspan(words), 0);
  // Signed and unsigned may see each other's memory.
  return {reinterpret_cast<std::uint32_t*>(row.data()), words};
}

}  // namespace

Text::Text(std::shared_ptr<Program> program, std::span<const TokenId> stop_ids)
    : program_(std::move(program)), history_{program_->start()} {
  if (stop_ids.empty()) return;
  std::vector<Id> known;
  known.reserve(stop_ids.size());
  for (const TokenId id : stop_ids) {
    if (id < program_->shared().vocabulary().size()) known.push_back(id);
  }
  stop_ids_ = std::make_shared<const std::vector<Id>>(std::move(known));
}

bool Text::is_stop(Id id) const {
  if (stop_ids_ == nullptr) return program_->shared().is_stop(id);
  return std::ranges::find(*stop_ids_, id) != stop_ids_->end();
}

// --- Masks -------------------------------------------------------------------

void Text::replace_stops(Config config, std::span<std::uint32_t> mask) {
  if (stop_ids_ == nullptr) return;
  const auto set = [&](Id id, bool allowed) {
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    mask[id >> 5] = allowed ? mask[id >> 5] | bit : mask[id >> 5] & ~bit;
  };
  for (const Id id : program_->shared().stop_ids()) set(id, false);
  const bool can_end = program_->can_end(config);
  for (const Id id : *stop_ids_) set(id, can_end);
}

bool Text::fill_bitmask(std::span<std::int32_t> row) {
  if (row.size() < program_->shared().mask_words()) return false;
  fill_place({.config = current(), .terminated = terminated_}, row);
  return !terminated_;
}

bool Text::fill_if_known(std::span<std::int32_t> row) {
  const std::size_t words = program_->shared().mask_words();
  if (terminated_ || row.size() < words) {
    fill_bitmask(row);
    return true;
  }
  const std::span<std::uint32_t> mask = mask_of(row, words);
  if (!program_->fill_if_known(current(), mask)) return false;
  replace_stops(current(), mask);
  return true;
}

void Text::fill_place(const Place& place, std::span<std::int32_t> row) {
  if (place.terminated) {
    std::ranges::fill(row, -1);
    return;
  }
  if (place.config.dead()) {
    std::ranges::fill(row, 0);
    return;
  }
  const std::span<std::uint32_t> mask =
      mask_of(row, program_->shared().mask_words());
  program_->fill(place.config, mask);
  replace_stops(place.config, mask);
}

// --- Steps -------------------------------------------------------------------

bool Text::accept_token(Id id) {
  const Place next =
      follow({.config = current(), .terminated = terminated_}, id);
  if (next.config.dead()) return false;
  if (next.terminated) {
    terminated_ = true;
  } else {
    history_.push_back(next.config);
  }
  return true;
}

std::size_t Text::accept_tokens(std::span<const Id> ids) {
  std::size_t accepted = 0;
  while (accepted < ids.size() && accept_token(ids[accepted])) ++accepted;
  return accepted;
}

bool Text::accept_bytes(std::string_view bytes) {
  if (terminated_) return false;
  const Config next = program_->read(current(), bytes);
  if (next.dead()) return false;
  history_.push_back(next);
  return true;
}

bool Text::rollback(std::size_t steps) {
  if (steps > this->steps()) return false;
  if (steps == 0) return true;
  history_.resize(history_.size() - (steps - terminated_));
  terminated_ = false;
  return true;
}

void Text::reset() {
  history_.resize(1);
  terminated_ = false;
}

// --- Forced tokens -----------------------------------------------------------

std::string Text::forced_bytes(std::size_t limit) {
  if (terminated_) return {};
  Config end;
  return program_->forced_bytes(current(), limit, &end);
}

std::vector<Id> Text::forced_tokens() {
  constexpr std::size_t kLimit = 4096;
  std::vector<Id> tokens;
  if (terminated_) return tokens;
  Config end;
  const std::string bytes = program_->forced_bytes(current(), kLimit, &end);
  const vocab::TokenTrie& trie = program_->shared().tables().trie();
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint32_t node = 0;
    std::size_t i = at;
    Id longest = vocab::kNoToken;
    std::size_t longest_end = at;
    while (i < bytes.size()) {
      const std::uint32_t child =
          trie.child(node, static_cast<std::uint8_t>(bytes[i]));
      if (child == 0) break;
      node = child;
      ++i;
      if (trie.token(node) == vocab::kNoToken) continue;
      longest = trie.token(node);
      longest_end = i;
    }
    // A longer token may cover the end and go on with what is not forced.
    const bool all = i == bytes.size();
    if (longest == vocab::kNoToken || is_stop(longest) ||
        (all && program_->any_below(node, end))) {
      break;
    }
    tokens.push_back(longest);
    at = longest_end;
  }
  return tokens;
}

// --- Draft trees -------------------------------------------------------------

Text::Place Text::follow(const Place& from, std::int64_t token) {
  const Shared& shared = program_->shared();
  if (from.terminated || from.config.dead() || token < 0 ||
      static_cast<std::uint64_t>(token) >= shared.vocabulary().size()) {
    return {};
  }
  const Id id = static_cast<Id>(token);
  if (is_stop(id)) {
    if (!program_->can_end(from.config)) return {};
    return {.config = from.config, .terminated = true};
  }
  return {.config = program_->read_token(from.config, id)};
}

namespace {

// Whether the links make each of the nodes a descendant of node 0, once.
bool is_tree(std::span<const std::int64_t> first_child,
             std::span<const std::int64_t> next_sibling) {
  const std::size_t count = first_child.size();
  std::vector<bool> reached(count);
  std::vector<std::size_t> left = {0};
  std::size_t reached_count = 0;
  if (count == 0 || next_sibling[0] != -1) return false;
  while (!left.empty()) {
    const std::size_t node = left.back();
    left.pop_back();
    if (reached[node]) return false;
    reached[node] = true;
    ++reached_count;
    for (const std::int64_t link : {first_child[node], next_sibling[node]}) {
      if (link == -1) continue;
      if (link < 0 || static_cast<std::uint64_t>(link) >= count) return false;
      left.push_back(static_cast<std::size_t>(link));
    }
  }
  return reached_count == count;
}

}  // namespace

bool Text::fill_tree(std::span<const std::int64_t> first_child,
                     std::span<const std::int64_t> next_sibling,
                     std::span<const std::int64_t> tokens,
                     std::span<std::int32_t> rows) {
  const std::size_t words = program_->shared().mask_words();
  const std::size_t count = tokens.size();
  if (first_child.size() != count || next_sibling.size() != count ||
      rows.size() / std::max<std::size_t>(words, 1) < count ||
      !is_tree(first_child, next_sibling)) {
    return false;
  }
  // Nodes to visit, and the place before their token.
  std::vector<std::pair<std::size_t, Place>> left;
  const auto visit = [&](std::size_t node, const Place& place) {
    fill_place(place, rows.subspan(node * words, words));
    if (first_child[node] < 0) return;
    left.emplace_back(static_cast<std::size_t>(first_child[node]), place);
  };
  visit(0, {.config = current(), .terminated = terminated_});
  while (!left.empty()) {
    const auto [node, before] = left.back();
    left.pop_back();
    if (next_sibling[node] >= 0) {
      left.emplace_back(static_cast<std::size_t>(next_sibling[node]), before);
    }
    visit(node, follow(before, tokens[node]));
  }
  return true;
}

}  // namespace parlance::mask
