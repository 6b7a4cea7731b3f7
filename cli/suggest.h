#ifndef PARLANCE_CLI_SUGGEST_H_
#define PARLANCE_CLI_SUGGEST_H_

// What an unknown command or option was probably meant to be.

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

namespace parlance::cli {

// The candidate that differs least from `given`; "" if none is similar.
std::string closest(std::string_view given,
                    std::span<const std::string> candidates);

// What to say about the first argument that `app` does not know, one line
// without the name of the program:
//
//   unknown command 'prase'; did you mean 'parse'?
std::string describe_extra(const CLI::App& app,
                           std::span<const std::string> extras);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_SUGGEST_H_
