#ifndef PARLANCE_SRC_NOTATION_EBNF_H_
#define PARLANCE_SRC_NOTATION_EBNF_H_

// Grammars as text, in an extension of the EBNF of GBNF files.
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

#include <string>
#include <string_view>

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

// Writes a text that read_ebnf() reads as the same language, with one line per
// rule.  The first rule is the root, which is called `root` if this name is
// free.  Rules without a use are omitted.
std::string to_ebnf(const rules::Rules& rules);

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_EBNF_H_
