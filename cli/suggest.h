#ifndef PARLANCE_CLI_SUGGEST_H_
#define PARLANCE_CLI_SUGGEST_H_

// What an unknown command or option was probably meant to be.

#include <span>
#include <string>
#include <string_view>

namespace parlance::cli {

// The candidate that differs least from `given`; "" if none is similar.
std::string closest(std::string_view given,
                    std::span<const std::string> candidates);

// What to say about the first of `extras`, the arguments that are not known,
// one line without the name of the program:
//
//   unknown command 'prase'; did you mean 'parse'?
//
// `commands` are the commands that there are, empty when one of them was given;
// `options` those of that command, or of the program.
std::string describe_extra(std::span<const std::string> commands,
                           std::span<const std::string> options,
                           std::span<const std::string> extras);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_SUGGEST_H_
