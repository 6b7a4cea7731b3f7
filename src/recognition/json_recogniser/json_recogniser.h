#ifndef PARLANCE_SRC_JSON_RECOGNISER_JSON_RECOGNISER_H_
#define PARLANCE_SRC_JSON_RECOGNISER_JSON_RECOGNISER_H_

// Recognises the JSON texts that a schema accepts, byte by byte.
//
// JSON's structure does not depend on the schema: brackets, commas, colons and
// scalars are found by one deterministic pushdown automaton.  Its stack symbols
// carry the schema.  A *frame* is an open object or array together with the
// alternatives (disjuncts of solver.h) that the text so far still allows for
// it.  Each alternative has a conjunction for the value expected next.  Each
// alternative of an inner frame knows for which conjunction of the outer frame
// it stands:
//
//   {"anyOf": [A, B]}      frame 1: root     conjunction anyOf
//   {"a": [ 1              frame 2: object   A, whose "a" has conjunction g
//          ^                                 B, whose "a" has conjunction h
//                          frame 3: array    disjuncts of g and of h
//                          lexeme: number    1 fits the items of g only
//
// When the array ends as g allows and h does not, alternative B is dropped.
// Alternatives with equal conjunctions share the frames inside them, so a frame
// never has more alternatives than the schema has, however deep the text.
//
// An alternative that no text completes is dropped at once, so every
// configuration that is not dead can be continued.
//
// Frames and lexeme states are hash-consed: equal ones have equal ids, however
// they were reached.  That is why one mask serves all records of a list.
//
// Texts of many readers fill the same tables, so no answer may depend on what
// was read before: the key of a memo has everything that its value reads.  What
// that is stands beside each memo.  What the solver says of a conjunction or a
// disjunct is the same whenever it is asked, for one number of levels.
//
// Files:
//   json_recogniser.cc  structure: brackets, commas, colons, white space
//   lexemes.cc          the table of lexemes; numbers, null, true and false
//   strings.cc          strings
//   raw_text.cc         strings without quotes
//   keys.cc             keys
//   frames.cc           the table of frames; opening and closing them
//   arrays.cc           the next item of an array
//   distinct_items.cc   uniqueItems of arrays and objects
//   members.cc          the next member of an object
//   mask_hints.cc       what masks may assume of a lexeme
//   value_states.cc     values without what encloses them
//   adopt.cc            configurations of another recogniser

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/byte_row.h"
#include "base/hashed_ids.h"
#include "base/once.h"
#include "json/string_body.h"
#include "json_recogniser/key_trie.h"
#include "json_recogniser/used_values.h"
#include "parlance/schema_options.h"
#include "recogniser/hint.h"
#include "recogniser/recogniser.h"
#include "schema/document.h"
#include "schema_solver/solver.h"
#include "schema_solver/value_prints.h"

