// Compilation, memory, and structure: the brackets, commas, colons and white
// space between lexemes.

#include "json_recogniser/json_recogniser.h"

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/cancellable.h"
#include "base/work.h"

namespace parlance::json_recogniser {

using schema_solver::ItemChoices;
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

}  // namespace

JsonRecogniser::JsonRecogniser(DocumentRef document, ItemChoices choices,
                               JsonSchemaOptions options)
    : document_(std::move(document)),
      options_(std::move(options)),
      canonical_(options_.spelling == JsonSpelling::kCanonical ||
                 (options_.spelling == JsonSpelling::kAny &&
                  !options_.excludes.empty())),
      choices_(std::move(choices)),
      solver_(*document_, choices_, options_),
      item_separator_(options_.layout.item_separator.value_or(
          options_.layout.indent ? "," : ", ")) {
  frames_.emplace_back();
  partials_.emplace_back();
  parts_.emplace_back();
  items_.emplace_back();
  lexemes_.resize(kFirstLexeme);
  for (LexId id = 0; id < kFirstLexeme; ++id) {
    lexemes_[id].kind = id <= static_cast<LexId>(Kind::kLeftValue)
                            ? static_cast<Kind>(id)
                            : Kind::kDead;
  }
  texts_.push_back(0);
  survivors_.emplace_back();
  traits_.has_hints = !raw();
}

Result<std::unique_ptr<JsonRecogniser>> JsonRecogniser::create(
    schema::Document document, JsonSchemaOptions options) {
  const JsonLayout& layout = options.layout;
  if (layout.exact) {
    const auto spaces = [](std::string_view text) {
      return std::all_of(text.begin(), text.end(),
                         [](char c) { return base::is_space(c); });
    };
    const std::string item = layout.item_separator.value_or(",");
    if (!item.starts_with(',') || !spaces(std::string_view(item).substr(1))) {
      return Error{ErrorCode::kInvalidValue,
                   "An item separator is ',' followed by white space."};
    }
    const std::string_view key = layout.key_separator;
    const std::size_t colon = std::min(key.find(':'), key.size());
    if (colon == key.size() || !spaces(key.substr(0, colon)) ||
        !spaces(key.substr(colon + 1))) {
      return Error{
          ErrorCode::kInvalidValue,
          "A key separator is ':' with white space before and after it."};
    }
  }
  ItemChoices choices(document);
  return make(std::make_shared<const schema::Document>(std::move(document)),
              std::move(choices), std::move(options));
}

namespace {

Error cancelled_error() {
  return Error{ErrorCode::kTooLarge, "The compile was cancelled.", {}, {}};
}

}  // namespace

// Why no text was found to be valid: the schema, if that is proved; else an
// unsupported keyword, or a limit.
Error JsonRecogniser::why_unsatisfiable() {
  if (!base::work_left()) return cancelled_error();
  if (auto error = too_large()) return *std::move(error);
  Error unsatisfiable{ErrorCode::kUnsatisfiable,
                      "No JSON text is valid under this schema.",
                      {},
                      {}};
  if (solver_.is_empty(
          solver_.conjunction({schema_solver::holds(document_->root)}))) {
    return unsatisfiable;
  }
  std::vector<schema_solver::NodeNote> notes = solver_.notes().take();
  std::erase_if(notes, [](const schema_solver::NodeNote& note) {
    return note.kind != GrammarNote::Kind::kNarrowed;
  });
  // What is not supported before what is too large.
  std::stable_partition(
      notes.begin(), notes.end(),
      [](const schema_solver::NodeNote& note) { return !note.by_limit; });
  const bool by_limit = notes.empty() || notes.front().by_limit;
  const std::vector<GrammarNote> located =
      schema_solver::locate(*document_, std::move(notes));
  if (!located.empty()) {
    const GrammarNote& note = located.front();
    const std::string keyword =
        note.keyword.empty() ? "" : "'" + note.keyword + "': ";
    return Error{by_limit ? ErrorCode::kTooLarge : ErrorCode::kUnsupported,
                 keyword + note.message + ", and no other valid text was found",
                 note.path,
                 {}};
  }
  if (solver_.languages().narrowed()) {
    return Error{ErrorCode::kTooLarge,
                 "No valid text was found before a limit was reached: the "
                 "patterns of the schema are too large together.",
                 {},
                 {}};
  }
  return unsatisfiable;
}

