#ifndef PARLANCE_GRAMMAR_H_
#define PARLANCE_GRAMMAR_H_

// What a model may write, as a language of texts.
//
//   Result<Grammar> grammar = Grammar::from_json_schema(R"({
//     "type": "object", "required": ["city"],
//     "properties": {"city": {"type": "string", "maxLength": 40}}})");
//   if (!grammar) return grammar.error();
//   grammar->accepts(R"({"city": "Bern"})");   // true
//
// A Grammar knows of tokens only where it names them (in Lark, EBNF and
// structural tags); in a text without tokens nothing stands there.  See
// parlance/constraint.h for masks.
//
// Law: exact, else narrower and said so, else refused.  A text that a grammar
// accepts is always valid under its schema; report() lists what a schema asks
// for and the grammar leaves out or does not enforce.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/structural_tag.h"

namespace parlance {

// ORDER: SchemaDraft
enum class SchemaDraft : std::uint8_t { k4, k6, k7, k2019, k2020 };

enum class KeyOrder : std::uint8_t {
  kAny,     // JSON Schema's meaning: members may come in any order
  kSchema,  // declared properties in the order of the schema, others behind
};

// How the texts in JSON that a schema fixes are spelled: names that it spells,
// names that it has patterns for (patternProperties, propertyNames), the values
// of const and enum, and strings of which it says more than how long they are
// (pattern, format, not const, ...).  Other strings and names may have any
// escapes.
//
//   {"properties": {"city": {"enum": ["Bern", "Köln"]}}}
//   {"city": "Köln"}                both
//   {"c\u0069ty": "K\u00f6ln"}      kAny
enum class JsonSpelling : std::uint8_t {
  // As Python's json.dumps(value, ensure_ascii=False) writes them: the escapes
  // that JSON needs and no others, and numbers of const and enum as the schema
  // has them.  The same values, each with one text.
  kCanonical,
  // Every spelling that JSON has for them.  Strings and names are canonical all
  // the same where JsonSchemaOptions::excludes says what they may not hold.
  kAny,
};

// How the parts of a JSON text may be set apart.  There is never white space
// around the whole.
struct JsonLayout {
  // Flexible: between two parts any run of white space (space, tab, line feed,
  // carriage return) of at most `max_white_space` bytes.  0 is compact.
  // Exact (`exact`): what Python's json.dumps writes for `indent` and the two
  // separators, and nothing else.
  bool exact = false;
  std::size_t max_white_space = 64;  // enough for an indentation of 64 columns
  std::optional<std::uint32_t> indent = std::nullopt;
  // Default: ", ", with an indent ",".
  std::optional<std::string> item_separator = std::nullopt;
  std::string key_separator = ": ";

  static constexpr std::size_t kUnlimited = ~std::size_t{0};
};

struct GrammarLimits {
  // Combinations of alternatives (anyOf, oneOf, if, not, ...) that one value
  // of the text may have to follow at once.
  std::size_t alternatives = 512;
  // Steps of reasoning about a schema while it is compiled.
  std::size_t steps = 4'000'000;
  // Levels of arrays and objects in the text.
  std::size_t depth = 1000;
  // Memory of the automata of one grammar, which are built while texts are
  // read, and of each JSON Schema in it.  When half of it is used, texts go on
  // with empty automata; what a text may go on with never depends on it.
  // kTooLarge for a grammar that does not fit by itself.
  std::size_t bytes = std::size_t{256} << 20;
  // Called now and then during a compile, whatever is compiled; a compile for
  // which it says true ends with kTooLarge "cancelled".  May be null.
  bool (*cancelled)(void*) = nullptr;
  void* cancelled_argument = nullptr;
};

struct JsonSchemaOptions {
  JsonLayout layout = {};
  KeyOrder key_order = KeyOrder::kAny;
  JsonSpelling spelling = JsonSpelling::kCanonical;
  // Default: as "$schema" says, else 2020-12.
  std::optional<SchemaDraft> draft = std::nullopt;
  // Properties and items that a schema with "properties", "items" or
  // "prefixItems" does not list are forbidden unless it says otherwise.
  bool closed = false;
  // What cannot be enforced is ignored (and reported) rather than refused.
  bool lenient = false;
  // "format" is enforced for the names we know.
  bool assert_formats = true;
  // Texts that must not stand inside a string or the name of a member, as it is
  // written between its quotes.  None may be empty.
  std::vector<std::string> excludes = {};
  // Documents that "$ref" may reach, by absolute URL.
  std::map<std::string, json::Value> documents = {};
  GrammarLimits limits = {};
};

// What became of one keyword.
struct GrammarNote {
  enum class Kind : std::uint8_t {
    kNarrowed,  // some valid texts are not let out; `message` says which
    kIgnored,   // unknown keyword or format, or not enforced (lenient)
  };
  Kind kind = Kind::kIgnored;
  std::string keyword;
  std::string path;  // JSON Pointer of the schema that has the keyword
  std::string message;
};

// Why a text is not in a language.
struct Rejection {
  std::size_t offset = 0;     // of the first byte that cannot stand there, or
                              // the text's size when it ends too early
  std::string expected = {};  // what was allowed there, for people
};

class Grammar;
class GrammarCache;  // parlance/grammar_cache.h

struct EbnfOptions {
  // The rule that a text is of.
  std::string root_rule = "root";
  GrammarLimits limits = {};
};

struct LarkGrammarOptions {
  // What "@name" stands for: grammars, or sources in Lark.
  std::map<std::string, Grammar> grammars = {};
  std::map<std::string, std::string> sources = {};
  // The tokens that are spelled so.  Null: no vocabulary is known, and tokens
  // by name and <[*]> are errors.
  std::function<std::vector<std::uint32_t>(std::string_view)> tokens_spelled =
      {};
  GrammarLimits limits = {};
};

struct StructuralTagGrammarOptions {
  // The lowest token with a text; nothing if there is none.  Null: a token that
  // is given by its text is an error (kUsage).
  std::function<std::optional<std::uint32_t>(std::string_view)> find_token = {};
  // Ids must be less.  Default: any.
  std::uint32_t vocabulary_size = 0xFFFFFFFF;
  GrammarLimits limits = {};
};

// Immutable, cheap to copy, safe to share between threads.
class Grammar {
 public:
  // Errors: kInvalidJson; kWrongType, kUnknownName, kEmptyValue, kBadPattern,
  // kUnsupportedPattern for what is wrong with a keyword; kUnsupported for
  // what is right and cannot be enforced; kUnsatisfiable when no text at all
  // is valid; kTooLarge naming the limit.  All with the JSON Pointer.
  static Result<Grammar> from_json_schema(
      std::string_view schema, const JsonSchemaOptions& options = {});
  static Result<Grammar> from_json_schema(
      const json::Value& schema, const JsonSchemaOptions& options = {});

