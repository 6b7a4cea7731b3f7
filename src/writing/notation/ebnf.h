#ifndef PARLANCE_SRC_NOTATION_EBNF_H_
#define PARLANCE_SRC_NOTATION_EBNF_H_

// Grammars as text: EBNF, an extension of what XGrammar reads, and GBNF as
// llama.cpp reads it.
//
//   root   ::= "[" (number ("," number){0,9})? "]"    # up to ten numbers
//   number ::= [1-9] [0-9]* | "0"
//
// Names      letters, digits, "_", "-", "."; a definition begins its line.
// Text       "..." with \" \\ \/ \' \? \[ \] \n \r \t \b \f \a \v \0 \e
//            \xH... \uXXXX \UXXXXXXXX.
// Classes    [a-z_], [^"\\]; in them any punctuation may have a "\" before it.
//            "." is any character.
// Operators  sequence, "|", "( )", and one of ? * + {n} {n,} {n,m} after an
//            element.  An alternative may not be empty: write "".
// Options    name[max_tokens=9, max_chars=80, lazy, capture="n",
//            temperature=0.5, suffix="x", stop=rule, marker_optional,
//            stop_capture="n"] ::= ...
// Macros     Regex("...", json_string=false, flags="is"), Substring("a", ...),
//            TagDispatch(("<a>", rule), ..., loop_after_dispatch=true,
//            excludes=("x",), exclude_patterns=("a+b",)), Token(1, ...),
//            ExcludeToken(1, ...), TokenTagDispatch((1, rule), ...),
//            JsonSchema("{...}", options="{...}").
//
// Printed grammars contain hints: a trailing (= ...), and the options
// capture_hidden_...=number.  Hints are checked and change nothing.
//
// GBNF has rules, text, classes, "." and the operators, and differs in:
//
// Names      letters, digits and "-"; a digit may come first.
// Lines      a rule ends with its line, unless a parenthesis is open or the
//            line ends with "|" or "::=".  Text and classes may contain line
//            feeds.
// Escapes    \" \\ \[ \] \- \n \r \t, \xHH, \uHHHH, \UHHHHHHHH, and no other.
// Operators  also one after another: a+* is (a+)*.  An alternative may be
//            empty.
// Tokens     <think>, <[1000]>, and with "!" any other token.

#include <string>
#include <string_view>

#include "notation/expression_reader.h"
#include "parlance/error.h"
#include "rules/rules.h"

namespace parlance::notation {

// Errors: kBadSyntax; kBadReference for a rule that is used and not defined,
// and for a missing root; kConflict for a rule defined twice; kUnknownName for
// an option or a macro; kBadPattern and kUnsupportedPattern for a pattern;
// kInvalidJson for a schema; kTooLarge.  Spans are bytes of `text`.
Result<rules::Rules> read_ebnf(std::string_view text,
                               std::string_view root_rule = "root",
                               const rules::RulesLimits& limits = {});

struct GbnfOptions {
  std::string root_rule = "root";
  TokensSpelled tokens_spelled = {};
  rules::RulesLimits limits = {};
};

// Reads GBNF.  Errors: of those of read_ebnf() kBadSyntax, kBadReference,
// kConflict and kTooLarge; kUsage for a token by its name without a vocabulary.
Result<rules::Rules> read_gbnf(std::string_view text,
                               const GbnfOptions& options = {});

// Writes a text that read_ebnf() reads as the same language, with one line per
// rule.  The first rule is the root, which is called `root` if this name is
// free.  Rules without a use are omitted.
std::string to_ebnf(const rules::Rules& rules);

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_EBNF_H_