Result<std::unique_ptr<JsonRecogniser>> JsonRecogniser::make(
    DocumentRef document, ItemChoices choices, JsonSchemaOptions options) {
  const base::Cancellable compile(options.limits.cancelled,
                                  options.limits.cancelled_argument);
  std::unique_ptr<JsonRecogniser> made(new JsonRecogniser(
      std::move(document), std::move(choices), std::move(options)));
  schema_solver::SchemaSolver& solver = made->solver_;
  // Step 1: errors of single nodes.
  std::optional<Error> wrong = solver.check_nodes();
  if (!base::work_left()) return cancelled_error();
  // A schema that exceeds a limit can look unsatisfiable, so the limit is
  // checked first.
  if (auto error = made->too_large()) return *std::move(error);
  if (wrong) return *std::move(wrong);
  // Step 2: some text must be valid.
  const schema_solver::ConjunctionId root =
      solver.conjunction({schema_solver::holds(made->document_->root)});
  if (!solver.satisfiable(root)) return made->why_unsatisfiable();
  // Step 3: some text must be valid within the depth limit.  frames_[0]
  // encloses the whole text.
  const schema_solver::SchemaSolver::ScopedDepthLimit levels(
      solver, made->levels_in(0));
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
  const FrameId whole =
      made->intern(std::move(frame), {{schema_solver::kAnything, 0, 0, root}});
  made->start_ =
      made->raw() ? made->enter_raw(whole)
                  : Configuration{static_cast<LexId>(Kind::kRoot), whole, 0, 0};
  if (made->start_.dead()) return made->why_unsatisfiable();
  made->root_ = root;
  made->found_ = solver.notes().take();
  made->narrowed_ = solver.languages().narrowed();
  if (auto error = made->too_large()) return *std::move(error);
  made->base_bytes_ = made->own_bytes();
  // From here on full() bounds the memory, between steps and never during one.
  solver.languages().lift_limit();
  made->room_ = made->options_.limits.bytes / 2;
  return made;
}

std::vector<GrammarNote> JsonRecogniser::located(
    std::vector<schema_solver::NodeNote> notes, bool narrowed) const {
  std::vector<GrammarNote> out =
      schema_solver::locate(*document_, std::move(notes));
  if (narrowed) {
    out.push_back(
        {GrammarNote::Kind::kNarrowed,
         {},
         {},
         "some strings are left out, because the patterns of the schema are "
         "too large together"});
  }
  return out;
}

const std::vector<GrammarNote>& JsonRecogniser::notes() const {
  notes_made_.call([&] {
    std::vector<schema_solver::NodeNote> notes =
        schema_solver::ignored_notes(*document_);
    notes.insert(notes.end(), found_.begin(), found_.end());
    notes_ = located(std::move(notes), narrowed_);
  });
  return notes_;
}

const std::vector<GrammarNote>& JsonRecogniser::survey() {
  if (!surveyed_) {
    solver_.survey(root_);
    later_notes_ = located(solver_.notes().take(),
                           solver_.languages().narrowed() && !narrowed_);
    surveyed_ = true;
  }
  return later_notes_;
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
      frames_.size() + lexemes_.size() + texts_.size() + used_values_.size();
  if (entries != measured_) {
    measured_ = entries;
    added_bytes_ = own_bytes() - base_bytes_;
  }
  return added_bytes_ > room_ ? Room::kFull : Room::kLeft;
}

