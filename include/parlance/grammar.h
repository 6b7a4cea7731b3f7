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
// A Grammar knows nothing of tokens; see parlance/constraint.h for masks.
//
// Law: exact, else narrower and said so, else refused.  A text that a grammar
// accepts is always valid under its schema; report() lists what a schema asks
// for and the grammar leaves out or does not enforce.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance {

// ORDER: SchemaDraft
enum class SchemaDraft : std::uint8_t { k4, k6, k7, k2019, k2020 };

enum class KeyOrder : std::uint8_t {
  kAny,     // JSON Schema's meaning: members may come in any order
  kSchema,  // declared properties in the order of the schema, others behind
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
  std::string item_separator = ", ";
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
  // Memory of the lazily built automata of one grammar.
  std::size_t bytes = std::size_t{256} << 20;
  // Called now and then during a compile; a compile for which it says true
  // ends with kTooLarge "cancelled".  May be null.
  bool (*cancelled)(void*) = nullptr;
  void* cancelled_argument = nullptr;
};

struct JsonSchemaOptions {
  JsonLayout layout = {};
  KeyOrder key_order = KeyOrder::kAny;
  // Default: as "$schema" says, else 2020-12.
  std::optional<SchemaDraft> draft = std::nullopt;
  // Properties and items that a schema with "properties", "items" or
  // "prefixItems" does not list are forbidden unless it says otherwise.
  bool closed = false;
  // What cannot be enforced is ignored (and reported) rather than refused.
  bool lenient = false;
  // "format" is enforced for the names we know.
  bool assert_formats = true;
  // Documents that "$ref" may reach, by absolute URL.
  std::map<std::string, json::Value> documents = {};
  GrammarLimits limits = {};
};

// What became of one keyword.
struct SchemaNote {
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

  // Whether `text` as a whole is in the language.  O(text.size()).
  bool accepts(std::string_view text) const;
  // Nothing if accepts(text), else where and why not.
  std::optional<Rejection> explain(std::string_view text) const;

  // In order of the schema.  Empty when the grammar is exact.
  const std::vector<SchemaNote>& report() const;

  // The rules inside, for the rooms above.
  struct Machine;
  const std::shared_ptr<Machine>& machine() const { return machine_; }

 private:
  explicit Grammar(std::shared_ptr<Machine> machine);
  std::shared_ptr<Machine> machine_;
};

}  // namespace parlance

#endif  // PARLANCE_GRAMMAR_H_
