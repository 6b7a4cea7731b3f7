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
// Operators   ? * + ~n ~n..m {n} {n,} {,m} {n,m}; in terminals a & b (both) and
//             ~a (any other text)
// Templates   list{item, sep}: item (sep item)*, used as list{INT, ","}
// Options     rule[lazy, suffix="x", stop=/x/, stop_capture="n",
//             max_tokens=9, max_chars=80, capture="n", temperature=0.5]: ...
// Statements  %import common.X [-> Y], %import common (X, Y), %ignore items,
//             %declare X Y, %llguidance {...} or %grammar_options {...}
//
// %import m.X imports from the source "m" (LarkOptions::sources).  A priority
// (name.2) changes nothing: it chooses among parses, not texts.  A declared
// terminal has no text.
//
// Ignored text (%ignore) may follow every piece of text of a rule.  With the
// option allow_initial_skip it may also precede the first.  It does not follow
// the items of a rule that is lazy or has a suffix or stop, but the rule
// itself.  A rule or template that a lazy rule uses has ignored text as it has
// it elsewhere.  The %ignore and these options of an imported source have no
// effect.
//
// A rule `(a | b)* tail`, where `tail` is any text and `a` and `b` begin with
// any text up to a fixed text (a lazy rule, or one with a suffix or stop) or
// to a token, is free text with triggers: after a trigger, the rest of its rule
// must follow.
//
// A suffix or stop of fixed text after any text is optional: the text may end
// without it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "notation/expression_reader.h"
#include "parlance/error.h"
#include "rules/rules.h"

namespace parlance::notation {

struct LarkOptions {
  // The meaning of "@name": a grammar, or a source in Lark.
  std::map<std::string, rules::Rules> grammars = {};
  std::map<std::string, std::string> sources = {};
  std::string start_rule = "start";
  TokensSpelled tokens_spelled = {};
  rules::RulesLimits limits = {};
};

// The sources that are imported, each time that "%lark {...}" imports one, and
// the bodies of templates, for each list of arguments, have at most 16 MiB in
// all (kTooLarge).
//
// Errors: kBadSyntax, kBadReference, kConflict, kUnknownName, kUnsupported,
// kBadPattern, kUnsupportedPattern, kInvalidJson, kEmptyValue, kTooLarge.
// Spans are bytes of `text`.  `declared` is set to the names of the terminals
// that "%declare" declares.
Result<rules::Rules> read_lark(std::string_view text,
                               const LarkOptions& options = {},
                               std::vector<std::string>* declared = nullptr);

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_LARK_H_
