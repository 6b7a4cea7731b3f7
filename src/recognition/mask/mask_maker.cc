// Chooses how a mask is made, and makes masks where no lexeme is open: see
// mask_maker.h.

#include "mask/mask_maker.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/byte_set.h"

namespace parlance::mask {

using json::BodyState;
using vocab::BodyTable;

namespace {

// The bytes that JSON allows between lexemes or at the start of one, without
// white space; and all bytes that are neither these nor white space.
constexpr std::string_view kJsonBytes = "\"{}[],:-0123456789tfn";
constexpr std::size_t kOtherCount =
    256 - kJsonBytes.size() - base::kJsonWhitespace.size();
constexpr std::array<char, kOtherCount> kOtherBytes = [] {
  std::array<char, kOtherCount> bytes{};
  std::size_t count = 0;
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    if (kJsonBytes.find(c) != std::string_view::npos) continue;
    if (base::kJsonWhitespace.find(c) != std::string_view::npos) continue;
    bytes[count++] = c;
  }
  return bytes;
}();

}  // namespace

// --- WhitespaceBases
// --------------------------------------------------------------

WhitespaceBases::WhitespaceBases(
    const vocab::TokenTables& tables,
    std::shared_ptr<std::atomic<std::size_t>> bytes)
    : tables_(tables), bytes_(std::move(bytes)) {
  const auto tokens = tables_.white_space().tokens();
  if (!tokens.empty()) longest_ = tokens.back().bytes;
}

Base WhitespaceBases::find(std::uint32_t max_bytes, std::uint32_t max_chars) {
  if (is_off(Shortcut::kWhitespaceBases)) return {};
  const BodyTable& string_start = tables_.string_start();
  max_bytes = std::min(max_bytes, longest_);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({max_bytes, max_chars});
  if (found != entries_.end()) {
    return {.words = found->second->data(), .owner = found->second};
  }
  if (entries_.size() == kMaxEntries) return {};
  auto words = std::make_shared<MaskWords>(tables_.mask_words(), bytes_);
  if (max_chars != kNoString) {
    string_start.fill_at_most(max_chars, {words->data(), tables_.mask_words()});
  }
  for (const auto& token : tables_.white_space().tokens()) {
    if (token.bytes > max_bytes) break;
    words->data()[token.id >> 5] |= std::uint32_t{1} << (token.id & 31);
  }
  entries_.emplace(std::pair(max_bytes, max_chars), words);
  return {.words = words->data(), .owner = words};
}

// --- Choosing ----------------------------------------------------------------

MaskMaker::MaskMaker(const MaskResources& resources)
    : resources_(resources),
      trie_(resources.tables.trie()),
      builder_(resources.tables.mask_words()),
      lexeme_walk_(resources.tables, resources.vocabulary,
                   resources.token_bytes),
      token_class_walk_(resources.tables, resources.token_classes,
                        resources.vocabulary) {}

const MaskBuilder& MaskMaker::make(Recogniser& recogniser, Configuration config,
                                   RecogniserMasks& masks) {
  recogniser_ = &recogniser;
  own_hints_ = recogniser.traits().has_hints;
  left_value_ =
      own_hints_ ? LeftValue::kLex : LeftValue::kLex | Configuration::kInPart;
  masks_ = &masks;
  partial_masks_ = &masks.partial;
  read_most_ = false;
  if (config.dead()) {
    builder_.start({});
  } else {
    make_by_kind(config);
  }
  set_marks(config);
  if (builder_.dense()) {
    const std::array bases = {
        Base{.words = resources_.tables.body(BodyState::kText).inner().data()},
        Base{.words = resources_.tables.all_text().data()}, Base{}};
    builder_.compact(bases);
  }
  return builder_;
}

void MaskMaker::make_by_kind(Configuration config) {
  const Hint hint = hint_of(config);
  if (const auto* const body = std::get_if<FreeString>(&hint.place)) {
    in_string(*body, config);
  } else if (const auto* const space = std::get_if<Between>(&hint.place)) {
    if (!before_value(hint, config)) between_lexemes(*space, config);
  } else if (const auto* const lexeme = std::get_if<LexemeHint>(&hint.place)) {
    in_lexeme(*lexeme, config);
  } else if (const auto* const apart = std::get_if<SplitKeys>(&hint.place)) {
    const Hint others = hint_of(apart->others);
    const auto* const rest = std::get_if<LexemeHint>(&others.place);
    in_lexeme(rest != nullptr ? *rest : LexemeHint{}, apart->others);
    add_fixed_keys(apart->keys);
  } else {
    in_text(config);
  }
}