// Compiles the same document again.  What compiled once compiles again.
std::shared_ptr<recogniser::Recogniser> JsonRecogniser::fresh() const {
  const base::UnlimitedWork compile;
  JsonSchemaOptions options = options_;
  options.limits.cancelled = nullptr;
  options.limits.cancelled_argument = nullptr;
  Result<std::unique_ptr<JsonRecogniser>> made =
      make(document_, choices_, std::move(options));
  return made ? *std::move(made) : nullptr;
}

Configuration JsonRecogniser::start() { return start_; }

Configuration JsonRecogniser::step(Configuration config, std::uint8_t byte) {
  switch (lexemes_[config.lex].kind) {
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
    if (config.lex == static_cast<LexId>(Kind::kRoot)) return {};
    if (layout.max_white_space == JsonLayout::kUnlimited) return config;
    if (config.count >= layout.max_white_space) return {};
    ++config.count;
    return config;
  }
  return token_step(config, byte);
}

std::size_t JsonRecogniser::new_line(std::size_t depth) const {
  return options_.layout.indent ? 1 + *options_.layout.indent * depth : 0;
}

// Between lexemes in exact layout, where white space is fixed.
//
// Invariant: Configuration::count bytes of the layout that leads to the next
// significant byte have been read.
Configuration JsonRecogniser::exact_layout_step(Configuration config,
                                                std::uint8_t byte) {
  const Kind kind = lexemes_[config.lex].kind;
  const Frame& frame = frames_[config.frame];
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
      const LayoutText text = {"", new_line(frame.depth)};
      if (config.count < text.size()) {
        if (!may_continue(config.frame) || !match_next(text)) return {};
        return config;
      }
      return byte == '}' || byte == ']' ? Configuration{}
                                        : token_step(config, byte);
    }
    case Kind::kColon: {
      const LayoutText text = {options_.layout.key_separator, 0};
      if (!match_next(text)) return {};
      if (config.count < text.size()) return config;
      return {static_cast<LexId>(Kind::kValue), config.frame, 0, 0};
    }
    case Kind::kAfter: {
      if (config.extra != kClosing && may_continue(config.frame)) {
        const LayoutText text = {item_separator_, new_line(frame.depth)};
        if (match_next(text)) {
          config.extra = kContinuing;
          return config.count < text.size() ? config
                                            : after_comma(config.frame);
        }
      }
      if (config.extra == kContinuing || close(config.frame).dead()) return {};
      const LayoutText text = {"", new_line(frame.depth - 1U)};
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
  if (frame.kind == FrameKind::kObject) return any_member(id);
  return frame.kind == FrameKind::kArray && next_item(id) != 0;
}

Configuration JsonRecogniser::after_comma(FrameId frame) {
  if (frames_[frame].kind == FrameKind::kObject) {
    if (!any_member(frame)) return {};
    return {static_cast<LexId>(Kind::kKeyNext), frame, 0, 0};
  }
  const FrameId next = next_item(frame);
  if (next == 0) return {};
  return {static_cast<LexId>(Kind::kValue), next, 0, 0};
}

// The step with a byte between lexemes that is not white space.
Configuration JsonRecogniser::token_step(Configuration config,
                                         std::uint8_t byte) {
  const Frame& frame = frames_[config.frame];
  switch (lexemes_[config.lex].kind) {
    case Kind::kRoot:
    case Kind::kValue:
      return begin_value(config.frame, byte);
    case Kind::kItemFirst: {
      if (byte == ']') return close(config.frame);
      const FrameId next = next_item(config.frame);
      return next == 0 ? Configuration{} : begin_value(next, byte);
    }
    case Kind::kKeyFirst:
      if (byte == '}') return close(config.frame);
      [[fallthrough]];
    case Kind::kKeyNext: {
      if (byte != '"') return {};
      const KeyInfo& info = key_info(config.frame);
      if (!info.any) return {};
      return {info.start, config.frame, 0, 0};
    }
    case Kind::kColon:
      if (byte != ':') return {};
      return {static_cast<LexId>(Kind::kValue), config.frame, 0, 0};
    case Kind::kAfter:
      if (byte == ',') return after_comma(config.frame);
      if (frame.kind == FrameKind::kObject ? byte == '}' : byte == ']') {
        return close(config.frame);
      }
      return {};
    default:
      return {};
  }
}

