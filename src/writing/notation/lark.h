#ifndef PARLANCE_SRC_NOTATION_LARK_H_
#define PARLANCE_SRC_NOTATION_LARK_H_

// Grammars in the dialect of Lark that llguidance reads.
//
//   %import common.INT
//   %ignore " "
//   start: sum
//   sum: INT ("+" INT)*        // a rule
//   HEX: /[0-9a-f]+/i          // a terminal: one piece of text
//
// Rules have lower-case names, terminals upper-case ones; a terminal uses only
// terminals, is not recursive, and ignored text never comes inside it.  A
// statement ends with its line unless the next begins with "|".
//
// Items       "text", "text"i, "a".."z", /pattern/isu, ( ), [ ] (optional),
//             names, @grammar, %json {...}, %lark {...}, %regex
//             {"substring_chunks": [...]} or {"substring_chars": "..."},
//             tokens <[1,3-5]>, <[^1]>, <[*]>, <|name|>.
// Operators   ? * + ~n ~n..m {n} {n,} {,m} {n,m}
// Options     rule[lazy, suffix="x", stop=/x/, stop_capture="n",
//             max_tokens=9, max_chars=80, capture="n", temperature=0.5]: ...
// Statements  %import common.X [-> Y], %import common (X, Y), %ignore items,
//             %grammar_options {...}
//
// Ignored text (%ignore) may follow every piece of text of a rule.  With the
// option allow_initial_skip it may also precede the first.  It never comes
// inside a rule that is lazy or has a suffix or stop.
//
// A rule `(a | b)* tail`, where `tail` is any text and `a` and `b` begin with
// any text up to a fixed text (a lazy rule, or one with a suffix or stop) or
// to a token, is free text with triggers: after a trigger, the rest of its rule
// must follow.
//
// A suffix or stop of fixed text after any text is optional: the text may end
// without it.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "rules/rules.h"

namespace parlance::notation {

struct LarkOptions {
  // The meaning of "@name": a grammar, or a source in Lark.
  std::map<std::string, rules::Rules> grammars = {};
  std::map<std::string, std::string> sources = {};
  // Returns the tokens with a given text.  Null: there is no vocabulary, and
  // tokens by name and <[*]> are errors.
  std::function<std::vector<rules::Token>(std::string_view)> tokens_spelled =
      {};
  rules::RulesLimits limits = {};
};

// Errors: kBadSyntax, kBadReference, kConflict, kUnknownName, kUnsupported,
// kBadPattern, kUnsupportedPattern, kInvalidJson, kEmptyValue, kTooLarge.
// Spans are bytes of `text`.
Result<rules::Rules> read_lark(std::string_view text,
                               const LarkOptions& options = {});

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_LARK_H_
