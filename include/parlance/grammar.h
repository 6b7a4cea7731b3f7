#ifndef PARLANCE_GRAMMAR_H_
#define PARLANCE_GRAMMAR_H_

// What a model may generate, as a language of texts.
//
//   Result<Grammar> grammar = Grammar::from_json_schema(R"({
//     "type": "object", "required": ["city"],
//     "properties": {"city": {"type": "string", "maxLength": 40}}})");
//   if (!grammar) return grammar.error();
//   grammar->accepts(R"({"city": "Bern"})");   // true
//
// A Grammar depends on tokens only where it names them (in Lark, GBNF, EBNF and
// structural tags).  A text that is read without tokens does not match there.
// See parlance/constraint.h for masks.
//
// Law: exact, or narrower and reported, or an error.  A text that a grammar
// accepts is always valid under its schema, unless the option `lenient` says
// that keywords may be ignored.  report() lists the valid texts that the
// grammar lacks and the keywords that it does not enforce.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
struct GrammarImpl;  // src/writing/grammar/grammar_impl.h
}

// Why a text is not in a language.
struct Rejection {
  std::size_t offset = 0;     // of the first byte that is not allowed, or the
                              // size of a text that ends too early
  std::string expected = {};  // what is allowed at `offset`, for people
};

class Grammar;
class GrammarCache;  // parlance/grammar_cache.h

struct EbnfOptions {
  // The rule that a whole text matches.
  std::string root_rule = "root";
  GrammarLimits limits = {};
};

struct GbnfOptions {
  // The rule that a whole text matches.
  std::string root_rule = "root";
  // As of LarkGrammarOptions, for tokens given by name.
  std::function<std::vector<std::uint32_t>(std::string_view)> tokens_spelled =
      {};
  GrammarLimits limits = {};
};

struct LarkGrammarOptions {
  // The rule that a whole text matches.
  std::string start_rule = "start";
  // The grammars, or sources in Lark, that "@name" refers to.  "%import name.X"
  // imports from a source.
  std::map<std::string, Grammar> grammars = {};
  std::map<std::string, std::string> sources = {};
  // Returns all tokens with a spelling.  Null: no vocabulary is known, and
  // tokens given by name and <[*]> are errors.
  std::function<std::vector<std::uint32_t>(std::string_view)> tokens_spelled =
      {};
  GrammarLimits limits = {};
};

struct StructuralTagGrammarOptions {
  // Returns the token with the lowest id among those with a text, or nothing if
  // there is none.  Null: a token that is given by its text is an error
  // (kUsage).
  std::function<std::optional<std::uint32_t>(std::string_view)> find_token = {};
  // Token ids must be less than this.  Default: any id.
  std::uint32_t vocabulary_size = 0xFFFFFFFF;
  GrammarLimits limits = {};
};

// Immutable, cheap to copy, safe to share between threads.
class Grammar {
 public:
  // Errors, with JSON Pointers: kInvalidJson, kTooDeep, kUnsupportedVersion;
  // kWrongType, kUnknownName, kInvalidValue, kEmptyValue, kBadReference,
  // kBadPattern, kUnsupportedPattern for a keyword that is malformed;
  // kUnsupported for a keyword that is well formed and cannot be enforced;
  // kUnsatisfiable if no text is valid; kTooLarge, naming the limit.
  static Result<Grammar> from_json_schema(
      std::string_view schema, const JsonSchemaOptions& options = {});
  static Result<Grammar> from_json_schema(
      const json::Value& schema, const JsonSchemaOptions& options = {});

  // A string is the JSON text of a schema, never a schema that is a string.
  static Result<Grammar> from_json_schema(
      const std::string& schema, const JsonSchemaOptions& options = {}) {
    return from_json_schema(std::string_view(schema), options);
  }
  static Result<Grammar> from_json_schema(
      const char* schema, const JsonSchemaOptions& options = {}) {
    return from_json_schema(std::string_view(schema), options);
  }

