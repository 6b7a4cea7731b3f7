// One recogniser and one vocabulary: see program.h.

#include "mask/program.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "grammar/config_hash.h"

namespace parlance::mask {

using grammar::Recogniser;

namespace {

// REQUIRES: the recogniser is locked.
std::shared_ptr<MachineMasks> masks_of(Recogniser& recogniser,
                                       std::uint64_t owner) {
  if (auto known = recogniser.attachment(owner)) {
    return std::static_pointer_cast<MachineMasks>(std::move(known));
  }
  auto made = std::make_shared<MachineMasks>();
  recogniser.attach(owner, made);
  return made;
}

}  // namespace

Program::Program(std::shared_ptr<Shared> shared,
                 std::shared_ptr<Recogniser> recogniser)
    : shared_(std::move(shared)), recogniser_(std::move(recogniser)) {
  const Recogniser::Lock lock(*recogniser_);
  start_ = recogniser_->start();
  masks_ = masks_of(*recogniser_, shared_->owner());
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

// A mask that was made for the same place of the same part, maybe in another
// grammar.
MaskHandle Program::known_to_part(Config config) {
  const Recogniser::Inside in = recogniser_->inside_of(config);
  if (in.part == nullptr) return {};
  const auto known = in.part->attachment(shared_->owner());
  if (known == nullptr) return {};
  return static_cast<MachineMasks&>(*known).find_as_part(
      in.part->mask_key(in.config, shared_->longest()), in.behind);
}

// REQUIRES: the mask was made since known_to_part().
void Program::tell_part(Config config, MaskHandle handle) {
  const bool outside = recogniser_->went_outside();
  const Recogniser::Inside in = recogniser_->inside_of(config);
  if (in.part == nullptr) return;
  if (outside && !shared_->no_token_passes(in.behind)) return;
  const Config key = in.part->mask_key(in.config, shared_->longest());
  MachineMasks& known = *masks_of(*in.part, shared_->owner());
  if (outside) {
    known.insert_behind(in.behind, key, handle);
  } else {
    known.anywhere.insert(key, handle);
  }
}

bool Program::fill_if_known(Config config, std::span<std::uint32_t> row) {
  MaskHandle handle;
  bool can_end = false;
  {
    const Recogniser::Lock lock(*recogniser_);
    can_end = recogniser_->can_end(config);
    const Config key = key_of(config);
    handle = masks_->memo.find(key);
    if (!handle && (handle = known_to_part(config))) {
      masks_->memo.insert(key, handle);
    }
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
    const Recogniser::Lock lock(*recogniser_);
    can_end = recogniser_->can_end(config);
    const Config key = key_of(config);
    recogniser_->inside_of(config);
    recogniser_->watch();
    builder = &maker->make(*recogniser_, config, masks_->relative);
    recogniser_->watched(config);
    if (const MaskHandle handle = shared_->store().intern(builder->view())) {
      masks_->memo.insert(key, handle);
      tell_part(config, handle);
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
  const Recogniser::Lock lock(*recogniser_);
  return read_locked(config, bytes);
}

Config Program::read_token(Config config, Id id) {
  if (shared_->vocabulary().kind(id) == TokenKind::kUnused) return {};
  const std::string_view bytes = shared_->text(id);
  const Recogniser::Lock lock(*recogniser_);
  const Config read = bytes.empty() ? Config{} : read_locked(config, bytes);
  return recogniser_->step_token(config, read, id);
}

bool Program::can_end(Config config) {
  const Recogniser::Lock lock(*recogniser_);
  return recogniser_->can_end(config);
}

std::size_t Program::memory_bytes() {
  const Recogniser::Lock lock(*recogniser_);
  return sizeof(Program) + recogniser_->memory_bytes();
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
  next.byte = !can_end && found == 2 && is_tail(next.byte)
                  ? MachineMasks::kInCharacter
                  : MachineMasks::kChoice;
  next.to = {};
  return next;
}

const Program::Next& Program::next_forced(Config config) {
  auto& known = masks_->next;
  if (known == nullptr) {
    known = std::make_unique<std::array<Next, MachineMasks::kNextCount>>();
  }
  Next& next =
      (*known)[grammar::ConfigHash()(config) % MachineMasks::kNextCount];
  if (next.from != config) next = find_next(config);
  return next;
}

std::string Program::forced_bytes(Config config, std::size_t limit,
                                  Config* end) {
  const Recogniser::Lock lock(*recogniser_);
  std::string bytes;
  // Where the last whole character ended.
  std::size_t whole = 0;
  *end = config;
  if (config.dead()) return bytes;
  for (;;) {
    const Next& next = next_forced(config);
    if (next.byte != MachineMasks::kInCharacter && !is_tail(next.byte)) {
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
  const Recogniser::Lock lock(*recogniser_);
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
