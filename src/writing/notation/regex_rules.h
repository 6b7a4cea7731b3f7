#ifndef PARLANCE_SRC_NOTATION_REGEX_RULES_H_
#define PARLANCE_SRC_NOTATION_REGEX_RULES_H_

// Regular expressions as grammars: the whole text has to match.
//
// The dialect is ECMAScript's, and the library's parser of patterns reads it,
// with these differences:
//
//   .           any character, also a newline; with flags given and no "s"
//               among them, any but a newline
//   ^ $ \A \Z   mean nothing: the whole text is matched anyway
//   \d \w \s    ASCII; \s is space, \t \n \r \v \f and U+00A0
//   \a \e       the characters 7 and 27; \UHHHHHHHH a code point; any other
//   \i ...      escaped character is this character
//   *? +? {}?   the same as without the "?"
//   flag i      ASCII letters only, as flag or in the pattern
//   flag x      white space and comments in the pattern mean nothing
//   (?i) (?s:)  flags in the pattern: i, m, s, u and x; m means nothing
//   \pL         \p{L}
//
// Refused, with the reason: look-around, back-references, \b \B, atomic groups,
// comments, [[:alpha:]] and set operations, (?P<...>).  Inside a grammar
// (`embedded`) (?P<name>...) is accepted, because printed grammars contain it.

#include <string>
#include <string_view>

#include "parlance/error.h"
#include "rules/rules.h"

namespace parlance::notation {

struct RegexOptions {
  bool has_flags = false;
  std::string_view flags = {};  // letters of "imsux"
  bool json_string = false;
  bool embedded = false;
  // The pattern is searched for in a text: look-ahead is accepted, ^ is the
  // beginning of the text, and $ is refused.
  bool search = false;
};

// Errors: kBadPattern, kUnsupportedPattern, kTooLarge, kInvalidUtf8; spans are
// bytes of `pattern`.
Result<rules::RegexExpr> read_regex(std::string_view pattern,
                                    const RegexOptions& options = {});

// The grammar of one regular expression.
Result<rules::Rules> regex_rules(std::string_view pattern,
                                 const RegexOptions& options = {});

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_REGEX_RULES_H_
