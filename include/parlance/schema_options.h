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
  kSchema,  // declared properties in the schema's order, none late; then others
};

// How the strings and numbers that a schema determines are spelled in JSON:
//
//   * names of members that the schema declares or describes by a pattern
//     (properties, patternProperties, propertyNames);
//   * the values of const and enum, and integers;
//   * strings that the schema restricts by more than their length (pattern,
//     format, not const, ...).
//
// All other strings and names may have any escapes.
//
//   {"properties": {"city": {"enum": ["Bern", "Köln"]}}}
//   {"city": "Köln"}                both
//   {"c\u0069ty": "K\u00f6ln"}      kAny
//
// kRaw is for strings alone, where another notation has its own delimiters:
//
//   {"enum": ["Köln", "\"Bern\""]}
//   Köln, "Bern"                   kRaw
//
// ORDER: JsonSpelling
enum class JsonSpelling : std::uint8_t {
  // As Python's json.dumps(value, ensure_ascii=False) writes them: only the
  // escapes that JSON requires, the numbers of const and enum as the schema has
  // them, and integers as digits.  The values are those of kAny.
  kCanonical,
  // Every spelling that JSON allows.  Strings and names stay canonical if
  // JsonSchemaOptions::excludes is not empty.
  kAny,
  // The strings themselves, without quotes and escapes: the texts are not JSON.
  // Only strings have a text.
  kRaw,
};

// The white space between the tokens of a JSON text.  There is none before and
// after the text.
//
// A layout is flexible or exact.  Flexible: any run of white space (space, tab,
// line feed, carriage return) of at most `max_white_space` bytes may stand
// between two tokens.  Exact: the text is what Python's json.dumps writes for
// `indent` and the two separators.
struct JsonLayout {
  bool exact = false;

  // Flexible layouts only, bytes.  0: compact.  Default: 64, enough for a line
  // feed and an indentation of 63 columns.
  std::size_t max_white_space = 64;

  // Exact layouts only.  Default of item_separator: ", ", or "," with an
  // indent.
  std::optional<std::uint32_t> indent = std::nullopt;
  std::optional<std::string> item_separator = std::nullopt;
  std::string key_separator = ": ";

  // For max_white_space.
  static constexpr std::size_t kUnlimited = ~std::size_t{0};
};

// How much a compile, the automata of one grammar, and its texts may use.
//
// Past `alternatives` or `steps` the grammar leaves out some alternatives of
// the schema: it gets narrower, never wider, and Grammar::report() says so.  If
// no text is left, the compile fails with kTooLarge.
struct GrammarLimits {
  // Combinations of the alternatives of a schema (anyOf, oneOf, if, not, ...)
  // that one value of the text may have to follow at the same time.  A single
  // anyOf, oneOf or enum may have 16,384 alternatives nevertheless.
  std::size_t alternatives = 512;

  // Steps of the decision procedure that finds the satisfiable combinations of
  // a schema's keywords.
  std::size_t steps = 4'000'000;

  // Nesting of arrays and objects in the text, levels.  Texts with more levels
  // are not in the language; kTooLarge if every text has more.
  std::size_t depth = 1000;

  // Memory of the automata of one grammar, which are built while texts are
  // read, and of each JSON Schema in it, in bytes.  When half of it is used,
  // texts continue with empty automata.  That costs time; what a text may
  // continue with never depends on the limit.  kTooLarge for a grammar whose
  // beginning does not fit.  Default: 256 MiB.
  std::size_t bytes = std::size_t{256} << 20;

  // Steps that one call of a Matcher may take: a mask, a token that is read.
  // A step is about as much as one node of an automaton or one item of a
  // parser, so the limit bounds the time of a call, and the same calls pass it
  // on every machine.  Beyond it Matcher::error() says so.  Default: a quarter
  // of a second on a server of 2023, measured on grammars that are made to be
  // slow; grammars from practice take less than a tenth of it.
  std::size_t work = 4'000'000;

  // Called every few milliseconds of every compile.  If it returns true, the
  // compile fails with kTooLarge "cancelled".  May be null.
  bool (*cancelled)(void*) = nullptr;
  void* cancelled_argument = nullptr;
};

struct JsonSchemaOptions {
  JsonLayout layout = {};
  KeyOrder key_order = KeyOrder::kAny;
  JsonSpelling spelling = JsonSpelling::kCanonical;

  // Default: the draft that "$schema" names, else 2020-12.
  std::optional<SchemaDraft> draft = std::nullopt;

  // Where a schema, with those in place in it ($ref, allOf, ...), declares some
  // properties or items and itself says nothing about others, forbid others.
  bool closed = false;

  // Ignore and report a keyword that cannot be enforced.  Default: it is an
  // error (kUnsupported).
  bool lenient = false;

  // Enforce "format" for the names that docs/reference/json-schema.md lists.
  bool assert_formats = true;

  // Texts that no string and no name of a member may contain, compared with the
  // JSON text between the quotes; with kRaw, with the string.  REQUIRES: none
  // is empty.
  std::vector<std::string> excludes = {};

  // Documents that "$ref" may refer to, by absolute URL.
  std::map<std::string, json::Value> documents = {};
  GrammarLimits limits = {};
};

// One entry of Grammar::report(): a keyword or construct of the source that the
// grammar enforces differently from what it says.
struct GrammarNote {
  enum class Kind : std::uint8_t {
    kNarrowed,  // the grammar lacks some valid texts; `message` says which
    kIgnored,   // unknown keyword or format, or not enforced (lenient)
  };
  Kind kind = Kind::kIgnored;
  std::string keyword;
  std::string path;  // JSON Pointer to the object that has the keyword
  std::string message;
};

}  // namespace parlance

#endif  // PARLANCE_SCHEMA_OPTIONS_H_
