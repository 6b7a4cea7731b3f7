// Compilation, memory, and structure: the brackets, commas, colons and white
// space between lexemes.

#include "json_recogniser/json_recogniser.h"

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/cancellable.h"
#include "base/work.h"
#include "json_recogniser/expected.h"

namespace parlance::json_recogniser {

using schema_solver::JsonType;

using recogniser::Configuration;
namespace {

// After a member or item in exact layout, a separator or the closing bracket
// follows.  Once one of them has begun, Configuration::extra says which.
constexpr std::uint32_t kContinuing = 1;
constexpr std::uint32_t kClosing = 2;

// What an exact layout has between two lexemes: a text, then perhaps a line
// break and an indentation, which may be longer than any memory.
struct LayoutText {
  std::string_view before;
  std::size_t new_line;  // bytes
  std::size_t size() const { return before.size() + new_line; }
  char operator[](std::size_t i) const {
    if (i < before.size()) return before[i];
    return i == before.size() ? '\n' : ' ';
  }
};

Error cancelled_error() {
  return Error{ErrorCode::kTooLarge, "The compile was cancelled.", {}, {}};
}

}  // namespace

JsonRecogniser::JsonRecogniser(LanguageRef language)
    : language_(std::move(language)),
      options_(language_->options),
      solver_(*language_->document, language_->choices, options_),
      notes_(*language_),
      frames_(solver_, options_.limits.depth),
      partials_(texts_, values_),
      strings_(*language_, solver_.languages(), values_, lexemes_),
      keys_(*language_, solver_, lexemes_, strings_),
      numbers_(solver_.numbers(), values_),
      members_(*language_, solver_, frames_, lexemes_, keys_, partials_,
               unique_),
      steps_(solver_, frames_, values_, partials_, members_, unique_),
      unique_(*language_, solver_, frames_, lexemes_, keys_, values_, partials_,
              steps_, members_),
      starts_(*language_, solver_, frames_, lexemes_, values_, strings_,
              numbers_, steps_, unique_) {
  traits_.has_hints = !language_->raw();
}

Result<std::unique_ptr<JsonRecogniser>> JsonRecogniser::create(
    schema::Document document, JsonSchemaOptions options) {
  Result<LanguageRef> language =
      JsonLanguage::create(std::move(document), std::move(options));
  if (!language) return std::move(language).error();
  return make(*std::move(language));
}

Result<std::unique_ptr<JsonRecogniser>> JsonRecogniser::make(
    LanguageRef language) {
  const GrammarLimits& limits = language->options.limits;
  const base::Cancellable compile(limits.cancelled, limits.cancelled_argument);
  std::unique_ptr<JsonRecogniser> made(new JsonRecogniser(std::move(language)));
  schema_solver::SchemaSolver& solver = made->solver_;
  // Step 1: errors of single nodes.
  std::optional<Error> wrong = solver.check_nodes();
  if (!base::work_left()) return cancelled_error();
  // A schema that exceeds a limit can look unsatisfiable, so the limit is
  // checked first.
  if (auto error = made->too_large()) return *std::move(error);
  if (wrong) return *std::move(wrong);
  // Step 2: some text must be valid.
  const schema_solver::ConjunctionId root = solver.conjunction(
      {schema_solver::holds(made->language_->document->root)});
  if (!solver.satisfiable(root)) return made->why_unsatisfiable();
  // Step 3: some text must be valid within the depth limit.  frames_[0]
  // encloses the whole text.
  const schema_solver::ScopedDepthLimit levels(
      solver.satisfiability(), made->frames_.levels_in(FrameId{0}));
  if (!solver.satisfiable(root)) {
    if (!base::work_left()) return cancelled_error();
    return Error{ErrorCode::kTooLarge,
                 "Every valid text has more levels of arrays and objects "
                 "than GrammarLimits::depth allows, which is " +
                     std::to_string(made->options_.limits.depth) + "."};
  }
  if (!base::work_left()) return cancelled_error();
  // Step 4: the start, and the memory that texts may add from here on.
  Frame frame;
  frame.pending = true;
  const Alternative only{.pending = root};
  const FrameId whole = made->frames_.intern(frame, {&only, 1});
  made->start_ = made->language_->raw()
                     ? made->enter_raw(whole)
                     : Configuration{lex_of(Kind::kRoot), whole, 0, 0};
  if (made->start_.dead()) return made->why_unsatisfiable();
  made->root_ = root;
  made->notes_.set_found(solver.notes().take(), solver.languages().narrowed());
  if (auto error = made->too_large()) return *std::move(error);
  made->base_bytes_ = made->own_bytes();
  // From here on full() bounds the memory, between steps and never during one.
  solver.languages().lift_limit();
  made->room_ = made->options_.limits.bytes / 2;
  return made;
}

// Why no text was found to be valid.
Error JsonRecogniser::why_unsatisfiable() {
  if (!base::work_left()) return cancelled_error();
  if (auto error = too_large()) return *std::move(error);
  return language_->why_unsatisfiable(solver_);
}

// --- Memory. ----------------------------------------------------------------

std::optional<Error> JsonRecogniser::too_large() {
  const std::size_t limit = options_.limits.bytes;
  if (own_bytes() <= limit && !solver_.languages().over_limit()) {
    return std::nullopt;
  }
  return Error{ErrorCode::kTooLarge,
               "The schema alone needs more than GrammarLimits::bytes, which "
               "is " +
                   std::to_string(limit) + "."};
}

recogniser::Recogniser::Room JsonRecogniser::room() {
  if (spoiled()) return Room::kOverflowed;
  const std::size_t entries =
      frames_.size() + lexemes_.size() + texts_.size() + values_.size();
  if (entries != measured_) {
    measured_ = entries;
    added_bytes_ = own_bytes() - base_bytes_;
  }
  return added_bytes_ > room_ ? Room::kFull : Room::kLeft;
}

// Compiles the same document again.  What compiled once compiles again.
std::shared_ptr<recogniser::Recogniser> JsonRecogniser::fresh() const {
  const base::UnlimitedWork compile;
  Result<std::unique_ptr<JsonRecogniser>> made =
      make(JsonLanguage::uncancelled(language_));
  return made ? *std::move(made) : nullptr;
}

Configuration JsonRecogniser::start() { return start_; }

Configuration JsonRecogniser::step(Configuration config, std::uint8_t byte) {
  switch (lexemes_[config].kind) {
    case Kind::kString:
      return string_step(config, byte);
    case Kind::kKey:
      return key_step(config, byte);
    case Kind::kNumber:
      return number_step(config, byte);
    case Kind::kLiteral:
      return literal_step(config, byte);
    case Kind::kDead:
    case Kind::kEnd:
    case Kind::kLeftValue:
      return {};
    default:
      return structure_step(config, byte);
  }
}

Configuration JsonRecogniser::structure_step(Configuration config,
                                             std::uint8_t byte) {
  const JsonLayout& layout = options_.layout;
  if (layout.exact) return exact_layout_step(config, byte);
  if (base::is_space(byte)) {
    if (config.lex == lex_of(Kind::kRoot)) return {};
    if (layout.max_white_space == JsonLayout::kUnlimited) return config;
    if (config.count >= layout.max_white_space) return {};
    ++config.count;
    return config;
  }
  return token_step(config, byte);
}

// Between lexemes in exact layout, where white space is fixed.
//
// Invariant: Configuration::count bytes of the layout that leads to the next
// significant byte have been read.
Configuration JsonRecogniser::exact_layout_step(Configuration config,
                                                std::uint8_t byte) {
  const Kind kind = lexemes_[config].kind;
  const Frame& frame = frames_[config];
  const auto match_next = [&](const LayoutText& text) {
    if (config.count >= text.size() ||
        static_cast<std::uint8_t>(text[config.count]) != byte) {
      return false;
    }
    ++config.count;
    return true;
  };
  switch (kind) {
    case Kind::kKeyFirst:
    case Kind::kItemFirst: {
      if (config.count == 0 && (byte == '}' || byte == ']')) {
        return token_step(config, byte);
      }
      const LayoutText text = {"", language_->new_line(frame.depth)};
      if (config.count < text.size()) {
        if (!may_continue(frame_of(config)) || !match_next(text)) {
          return {};
        }
        return config;
      }
      return byte == '}' || byte == ']' ? Configuration{}
                                        : token_step(config, byte);
    }
    case Kind::kColon: {
      const LayoutText text = {options_.layout.key_separator, 0};
      if (!match_next(text)) return {};
      if (config.count < text.size()) return config;
      return {lex_of(Kind::kValue), config.frame, 0, 0};
    }
    case Kind::kAfter: {
      if (config.extra != kClosing && may_continue(frame_of(config))) {
        const LayoutText text = {language_->item_separator,
                                 language_->new_line(frame.depth)};
        if (match_next(text)) {
          config.extra = kContinuing;
          return config.count < text.size() ? config
                                            : after_comma(frame_of(config));
        }
      }
      if (config.extra == kContinuing ||
          steps_.close(frame_of(config)).dead()) {
        return {};
      }
      const LayoutText text = {"", language_->new_line(frame.depth - 1U)};
      if (match_next(text)) {
        config.extra = kClosing;
        return config;
      }
      return config.count == text.size() && (byte == '}' || byte == ']')
                 ? token_step(config, byte)
                 : Configuration{};
    }
    default:
      return token_step(config, byte);
  }
}

bool JsonRecogniser::may_continue(FrameId id) {
  const Frame& frame = frames_[id];
  if (frame.kind == FrameKind::kObject) return members_.any_member(id);
  return frame.kind == FrameKind::kArray && starts_.next_item(id) != 0;
}

Configuration JsonRecogniser::after_comma(FrameId frame) {
  if (frames_[frame].kind == FrameKind::kObject) {
    if (!members_.any_member(frame)) return {};
    return {lex_of(Kind::kKeyNext), frame, 0, 0};
  }
  const FrameId next = starts_.next_item(frame);
  if (next == 0) return {};
  return {lex_of(Kind::kValue), next, 0, 0};
}

// The step with a byte between lexemes that is not white space.
Configuration JsonRecogniser::token_step(Configuration config,
                                         std::uint8_t byte) {
  const Frame& frame = frames_[config];
  switch (lexemes_[config].kind) {
    case Kind::kRoot:
    case Kind::kValue:
      return begin_value(frame_of(config), byte);
    case Kind::kItemFirst: {
      if (byte == ']') return steps_.close(frame_of(config));
      const FrameId next = starts_.next_item(frame_of(config));
      return next == 0 ? Configuration{} : begin_value(next, byte);
    }
    case Kind::kKeyFirst:
      if (byte == '}') return steps_.close(frame_of(config));
      [[fallthrough]];
    case Kind::kKeyNext: {
      if (byte != '"') return {};
      const KeyInfo& info = members_.key_info(frame_of(config));
      if (!info.any) return {};
      return {info.start, config.frame, 0, 0};
    }
    case Kind::kColon:
      if (byte != ':') return {};
      return {lex_of(Kind::kValue), config.frame, 0, 0};
    case Kind::kAfter:
      if (byte == ',') return after_comma(frame_of(config));
      if (frame.kind == FrameKind::kObject ? byte == '}' : byte == ']') {
        return steps_.close(frame_of(config));
      }
      return {};
    default:
      return {};
  }
}

// The step with the first byte of a value, which determines its type.  What the
// type leads to is memoised in FrameMemo::entry.
Configuration JsonRecogniser::begin_value(FrameId id, std::uint8_t byte) {
  const auto entered = [&](JsonType type, auto enter) {
    const auto index = static_cast<std::size_t>(type);
    if (frames_.memo(id).entry[index] == kUnknown) {
      const std::uint32_t made = enter();
      frames_.memo(id).entry[index] = made;
    }
    return decltype(enter())(frames_.memo(id).entry[index]);
  };
  switch (byte) {
    case '"':
      return {entered(JsonType::kString, [&] { return starts_.string(id); }),
              id, 0, 0};
    case '{':
    case '[': {
      const JsonType type = byte == '{' ? JsonType::kObject : JsonType::kArray;
      const FrameId made = entered(type, [&] { return steps_.open(id, type); });
      if (made == 0) return {};
      return {lex_of(byte == '{' ? Kind::kKeyFirst : Kind::kItemFirst), made, 0,
              0};
    }
    case 't':
    case 'f': {
      const LexId lexeme = entered(JsonType::kBoolean, [&] {
        return starts_.literal(id, JsonType::kBoolean);
      });
      return lexeme == 0 ? Configuration{}
                         : literal_step({lexeme, id, 0, 0}, byte);
    }
    case 'n': {
      const LexId lexeme = entered(JsonType::kNull, [&] {
        return starts_.literal(id, JsonType::kNull);
      });
      return lexeme == 0 ? Configuration{}
                         : literal_step({lexeme, id, 0, 0}, byte);
    }
    default:
      if (byte != '-' && (byte < '0' || byte > '9')) return {};
      const LexId lexeme =
          entered(JsonType::kNumber, [&] { return starts_.number(id); });
      return lexeme == 0 ? Configuration{}
                         : number_step({lexeme, id, 0, 0}, byte);
  }
}

bool JsonRecogniser::can_end(Configuration config) {
  if (language_->raw()) return raw_can_end(config);
  const Kind kind = lexemes_[config].kind;
  if (kind == Kind::kEnd) return true;
  if (kind != Kind::kNumber || frames_[config].kind != FrameKind::kRoot) {
    return false;
  }
  return !end_number(config).dead();
}

// The least number of characters for which the masks are those of `count`
// characters, as far as that is known.  A length matters only if a token, of at
// most `longest` characters, can reach a bound.
std::uint32_t JsonRecogniser::count_in_mask_key(const Lexeme& lexeme,
                                                std::uint32_t count,
                                                std::uint32_t longest) {
  std::uint32_t reached = 0;  // the largest minimum that is reached
  std::uint32_t ahead = base::kUnbounded;    // the smallest that is not
  std::uint32_t room_to = base::kUnbounded;  // no text has to end before
  for (const LexemeEntry& entry : lexeme.entries) {
    if (entry.min <= count) {
      reached = std::max(reached, entry.min);
    } else {
      ahead = std::min(ahead, entry.min);
    }
    if (entry.max == base::kUnbounded) continue;
    // One more for a character that an escape has begun.
    const std::uint64_t needed =
        solver_.languages().most_chars_needed(entry.language_state());
    room_to =
        needed >= entry.max
            ? 0
            : std::min(room_to,
                       entry.max - static_cast<std::uint32_t>(needed) - 1);
  }
  const std::uint32_t bound = std::min(ahead, room_to);
  if (bound == base::kUnbounded) return reached;
  if (bound <= longest || count >= bound - longest) return count;
  return reached;
}

Configuration JsonRecogniser::mask_key(Configuration config,
                                       std::uint32_t longest) {
  if (language_->raw()) return raw_mask_key(config, longest);
  const Lexeme& lexeme = lexemes_[config];
  config.frame = steps_.canonical(frame_of(config));
  if (lexeme.kind == Kind::kString || lexeme.kind == Kind::kKey) {
    if (!lexeme.track) config.extra = 0;
    config.count = lexeme.kind == Kind::kKey
                       ? 0
                       : count_in_mask_key(lexeme, config.count, longest);
  } else if (lexeme.kind < Kind::kLiteral && !options_.layout.exact) {
    if (options_.layout.max_white_space > longest &&
        config.count <= options_.layout.max_white_space - longest) {
      config.count = 0;
    }
  }
  return config;
}

// A list for people.  The state of the lexeme decides which continuations are
// worth a name; step() decides which of them are possible.
//
// States inside strings, keys and literals have descriptions of their own; all
// others are described by the bytes that may come.
std::string JsonRecogniser::expected(Configuration config) {
  if (config.dead()) return "nothing";
  const MayCome may_come = [&](std::uint8_t byte) {
    return !step(config, byte).dead();
  };
  if (language_->raw()) return expected_in_raw(may_come);
  const Lexeme& lexeme = lexemes_[config];
  switch (lexeme.kind) {
    case Kind::kEnd:
      return "the end";
    case Kind::kLiteral:
      return "the rest of null, true or false";
    case Kind::kString:
      return expected_in_string(may_come);
    case Kind::kKey:
      return expected_in_key(lexeme, keys_.trie(lexeme.trie),
                             members_.key_info(frame_of(config)).allowed,
                             solver_);
    default:
      return expected_bytes(lexeme.kind, can_end(config), options_.layout.exact,
                            may_come);
  }
}

std::size_t JsonRecogniser::own_bytes() const {
  return solver_.memory_bytes() + frames_.memory_bytes() +
         lexemes_.memory_bytes() + texts_.memory_bytes() +
         values_.memory_bytes() + partials_.memory_bytes() +
         strings_.memory_bytes() + keys_.memory_bytes() +
         numbers_.memory_bytes() + steps_.memory_bytes() +
         members_.memory_bytes() + unique_.memory_bytes() +
         raw_classes_.size() * (sizeof(ByteClassTable) + 64) +
         (member_frames_.size() + fingerprints_.size()) * 48;
}

}  // namespace parlance::json_recogniser