Hint MaskMaker::hint_of(Configuration config) const {
  if (!has_hints(config)) return {};
  Hint hint = recogniser_->hint(config);
  if (is_off(Shortcut::kValueStates)) hint.value = {};
  if (is_off(Shortcut::kSharedValues)) hint.value_fingerprint = {};
  const bool split = std::holds_alternative<SplitKeys>(hint.place);
  if ((split && is_off(Shortcut::kSplitLexeme)) ||
      (is_off(Shortcut::kLexemes) &&
       (split || std::holds_alternative<LexemeHint>(hint.place)))) {
    hint.place = {};
  }
  return hint;
}

// Sets the tokens that can be read by their ids, and decides each token for
// which only step_token() knows whether it fits.
void MaskMaker::set_marks(Configuration config) {
  if (config.dead()) return;
  const auto size = static_cast<std::uint32_t>(resources_.vocabulary.size());
  recogniser_->token_ids(config, size, token_ids_);
  if (!token_ids_.accepted.empty()) {
    std::vector<std::uint32_t> words(resources_.tables.mask_words());
    builder_.view().write(words);
    for (const Id id : token_ids_.accepted) {
      if (resources_.vocabulary.kind(id) == TokenKind::kUnused) continue;
      if ((words[id >> 5] >> (id & 31) & 1) == 0) builder_.set(id);
    }
  }
  for (const Id id : token_ids_.undecided) {
    const bool fits = !recogniser_->step_token(config, {}, id).dead();
    if (fits == builder_.has(id)) continue;
    if (fits) {
      builder_.set(id);
    } else {
      builder_.clear(id);
    }
  }
}

// --- Before a value ----------------------------------------------------------

// Makes the mask from the partial mask of the value that comes next.  Returns
// false if `config` is not before a value.
//
//   1. Find the partial mask stored for the value: under its fingerprint for
//      all recognisers, else for this one.
//   2. If there is none, make it (make_value_mask) and store it.
//   3. The tokens that end within the value are decided by the partial mask.
//      For each of its exit points, read the subtree below from where the real
//      value ends.
bool MaskMaker::before_value(const Hint& hint, Configuration config) {
  if (hint.value.dead()) return false;
  const FoundMask mask = find_or_make(
      hint, config, hint.value, [&] { return make_value_mask(hint.value); });
  builder_.start(mask->base, mask->set, mask->cleared);
  for (const ExitPoint& exit_point : mask->exit_points) {
    continue_past_value(exit_point, config);
  }
  return true;
}

// Sets the tokens that continue past the value at `exit_point`; resume() finds
// what follows it in `config`.
void MaskMaker::continue_past_value(const ExitPoint& exit_point,
                                    Configuration config) {
  const Configuration real = recogniser_->resume(config, exit_point.left);
  if (real.dead()) return;
  const bool by_lookahead = exit_point.left.by_lookahead();
  if (exit_point.exits == nullptr) {
    if (by_lookahead) set_node(trie_.node(exit_point.node));
    walk(exit_point.node, real);
    return;
  }
  if (by_lookahead) {
    set_exits(*exit_point.exits, exit_point.node, exit_point.min_count,
              exit_point.max_count);
  }
  walk_exits(*exit_point.exits, exit_point.node, real, exit_point.min_count,
             exit_point.max_count);
}

PartialMask MaskMaker::make_value_mask(Configuration place) {
  PartialMask made;
  const auto around = std::exchange(exit_points_, &made.exit_points);
  const Hint hint = recogniser_->hint(place);
  const auto* const space = std::get_if<Between>(&hint.place);
  between_lexemes(space != nullptr ? *space : Between{}, place);
  exit_points_ = around;
  const std::array bases = {Base{}};
  if (builder_.dense()) builder_.compact(bases);
  store_built(made);
  return made;
}

