// One recogniser and one vocabulary: see program.h.

#include "mask/program.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace parlance::mask {

using grammar::Recogniser;

Program::Program(std::shared_ptr<Shared> shared,
                 std::shared_ptr<Recogniser> recogniser)
    : shared_(std::move(shared)), recogniser_(std::move(recogniser)) {
  const std::lock_guard lock(recogniser_->mutex);
  start_ = recogniser_->start();
}

// --- Masks -------------------------------------------------------------------

// Places with equal keys have the same mask.
Config Program::key_of(Config config) {
  return recogniser_->twin(recogniser_->mask_key(config, shared_->longest()));
}

// A stop token is never text, so its bit is decided here alone.
void Program::set_stops(bool can_end, std::span<std::uint32_t> row) const {
  for (const Id id : shared_->stop_ids()) {
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    if (can_end) {
      row[id >> 5] |= bit;
    } else {
      row[id >> 5] &= ~bit;
    }
  }
}

bool Program::fill_if_known(Config config, std::span<std::uint32_t> row) {
  MaskHandle handle;
  bool can_end = false;
  {
    const std::lock_guard lock(recogniser_->mutex);
    can_end = recogniser_->can_end(config);
    handle = memo_.find(key_of(config));
  }
  const MaskView* mask = shared_->store().pin(handle);
  if (mask == nullptr) return false;
  mask->write(row);
  shared_->store().unpin(handle);
  shared_->count_hit();
  set_stops(can_end, row);
  return true;
}

void Program::fill(Config config, std::span<std::uint32_t> row) {
  if (fill_if_known(config, row)) return;
  shared_->count_miss();
  std::unique_ptr<MaskMaker> maker = shared_->take_maker();
  const MaskBuilder* builder = nullptr;
  bool can_end = false;
  {
    const std::lock_guard lock(recogniser_->mutex);
    can_end = recogniser_->can_end(config);
    const Config key = key_of(config);
    recogniser_->watch();
    builder = &maker->make(*recogniser_, config, relative_);
    recogniser_->watched(config);
    if (const MaskHandle handle = shared_->store().intern(builder->view())) {
      memo_.insert(key, handle);
    }
  }
  builder->view().write(row);
  shared_->give_back(std::move(maker));
  set_stops(can_end, row);
}

// --- Reading -----------------------------------------------------------------

Config Program::read_locked(Config config, std::string_view bytes) {
  for (const char byte : bytes) {
    if (config.dead()) break;
    config = recogniser_->step(config, static_cast<std::uint8_t>(byte));
  }
  return config;
}

Config Program::read(Config config, std::string_view bytes) {
  const std::lock_guard lock(recogniser_->mutex);
  return read_locked(config, bytes);
}

Config Program::read_token(Config config, Id id) {
  if (shared_->vocabulary().kind(id) == TokenKind::kUnused) return {};
  const std::string_view bytes = shared_->text(id);
  const std::lock_guard lock(recogniser_->mutex);
  const Config read = bytes.empty() ? Config{} : read_locked(config, bytes);
  return recogniser_->step_token(config, read, id);
}

bool Program::can_end(Config config) {
  const std::lock_guard lock(recogniser_->mutex);
  return recogniser_->can_end(config);
}

std::size_t Program::memory_bytes() {
  const std::lock_guard lock(recogniser_->mutex);
  return sizeof(Program) + recogniser_->memory_bytes() + memo_.memory_bytes() +
         relative_.memory_bytes() + (next_ == nullptr ? 0 : sizeof(*next_));
}

// --- Forced bytes ------------------------------------------------------------

namespace {

bool is_tail(std::int32_t byte) { return 0x80 <= byte && byte < 0xC0; }

}  // namespace

// Tries all bytes until a second one fits.  A token that is read by its id is
// another choice.
Program::Next Program::find_next(Config config) {
  Next next;
  next.from = config;
  const bool can_end = recogniser_->can_end(config);
  std::vector<std::uint32_t> marks;
  recogniser_->token_marks(
      config, static_cast<std::uint32_t>(shared_->vocabulary().size()), marks);
  int found = can_end || !marks.empty() ? 2 : 0;
  for (std::int32_t byte = 0; byte < 256 && found < 2; ++byte) {
    const Config to =
        recogniser_->step(config, static_cast<std::uint8_t>(byte));
    if (to.dead()) continue;
    ++found;
    next.to = to;
    next.byte = static_cast<std::int16_t>(byte);
  }
  if (found == 1) return next;
  // Bytes are tried in order and no tail stands before 0x80, so if the second
  // is a tail the first is a tail or ASCII; only in a character there are but
  // tails.
  next.byte =
      !can_end && found == 2 && is_tail(next.byte) ? kInCharacter : kChoice;
  next.to = {};
  return next;
}

const Program::Next& Program::next_forced(Config config) {
  if (next_ == nullptr) {
    next_ = std::make_unique<std::array<Next, kNextCount>>();
  }
  std::uint64_t h = (std::uint64_t{config.lex} << 32 | config.frame) ^
                    (std::uint64_t{config.count} << 16 ^ config.extra);
  h *= 0x9E3779B97F4A7C15;
  Next& next = (*next_)[h >> 56];
  if (next.from != config) next = find_next(config);
  return next;
}

std::string Program::forced_bytes(Config config, std::size_t limit,
                                  Config* end) {
  const std::lock_guard lock(recogniser_->mutex);
  std::string bytes;
  // Where the last whole character ended.
  std::size_t whole = 0;
  *end = config;
  if (config.dead()) return bytes;
  for (;;) {
    const Next& next = next_forced(config);
    if (next.byte != kInCharacter && !is_tail(next.byte)) {
      whole = bytes.size();
      *end = config;
    }
    if (next.byte < 0 || bytes.size() >= limit) break;
    bytes.push_back(static_cast<char>(next.byte));
    config = next.to;
  }
  bytes.resize(whole);
  return bytes;
}

bool Program::any_below(std::uint32_t root, Config config) {
  const vocab::TokenTrie& trie = shared_->tables().trie();
  std::vector<Config> states(vocab::kMaxTokenBytes + 1);
  states[trie.depth(root)] = config;
  const std::lock_guard lock(recogniser_->mutex);
  for (std::uint32_t i = root + 1; i < trie.subtree_end(root);) {
    const vocab::TrieNode node = trie.node(i);
    const Config next =
        recogniser_->step(states[node.depth() - 1u], node.byte());
    if (next.dead()) {
      i = node.subtree_end();
      continue;
    }
    if (node.token() != vocab::kNoToken) return true;
    states[node.depth()] = next;
    ++i;
  }
  return false;
}

}  // namespace parlance::mask
