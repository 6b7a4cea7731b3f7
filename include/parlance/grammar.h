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

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/schema_options.h"
#include "parlance/structural_tag.h"

namespace parlance {

namespace grammar {
struct GrammarImpl;  // src/grammar/grammar_impl.h
}

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

 private:
  friend struct detail::Access;
  explicit Grammar(std::shared_ptr<grammar::GrammarImpl> impl);
  std::shared_ptr<grammar::GrammarImpl> impl_;
};

}  // namespace parlance

#endif  // PARLANCE_GRAMMAR_H_