// Copies the mask in the builder to `made`.
void MaskMaker::store_built(PartialMask& made) {
  const MaskView view = builder_.view();
  made.set.assign(view.set.begin(), view.set.end());
  made.cleared.assign(view.cleared.begin(), view.cleared.end());
  if (view.own_words) {
    const std::size_t count = resources_.tables.mask_words();
    auto words = std::make_shared<MaskWords>(count, resources_.bytes);
    std::copy_n(view.base->words, count, words->data());
    made.base = {.words = words->data(), .owner = words};
    made.base_bytes = MaskWords::bytes(count);
  } else {
    made.base = *view.base;
  }
}

// --- Between lexemes ---------------------------------------------------------

// Between lexemes every token is white space only, white space and more, or no
// white space.
//
//   1. Begin with the stored mask of the first kind, and of the tokens that
//      open an unconstrained string and stay inside, if such a string can
//      begin here.
//   2. Walk the trie of all tokens below each other byte that can begin a
//      lexeme, and the tokens that leave the string (leave_string).
//   3. Walk the remainders after the white space (walk_exits).
//
// The table of white space only has the remainders that JSON allows.  Where
// other bytes are possible, white space is walked as any other byte.
void MaskMaker::between_lexemes(const Between& view, Configuration config) {
  Recogniser& recogniser = *recogniser_;
  const Configuration quoted = recogniser.step(view.without_space, '"');
  const Hint after_quote = quoted.dead() ? Hint{} : hint_of(quoted);
  const auto* const string = std::get_if<FreeString>(&after_quote.place);
  const bool opens_string =
      string != nullptr && string->state == BodyState::kText;
  bool only_json = true;
  for (std::size_t i = 0; i < kOtherCount && !view.json; ++i) {
    const auto byte = static_cast<std::uint8_t>(kOtherBytes[i]);
    if (recogniser.step(view.without_space, byte).dead()) continue;
    only_json = false;
    break;
  }
  const std::uint32_t max_bytes = only_json ? view.max_bytes : 0;
  start_between_lexemes(max_bytes, opens_string ? string : nullptr);

  const auto begin = [&](char c, Configuration from) {
    const auto byte = static_cast<std::uint8_t>(c);
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    const Configuration next = recogniser.step(from, byte);
    if (next.dead()) return;
    set_node(trie_.node(child));
    if (const auto left = left_value(next)) {
      // Not by lookahead, because it is the first byte.
      exit_points_->push_back({.node = child, .left = *left});
    } else {
      walk(child, next);
    }
  };
  for (const char c : kJsonBytes) {
    if (c != '"' || !opens_string) begin(c, view.without_space);
  }
  if (const std::uint32_t quote = trie_.root_child('"');
      quote != 0 && opens_string) {
    leave_string(resources_.tables.string_start(), *string, quote, quoted);
  }
  if (only_json) {
    walk_exits(resources_.tables.white_space().exits(), view.without_space, 0,
               max_bytes);
  } else {
    for (const char c : kOtherBytes) begin(c, view.without_space);
    for (const char c : base::kJsonWhitespace) begin(c, config);
  }
}

// Begins with the tokens of at most `max_bytes` of white space and, unless
// `string` is null, with those that open `string` and stay inside.
void MaskMaker::start_between_lexemes(std::uint32_t max_bytes,
                                      const FreeString* string) {
  const BodyTable& table = resources_.tables.string_start();
  const std::uint32_t max_chars =
      string == nullptr ? WhitespaceBases::kNoString
                        : std::min(string->max_chars, table.max_chars());
  const Base base = resources_.whitespace_bases.find(max_bytes, max_chars);
  if (base.words != nullptr) {
    builder_.start(base);
    return;
  }
  if (string == nullptr) {
    builder_.start({});
  } else {
    start_inner(table, max_chars);
  }
  for (const auto& token : resources_.tables.white_space().tokens()) {
    if (token.bytes > max_bytes) break;
    builder_.set(token.id);
  }
}

// --- In any other text -------------------------------------------------------

