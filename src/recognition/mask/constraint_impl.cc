// One recogniser and one vocabulary: see constraint_impl.h.

#include "mask/constraint_impl.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/in_quotes.h"
#include "base/unwinding.h"
#include "base/work.h"
#include "mask/ablation.h"
#include "recogniser/configuration_hash.h"

namespace parlance::mask {

using recogniser::Language;
using recogniser::Recogniser;

namespace {

// Whether the question of this thread can still be answered.  It cannot once it
// was stopped, or has met a recogniser that is spoiled.
bool may_go_on() { return base::work_left() && !base::thread_work.spoiled; }

// REQUIRES: the recogniser is locked.
std::shared_ptr<RecogniserMasks> masks_of(Recogniser& recogniser,
                                          std::uint64_t owner) {
  if (auto known = recogniser.user_data(owner)) {
    return std::static_pointer_cast<RecogniserMasks>(std::move(known));
  }
  auto made = std::make_shared<RecogniserMasks>();
  recogniser.set_user_data(owner, made);
  return made;
}

}  // namespace

ConstraintImpl::ConstraintImpl(std::shared_ptr<CompilerImpl> compiler,
                               std::shared_ptr<Language> language,
                               std::shared_ptr<const rules::Marks> marks)
    : compiler_(std::move(compiler)),
      marks_(std::move(marks)),
      language_(std::move(language)),
      current_(make_generation(language_->with_room())),
      traits_(current_->recogniser->traits()) {}

// --- Generations -------------------------------------------------------------

std::shared_ptr<Generation> ConstraintImpl::make_generation(
    std::shared_ptr<Recogniser> recogniser) {
  auto made = std::make_shared<Generation>();
  made->recogniser = std::move(recogniser);
  const Recogniser::Lock recogniser_used(*made->recogniser);
  made->start = made->recogniser->start();
  made->masks = masks_of(*made->recogniser, compiler_->owner());
  return made;
}

// A question that was stopped spoils whatever it uses, so it gets no other
// tables: they would be spoiled before they are used.
std::shared_ptr<Generation> ConstraintImpl::newest_generation() {
  const std::lock_guard lock(generations_mutex_);
  if (current_->full() && base::work_left()) {
    std::shared_ptr<Recogniser> next = language_->with_room();
    if (next != current_->recogniser) {
      previous_ = std::exchange(current_, make_generation(std::move(next)));
    }
  }
  return current_;
}

Configuration ConstraintImpl::adopt(const Position& position, Generation& by) {
  Configuration config = position.config;
  Configuration* const moved = &config;
  if (!config.dead()) {
    Recogniser::move(*position.in->recogniser, *by.recogniser, {&moved, 1});
  }
  return config;
}

// The input is read by an empty recogniser, which is replaced whenever it is
// full, and only the last configuration is adopted.  So the tables of `by` do
// not grow by what was read on the way.
Position ConstraintImpl::replay(const InputLog& input,
                                const std::shared_ptr<Generation>& by) {
  std::shared_ptr<Recogniser> empty = by->recogniser->fresh();
  Position position{empty == nullptr ? by : make_generation(std::move(empty)),
                    {}};
  position.config = position.in->start;
  for (std::size_t i = 0; i < input.size() && !position.dead(); ++i) {
    if (!may_go_on()) break;
    const base::RepeatedWork again;
    if (position.in->full()) {
      position = in_private_generation(position, 0);
    }
    position = input.is_token(i) ? read_token(position, input.token(i))
                                 : read(position, input.bytes(i));
  }
  if (position.in == by || position.dead()) return position;
  const Position to{by, adopt(position, *by)};
  return to.dead() ? position : to;
}

// The configurations of a spoiled recogniser are right, too (adopt()), so
// nothing is read again unless the tables are gone: after a rollback, or
// because others have filled two generations since.
//
// What others wrote may be why the tables are new, and must not stop the
// question; so the work for it is counted beside the limit.
Position ConstraintImpl::move_to_newest(const Position& position,
                                        const InputLog& input) {
  const base::RepeatedWork moved;
  const std::shared_ptr<Generation> newest = newest_generation();
  if (position.in == newest) return position;
  if (position.in != nullptr) {
    Position to{newest, adopt(position, *newest)};
    if (!to.dead()) return to;
  }
  return replay(input, newest);
}

Position ConstraintImpl::in_private_generation(const Position& position,
                                               std::size_t room) {
  Configuration config = position.config;
  Configuration* const moved = &config;
  auto empty = position.in->recogniser->renewed(room, {&moved, 1});
  if (empty == nullptr) return position;
  return {make_generation(std::move(empty)), config};
}

template <class Question>
auto ConstraintImpl::retry_with_memory(Position position, Question question) {
  constexpr std::size_t kRoom = std::size_t{1} << 16;
  for (std::size_t room = kRoom;; room *= 2) {
    auto answer = question(position);
    if (!position.in->overflowed() || !may_go_on()) {
      return answer;
    }
    position = in_private_generation(position, room);
  }
}

// --- Masks -------------------------------------------------------------------

// Configurations with equal keys have the same mask.
Configuration ConstraintImpl::mask_key_of(Recogniser& recogniser,
                                          Configuration config) {
  const Configuration key =
      is_off(Shortcut::kMaskKey)
          ? config
          : recogniser.mask_key(config, compiler_->longest());
  return is_off(Shortcut::kMaskEquivalent) ? key
                                           : recogniser.mask_equivalent(key);
}

// The configuration whose mask is made for `config`.  Where a part counts and
// has no hints, a walk over tokens meets fewer configurations from the key.
Configuration ConstraintImpl::without_counts(Recogniser& recogniser,
                                             Configuration config) {
  return recogniser.traits().has_plain_parts && !is_off(Shortcut::kMaskKey)
             ? recogniser.mask_key(config, compiler_->longest())
             : config;
}

// Cached masks do not depend on the stop tokens: in them, a stop token fits if
// its bytes do, or if it is read by its id.  But a matcher never reads a stop
// token as text, and by its id only where the text can end after it.
void ConstraintImpl::set_stops(const Position& position, bool can_end,
                               const StopSet& stops,
                               std::span<std::uint32_t> row) {
  for (const Id id : stops.ids()) {
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    const bool fits =
        can_end || ((row[id >> 5] & bit) != 0 && ends_with(position, id));
    row[id >> 5] = fits ? row[id >> 5] | bit : row[id >> 5] & ~bit;
  }
  for (const Id id : stops.never()) {
    row[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
  }
}

// Whether the text can end with the token, named by the grammar.  Most grammars
// name no stop token; for these the recogniser is not called.
bool ConstraintImpl::ends_with(const Position& position, Id id) {
  const bool mark = marks_ != nullptr && marks_->mark_of(id);
  if (!mark && !traits_.names_tokens) return false;
  return retry_with_memory(position, [&](const Position& at) {
    const Recogniser::Lock use(*at.in->recogniser);
    return use->can_end(use->step_named(at.config, id));
  });
}

namespace {

// Whether `row`, which was made of `mask`, has no bit.  Most masks set more
// tokens than there are stop tokens.
bool is_empty(const MaskView& mask, const StopSet& stops,
              std::span<const std::uint32_t> row) {
  if (mask.set.size() > stops.ids().size() + stops.never().size()) return false;
  return std::ranges::all_of(row, [](std::uint32_t word) { return word == 0; });
}

Recogniser::PartPosition part_at(Recogniser& recogniser, Configuration config) {
  if (is_off(Shortcut::kPartMasks)) return {};
  return recogniser.part_at(config);
}

}  // namespace

// The cached mask of the configuration of the part that reads, which may have
// been made in another grammar.
MaskHandle ConstraintImpl::find_in_part(Recogniser& recogniser,
                                        Configuration config) {
  const Recogniser::PartPosition in = part_at(recogniser, config);
  if (in.part == nullptr) return {};
  const auto known = in.part->user_data(compiler_->owner());
  if (known == nullptr) return {};
  return static_cast<RecogniserMasks&>(*known).find_in_part(
      in.part->mask_key(in.config, compiler_->longest()), in.text_after);
}

// Stores a mask with the part that reads if it holds in other grammars: if
// nothing after the part was read to make it (`past_part`), or if the part is
// always followed by the same text, which no token reads to its end and beyond.
void ConstraintImpl::store_in_part(Recogniser& recogniser, Configuration config,
                                   bool past_part, MaskHandle handle) {
  const Recogniser::PartPosition in = part_at(recogniser, config);
  if (in.part == nullptr) return;
  if (past_part && !compiler_->no_token_extends(in.text_after)) return;
  const Configuration key = in.part->mask_key(in.config, compiler_->longest());
  RecogniserMasks& known = *masks_of(*in.part, compiler_->owner());
  if (past_part) {
    known.insert_followed_by(in.text_after, key, handle);
  } else {
    known.independent.insert(key, handle);
  }
}

std::pair<MaskHandle, bool> ConstraintImpl::find_known(
    const Position& position) {
  const Recogniser::Lock use(*position.in->recogniser);
  if (use->overflowed()) return {};
  RecogniserMasks& masks = *position.in->masks;
  const bool can_end = use->can_end(position.config);
  const Configuration key = mask_key_of(*use, position.config);
  MaskHandle handle = masks.memo.find(key);
  if (!handle && (handle = find_in_part(*use, position.config))) {
    masks.memo.insert(key, handle);
  }
  return {handle, can_end};
}

std::optional<KnownMask> ConstraintImpl::known_mask(const Position& position,
                                                    const StopSet& stops) {
  if (position.dead() || stops.ids().size() > 30) return std::nullopt;
  const auto [handle, can_end] = find_known(position);
  if (!handle) return std::nullopt;
  KnownMask out{handle, can_end ? 1U : 0U};
  for (std::size_t i = 0; !can_end && i < stops.ids().size(); ++i) {
    if (ends_with(position, stops.ids()[i])) {
      out.ends |= std::uint32_t{2} << i;
    }
  }
  return out;
}

bool ConstraintImpl::fill_if_known(const Position& position,
                                   const StopSet& stops,
                                   std::span<std::uint32_t> row) {
  const auto [handle, can_end] = find_known(position);
  const MaskView* mask = compiler_->store().pin(handle);
  if (mask == nullptr) return false;
  mask->write(row);
  compiler_->count_hit();
  set_stops(position, can_end, stops, row);
  const bool some = !is_empty(*mask, stops, row);
  compiler_->store().unpin(handle);
  return some;
}

bool ConstraintImpl::fill(const Position& position, const StopSet& stops,
                          std::span<std::uint32_t> row) {
  if (fill_if_known(position, stops, row)) return true;
  compiler_->count_miss();
  std::unique_ptr<MaskMaker> maker = compiler_->acquire_maker();
  const MaskBuilder* builder = nullptr;
  bool can_end = false;
  bool made = false;
  {
    const Recogniser::Lock use(*position.in->recogniser);
    RecogniserMasks& masks = *position.in->masks;
    can_end = use->can_end(position.config);
    if (!use->overflowed()) {
      const Configuration from = without_counts(*use, position.config);
      use->begin_tracking();
      builder = &maker->make(*use, from, masks);
      const bool past_part = use->end_tracking(from);
      made = !use->overflowed() && base::work_left();
      const MaskHandle handle =
          made ? compiler_->store().intern(builder->view()) : MaskHandle{};
      if (handle) {
        // The key is made of the things that this mask depends on.  The key
        // before may belong to masks of another vocabulary, which depend on
        // fewer.
        masks.memo.insert(mask_key_of(*use, position.config), handle);
        store_in_part(*use, position.config, past_part, handle);
        if (maker->read_most()) {
          masks.last_read = (masks.last_read + 1) % masks.lately.size();
          masks.lately[masks.last_read] = from;
        }
      }
    }
  }
  if (made) builder->view().write(row);
  compiler_->release_maker(std::move(maker));
  if (!made && may_go_on()) fill_with_low_memory(position, row);
  set_stops(position, can_end, stops, row);
  return !is_empty({}, stops, row) || !may_go_on();
}

// --- Reading -----------------------------------------------------------------

// If `bytes` begin with the spelling of a mark that is possible here, removes
// the spelling and returns the configuration after the mark.  Else returns a
// dead configuration.
// REQUIRES: the recogniser is locked.
Configuration ConstraintImpl::read_mark(Recogniser& recogniser,
                                        Configuration config,
                                        std::string_view* bytes) {
  if (marks_ == nullptr) return {};
  Configuration to;
  const rules::Mark* const mark =
      marks_->spelled_at(*bytes, [&](const rules::Mark& one) {
        to = recogniser.step_token(config, {}, one.ids.front());
        return !to.dead();
      });
  if (mark != nullptr) bytes->remove_prefix(mark->spelling.size());
  return to;
}

Configuration ConstraintImpl::read_locked(Recogniser& recogniser,
                                          Configuration config,
                                          std::string_view bytes) {
  while (!bytes.empty() && !config.dead()) {
    const Configuration marked = read_mark(recogniser, config, &bytes);
    if (!marked.dead()) {
      config = marked;
      continue;
    }
    config = recogniser.step(config, static_cast<std::uint8_t>(bytes.front()));
    bytes.remove_prefix(1);
  }
  return config;
}

Configuration ConstraintImpl::read_locked(Recogniser& recogniser,
                                          Configuration config, Id id) {
  const std::string_view bytes = compiler_->text(id);
  Configuration read = bytes.empty() ? Configuration{} : config;
  for (const char byte : bytes) {
    if (read.dead()) break;
    read = recogniser.step(read, static_cast<std::uint8_t>(byte));
  }
  return recogniser.step_token(config, read, id);
}

// Reads all bytes at once if the memory suffices.  Else reads one byte or mark
// at a time, each with as much memory as it needs.
Position ConstraintImpl::read(Position position, std::string_view bytes) {
  {
    const Recogniser::Lock use(*position.in->recogniser);
    const Configuration to = read_locked(*use, position.config, bytes);
    if (!use->overflowed()) return {position.in, to};
  }
  while (!bytes.empty() && !position.dead() && may_go_on()) {
    std::string_view rest;
    position = retry_with_memory(position, [&](const Position& at) {
      const Recogniser::Lock use(*at.in->recogniser);
      rest = bytes;
      Configuration to = read_mark(*use, at.config, &rest);
      if (to.dead()) {
        to = use->step(at.config, static_cast<std::uint8_t>(rest.front()));
        rest.remove_prefix(1);
      }
      return Position{at.in, to};
    });
    bytes = rest;
    if (position.in->full()) {
      position = in_private_generation(position, 0);
    }
  }
  return position;
}

std::optional<Configuration> ConstraintImpl::read_token_here(
    const Position& position, Id id) {
  if (compiler_->vocabulary().kind(id) == TokenKind::kUnused) {
    return Configuration{};
  }
  const Recogniser::Lock use(*position.in->recogniser);
  const Configuration to = read_locked(*use, position.config, id);
  if (use->overflowed()) return std::nullopt;
  return to;
}

Position ConstraintImpl::read_token(const Position& position, Id id) {
  if (const std::optional<Configuration> to = read_token_here(position, id)) {
    return {position.in, *to};
  }
  if (!may_go_on()) return {position.in, {}};
  return retry_with_memory(position, [&](const Position& at) {
    const Recogniser::Lock use(*at.in->recogniser);
    return Position{at.in, read_locked(*use, at.config, id)};
  });
}

bool ConstraintImpl::can_stop(const Position& position, Id id) {
  return can_end(position) || ends_with(position, id);
}

bool ConstraintImpl::can_end(const Position& position) {
  const Recogniser::Lock use(*position.in->recogniser);
  return use->can_end(position.config);
}

std::optional<double> ConstraintImpl::temperature(const Position& position) {
  const Recogniser::Lock use(*position.in->recogniser);
  return use->temperature(position.config);
}

std::size_t ConstraintImpl::memory_bytes() {
  const std::lock_guard lock(generations_mutex_);
  std::size_t bytes = sizeof(ConstraintImpl);
  for (const auto& one : {current_, previous_}) {
    if (one == nullptr) continue;
    const Recogniser::Lock used(*one->recogniser);
    bytes += one->recogniser->memory_bytes();
  }
  return bytes;
}

// --- Forced bytes ------------------------------------------------------------

namespace {

bool is_tail(std::int32_t byte) { return 0x80 <= byte && byte < 0xC0; }

}  // namespace

// Tries all bytes until a second one fits.  The end of the text counts as a
// choice, and so does a token that is read by its id, unless it is the only one
// (next_with_marks).
ConstraintImpl::Next ConstraintImpl::find_next(Recogniser& recogniser,
                                               Configuration config) {
  Next next;
  next.from = config;
  const bool can_end = recogniser.can_end(config);
  int found = can_end ? 2 : 0;
  Recogniser::TokenIds ids;
  recogniser.token_ids(
      config, static_cast<std::uint32_t>(compiler_->vocabulary().size()), ids);
  const bool by_id = !ids.accepted.empty();
  for (std::int32_t byte = 0; byte < 256 && found < 2 && !by_id; ++byte) {
    const Configuration to =
        recogniser.step(config, static_cast<std::uint8_t>(byte));
    if (to.dead()) continue;
    ++found;
    next.to = to;
    next.byte = static_cast<std::int16_t>(byte);
  }
  if (found < 2 && marks_ != nullptr) {
    return next_with_marks(recogniser, config, ids, next);
  }
  if (found == 1 && !by_id) return next;
  // Bytes were tried in ascending order.  Continuation bytes fit only in the
  // middle of a character, and nothing else fits there; so the second candidate
  // tells which case this is.
  next.byte = !can_end && found == 2 && is_tail(next.byte)
                  ? RecogniserMasks::kInCharacter
                  : RecogniserMasks::kChoice;
  next.to = {};
  return next;
}

// Completes `next` where marks may be possible.  `next` has the only byte that
// fits, if there is exactly one; if tokens are accepted by their ids, bytes
// were not tried.
ConstraintImpl::Next ConstraintImpl::next_with_marks(
    Recogniser& recogniser, Configuration config,
    const Recogniser::TokenIds& ids, Next next) {
  std::optional<std::uint32_t> only;
  bool choice = false;
  for (const std::vector<Id>* list : {&ids.accepted, &ids.undecided}) {
    for (const Id id : *list) {
      const Configuration to = recogniser.step_token(config, {}, id);
      if (to.dead()) continue;
      const std::optional<std::uint32_t> mark = marks_->mark_of(id);
      choice = choice || !mark || (only && *only != *mark);
      only = mark;
      if (next.byte == RecogniserMasks::kChoice) next.to = to;
    }
  }
  if (only && next.byte == RecogniserMasks::kChoice) {
    // The mark is forced only if no byte fits.
    for (std::int32_t byte = 0; byte < 256 && !choice; ++byte) {
      choice = !recogniser.step(config, static_cast<std::uint8_t>(byte)).dead();
    }
    next.byte = RecogniserMasks::kMark;
    next.mark = *only;
  } else if (only) {
    choice = true;
  }
  if (!choice) return next;
  next.byte = RecogniserMasks::kChoice;
  next.to = {};
  return next;
}

bool ConstraintImpl::nothing_follows(Recogniser& recogniser,
                                     Configuration config) {
  const Vocabulary& vocabulary = compiler_->vocabulary();
  Recogniser::TokenIds ids;
  recogniser.token_ids(config, static_cast<std::uint32_t>(vocabulary.size()),
                       ids);
  const auto exists = [&](Id id) {
    return vocabulary.kind(id) != TokenKind::kUnused;
  };
  const auto fits = [&](Id id) {
    return exists(id) && !recogniser.step_token(config, {}, id).dead();
  };
  return std::ranges::none_of(ids.accepted, exists) &&
         std::ranges::none_of(ids.undecided, fits) &&
         !any_below(recogniser, 0, config);
}

bool ConstraintImpl::nothing_follows(const Position& position) {
  return retry_with_memory(position, [&](const Position& at) {
    const Recogniser::Lock use(*at.in->recogniser);
    return nothing_follows(*use, at.config);
  });
}

namespace {

// A byte for people: `"z"`, or `0xC3` if it is no printable character.
std::string shown(std::uint8_t byte) {
  if (byte > 0x20 && byte < 0x7F) {
    return base::in_quotes(std::string(1, static_cast<char>(byte)));
  }
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

Error ConstraintImpl::no_token_error(const Position& position,
                                     std::size_t bytes) {
  constexpr int kMostShown = 8;
  std::string list;
  int count = 0;
  {
    const Recogniser::Lock use(*position.in->recogniser);
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto next = static_cast<std::uint8_t>(byte);
      if (use->step(position.config, next).dead()) continue;
      if (++count > kMostShown) continue;
      if (count > 1) list += ", ";
      list += shown(next);
    }
  }
  std::string message = "No token can come after byte " +
                        std::to_string(bytes) + " of the text: ";
  if (count == 0 && !traits_.names_tokens && marks_ == nullptr) {
    message +=
        "the grammar's rules with options are nested too deeply there, see its "
        "report().";
  } else if (count == 0) {
    message +=
        "the grammar names tokens by their ids there, which the vocabulary "
        "does not have, or which end a text that may not end there.";
  } else {
    message +=
        count == 1 ? "the next byte must be " : "the next byte must be one of ";
    message += list;
    if (count > kMostShown) {
      message += " and " + std::to_string(count - kMostShown) + " more";
    }
    message += ", and no token of the vocabulary that fits begins with it.";
  }
  return Error{.code = ErrorCode::kUnsatisfiable,
               .message = std::move(message)};
}

const ConstraintImpl::Next& ConstraintImpl::next_forced(Generation& in,
                                                        Configuration config) {
  auto& known = in.masks->next;
  if (known == nullptr) {
    known = std::make_unique<std::array<Next, RecogniserMasks::kNextCount>>();
  }
  Next& next = (*known)[recogniser::ConfigurationHash()(config) %
                        RecogniserMasks::kNextCount];
  if (next.from != config || is_off(Shortcut::kNext)) {
    next = find_next(*in.recogniser, config);
  }
  return next;
}

std::vector<ConstraintImpl::Forced> ConstraintImpl::forced(
    const Position& position, std::size_t limit, Position* end) {
  return retry_with_memory(position, [&](const Position& at) {
    const Recogniser::Lock use(*at.in->recogniser);
    *end = at;
    if (use->broken()) return std::vector<Forced>();
    return forced(*at.in, at.config, limit, &end->config);
  });
}

// Follows the only byte or mark while there is one.  Stops before a piece would
// pass `limit`, and then drops the bytes of an incomplete character.
std::vector<ConstraintImpl::Forced> ConstraintImpl::forced(Generation& in,
                                                           Configuration config,
                                                           std::size_t limit,
                                                           Configuration* end) {
  std::vector<Forced> out;
  std::size_t size = 0;
  // Bytes of the last piece up to the end of its last complete character;
  // `*end` is the configuration there.
  std::size_t whole = 0;
  *end = config;
  if (config.dead()) return out;
  for (;;) {
    const Next& next = next_forced(in, config);
    if (next.byte != RecogniserMasks::kInCharacter && !is_tail(next.byte)) {
      whole = out.empty() ? 0 : out.back().text.size();
      *end = config;
    }
    if (next.byte == RecogniserMasks::kMark) {
      const rules::Mark& mark = marks_->marks()[next.mark];
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

bool ConstraintImpl::any_below(std::uint32_t root, const Position& position) {
  return retry_with_memory(position, [&](const Position& at) {
    const Recogniser::Lock use(*at.in->recogniser);
    return any_below(*use, root, at.config);
  });
}

bool ConstraintImpl::any_below(Recogniser& recogniser, std::uint32_t root,
                               Configuration config) {
  const vocab::TokenTrie& trie = compiler_->tables().trie();
  std::vector<Configuration> states(vocab::kMaxTokenBytes + 1);
  states[trie.depth(root)] = config;
  for (std::uint32_t i = root + 1; i < trie.subtree_end(root);) {
    const vocab::TrieNode node = trie.node(i);
    const Configuration next =
        recogniser.step(states[node.depth() - 1u], node.byte());
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
