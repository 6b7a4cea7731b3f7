#ifndef PARLANCE_CLI_COMMANDS_H_
#define PARLANCE_CLI_COMMANDS_H_

// The commands.  Each add_ function declares one with its options on `app`;
// when the command is chosen, `run` is set to what it does, which returns the
// exit status.

#include <CLI/CLI.hpp>
#include <functional>

namespace parlance::cli {

using Run = std::function<int()>;

void add_parse(CLI::App& app, Run& run);
void add_watch(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_check(CLI::App& app, Run& run);
void add_convert(CLI::App& app, Run& run);
void add_render(CLI::App& app, Run& run);
void add_harmony(CLI::App& app, Run& run);
void add_formats(CLI::App& app, Run& run);
void add_accept(CLI::App& app, Run& run);
void add_mask(CLI::App& app, Run& run);
void add_sample(CLI::App& app, Run& run);
void add_tag(CLI::App& app, Run& run);

// These two describe all that `app` has when they run.
void add_completions(CLI::App& app, Run& run);
void add_manual(CLI::App& app, Run& run);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_COMMANDS_H_
