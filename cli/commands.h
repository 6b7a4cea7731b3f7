#ifndef PARLANCE_CLI_COMMANDS_H_
#define PARLANCE_CLI_COMMANDS_H_

// The commands.  Each add_ function declares one with its options on `app`;
// when the command is chosen, `run` is set to what it does, which returns the
// exit status.

#include "arguments.h"

namespace parlance::cli {

void add_parse(Command& app, Run& run);
void add_watch(Command& app, Run& run);
void add_explain(Command& app, Run& run);
void add_check(Command& app, Run& run);
void add_convert(Command& app, Run& run);
void add_render(Command& app, Run& run);
void add_harmony(Command& app, Run& run);
void add_formats(Command& app, Run& run);
void add_accept(Command& app, Run& run);
void add_mask(Command& app, Run& run);
void add_sample(Command& app, Run& run);
void add_tag(Command& app, Run& run);

// These two describe all that `app` has when they run.
void add_completions(Command& app, Run& run);
void add_manual(Command& app, Run& run);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_COMMANDS_H_