void MaskMaker::in_text(Configuration config) {
  builder_.start({});
  const base::ByteSet bytes = recogniser_->first_bytes(config);
  const std::size_t nodes = nodes_below(bytes);
  if (has_hints(config) || nodes <= kManyNodes) {
    walk_all(config, bytes);
    return;
  }
  const bool most = 2 * nodes > trie_.node_count();
  if (most && like_another(config)) return;
  read_most_ = most;
  if (!token_class_walk_.run(*recogniser_, config, builder_.words())) {
    walk_all(config, bytes);
  }
}

// Makes the mask from the known one of another configuration.  Most bytes lead
// from both to the same configurations: after a `<` that may begin a marker,
// all but the next byte of the marker lead back to the text.  Others are the
// configurations that the next byte leads to, and those whose masks were made
// lately.
bool MaskMaker::like_another(Configuration config) {
  if (is_off(Shortcut::kLikeAnother)) return false;
  // The bytes that most tokens begin with: one may be the marker's.
  for (const std::uint8_t byte : {' ', 'e'}) {
    if (like(config, recogniser_->step(config, byte))) return true;
  }
  const std::size_t count = masks_->lately.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (masks_->last_read + count - i) % count;
    if (like(config, masks_->lately[at])) return true;
  }
  return false;
}

// Makes the mask from that of `other`: reads the tokens as long as they lead to
// different configurations.  False, and nothing is set, if that mask is not
// known, or many tokens would be read.
bool MaskMaker::like(Configuration config, Configuration other) {
  if (other.dead() || other == config || has_hints(other)) {
    return false;
  }
  const MaskHandle known =
      masks_->memo.find(recogniser_->mask_equivalent(other));
  if (!known) return false;
  const std::optional<base::ByteSet> apart = bytes_apart(config, other);
  if (!apart || !has_marks_of(config, other)) return false;
  // What the other mask depends on, this one does, too.
  if (!recogniser_->track_mask_of(other)) return false;
  const MaskView* const mask = resources_.store.pin(known);
  if (mask == nullptr) return false;
  mask->write(builder_.words());
  resources_.store.unpin(known);
  bool corrected = true;
  base::for_bytes(*apart, [&](std::uint8_t byte) {
    corrected = corrected && correct(trie_.root_child(byte), config, other);
  });
  if (!corrected) builder_.start({});
  return corrected;
}

// Whether the same marks are read by their ids, whose bits in a mask say
// nothing about their bytes.
bool MaskMaker::has_marks_of(Configuration config, Configuration like) {
  const auto size = static_cast<std::uint32_t>(resources_.vocabulary.size());
  recogniser_->token_ids(like, size, token_ids_);
  const Recogniser::TokenIds of_like = token_ids_;
  recogniser_->token_ids(config, size, token_ids_);
  return of_like.accepted == token_ids_.accepted &&
         of_like.undecided == token_ids_.undecided;
}

// The bytes that lead from the two configurations to different ones.  Nothing
// if many tokens begin with them.
std::optional<base::ByteSet> MaskMaker::bytes_apart(Configuration config,
                                                    Configuration like) {
  Recogniser& recogniser = *recogniser_;
  const auto* const classes = recogniser.byte_classes_at(config);
  const auto* const classes_like = recogniser.byte_classes_at(like);
  if (classes == nullptr || classes_like == nullptr) return std::nullopt;
  // By the least byte of a class.
  std::array<Configuration, 256> to;
  std::array<Configuration, 256> to_like;
  base::ByteSet apart{};
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(i);
    const std::uint8_t one = (*classes)[byte];
    const std::uint8_t other = (*classes_like)[byte];
    if (one == byte) to[byte] = recogniser.step(config, byte);
    if (other == byte) to_like[byte] = recogniser.step(like, byte);
    if (to[one] == to_like[other]) continue;
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) continue;
    base::add_byte(apart, byte);
    nodes += trie_.subtree_end(child) - child;
    if (nodes * 8 > trie_.node_count()) return std::nullopt;
  }
  return apart;
}

// The number of nodes of the trie of all tokens below `bytes`.
std::size_t MaskMaker::nodes_below(const base::ByteSet& bytes) const {
  std::size_t count = 0;
  base::for_bytes(bytes, [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child != 0) count += trie_.subtree_end(child) - child;
  });
  return count;
}

}  // namespace parlance::mask