// The step with the first byte of a value, which determines its type.  What the
// type leads to is memoised in Frame::entry.
Configuration JsonRecogniser::begin_value(FrameId id, std::uint8_t byte) {
  const auto entered = [&](JsonType type, auto enter) {
    const auto index = static_cast<std::size_t>(type);
    if (frames_[id].entry[index] == kUnknown) {
      const std::uint32_t made = enter();
      frames_[id].entry[index] = made;
    }
    return frames_[id].entry[index];
  };
  switch (byte) {
    case '"':
      return {entered(JsonType::kString, [&] { return enter_string(id); }), id,
              0, 0};
    case '{':
    case '[': {
      const JsonType type = byte == '{' ? JsonType::kObject : JsonType::kArray;
      const FrameId made = entered(type, [&] { return open(id, type); });
      if (made == 0) return {};
      return {
          static_cast<LexId>(byte == '{' ? Kind::kKeyFirst : Kind::kItemFirst),
          made, 0, 0};
    }
    case 't':
    case 'f': {
      const LexId lexeme = entered(JsonType::kBoolean, [&] {
        return enter_literal(id, JsonType::kBoolean);
      });
      return lexeme == 0 ? Configuration{}
                         : literal_step({lexeme, id, 0, 0}, byte);
    }
    case 'n': {
      const LexId lexeme = entered(
          JsonType::kNull, [&] { return enter_literal(id, JsonType::kNull); });
      return lexeme == 0 ? Configuration{}
                         : literal_step({lexeme, id, 0, 0}, byte);
    }
    default:
      if (byte != '-' && (byte < '0' || byte > '9')) return {};
      const LexId lexeme =
          entered(JsonType::kNumber, [&] { return enter_number(id); });
      return lexeme == 0 ? Configuration{}
                         : number_step({lexeme, id, 0, 0}, byte);
  }
}

