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
                 std::shared_ptr<Recogniser> recogniser,
                 std::shared_ptr<const grammar::Marks> marks)
    : shared_(std::move(shared)),
      recogniser_(std::move(recogniser)),
      marks_(std::move(marks)) {
  const Recogniser::Lock lock(*recogniser_);
  start_ = recogniser_->start();
  masks_ = masks_of(*recogniser_, shared_->owner());
}

// --- Masks -------------------------------------------------------------------

// Places with equal keys have the same mask.
Config Program::key_of(Config config) {
  return recogniser_->twin(recogniser_->mask_key(config, shared_->longest()));
}

// The mask knows nothing of stop tokens: one that has a text is in it as that,
// one that is a mark as that.  A stop token is never text, and a mark only
// where the text may end behind it.
void Program::set_stops(Config config, bool can_end, const StopSet& stops,
                        std::span<std::uint32_t> row) {
  for (const Id id : stops.ids()) {
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    const bool fits =
        can_end || ((row[id >> 5] & bit) != 0 && ends_with(config, id));
    row[id >> 5] = fits ? row[id >> 5] | bit : row[id >> 5] & ~bit;
  }
  for (const Id id : stops.never()) {
    row[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
  }
}

// Whether the token is a mark with which the text may end.  Most stop tokens
// are none, and the recogniser is not asked.
bool Program::ends_with(Config config, Id id) {
  if (marks_ == nullptr || !marks_->mark_of(id)) return false;
  const Recogniser::Lock lock(*recogniser_);
  return recogniser_->can_end(recogniser_->step_token(config, {}, id));
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

bool Program::fill_if_known(Config config, const StopSet& stops,
                            std::span<std::uint32_t> row) {
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
  set_stops(config, can_end, stops, row);
  return true;
}

void Program::fill(Config config, const StopSet& stops,
                   std::span<std::uint32_t> row) {
  if (fill_if_known(config, stops, row)) return;
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
  set_stops(config, can_end, stops, row);
}

// --- Reading -----------------------------------------------------------------

// Reads a mark that may come here and that `bytes` begin with, and takes it
// away from them; else dead.
// REQUIRES: the recogniser is locked.
Config Program::read_mark(Config config, std::string_view* bytes) {
  if (marks_ == nullptr) return {};
  const std::optional<std::uint32_t> mark = marks_->spelled_at(*bytes);
  if (!mark) return {};
  const grammar::Mark& one = marks_->marks()[*mark];
  const Config to = recogniser_->step_token(config, {}, one.ids.front());
  if (!to.dead()) bytes->remove_prefix(one.spelling.size());
  return to;
}

Config Program::read_locked(Config config, std::string_view bytes) {
  while (!bytes.empty() && !config.dead()) {
    const Config marked = read_mark(config, &bytes);
    if (!marked.dead()) {
      config = marked;
      continue;
    }
    config =
        recogniser_->step(config, static_cast<std::uint8_t>(bytes.front()));
    bytes.remove_prefix(1);
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
  Config read = bytes.empty() ? Config{} : config;
  for (const char byte : bytes) {
    if (read.dead()) break;
    read = recogniser_->step(read, static_cast<std::uint8_t>(byte));
  }
  return recogniser_->step_token(config, read, id);
}

bool Program::can_stop(Config config, Id id) {
  return can_end(config) || ends_with(config, id);
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

// Tries all bytes until a second one fits, then marks.  A token that is read by
// its id is another choice, unless it is the only one.
Program::Next Program::find_next(Config config) {
  Next next;
  next.from = config;
  const bool can_end = recogniser_->can_end(config);
  int found = can_end ? 2 : 0;
  std::vector<std::uint32_t> ids;
  recogniser_->token_marks(
      config, static_cast<std::uint32_t>(shared_->vocabulary().size()), ids);
  for (std::int32_t byte = 0; byte < 256 && found < 2 && ids.empty(); ++byte) {
    const Config to =
        recogniser_->step(config, static_cast<std::uint8_t>(byte));
    if (to.dead()) continue;
    ++found;
    next.to = to;
    next.byte = static_cast<std::int16_t>(byte);
  }
  if (found < 2 && marks_ != nullptr) {
    return next_with_marks(config, std::move(ids), next);
  }
  if (found == 1 && ids.empty()) return next;
  // Bytes are tried in order and no tail stands before 0x80, so if the second
  // is a tail the first is a tail or ASCII; only in a character there are but
  // tails.
  next.byte = !can_end && found == 2 && is_tail(next.byte)
                  ? MachineMasks::kInCharacter
                  : MachineMasks::kChoice;
  next.to = {};
  return next;
}

// `next`: the only byte, if one fits; not known where there are `ids`.
Program::Next Program::next_with_marks(Config config,
                                       std::vector<std::uint32_t> ids,
                                       Next next) {
  recogniser_->token_choices(config, ids);
  std::optional<std::uint32_t> only;
  bool choice = false;
  for (const Id id : ids) {
    const Config to = recogniser_->step_token(config, {}, id);
    if (to.dead()) continue;
    const std::optional<std::uint32_t> mark = marks_->mark_of(id);
    choice = choice || !mark || (only && *only != *mark);
    only = mark;
    if (next.byte == MachineMasks::kChoice) next.to = to;
  }
  if (only && next.byte == MachineMasks::kChoice) {
    // Bytes may come beside it.
    for (std::int32_t byte = 0; byte < 256 && !choice; ++byte) {
      choice =
          !recogniser_->step(config, static_cast<std::uint8_t>(byte)).dead();
    }
    next.byte = MachineMasks::kMark;
    next.mark = *only;
  } else if (only) {
    choice = true;
  }
  if (!choice) return next;
  next.byte = MachineMasks::kChoice;
  next.to = {};
  return next;
}

bool Program::nothing_follows(Config config) {
  const Recogniser::Lock lock(*recogniser_);
  std::vector<std::uint32_t> ids;
  recogniser_->token_marks(
      config, static_cast<std::uint32_t>(shared_->vocabulary().size()), ids);
  if (!ids.empty()) return false;
  for (std::int32_t byte = 0; byte < 256; ++byte) {
    if (!recogniser_->step(config, static_cast<std::uint8_t>(byte)).dead()) {
      return false;
    }
  }
  return true;
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

std::vector<Program::Forced> Program::forced(Config config, std::size_t limit,
                                             Config* end) {
  const Recogniser::Lock lock(*recogniser_);
  std::vector<Forced> out;
  std::size_t size = 0;
  // Of the last piece, where its last whole character ended.
  std::size_t whole = 0;
  *end = config;
  if (config.dead()) return out;
  for (;;) {
    const Next& next = next_forced(config);
    if (next.byte != MachineMasks::kInCharacter && !is_tail(next.byte)) {
      whole = out.empty() ? 0 : out.back().text.size();
      *end = config;
    }
    if (next.byte == MachineMasks::kMark) {
      const grammar::Mark& mark = marks_->marks()[next.mark];
      if (size + mark.spelling.size() > limit) break;
      size += mark.spelling.size();
      out.push_back({mark.spelling, mark.ids.front()});
    } else {
      if (next.byte < 0 || size >= limit) break;
      ++size;
      if (out.empty() || out.back().mark) {
        out.emplace_back();
        whole = 0;
      }
      out.back().text.push_back(static_cast<char>(next.byte));
    }
    config = next.to;
  }
  if (!out.empty()) out.back().text.resize(whole);
  if (!out.empty() && out.back().text.empty()) out.pop_back();
  return out;
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
