#ifndef PARLANCE_CLI_COMMAND_LINE_H_
#define PARLANCE_CLI_COMMAND_LINE_H_

// The `parlance` command: the functions of the library, from a shell.
//
// The command translates between arguments, files and terminals on one side and
// the library's public API on the other.  It decides nothing about how a
// response is read.
//
// A function, and not only a program: the Python module has it too.

namespace parlance::cli {

// Runs the command with the arguments of a program, which are UTF-8; argv[0] is
// not read, and argv[argc] is null.  Returns the exit status.  Throws nothing,
// never ends the process, and leaves nothing behind for the next call.
//
// Reads standard input, writes standard output and standard error by their
// descriptors, and expects a PreparedProcess (system.h).  One call at a time.
int run_command_line(int argc, char** argv);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_COMMAND_LINE_H_
