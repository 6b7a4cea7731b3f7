// The `parlance` program.

#include "command_line.h"
#include "system.h"

int main(int argc, char** argv) {
  const parlance::cli::PreparedProcess prepared;
  argv = parlance::cli::utf8_arguments(argc, argv);
  return parlance::cli::run_command_line(argc, argv);
}