  // Grammars as text: EBNF in the dialect of XGrammar, GBNF as llama.cpp reads
  // it, a regular expression that a whole text matches, and Lark as Lark and
  // llguidance read it.
  //
  // Errors, with byte spans of the text (parlance/error.h turns them into
  // lines and columns): kBadSyntax; kBadReference for a rule that is used and
  // not defined, and for a missing root; kConflict for a rule that is defined
  // twice; kUnknownName; kBadPattern, kUnsupportedPattern; kUnsupported;
  // kEmptyValue; kInvalidJson; kInvalidUtf8; kUnsatisfiable if the language is
  // empty; kTooLarge; and the errors of a JSON Schema inside, whose pointers
  // begin at that schema.
  static Result<Grammar> from_ebnf(std::string_view text,
                                   const EbnfOptions& options = {});
  static Result<Grammar> from_gbnf(std::string_view text,
                                   const GbnfOptions& options = {});
  static Result<Grammar> from_regex(std::string_view pattern,
                                    const GrammarLimits& limits = {});
  static Result<Grammar> from_lark(std::string_view text);
  static Result<Grammar> from_lark(std::string_view text,
                                   const LarkGrammarOptions& options);

  // Errors, with JSON Pointers: the errors of StructuralTag::from_json() and of
  // the patterns, grammars and schemas inside; kUnknownName for a token that
  // the vocabulary does not have; kUsage for a token given by its text without
  // a vocabulary; kConflict for an id that is too large; kUnsupported for a
  // schema whose parameters its style cannot express.
  static Result<Grammar> from_structural_tag(
      const StructuralTag& tag,
      const StructuralTagGrammarOptions& options = {});
  static Result<Grammar> from_structural_tag(
      std::string_view text, const StructuralTagGrammarOptions& options = {});

  // union_of(): the texts of any of `parts`.  concat(): a text of each of
  // `parts`, one after the other.
  // Errors: kEmptyValue if there are no parts; kUnsatisfiable; kTooLarge.
  static Result<Grammar> union_of(const std::vector<Grammar>& parts,
                                  const GrammarLimits& limits = {});
  static Result<Grammar> concat(const std::vector<Grammar>& parts,
                                const GrammarLimits& limits = {});

  // Whether the whole of `text` is in the language; false, too, if a limit was
  // passed before that was decided, which GrammarReader::error() tells.
  // Complexity: O(text.size()) for JSON Schemas, and for rules whose set of
  // open contexts is bounded or grows like a stack: all LR(k) grammars, and
  // most ambiguous ones, such as e ::= e "+" e | [0-9].  For other rules the
  // cost of a byte grows with the number of open contexts, and the total is at
  // most O(text.size()^3).
  bool accepts(std::string_view text) const;
  // Nothing if accepts(text), else where and why `text` is rejected.
  std::optional<Rejection> explain(std::string_view text) const;

  // Where the grammar differs from its source: first the notes of the compile,
  // in the order of the source, then those of a survey of all its schemas.  The
  // first call makes the survey, which takes about as long as the compile.
  // Empty if the grammar is exact.
  const std::vector<GrammarNote>& report() const;

  // The grammar as bytes, from which another process makes it again: what it
  // was made from, with all options and the tokens that were looked up.  The
  // bytes are text, and do not depend on the machine; automata are not in them.
  std::string to_bytes() const;
  // Makes the grammar of such bytes again, with the same report().  `limits`
  // are the largest that the grammar may have been made with.
  // Errors: kInvalidValue for damaged bytes, and for anything else that is not
  // a grammar; kUnsupportedVersion; kTooLarge for a limit that exceeds
  // `limits`; and those of the function that made the grammar.
  // Complexity: as that of this function.
  static Result<Grammar> from_bytes(std::string_view bytes,
                                    const GrammarLimits& limits = {});

  // An EBNF text of the same language, which from_ebnf() reads.  Schemas are
  // written as JsonSchema("...").  Limits are not part of the text.
  std::string to_ebnf() const;

 private:
  friend struct detail::Access;
  explicit Grammar(std::shared_ptr<grammar::GrammarImpl> impl);
  std::shared_ptr<grammar::GrammarImpl> impl_;
};

