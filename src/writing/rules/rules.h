#ifndef PARLANCE_SRC_RULES_RULES_H_
#define PARLANCE_SRC_RULES_RULES_H_

// A user's grammar as a list of named rules over one array of expressions.
//
// Every front end (EBNF, Lark, regular expressions, structural tags) produces
// Rules, and every recogniser is built from Rules, so a construct means the
// same wherever it was written.
//
//   root ::= "a" pair{2,} | [0-9]          exprs  0 Bytes "a"   1 Rule pair
//   pair ::= "x" "y"                              2 Repeat 2.. of 1
//                                                 3 Sequence 0 2
//                                                 4 Class [0-9]
//                                                 5 Choice 3 4
//                                                 6 Bytes "xy"
//                                          rules  root = 5, pair = 6
//
// Children precede their parents, so a pass over the expressions is a loop.  An
// expression has one parent; an expression that is used twice is a rule.
// Repeats are not unrolled: "a"{100000} is two expressions.
//
// A text of the language is a text of the root rule.  All text is UTF-8; a
// class is one character.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/pattern_dfa.h"
#include "base/id.h"
#include "base/unbounded.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "regex/char_class.h"
#include "regex/hir.h"

namespace parlance::rules {

using ExprId = base::Id<struct Expr>;
using RuleId = base::Id<struct Rule>;
using base::kUnbounded;
inline constexpr ExprId kNoExpr{0xFFFFFFFF};
inline constexpr RuleId kNoRule{0xFFFFFFFF};

// ORDER: ExprKind
enum class ExprKind : std::uint8_t {
  kEmpty,      // the empty text
  kBytes,      // `texts[index]`, never empty
  kClass,      // one character of `classes[index]`; an empty class fails
  kSequence,   // `children` in order
  kChoice,     // any of `children`; without children it fails
  kRepeat,     // children[0] `min`..`max` times
  kRule,       // rule `index`
  kRegex,      // `regexes[index]`
  kSubstring,  // `substrings[index]`
  kFreeText,   // `free_texts[index]`
  kTokens,     // `token_sets[index]`
  kTokenText,  // `token_texts[index]`
  kSchema,     // `schemas[index]`
};

struct Expr {
  ExprKind kind = ExprKind::kEmpty;
  std::uint32_t index = 0;
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
  std::vector<ExprId> children = {};
  static constexpr std::uint32_t kNoMarker = 0xFFFFFFFF;
  // kBytes only: the text is the marker `markers[marker]`, or the rest of it.
  std::uint32_t marker = kNoMarker;

  // REQUIRES: kind == ExprKind::kRule.
  RuleId rule() const { return RuleId(index); }
};

// A text that a description itself spells.  The expression stands for the
// marker from byte `from` on; the bytes before that were read as a trigger.
struct MarkerText {
  std::string text;
  std::size_t from = 0;
  // The text is later read without its tokens, so white space that the tokens
  // would include must be written as in `text`.
  bool exact = false;
};

// A name that a request gave (of a tool, of an argument), and its JSON Pointer.
struct NameText {
  std::string text;
  std::string path;
};

// A regular expression as written and as meant (regex_rules.h).
struct RegexExpr {
  std::string source;
  bool has_flags = false;  // false: "." is any character
  std::string flags = {};  // of "i", "s", "u"
  // Only characters that a JSON string contains unescaped.
  bool json_string = false;
  // Without anchors and with case resolved: only literals, classes,
  // concatenations, alternations, captures and repeats.
  regex::Hir hir = {};
};

// Any run of consecutive chunks, including the empty run.
struct SubstringExpr {
  std::vector<std::string> chunks;
};

// Text up to a complete trigger; then the rule of that trigger follows, and, if
// `loop`, text again.  It may end wherever no such rule is open, and contains
// no string of `excludes` and no match of `exclude_patterns`.
struct FreeTextExpr {
  struct Trigger {
    std::string text;
    RuleId rule = kNoRule;
    // As in RuleOptions, for the text of the trigger.
    bool hide = false;
    std::string capture = {};
  };
  std::vector<Trigger> triggers = {};
  std::vector<std::string> excludes = {};
  // The patterns as they are written, and their automaton
  // (exclude_patterns.h), which is null if there are no patterns.
  std::vector<std::string> exclude_patterns = {};
  std::shared_ptr<const automata::PatternDfa> exclude_dfa = nullptr;
  bool loop = true;
  // The triggers and excludes are spelled by a description: with a vocabulary
  // they are markers (marks.h).  If false, a user wrote them, and they are
  // text.
  bool markers = false;
};

using Token = std::uint32_t;

// One token by its id: a token in `ranges`, or, if `negated`, any other token.
// Matches nothing in a text that does not consist of tokens.
struct TokenSetExpr {
  struct Range {
    Token first = 0;
    Token last = 0;  // inclusive
    bool operator==(const Range&) const = default;
  };
  std::vector<Range> ranges = {};
  bool negated = false;
  bool ends_tag = false;  // the end marker of a tag
  bool contains(Token token) const;
};

// As FreeTextExpr, with tokens instead of characters.
struct TokenTextExpr {
  struct Trigger {
    Token token = 0;
    RuleId rule = kNoRule;
  };
  std::vector<Trigger> triggers = {};
  std::vector<Token> excludes = {};
  bool loop = true;
};

// JSON texts that are valid under `schema`; for `options` see schema_options.h.
struct SchemaExpr {
  json::Value schema;
  json::Value options = {};
  std::optional<Span> span = std::nullopt;  // in the source of the grammar
};

struct RuleOptions {
  // The budget of an activation of the rule.  Once it is used up, by this rule
  // or an enclosing one, the activation ends at the first position where its
  // body may end; until then it continues.
  std::optional<std::uint32_t> max_tokens = std::nullopt;
  std::optional<std::uint32_t> max_chars = std::nullopt;
  // The activation ends at the first position where it may.
  bool lazy = false;
  // An expression that follows the body as a part of the rule; the rule is then
  // lazy.  A body that has used up its budget ends without the marker.
  ExprId marker = kNoExpr;
  // The rule may also end after its body, without a marker.
  bool marker_optional = false;
  // The marker is left out of captures (Lark's "stop"; else its "suffix").
  bool hide_marker = false;
  std::string marker_capture = {};
  std::string capture = {};  // "": not captured
  std::optional<double> temperature = std::nullopt;