bool JsonRecogniser::can_end(Configuration config) {
  if (raw()) return raw_can_end(config);
  const Kind kind = lexemes_[config.lex].kind;
  if (kind == Kind::kEnd) return true;
  if (kind != Kind::kNumber || frames_[config.frame].kind != FrameKind::kRoot) {
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
  for (const Entry& entry : lexeme.entries) {
    if (entry.min <= count) {
      reached = std::max(reached, entry.min);
    } else {
      ahead = std::min(ahead, entry.min);
    }
    if (entry.max == base::kUnbounded) continue;
    // One more for a character that an escape has begun.
    const std::uint64_t needed =
        solver_.languages().most_chars_needed(entry.state);
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
  if (raw()) return raw_mask_key(config, longest);
  const Lexeme& lexeme = lexemes_[config.lex];
  config.frame = canonical(config.frame);
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

namespace {

void add_to_list(std::string& list, std::string_view what) {
  if (!list.empty()) list += ", ";
  list += what;
}

}  // namespace

// A list for people.  The state of the lexeme decides which continuations are
// worth a name; step() decides which of them are possible.
//
// States inside strings, keys and literals have descriptions of their own; all
// others are described by the bytes that may come.
std::string JsonRecogniser::expected(Configuration config) {
  if (config.dead()) return "nothing";
  if (raw()) return expected_in_raw(config);
  switch (lexemes_[config.lex].kind) {
    case Kind::kEnd:
      return "the end";
    case Kind::kLiteral:
      return "the rest of null, true or false";
    case Kind::kString:
      return expected_in_string(config);
    case Kind::kKey:
      return expected_in_key(config);
    default:
      return expected_bytes(config);
  }
}

std::string JsonRecogniser::expected_in_string(Configuration config) {
  std::string list;
  if (any_step(config, ' ', 255, '"')) add_to_list(list, "more of a string");
  if (!step(config, '"').dead()) add_to_list(list, "its closing quote");
  return list;
}

std::string JsonRecogniser::expected_in_key(Configuration config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  const KeyInfo& info = key_info(config.frame);
  const KeyTrie& trie = key_tries_[lexeme.trie];
  std::string list;
  // A few names, since there may be thousands, and each may be long.
  constexpr std::size_t kMostNames = 12;
  constexpr std::size_t kMostBytes = 1000;
  std::size_t names = 0;
  std::size_t more = 0;
  if (lexeme.node != KeyTrie::kNone) {
    const KeyTrie::Node& node = trie.node(lexeme.node);
    for (std::uint32_t i = node.first; i < node.last; ++i) {
      if (!solver_.key_sets().contains(info.allowed, trie.keys()[i])) continue;
      const std::string& name = solver_.names().text(trie.keys()[i]);
      if (names == kMostNames || list.size() + name.size() > kMostBytes) {
        ++more;
        continue;
      }
      ++names;
      add_to_list(list, "the name " + json::dump(name));
    }
  }
  if (more > 0) {
    add_to_list(list, "one of " + std::to_string(more) +
                          (names > 0 ? " more names" : " names"));
  }
  if (lexeme.open || lexeme.extras != automata::kDeadState) {
    add_to_list(list, list.empty() ? "a name" : "another name");
  }
  return list;
}

// Whether a byte of [first, last] other than `except` may come.
bool JsonRecogniser::any_step(Configuration config, unsigned first,
                              unsigned last, char except) {
  for (unsigned byte = first; byte <= last; ++byte) {
    if (byte == static_cast<std::uint8_t>(except)) continue;
    if (!step(config, static_cast<std::uint8_t>(byte)).dead()) return true;
  }
  return false;
}

// In exact layout only a byte of the layout may be possible, so these come
// last.
std::string JsonRecogniser::expected_bytes(Configuration config) {
  const Kind kind = lexemes_[config.lex].kind;
  std::string list;
  const auto may_come = [&](char byte) {
    return !step(config, static_cast<std::uint8_t>(byte)).dead();
  };
  const auto try_byte = [&](char byte, std::string_view what) {
    if (may_come(byte)) add_to_list(list, what);
  };
  const bool value = kind < Kind::kKeyFirst;
  try_byte('"', value ? "a string" : "a name");
  if (kind == Kind::kNumber) {
    if (any_step(config, '0', '9')) add_to_list(list, "a digit");
    if (may_come('+') || may_come('-')) add_to_list(list, "a sign");
  } else if (value && (may_come('-') || any_step(config, '0', '9'))) {
    add_to_list(list, "a number");
  }
  try_byte('{', "an object");
  try_byte('[', "an array");
  try_byte('t', "true");
  try_byte('f', "false");
  try_byte('n', "null");
  try_byte('.', "'.'");
  try_byte('e', "an exponent");
  try_byte(':', "':'");
  try_byte(',', "','");
  try_byte('}', "'}'");
  try_byte(']', "']'");
  if (can_end(config)) add_to_list(list, "the end");
  if (list.empty() && options_.layout.exact) {
    try_byte(' ', "a space");
    try_byte('\n', "a line break");
    if (list.empty()) add_to_list(list, "more of a separator");
  }
  return list;
}

std::size_t JsonRecogniser::own_bytes() const {
  return solver_.memory_bytes() + frames_.size() * (sizeof(Frame) + 48) +
         alternatives_.size() * sizeof(Alternative) +
         lexemes_.size() * (sizeof(Lexeme) + 48) + row_bytes_ +
         texts_.size() * 64 + list_bytes_ +
         raw_classes_.size() * (sizeof(ByteClassTable) + 64) +
         (next_members_.size() + member_frames_.size() + possible_keys_.size() +
          fingerprints_.size()) *
             48 +
         (counts_.size() + survivors_.size()) * 160;
}

}  // namespace parlance::json_recogniser