  // A text is a schema in JSON, never the schema that is this string.
  static Result<Grammar> from_json_schema(
      const std::string& schema, const JsonSchemaOptions& options = {}) {
    return from_json_schema(std::string_view(schema), options);
  }
  static Result<Grammar> from_json_schema(
      const char* schema, const JsonSchemaOptions& options = {}) {
    return from_json_schema(std::string_view(schema), options);
  }

  // Grammars as text: the EBNF of GBNF files and more, one regular expression
  // that a whole text matches, Lark in the dialect of llguidance.
  //
  // Errors, with bytes of the text (parlance/line_column.h makes lines of
  // them): kBadSyntax; kBadReference for a rule that is used and not defined,
  // and for a missing root; kConflict for one defined twice; kUnknownName;
  // kBadPattern, kUnsupportedPattern; kUnsupported; kEmptyValue; kInvalidJson;
  // kInvalidUtf8; those of a JSON Schema inside, whose pointers begin at that
  // schema; kUnsatisfiable when there is no text at all; kTooLarge.
  static Result<Grammar> from_ebnf(std::string_view text,
                                   const EbnfOptions& options = {});
  static Result<Grammar> from_regex(std::string_view pattern,
                                    const GrammarLimits& limits = {});
  static Result<Grammar> from_lark(std::string_view text);
  static Result<Grammar> from_lark(std::string_view text,
                                   const LarkGrammarOptions& options);

  // Errors, with JSON Pointers: those of StructuralTag::from_json(), of the
  // patterns, grammars and schemas inside; kUnknownName for a token that is not
  // in the vocabulary, kUsage for one given by its text where there is none,
  // kConflict for an id that is too large; kUnsupported for a schema whose
  // parameters cannot be written in its style.
  static Result<Grammar> from_structural_tag(
      const StructuralTag& tag,
      const StructuralTagGrammarOptions& options = {});
  static Result<Grammar> from_structural_tag(
      std::string_view text, const StructuralTagGrammarOptions& options = {});

  // Texts of any of `parts`; texts of all of them, one behind the other.
  // Errors: kEmptyValue when there are no parts; kUnsatisfiable; kTooLarge.
  static Result<Grammar> union_of(const std::vector<Grammar>& parts,
                                  const GrammarLimits& limits = {});
  static Result<Grammar> concat(const std::vector<Grammar>& parts,
                                const GrammarLimits& limits = {});

  // Whether `text` as a whole is in the language.  O(text.size()) for JSON
  // Schemas, and for rules where what is open at one place is bounded or grows
  // like a stack: all that are LR(k), and most that are ambiguous, such as
  // e ::= e "+" e | [0-9].  Else what one byte costs grows with what is open
  // at its place, which bounds the whole by O(text.size()^3).
  bool accepts(std::string_view text) const;
  // Nothing if accepts(text), else where and why not.
  std::optional<Rejection> explain(std::string_view text) const;

  // In order of the schema, then what only a look at all of it tells, which
  // takes about as long as a compile when it is first asked for.  Empty when
  // the grammar is exact.
  const std::vector<GrammarNote>& report() const;

  // An EBNF text of the same language, which from_ebnf() reads; schemas stand
  // in it as JsonSchema("...").  Limits are not told.
  std::string to_ebnf() const;

  // The rules inside, for the rooms above.
  struct Machine;
  const std::shared_ptr<Machine>& machine() const { return machine_; }

 private:
  friend class GrammarCache;
  explicit Grammar(std::shared_ptr<Machine> machine);
  std::shared_ptr<Machine> machine_;
};

}  // namespace parlance

#endif  // PARLANCE_GRAMMAR_H_
