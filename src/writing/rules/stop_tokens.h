#ifndef PARLANCE_SRC_RULES_STOP_TOKENS_H_
#define PARLANCE_SRC_RULES_STOP_TOKENS_H_

// Triggers and ends of tags that are tokens which end a text.
//
// A stop token comes only where the text may end with it.  If something must
// follow a trigger or an end, and it is a stop token, it can never come, and
// the free text before it might never end.
// Anywhere else such a token may be named: a matcher may have stop tokens of
// its own.

#include <functional>
#include <optional>

#include "parlance/error.h"
#include "rules/rules.h"

namespace parlance::rules {

// Error kConflict if the token that is the end of a tag, or a trigger of free
// tokens, is a stop token, or a trigger of free text ends with a mark that is
// one, and the text cannot end after it, wherever the rules use it.
// `ends_with_stop`: the stop token that a trigger of free text ends with.
std::optional<Error> check_stop_tokens(
    const Rules& rules, const std::function<bool(Token)>& is_stop,
    const std::function<std::optional<Token>(const std::string&)>&
        ends_with_stop);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_STOP_TOKENS_H_
