#ifndef PARLANCE_SCHEMA_OPTIONS_H_
#define PARLANCE_SCHEMA_OPTIONS_H_

// How a JSON Schema is read and how the JSON that it describes is written, what
// a compile may use, and what a compile reports.
//
//   JsonSchemaOptions options;
//   options.layout.max_white_space = 0;           // {"city":"Bern"}
//   options.key_order = KeyOrder::kSchema;
//   options.limits.steps = 100'000;
//   Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
//   for (const GrammarNote& note : grammar->report()) show(note.message);

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parlance/json.h"

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

}  // namespace parlance

#endif  // PARLANCE_SCHEMA_OPTIONS_H_