// Checking a text against a grammar, piece by piece: Grammar::accepts() and
// explain() for a text that is still being written, or so long that the caller
// may want to stop.
//
//   GrammarReader reader(grammar);
//   for (std::string_view piece : pieces)
//     if (!stop() && reader.feed(piece) < piece.size()) break;
//   if (!reader.can_end()) show(reader.offset(), reader.expected());
//   if (reader.error()) show(reader.error()->message);  // not decided
//
// Law: how a text is cut into pieces does not change any answer.

// Reads one text.  Movable, not copyable.  Not thread-safe: one text, one
// reader, one thread.  Readers may share a Grammar freely.
class GrammarReader {
 public:
  explicit GrammarReader(const Grammar& grammar);
  ~GrammarReader();
  GrammarReader(GrammarReader&&) noexcept;
  GrammarReader& operator=(GrammarReader&&) noexcept;

  // Reads `piece` up to the first byte that is not allowed, and returns how
  // many bytes were read.  After a piece that was not read in full, all further
  // calls read nothing and return 0.
  std::size_t feed(std::string_view piece);

  // Bytes read so far.
  std::size_t offset() const;

  // Whether everything fed so far, as a whole, is a text of the grammar.
  bool can_end();

  // What is allowed at offset(), for people.
  std::string expected();

  // kTooLarge if a call took more steps than GrammarLimits::work for one byte,
  // or than GrammarLimits::steps.  The answers of that call and of later ones
  // then say nothing about the text.  Nothing otherwise.
  std::optional<Error> error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The parts of a text, or of a prefix of a text, that match the rules of a
// grammar with the option "capture".
//
//   Result<Grammar> grammar = Grammar::from_lark(R"(
//     start: "<" name ">" TEXT
//     name[capture]: /[a-z]+/
//     TEXT: /.*/)");
//   Result<std::vector<RuleCapture>> found = captures(*grammar, "<bob> hi");
//   // {name: "name", text: "bob", bytes 1..4}
//
// Every call parses the text from its beginning, with Earley's algorithm.
// Complexity and memory: O(text) for most grammars, and bounded by `max_items`.
// Matcher::captures() reads only what is new of a text that is being generated.

struct RuleCapture {
  std::string name;
  Span bytes;        // in the text, without the suffix or stop of the rule
  std::string text;  // these bytes without the "stop" texts of inner rules
};

// A token of a text.  A special token matches by its id alone.
struct CapturedToken {
  std::uint32_t id = 0;
  std::string_view bytes = {};
  bool special = false;
};

// Limit of Earley items.  An item takes about 80 bytes, and most texts need a
// few items for each byte.
inline constexpr std::size_t kMaxCaptureItems = 2'000'000;

// Cancels a call that takes too long.
struct Interrupt {
  // Called from time to time while the text is read.  If it returns true, the
  // call fails with kTooLarge.  Default: null, the text is read to its end.
  bool (*cancelled)(void*) = nullptr;
  void* argument = nullptr;
};

// The captures, in the order of their ends, inner before outer.
//
// If the text may end here, the captures are those of one parse, the leftmost
// longest: where two parses of a rule first differ, the one with the longer
// part is taken.  The parts of a rule are the rules that it uses, its texts,
// and runs of one character class.  Among parses without such a difference the
// choice is fixed.
//
// If the text must continue, the captures are those of all open parses; of
// captures with the same name and the same begin, only the longest.
//
// Bytes count from the beginning of the prefix of a grammar that has one.
// Token budgets (max_tokens) count only in a text of tokens.  A grammar from a
// JSON Schema has no captures.
//
// Errors: kInvalidContent with the first byte that does not match; kTooLarge.
Result<std::vector<RuleCapture>> captures(
    const Grammar& grammar, std::string_view text,
    std::size_t max_items = kMaxCaptureItems, const Interrupt& interrupt = {});
Result<std::vector<RuleCapture>> captures(
    const Grammar& grammar, std::span<const CapturedToken> tokens,
    std::size_t max_items = kMaxCaptureItems, const Interrupt& interrupt = {});

}  // namespace parlance

#endif  // PARLANCE_GRAMMAR_H_