namespace parlance::json_recogniser {

class EscapeRanges;  // json_recogniser/lexemes.h

class JsonRecogniser final : public recogniser::Recogniser,
                             public recogniser::LexemeStates {
 public:
  // Errors: as Grammar::from_json_schema's, but for those of loading.
  static Result<std::unique_ptr<JsonRecogniser>> create(
      schema::Document document, JsonSchemaOptions options);
  // The error, if the tables built so far are too large.
  std::optional<Error> too_large();

  recogniser::Configuration start() override;
  recogniser::Configuration step(recogniser::Configuration config,
                                 std::uint8_t byte) override;
  bool can_end(recogniser::Configuration config) override;
  recogniser::Configuration mask_key(recogniser::Configuration config,
                                     std::uint32_t longest) override;
  base::ByteSet first_bytes(recogniser::Configuration config) override;
  recogniser::Hint hint(recogniser::Configuration config) override;
  recogniser::Configuration resume(recogniser::Configuration config,
                                   recogniser::LeftValue left) override;
  recogniser::Configuration step_or_value(recogniser::Configuration config,
                                          std::uint8_t byte) override;
  std::optional<base::ByteSet> exception_bytes(
      recogniser::Configuration config) override;
  bool any_digits(recogniser::Configuration config) override;
  const ByteClassTable* byte_classes_at(
      recogniser::Configuration config) override;
  std::optional<std::uint32_t> chars_needed(
      recogniser::Configuration from, recogniser::Configuration to) override;
  std::uint32_t lexeme_step(std::uint32_t lex, std::uint8_t byte) override;
  std::uint32_t min_chars(std::uint32_t lex) override;
  Facts facts(std::uint32_t lex) override;
  Parts lexeme_parts(std::uint32_t lex) override;
  std::string expected(recogniser::Configuration config) override;
  std::size_t own_bytes() const override;
  recogniser::Recogniser::Room room() override;
  std::shared_ptr<recogniser::Recogniser> fresh() const override;
  recogniser::Configuration adopt(recogniser::Recogniser& from,
                                  recogniser::Configuration config) override;

  // Notes on the schema from its compilation.
  const std::vector<GrammarNote>& notes() const;
  // Further notes, from expanding everything that texts can reach, within a
  // bound on the work.  Done on the first call, because few callers want it and
  // it costs as much as a compile.  REQUIRES: the caller holds a Lock.
  const std::vector<GrammarNote>& survey();
  // Steps that operations on sets of keys took.
  std::size_t work() const { return solver_.key_sets().work(); }

 private:
  class Adoption;
  using FrameId = std::uint32_t;
  using LexId = std::uint32_t;
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

  // Kinds of lexeme states.  Each kind up to kLeftValue is one state between
  // lexemes, whose LexId is its number.
  enum class Kind : std::uint8_t {
    kDead,
    kRoot,       // a value, nothing before it
    kValue,      // a value, white space before it
    kItemFirst,  // after '[': an item or ']'
    kKeyFirst,   // after '{': a key or '}'
    kKeyNext,    // after ',': a key
    kColon,
    kAfter,  // after a member or item: ',' or the end of the frame
    kEnd,    // after the whole text
    // After the value of a detached frame; see LeftValue.
    kLeftValue,
    kLiteral,  // in null, true, false
    kNumber,
    kString,
    kKey,
  };
  static constexpr LexId kFirstLexeme = 16;

  using LeftValue = recogniser::LeftValue;
  static_assert(LeftValue::kLex == static_cast<LexId>(Kind::kLeftValue));
  // The configuration after the value of a detached frame.
  // LeftValue::fulfilled: kAll, or an index into survivors_.
  static recogniser::Configuration left_value(FrameId frame, LeftValue left) {
    return {LeftValue::kLex, frame, left.lookahead, left.fulfilled};
  }

  // The most items that a token can begin in one array: each but the first is
  // two bytes after the one before.  Counts further than this from every bound
  // behave alike.
  static constexpr std::uint64_t kItemReach =
      (recogniser::kLongestToken + 1) / 2;
  // Items are counted up to here, which no text reaches.
  static constexpr std::uint64_t kMostCounted = 0xFFFFFFFF;
  // Within this distance of the depth limit, the solver is asked for values
  // that fit below the limit.  Further away it is not, so a value that needs
  // more levels than these may still reach the limit.
  static constexpr std::uint64_t kDepthMargin = 128;
  // Further from the depth limit than this, no token meets it: a token enters
  // at most as many frames as it has bytes.
  static constexpr std::uint64_t kDepthReach =
      kDepthMargin + recogniser::kLongestToken;

  // An alternative of a frame.
  struct Alternative {
    // The conjunction of the parent frame's value that it stands for.
    schema_solver::ConjunctionId outer = schema_solver::kAnything;
    schema_solver::DisjunctId disjunct = 0;
    // Objects: what remains of the disjunct's condition.  Arrays: an index into
    // counts_.
    std::uint64_t state = 0;
    schema_solver::ConjunctionId pending =
        schema_solver::kNothing;  // of the value expected next
    // The values that the item expected next must not have, of an array with
    // uniqueItems: those of the items before, and those that later items need.
    UsedValues::Set barred = UsedValues::kNone;
    bool operator==(const Alternative&) const = default;
    auto operator<=>(const Alternative&) const = default;
  };

  // A detached frame stands for every frame in which a value with its
  // conjunctions comes.
  enum class FrameKind : std::uint8_t { kRoot, kArray, kObject, kDetached };

  // What a frame inside an item of an array with uniqueItems has of its value
  // so far (distinct_items.cc).
  struct Partial {
    schema_solver::Fingerprint sum = {};  // of the prints of its members
    // The print of the key or index whose value is expected next.
    schema_solver::Fingerprint at = {};
    bool array = false;
    std::uint32_t size = 0;   // arrays: the items
    std::uint32_t parts = 0;  // parts_: its members or items
    // 1 + the text of the key whose value is expected next, if the schema does
    // not spell it.
    std::uint32_t key = 0;
    // The keys so far that the schema does not spell, each with the print of
    // its member after a byte that no text has.
    UsedValues::Set extras = UsedValues::kNone;
    bool operator==(const Partial&) const = default;
  };
  // A member or item of a partial value, in a list.
  struct Part {
    schema_solver::Fingerprint at;  // the print of its key or index
    std::uint32_t nested = 0;       // an array or object: partials_
    std::uint32_t scalar = 0;       // else: its ValueText, in texts_
    std::uint32_t next = 0;
    bool operator==(const Part&) const = default;
  };
  // An array or object in an array with uniqueItems, in a list.
  struct Item {
    std::uint32_t value = 0;  // partials_
    std::uint32_t before = 0;
    UsedValues::Set scalars = kUnknown;  // scalars_in(), once known
  };
  // What stands for a scalar whose value is not known: no value has this text.
  static inline const schema_solver::ValueText kHole = "h";
  enum class Finishes : std::uint8_t { kUnknown, kYes, kNo };

  struct KeyInfo;
  struct Frame {
    FrameKind kind = FrameKind::kRoot;
    bool pending = false;   // a value is expected next
    bool distinct = false;  // arrays: some alternative's items differ
    // Its values are remembered: the items differ, or it is inside an item of
    // an array whose items differ, and `partial` says what that has so far.
    bool unique = false;
    std::uint32_t partial = 0;
    std::uint32_t items = 0;  // items_, of an array whose items differ
    std::uint32_t depth = 0;
    FrameId parent = 0;
    // Members or items so far, up to the highest count that rules distinguish.
    std::uint32_t count = 0;
    // Objects: the keys that are present or were skipped (a KeySet); none of
    // them can come again.  Arrays: the values used (UsedValues).
    std::uint32_t used = 0;
    // Objects in schema order: those of the used keys that are present and are
    // presence_keys() of an alternative.
    schema_solver::KeySet present = schema_solver::kNoKeys;
    std::uint32_t first = 0;  // alternatives_[first, first + size)
    std::uint32_t size = 0;

    // Memos, kUnknown before the first question.  Each reads this frame and its
    // parents alone, which decide its depth and so the levels that the solver
    // is asked for.
    std::array<std::uint32_t, schema_solver::kJsonTypes> entry = {
        kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
    // The frame after a value that every alternative accepts.
    FrameId after_all = kUnknown;
    FrameId next_item = kUnknown;
    Finishes finishes = Finishes::kUnknown;
    recogniser::Configuration closed = {};
    bool closed_known = false;
    FrameId canonical = kUnknown;
    FrameId detached = kUnknown;
    bool any_member = false;  // a member may come; known without `keys`
    std::unique_ptr<KeyInfo> keys;
  };

  // Which keys may come next in a frame.
  struct KeyInfo {
    std::uint32_t trie = 0;  // key_tries_
    // The keys of the trie with which some alternative continues, and those of
    // them that leave a value that uniqueItems does not bar.
    schema_solver::KeySet possible = schema_solver::kNoKeys;
    schema_solver::KeySet allowed = schema_solver::kNoKeys;
    bool checked = false;  // `allowed` is known
    bool any = false;
    bool track = false;  // other keys are remembered
    bool open = false;   // every other key may come, no pattern applies
    automata::StateId extras = automata::kDeadState;  // other keys
    // The language of `extras`, before any key is dropped.
    std::optional<automata::LanguageId> others = {};
    LexId start = 0;
    // By the patterns that match: the frame of the member.  Reads the frame.
    std::unordered_map<std::vector<bool>, FrameId> next_extra = {};
  };

  // Part of a lexeme's state that belongs to one conjunction of the frame.
  struct Entry {
    schema_solver::ConjunctionId conjunction = schema_solver::kAnything;
    std::uint32_t state = 0;  // of Languages or NumberLanguages
    // Length in characters.  A minimum is kept here only if the language is
    // that of all strings.
    std::uint32_t min = 0;
    std::uint32_t max = base::kUnbounded;
    // If there is a maximum: the characters that are still needed, including
    // one that has begun.
    std::uint32_t needed = 0;
    // What the values that uniqueItems bars have after the text so far.
    // Strings: UsedValues::kNone if the lexeme's `node` says it.
    UsedValues::Set used = UsedValues::kNone;
    // Numbers: the value of the text so far is barred.
    bool taken = false;
    // Strings: only the canonical spelling is accepted.
    bool canonical = false;
    // Whether any completion of the text may be barred.
    bool avoids() const { return used != UsedValues::kNone || taken; }
    bool operator==(const Entry&) const = default;
    static std::uint64_t key(const Entry& entry) {
      return std::uint64_t{entry.state} << 32 | entry.conjunction.value();
    }
  };

  struct Lexeme {
    Kind kind = Kind::kDead;
    json::BodyState body = json::BodyState::kText;
    bool track = false;  // Configuration::extra remembers the text
    bool open = false;   // keys: every other key may come
    // Strings: every text of a valid length is accepted, in every spelling.
    bool total = false;
    // Open keys: the text so far begins a key of the schema, in a spelling that
    // keys of the schema may not have.
    bool noncanonical = false;
    // Strings inside an item of an array with uniqueItems: up to the next
    // bracket or quote, what follows the string depends on its text only if
    // `node` spells it, which does not bar it.
    bool noted = false;
    std::uint8_t literal = 0;  // 0 null, 1 true, 2 false
    // Literals: the bytes that are read.  Numbers with `track`: a NumberPart.
    std::uint8_t at = 0;
    std::uint32_t partial = 0;  // value of the escape so far
    std::uint32_t trie = 0;     // keys: key_tries_
    // The node of the text so far.  Keys: among the keys of the schema.
    // Strings: what the values that were used already have after it
    // (UsedValues).
    std::uint32_t node = KeyTrie::kNone;
    automata::StateId extras = automata::kDeadState;
    std::vector<Entry> entries;  // keys: one per pattern

    // Strings: up to this many characters no entry's maximum is exceeded.
    std::uint32_t max = base::kUnbounded;
    base::Fingerprint fingerprint = {};  // content_fingerprint(), once known
    // The lexeme after a byte.  Reads this lexeme: what depends on the frame or
    // on the number of characters is checked after it.
    base::ByteRow<LexId> row;
    // kUnknown: not computed yet.
    LexId known_step(std::uint8_t byte) const { return row.find(byte); }
    // Whether some alternative is read beside values that are barred.
    bool avoids() const { return std::ranges::any_of(entries, &Entry::avoids); }
    Lexeme without_entries() const;
    bool same(const Lexeme& other) const;
    std::uint64_t hash() const;
  };

  // The lexemes of keys to which no pattern applies: by node of the trie, and
  // outside the trie by the state of the string.  Reads the trie, and the three
  // flags that key_lexemes_ has beside it.
  struct KeyLexemes {
    std::vector<LexId> nodes;
    std::array<LexId, json::kLiveBodyStateCount> outside;
  };

  using DocumentRef = std::shared_ptr<const schema::Document>;
  JsonRecogniser(DocumentRef document, schema_solver::ItemChoices choices,
                 JsonSchemaOptions options);
  std::vector<GrammarNote> located(std::vector<schema_solver::NodeNote> notes,
                                   bool narrowed) const;
  Error why_unsatisfiable();
  static Result<std::unique_ptr<JsonRecogniser>> make(
      DocumentRef document, schema_solver::ItemChoices choices,
      JsonSchemaOptions options);

  // Whether the key is accepted in its canonical spelling alone.  For open keys
  // this holds for the keys of the schema only (Lexeme::noncanonical).
  bool canonical_keys(const Lexeme& key) const {
    return canonical_ && !key.open;
  }

  // json_recogniser.cc
  recogniser::Configuration structure_step(recogniser::Configuration config,
                                           std::uint8_t byte);
  recogniser::Configuration exact_layout_step(recogniser::Configuration config,
                                              std::uint8_t byte);
  recogniser::Configuration token_step(recogniser::Configuration config,
                                       std::uint8_t byte);
  recogniser::Configuration after_comma(FrameId frame);
  bool may_continue(FrameId frame);
  // Bytes of a line break and the indentation after it, 0 without an indent.
  std::size_t new_line(std::size_t depth) const;
  bool any_step(recogniser::Configuration config, unsigned first, unsigned last,
                char except = '\0');
  std::string expected_in_string(recogniser::Configuration config);
  std::string expected_in_key(recogniser::Configuration config);
  std::string expected_bytes(recogniser::Configuration config);
  recogniser::Configuration begin_value(FrameId frame, std::uint8_t byte);
  std::uint32_t count_in_mask_key(const Lexeme& lexeme, std::uint32_t count,
                                  std::uint32_t longest);

  // lexemes.cc
  LexId intern(Lexeme lexeme);
  // Stores and returns the target of a byte.
  LexId remember_step(LexId from, std::uint8_t byte, LexId to);
  LexId remember_steps(LexId from, std::uint8_t first, std::uint8_t last,
                       LexId to);
  // Where the text of a number is.
  enum class NumberPart : std::uint8_t {
    kStart,
    kSign,
    kInteger,
    kFraction,
    kExponent
  };
  // A number under uniqueItems: what the automaton of its conjunction and the
  // values that are barred say of the text so far.
  struct AvoidingNumber {
    automata::NumberLanguages::State state = automata::NumberLanguages::kDead;
    UsedValues::Set used = UsedValues::kNone;
    bool taken = false;
    NumberPart part = NumberPart::kStart;
    auto operator<=>(const AvoidingNumber&) const = default;
  };
  AvoidingNumber avoiding_step(AvoidingNumber number, std::uint8_t byte);
  enum class Left : std::uint8_t { kNone, kSome, kPerhapsByExponent };
  bool surely_left(const AvoidingNumber& at);
  Left numbers_left(const AvoidingNumber& from);
  bool number_left(automata::NumberLanguages::State state, std::string text,
                   UsedValues::Set barred);
  bool can_avoid(const AvoidingNumber& number, const std::string& text,
                 UsedValues::Set barred);
  std::uint32_t enter_number(FrameId frame);
  LexId compute_number_step(recogniser::Configuration config,
                            std::uint8_t byte);
  recogniser::Configuration number_step(recogniser::Configuration config,
                                        std::uint8_t byte);
  recogniser::Configuration end_number(recogniser::Configuration config);
  std::uint32_t enter_literal(FrameId frame, schema_solver::JsonType type);
  recogniser::Configuration literal_step(recogniser::Configuration config,
                                         std::uint8_t byte);
  std::uint32_t extend_text(std::uint32_t text, std::string_view bytes);
  std::string text(std::uint32_t id) const;

  // strings.cc
  std::uint32_t enter_string(FrameId frame);
  void count_characters(Lexeme& lexeme, automata::LanguageId language);
  bool spelled_canonically(const schema_solver::StringConstraints& string);
  std::optional<automata::LanguageId> without_used(
      automata::LanguageId language, UsedValues::Set values);
  bool strings_left(automata::StateId state, UsedValues::Set used);
  bool strings_left_in(const EscapeRanges& ranges, automata::StateId state,
                       UsedValues::Set used);
  std::uint32_t min_chars_needed(json::BodyState body, std::uint32_t partial,
                                 automata::StateId state, bool canonical);
  bool any_in(const EscapeRanges& ranges, automata::StateId state);
  std::uint32_t min_chars_in_range(automata::StateId state, char32_t low,
                                   char32_t high);
  recogniser::Configuration string_step(recogniser::Configuration config,
                                        std::uint8_t byte);
  recogniser::Configuration within_bounds(recogniser::Configuration config);
  LexId remember_range(LexId from, std::uint8_t byte, LexId to);
  std::optional<Entry> entry_step(const Entry& entry, const Lexeme& now,
                                  const Lexeme& next, std::uint8_t byte);
  LexId compute_string_step(LexId lexeme, std::uint8_t byte);
  recogniser::Configuration close_string(recogniser::Configuration config);

  // raw_text.cc
  // Whether the texts are strings without quotes (JsonSpelling::kRaw).  The
  // whole text is then one lexeme.
  bool raw() const { return options_.spelling == JsonSpelling::kRaw; }
  json::BodyState next_body(json::BodyState body, std::uint8_t byte) const;
  recogniser::Configuration enter_raw(FrameId frame);
  void count_raw(Entry& entry, automata::LanguageId language);
  recogniser::Configuration raw_counted(recogniser::Configuration config);
  bool raw_can_end(recogniser::Configuration config);
  recogniser::Configuration raw_mask_key(recogniser::Configuration config,
                                         std::uint32_t longest);
  std::string expected_in_raw(recogniser::Configuration config);

  // keys.cc
  void add_key_trie(std::vector<schema_solver::KeyId> keys,
                    std::vector<automata::LanguageId> languages);
  recogniser::Configuration key_step(recogniser::Configuration config,
                                     std::uint8_t byte);
  LexId key_text_step(const Lexeme& now, std::uint8_t byte,
                      json::BodyState body);
  bool spells_allowed_key(const KeyInfo& info, const Lexeme& lexeme);
  bool continues_in_range(const KeyTrie& trie, schema_solver::KeySet allowed,
                          std::uint32_t node, char32_t low, char32_t high);
  LexId compute_key_step(LexId lexeme, std::uint8_t byte);

  // mask_hints.cc, with what Recogniser asks for masks
  std::optional<recogniser::FreeString> free_string(
      recogniser::Configuration config);
  void find_accepting_ranges(recogniser::Configuration config,
                             recogniser::FreeString& hint);
  std::optional<recogniser::Between> between(recogniser::Configuration config);
  // With no fingerprint if it is not known.
  recogniser::LexemeHint lexeme_hint(recogniser::Configuration config);
  base::Fingerprint lexeme_fingerprint(recogniser::Configuration config);
  std::uint32_t chars_left(recogniser::Configuration config);
  recogniser::Configuration unbounded(recogniser::Configuration config);
  recogniser::SplitKeys split_keys(recogniser::Configuration config);
  bool by_state(const Lexeme& lexeme) const;
  bool any_escapes(const Lexeme& lexeme) const;
  base::ByteSet bytes_of_exceptions(const Lexeme& lexeme);
  base::Fingerprint content_fingerprint(recogniser::Configuration config);
  base::Fingerprint own_if_narrowed(const base::Fingerprint& content);

  // frames.cc
  void drop_dominated(std::vector<Alternative>& list);
  FrameId intern(Frame frame, std::vector<Alternative> alternatives);
  const Alternative* alternatives(const Frame& frame) const {
    return alternatives_.data() + frame.first;
  }
  // A copy, for loops that intern frames.
  std::vector<Alternative> alternatives_of(FrameId id) const {
    const Alternative* const first = alternatives(frames_[id]);
    return {first, first + frames_[id].size};
  }
  // How many levels of arrays and objects a value in the frame may have, for
  // SchemaSolver::ScopedDepthLimit.
  std::uint32_t levels_in(FrameId frame) const;
  // The conjunctions of the value expected next, each once.
  std::vector<schema_solver::ConjunctionId> conjunctions_in(
      const Frame& frame) const;
  // The values that every alternative with this conjunction bars.
  UsedValues::Set barred_in(FrameId frame,
                            schema_solver::ConjunctionId conjunction);
  UsedValues::Set barred_by_items(const Frame& frame,
                                  schema_solver::ConjunctionId conjunction);
  FrameId open_frame(FrameId frame, schema_solver::JsonType type);
  FrameId open(FrameId frame, schema_solver::JsonType type);
  UsedValues::Set with_value(UsedValues::Set values, const std::string& value);
  std::vector<std::string> spellings(const std::string& value) const;
  UsedValues::Set with_used(UsedValues::Set values, const std::string& value);
  // The frame after a value that fulfils the conjunctions `survivors`, each
  // listed once.  `unique_value`: the value, if it was tracked, in a spelling
  // that no other value has (schema_solver::ValueText): a string after a quote,
  // another constant after a 'w', a number as number_value() spells it, an
  // array or object by its print; may be null.  `nested`: an array or object,
  // in partials_.  0 if the value is barred.
  FrameId frame_after_value(
      FrameId frame, const std::vector<schema_solver::ConjunctionId>& survivors,
      const std::string* unique_value, std::uint32_t nested = 0);
  recogniser::Configuration after_value(
      FrameId frame, const std::vector<schema_solver::ConjunctionId>& survivors,
      const std::string* unique_value, std::uint32_t nested = 0);
  recogniser::Configuration close(FrameId frame);
  FrameId canonical(FrameId frame);

  // arrays.cc
  // What an item may be: the rules that it fulfils, and the counts and
  // witnesses after it.  `counts` is as in Alternative::state: a number per
  // count, then a bit per witness.
  struct ItemChoice {
    schema_solver::ConjunctionId conjunction;
    std::vector<std::uint64_t> counts;
    std::size_t served = 0;  // rules that the item fulfils on purpose
  };
  void add_choice(std::vector<ItemChoice>& list, std::size_t most,
                  ItemChoice choice);
  void branch_on_count(const schema_solver::ItemCount& count, std::size_t index,
                       std::size_t most, std::vector<ItemChoice>& choices);
  void branch_on_witness(schema_solver::Literal literal, std::size_t index,
                         std::size_t most, std::vector<ItemChoice>& choices);
  std::vector<ItemChoice> item_choices(const Frame& frame,
                                       const Alternative& alternative);
  bool any_value_left(FrameId frame);
  FrameId make_next_item(FrameId frame);
  FrameId next_item(FrameId frame);

  // distinct_items.cc
  class ItemSearch;
  struct Closing {
    std::vector<schema_solver::ConjunctionId> survivors = {};
    schema_solver::ValueText value = {};  // of a frame inside an item
  };
  std::uint32_t intern(const Partial& partial);
  std::uint32_t intern(const Part& part);
  std::uint32_t with_key(std::uint32_t partial, const std::string& key,
                         bool foreign);
  std::uint32_t with_index(std::uint32_t partial);
  std::uint32_t with_part(std::uint32_t partial,
                          const schema_solver::ValueText& value,
                          std::uint32_t nested);
  static schema_solver::Fingerprint print_of(
      const Partial& value, const schema_solver::Fingerprint& sum);
  UsedValues::Set with_text(UsedValues::Set values, std::string_view text);
  std::uint32_t with_item(std::uint32_t items, std::uint32_t value);
  UsedValues::Set scalars_in(std::uint32_t items);
  UsedValues::Set with_scalars(UsedValues::Set set, std::uint32_t value);
  std::optional<UsedValues::Set> noted_strings(FrameId frame);
  bool barred_around(FrameId frame) const;
  Closing closing(FrameId frame);
  FrameId after_nested(FrameId frame, const Closing& closing);
  bool endless_keys(FrameId frame, std::vector<std::string>& keys);
  FrameId other_member(FrameId frame, const std::string& key);
  void check_keys(FrameId frame, KeyInfo& info);
  bool finishes(FrameId frame);
  UsedValues::Set barred_inside(FrameId frame,
                                schema_solver::ConjunctionId conjunction);

  // members.cc
  KeyInfo& raw_key_info(FrameId frame);
  KeyInfo& key_info(FrameId frame);
  bool any_member(FrameId frame);
  bool any_other_key(FrameId frame);
  bool some_key_allowed(FrameId frame);
  std::uint32_t key_trie(const Frame& frame);
  void make_key_trie(std::span<const schema_solver::DisjunctId> disjuncts,
                     schema_solver::KeySet also);
  // The frame in which the value of a member comes; 0 if there is no such
  // member.  `index` is the index of the key in the frame's trie.  For a key
  // that is not in the trie it is kNone; then `matched` says of each pattern of
  // the trie whether it matches (those beyond its end do not), and `text` is
  // the key, or null if it is not tracked.
  FrameId with_member(FrameId frame, std::uint32_t index,
                      std::vector<bool> matched, const std::string* text);
  // The same for a key that is allowed but for what uniqueItems bars.
  FrameId member_of(FrameId frame, std::uint32_t index,
                    std::vector<bool> matched, const std::string* text);
  static schema_solver::ConditionId condition_of(const Alternative& object) {
    return static_cast<schema_solver::ConditionId>(object.state);
  }
  // The members of an object so far, or after one more member.
  struct Progress {
    schema_solver::KeySet used = schema_solver::kNoKeys;
    schema_solver::KeySet present = schema_solver::kNoKeys;
    schema_solver::KeySet skipped =
        schema_solver::kNoKeys;  // left out by this member
    std::uint64_t count = 0;
  };
  bool in_order() const { return options_.key_order == KeyOrder::kSchema; }
  Progress progress_of(FrameId frame) const;
  Progress after_member(FrameId frame, schema_solver::KeyId key, bool spelled);
  schema_solver::SchemaSolver::Members members_of(
      schema_solver::DisjunctId disjunct, const Progress& progress,
      schema_solver::ConditionId condition);
  bool skips_required(schema_solver::DisjunctId disjunct,
                      const Progress& before, const Progress& progress);
  schema_solver::KeySet ranked_below(FrameId frame, std::uint32_t rank);
  std::uint32_t min_rank(FrameId frame, schema_solver::KeySet keys);
  schema_solver::KeySet possible_keys(schema_solver::DisjunctId disjunct,
                                      std::uint32_t trie, bool near);
  schema_solver::KeySet next_in_order(FrameId frame,
                                      schema_solver::DisjunctId disjunct,
                                      schema_solver::KeySet possible);
  schema_solver::KeySet allowed_keys(FrameId frame,
                                     const Alternative& alternative,
                                     schema_solver::KeySet possible,
                                     bool any_only);
  schema_solver::KeySet allowed_together(FrameId frame,
                                         const Alternative& alternative,
                                         schema_solver::KeySet keys);
  automata::LanguageId extras_of(FrameId frame, const Alternative& alternative);
  automata::LanguageId other_keys(std::uint32_t trie,
                                  std::vector<automata::LanguageId> extras);
  std::vector<schema_solver::MemberAlternative> member_alternatives(
      const Alternative& alternative, const schema_solver::KeyClass& key_class,
      const Progress& progress);
  bool can_continue_with(FrameId frame, const Alternative& alternative,
                         schema_solver::KeyId key);
  FrameId make_member(FrameId frame, const schema_solver::KeyClass& key_class,
                      const Progress& progress, const std::string& text);

  // value_states.cc, with the overrides about values
  recogniser::Configuration value_state(recogniser::Configuration config);
  FrameId value_frame(FrameId id);
  base::Fingerprint value_fingerprint(recogniser::Configuration config);
  FrameId detached(std::vector<schema_solver::ConjunctionId> conjunctions);
  base::Fingerprint conjunction_fingerprint(
      schema_solver::ConjunctionId conjunction);
  base::Fingerprint scalar_fingerprint(
      schema_solver::ConjunctionId conjunction);

  const DocumentRef document_;  // shared by all recognisers made by fresh()
  const JsonSchemaOptions options_;
  const bool canonical_;  // strings that the schema fixes have one spelling
  const schema_solver::ItemChoices choices_;
  schema_solver::SchemaSolver solver_;
  // notes(), made when first read, of what the compile found.
  mutable base::Once notes_made_;
  mutable std::vector<GrammarNote> notes_;
  std::vector<schema_solver::NodeNote> found_;
  schema_solver::ConjunctionId root_ = schema_solver::kAnything;
  bool narrowed_ = false;  // the languages, by the compile
  bool surveyed_ = false;
  std::vector<GrammarNote> later_notes_;
  std::string item_separator_;
  recogniser::Configuration start_;
  // Raw texts: an upper bound on the characters that any text so far needs to
  // become a string of an entry with a maximum.
  std::uint64_t raw_needs_ = 0;
  // Raw texts: byte_classes_at(), by lexeme.
  std::unordered_map<LexId, std::unique_ptr<ByteClassTable>> raw_classes_;

  std::deque<Frame> frames_;
  std::vector<Alternative> alternatives_;
  base::HashedIds<FrameId> frame_of_;
  std::vector<Partial> partials_;  // after one for frames that have none
  base::HashedIds<std::uint32_t> partial_of_;
  std::vector<Part> parts_;  // after one that ends all lists
  base::HashedIds<std::uint32_t> part_of_;
  std::vector<Item> items_;  // likewise
  std::unordered_map<std::uint64_t, std::uint32_t> item_of_;
  std::unordered_map<std::uint64_t, UsedValues::Set> barred_inside_;
  std::deque<Lexeme> lexemes_;
  base::HashedIds<LexId> lexeme_of_;
  std::deque<KeyTrie> key_tries_;
  // By trie, and by Lexeme::open, track and noncanonical.
  std::deque<std::array<std::unique_ptr<KeyLexemes>, 8>> key_lexemes_;
  // By the keys that are remembered, and the disjuncts: see key_trie().
  std::unordered_map<std::string, std::uint32_t> key_trie_of_;
  // By trie and disjunct: the keys whose values are satisfiable, for any number
  // of levels.
  std::unordered_map<std::uint64_t, schema_solver::KeySet> possible_keys_;
  // By frame and index of the key in its trie, which the frame decides: the
  // frame of the member.
  std::unordered_map<std::uint64_t, FrameId> next_members_;
  // other_keys() by its arguments.
  std::unordered_map<std::string, automata::LanguageId> other_keys_;
  UsedValues used_values_;
  // A set that a set was made from, and the value that it has more.
  std::unordered_map<UsedValues::Set, std::pair<UsedValues::Set, std::string>>
      value_set_from_;
  // without_used() by its arguments.
  std::unordered_map<std::uint64_t, automata::LanguageId> without_used_;
  // strings_left() and numbers_left() by their arguments.
  std::unordered_map<std::uint64_t, bool> strings_left_;
  std::map<AvoidingNumber, bool> numbers_left_;
  // Per list: the ArrayConstraints::counts so far, then the witnesses found,
  // one bit each.
  std::vector<std::vector<std::uint64_t>> counts_;
  std::unordered_map<std::string, std::uint32_t> counts_of_;
  // Remembered texts: (text before << 8 | byte) + 1.
  std::vector<std::uint64_t> texts_;
  std::unordered_map<std::uint64_t, std::uint32_t> text_of_;
  // The conjunctions that a value of a detached frame fulfils; the first list,
  // LeftValue::kAll, stands for all.
  std::vector<std::vector<schema_solver::ConjunctionId>> survivors_;
  std::unordered_map<std::string, std::uint32_t> survivors_of_;
  // By disjunct and key: the detached frame of a member's value; 0 if the value
  // depends on more than these two.  Reads member_conjunction() of them, and
  // whether the disjunct has a condition.
  std::unordered_map<std::uint64_t, FrameId> member_frames_;
  // conjunction_fingerprint(), once known.
  std::unordered_map<schema_solver::ConjunctionId, base::Fingerprint>
      fingerprints_;
  // Of this recogniser alone.
  const std::uint64_t number_ = new_user_key();
  std::size_t row_bytes_ = 0;   // of the lexemes
  std::size_t list_bytes_ = 0;  // of the lists inside the tables above

  std::size_t base_bytes_ = 0;   // after compilation
  std::size_t measured_ = 0;     // entries at the last measurement
  std::size_t added_bytes_ = 0;  // by texts, then
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_JSON_RECOGNISER_H_