  bool limited() const { return max_tokens || max_chars; }
  // The end of an activation depends on what was read.
  bool finds_end() const { return lazy || marker != kNoExpr; }
  bool plain() const {
    return !limited() && !lazy && marker == kNoExpr && capture.empty() &&
           !temperature;
  }
};

struct Rule {
  std::string name;
  ExprId body = kNoExpr;
  RuleOptions options = {};
};

// The largest grammar allowed.  Beyond a limit, front ends return kTooLarge.
struct RulesLimits {
  std::size_t rules = 200'000;
  std::size_t exprs = 2'000'000;
  // Open parentheses, and grammars inside grammars.
  std::size_t depth = 10'000;
  std::size_t source_bytes = std::size_t{64} << 20;
};

struct Rules {
  std::vector<Expr> exprs;
  std::vector<Rule> rules;
  RuleId root = {};

  std::vector<std::string> texts;
  std::vector<regex::CharClass> classes;
  std::vector<RegexExpr> regexes;
  std::vector<SubstringExpr> substrings;
  std::vector<FreeTextExpr> free_texts;
  std::vector<TokenSetExpr> token_sets;
  std::vector<TokenTextExpr> token_texts;
  std::vector<SchemaExpr> schemas;
  std::vector<MarkerText> markers;
  std::vector<NameText> names;

  // A text that has been read already: the texts of the rules are the texts of
  // the root that begin with the prefix, without it.  In the prefix the
  // spelling of a mark counts as the mark where the mark may come.
  std::string prefix = {};

  // Constructors of expressions.  A sequence or a choice of one part is that
  // part; a repeat {1,1} is its body; adjacent Bytes are not joined.
  ExprId empty();
  ExprId bytes(std::string_view text);  // "" is empty()
  // A marker, from byte `from` on: as bytes(), but with a vocabulary the
  // special tokens spelled in it are marks.
  ExprId marker(std::string_view text, std::size_t from = 0,
                bool exact = false);
  ExprId char_class(regex::CharClass set);
  ExprId sequence(std::vector<ExprId> parts);
  ExprId choice(std::vector<ExprId> parts);
  ExprId repeat(ExprId body, std::uint32_t min, std::uint32_t max);
  ExprId reference(RuleId rule);
  ExprId regex(RegexExpr expr);
  ExprId substring(std::vector<std::string> chunks);  // of none: empty()
  ExprId free_text(FreeTextExpr expr);
  ExprId tokens(TokenSetExpr expr);
  ExprId token_text(TokenTextExpr expr);
  ExprId schema(SchemaExpr expr);

  // Adds a rule called `name`, without a body yet.  Names are for people, and
  // several rules may have the same name; to_ebnf() makes them unique.
  RuleId add_rule(std::string_view name);
  // The first rule of that name; kNoRule if there is none.  O(rules).
  RuleId find(std::string_view name) const;

  // Appends all of `other` and returns the id that its root has here.
  RuleId append(const Rules& other);

  bool within(const RulesLimits& limits) const {
    return exprs.size() <= limits.exprs && rules.size() <= limits.rules;
  }

 private:
  ExprId add(ExprKind kind, std::size_t index);
};

// Whether the rules contain markers, in free text too, or names from a request.
bool has_markers(const Rules& rules);

// The union and the concatenation of the languages of `parts`.
// REQUIRES: parts is not empty.
Rules union_of(const std::vector<Rules>& parts);
Rules concat_of(const std::vector<Rules>& parts);

// The first rule that cannot be lazy, and why.  A lazy rule cannot use,
// directly or through other rules, a rule that calls itself anywhere but at its
// end, or a rule with options of its own: its body would not be a finite
// automaton.
struct NotLazy {
  RuleId rule = kNoRule;
  std::string why;
};
std::optional<NotLazy> find_not_lazy(const Rules& rules);

// The lazy and limited rules whose activations may be nested without limit,
// each begun after something was read and followed by something, so that no
// bound on their number is enough for all texts.  An over-approximation: it may
// contain other rules too.
std::vector<RuleId> find_nesting(const Rules& rules);

// Bytes that `rules` occupies, itself included.
std::size_t memory_bytes(const Rules& rules);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_RULES_H_
